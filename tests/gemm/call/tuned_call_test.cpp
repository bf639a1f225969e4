// The one-shot call takes what the user's overlay names.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "gemm/call/multiply.h"
#include "gemm/overlay/call_text.h"
#include "gemm/overlay/overlay_file.h"
#include "tests/support/late_device.h"
#include "tests/support/test_device.h"

namespace tessera::gemm {
namespace {

// The virtual GPU under a name that no other test has: a process reads an overlay once for a name.
class NamedDevice : public LateDevice {
 public:
  explicit NamedDevice(const std::string& name) : LateDevice(test_device(), 1) {
    info_ = test_device().info();
    info_.name = name;
  }
  const DeviceInfo& info() const override { return info_; }

 private:
  DeviceInfo info_;
};

TEST(TunedCall, TakesTheEntrysPlan) {
  std::string folder = (std::filesystem::temp_directory_path() / "tuned_call.XXXXXX").string();
  ASSERT_TRUE(mkdtemp(folder.data()));
  const char* const before = getenv("TESSERA_TUNING");
  const std::string old = before ? before : "";
  const std::string path = folder + "/overlay";
  setenv("TESSERA_TUNING", path.c_str(), 1);

  NamedDevice device("tuned call");
  const Problem problem = with_default_ld({128, 96, 64, kF32Types});
  const Plan by_model = plan(problem, {}, limits_of(device.info()));
  const std::string wanted = by_model.offers.back().name();
  ASSERT_NE(wanted, by_model.offers.front().name());
  Overlay overlay{path, {device.info().name, "", library_version()}, {}, {}};
  overlay.entries[key_of({problem, {}, kAnyWorkspace})] = {wanted, 8.1, 9.3};
  write_overlay(overlay);

  Handle handle(device);
  const auto prepared = handle.prepared(problem, {});
  EXPECT_EQ(prepared->plan().offers.front().name(), wanted);
  EXPECT_TRUE(prepared->plan().tuned.is_taken());
  EXPECT_EQ(handle.prepared(problem, {}), prepared) << "kept";

  before ? setenv("TESSERA_TUNING", old.c_str(), 1) : unsetenv("TESSERA_TUNING");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tessera::gemm
