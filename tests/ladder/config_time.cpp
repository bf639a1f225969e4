// Adds up what each config of each kernel costs in all tests of this program, in CPU-seconds, and
// what each test costs for all configs, and prints both at the end: tools/ci/test_report compares
// the sum of all shards with tests/limits.txt.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdio>
#include <map>
#include <string>

namespace tessera {
namespace {

double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// Tests of configs are called "IsVerified/12_warp_tile__128x128x8".
class ConfigTime final : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override { begin_ = cpu_seconds(); }
  void OnTestEnd(const testing::TestInfo& test) override {
    const std::string name = test.name();
    const std::size_t slash = name.find('/');
    if (slash == std::string::npos || name.find("__", slash) == std::string::npos) return;
    const double spent = cpu_seconds() - begin_;
    of_config_[name.substr(slash + 1)] += spent;
    of_test_[test.test_suite_name() + std::string(".") + name.substr(0, slash)] += spent;
  }
  void OnTestProgramEnd(const testing::UnitTest&) override {
    for (const auto& [config, seconds] : of_config_) {
      std::printf("config %s: %.2f CPU-seconds\n", config.c_str(), seconds);
    }
    for (const auto& [test, seconds] : of_test_) {
      std::printf("all configs in %s: %.2f CPU-seconds\n", test.c_str(), seconds);
    }
  }

  double begin_ = 0;
  std::map<std::string, double> of_config_, of_test_;
};

[[maybe_unused]] const bool kIsListening = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new ConfigTime);
  return true;
}();

}  // namespace
}  // namespace tessera
