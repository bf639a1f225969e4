// A user's program with the stand-in driver: a handle, a problem, and addresses of operands.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>

#include "tessera/gemm.h"
#include "tests/support/beside.h"

inline bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline void* address(std::uint64_t value) { return reinterpret_cast<void*>(value); }

class Library : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(tessera::fake_driver())) GTEST_SKIP() << "no stand-in driver";
    fake_ = dlopen(tessera::fake_driver().c_str(), RTLD_NOW);
    ASSERT_NE(fake_, nullptr);
    setenv("FAKE_CUDA_ACCEPT", "1", 1);
    setenv("TESSERA_TUNING", "off", 1);  // of the user that runs the tests
    unsetenv("TESSERA_FP32");
    setenv("FAKE_CUDA_MEMORY", "100000000000", 1);
    for (const char* name : {"FAIL", "COUNT"}) unsetenv(("FAKE_CUDA_" + std::string(name)).c_str());
    fake<void()>("fake_cuda_leave_contexts")();
    fake<void()>("fake_cuda_clear")();
    handle_ = made();
    ASSERT_NE(handle_, nullptr) << tessera_last_message();
  }
  void TearDown() override {
    if (!fake_) return;
    unsetenv("FAKE_CUDA_FAIL");
    EXPECT_EQ(tessera_destroy(handle_), TESSERA_OK);
    EXPECT_EQ(fake<std::size_t()>("fake_cuda_live")(), 0u) << "something is left";
  }
  // A handle on GPU 0, or on another place; null with a message. WHY the side of the GPU: what the
  // stand-in driver is given is of interest.
  static tessera_handle made(std::int32_t gpu = 0, std::int32_t check_addresses = 0,
                             std::int32_t host_side = TESSERA_GPU_SIDE) {
    tessera_handle handle = nullptr;
    const tessera_place place = {.size = sizeof place,
                                 .gpu = gpu,
                                 .check_addresses = check_addresses,
                                 .host_side = host_side};
    tessera_create(&handle, &place);
    return handle;
  }
  template <class Call>
  Call* fake(const char* name) const {
    return reinterpret_cast<Call*>(dlsym(fake_, name));
  }
  std::string calls() const { return fake<const char*()>("fake_cuda_calls")(); }
  bool launched() const { return says(calls(), "cuLaunchKernel"); }

  tessera_status multiply(const tessera_problem& problem, double alpha = 1, double beta = 0) const {
    return tessera_gemm(handle_, &problem, alpha, a_, b_, beta, c_, d_, nullptr);
  }
  // The problem with a change is refused so, and nothing is launched.
  void refused(tessera_status status, const std::string& words,
               const std::function<void(tessera_problem&)>& change) {
    tessera_problem problem = problem_;
    change(problem);
    EXPECT_EQ(multiply(problem), status) << words;
    EXPECT_TRUE(says(tessera_last_message(), words)) << tessera_last_message();
    tessera_plan plan = nullptr;
    EXPECT_EQ(tessera_plan_create(&plan, handle_, &problem, nullptr), status) << words;
    EXPECT_EQ(plan, nullptr);
    EXPECT_EQ(tessera_explain_text(handle_, &problem, nullptr, nullptr, 0, nullptr), status)
        << words;
    EXPECT_FALSE(launched());
  }

  tessera_arguments arguments(double alpha = 1, double beta = 0) const {
    return {.size = sizeof(tessera_arguments),
            .alpha = alpha,
            .beta = beta,
            .a = a_,
            .b = b_,
            .c = c_,
            .d = d_};
  }
  // What the last call said.
  static void expect_said(const std::string& words) {
    EXPECT_TRUE(says(tessera_last_message(), words)) << tessera_last_message();
  }

  void* fake_ = nullptr;
  tessera_handle handle_ = nullptr;
  const tessera_problem problem_ = {
      .size = sizeof problem_, .m = 300, .n = 200, .k = 100, .type_a = TESSERA_F32};
  void* a_ = address(std::uint64_t{1} << 40);
  void* b_ = address(std::uint64_t{2} << 40);
  void* c_ = address(std::uint64_t{3} << 40);
  void* d_ = address(std::uint64_t{4} << 40);
};
