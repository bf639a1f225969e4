// A cuda device on the stand-in driver of tests/support, which logs its calls and fails as it is
// told to, and images whose code that driver takes or refuses.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>

#include "device/cuda/cuda_device.h"
#include "tests/support/beside.h"

namespace tessera {

inline const std::string kFakePath = fake_driver();
inline const char* const kFake = kFakePath.c_str();

inline std::span<const std::byte> bytes_of(const char* text) {
  return std::as_bytes(std::span(text, std::strlen(text)));
}

// The message of the StatusError that `action` throws; fails the test when none is thrown.
inline Status status_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const StatusError& error) {
    return error.status();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

#define EXPECT_CONTAINS(text, part) EXPECT_TRUE(contains(text, part)) << text

class CudaDeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kFake)) GTEST_SKIP() << "no stand-in driver at " << kFake;
    fake_ = dlopen(kFake, RTLD_NOW);
    ASSERT_NE(fake_, nullptr) << dlerror();
    for (const char* name : {"FAIL", "DRIVER", "SM", "MEMORY", "COUNT"}) clear(name);
    fake<void()>("fake_cuda_clear")();
    fake<void()>("fake_cuda_leave_contexts")();
  }
  void TearDown() override {
    for (const char* name : {"FAIL", "DRIVER", "SM", "MEMORY", "COUNT"}) clear(name);
    if (!fake_) return;
    fake<void(int, int)>("fake_cuda_fail_at")(0, 0);
    dlclose(fake_);
  }
  // A call of the stand-in that a driver does not have.
  template <class Call>
  Call* fake(const char* name) const {
    return reinterpret_cast<Call*>(dlsym(fake_, name));
  }
  static void set(const std::string& name, const std::string& value) {
    setenv(("FAKE_CUDA_" + name).c_str(), value.c_str(), 1);
  }
  static void clear(const std::string& name) { unsetenv(("FAKE_CUDA_" + name).c_str()); }
  std::string calls() const { return fake<const char*()>("fake_cuda_calls")(); }
  std::size_t allocated() const { return fake<std::size_t()>("fake_cuda_allocated")(); }
  // What was made and not given back.
  std::size_t live() const { return fake<std::size_t()>("fake_cuda_live")(); }
  // Sets the result of one call and makes the device; returns what is thrown.
  static Status failing_with(const std::string& failure) {
    set("FAIL", failure);
    return status_of([] { cuda::make_device(kFake); });
  }

  void* fake_ = nullptr;
};

inline CodeImage image(const char* cubin, std::string_view ptx, std::string_view portable) {
  return {"07_x", ptx, bytes_of(cubin), "sm_90a", portable, "compute_75"};
}

}  // namespace tessera
