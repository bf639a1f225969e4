// Adds up what each config of each kernel costs in all tests of this program, in CPU-seconds, and
// prints it at the end: tools/ci/test_report compares the sum of all shards with tests/limits.txt.
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
    of_config_[name.substr(slash + 1)] += cpu_seconds() - begin_;
  }
  void OnTestProgramEnd(const testing::UnitTest&) override {
    for (const auto& [config, seconds] : of_config_) {
      std::printf("config %s: %.2f CPU-seconds\n", config.c_str(), seconds);
    }
  }

  double begin_ = 0;
  std::map<std::string, double> of_config_;
};

[[maybe_unused]] const bool kIsListening = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new ConfigTime);
  return true;
}();

}  // namespace
}  // namespace tessera
