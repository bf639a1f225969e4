// Packed operands as a C program makes and uses them, with the stand-in driver.
#include <array>

#include "tessera/gemm.hpp"
#include "tests/library/library.h"

namespace {

class PackedOperands : public Library {
 protected:
  void SetUp() override {
    Library::SetUp();
    large_.compute = TESSERA_COMPUTE_F16X3;
    large_.m = large_.n = large_.k = 2048;
  }
  std::size_t bytes(const tessera_problem& problem, std::int32_t operand) const {
    std::size_t bytes = 77;
    EXPECT_EQ(tessera_packed_bytes(handle_, &problem, operand, &bytes), TESSERA_OK)
        << tessera_last_message();
    return bytes;
  }
  tessera_packed packed(const tessera_problem& problem, std::int32_t operand, const void* matrix) {
    tessera_packed made = nullptr;
    EXPECT_EQ(tessera_pack(&made, handle_, &problem, operand, matrix, memory_,
                           bytes(problem, operand), nullptr),
              TESSERA_OK)
        << tessera_last_message();
    return made;
  }
  std::size_t launches() const {
    const std::string all = calls();
    std::size_t count = 0;
    for (std::size_t at = all.find("cuLaunchKernel"); at != std::string::npos;
         at = all.find("cuLaunchKernel", at + 1)) {
      ++count;
    }
    return count;
  }
  void clear() const { fake<void()>("fake_cuda_clear")(); }

  tessera_problem large_ = problem_;
  void* memory_ = address(std::uint64_t{6} << 40);
};

TEST_F(PackedOperands, AreSplitOnceAndRead) {
  const tessera_packed of_b = packed(large_, TESSERA_B, b_);
  EXPECT_EQ(launches(), 1u);
  clear();
  ASSERT_EQ(multiply(large_), TESSERA_OK) << tessera_last_message();
  EXPECT_EQ(launches(), 2u);
  tessera_arguments in = arguments();
  in.packed_b = of_b;
  clear();
  ASSERT_EQ(tessera_gemm_with(handle_, &large_, nullptr, &in), TESSERA_OK)
      << tessera_last_message();
  EXPECT_EQ(launches(), 2u) << "A is split in each call";
  // The same shape on the left: both are read.
  in.packed_a = of_b;
  clear();
  ASSERT_EQ(tessera_gemm_with(handle_, &large_, nullptr, &in), TESSERA_OK)
      << tessera_last_message();
  EXPECT_EQ(launches(), 1u);
  // A plan says beforehand what its runs are given.
  const tessera_plan_options options = {.size = sizeof options, .packed = TESSERA_B};
  std::array<std::size_t, 2> needed{};
  tessera_plan plan = nullptr;
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(tessera_plan_create(&plan, handle_, &large_, i == 0 ? nullptr : &options),
              TESSERA_OK);
    ASSERT_EQ(tessera_plan_workspace(plan, &needed[i]), TESSERA_OK);
    in.workspace = address(std::uint64_t{7} << 40);
    in.workspace_bytes = needed[i];
    in.packed_a = nullptr;
    in.packed_b = i == 0 ? of_b : nullptr;
    EXPECT_EQ(tessera_plan_run(plan, &in), TESSERA_BAD_ARGUMENT);
    expect_said(i == 0 ? "packed_b is given" : "packed_b is null");
    in.packed_b = i == 0 ? nullptr : of_b;
    EXPECT_EQ(tessera_plan_run(plan, &in), TESSERA_OK) << tessera_last_message();
    EXPECT_EQ(tessera_plan_destroy(plan), TESSERA_OK);
  }
  EXPECT_LT(needed[1], 0.6 * static_cast<double>(needed[0]));
  EXPECT_EQ(tessera_packed_destroy(of_b), TESSERA_OK);
  EXPECT_EQ(tessera_packed_destroy(nullptr), TESSERA_OK);
}

TEST_F(PackedOperands, InCpp) {
  const tessera::Handle handle(0);
  const auto at = [](void* address) { return static_cast<float*>(address); };
  const auto a = tessera::column_major(at(a_), 2048, 2048),
             b = tessera::column_major(at(b_), 2048, 2048);
  const auto d = tessera::column_major(at(d_), 2048, 2048);
  tessera::Settings settings{.compute = TESSERA_COMPUTE_F16X3};
  const tessera_problem problem = tessera::problem_of(a, b, d, d, settings);
  const std::size_t bytes = tessera::packed_bytes(handle, problem, TESSERA_B);
  tessera::Packed first(handle, problem, TESSERA_B, b_, memory_, bytes);
  const tessera::Packed packed = std::move(first);
  EXPECT_EQ(first.get(), nullptr);  // NOLINT: moved from
  clear();
  settings.packed_a = settings.packed_b = packed.get();
  handle.matmul(a, b, d, settings);
  EXPECT_EQ(launches(), 1u);
  EXPECT_THROW(tessera::Packed(handle, problem, TESSERA_B, b_, memory_, bytes - 1), tessera::Error);
}

TEST_F(PackedOperands, OfAnotherShapeTypeOrLifeAreRefused) {
  const tessera_packed of_b = packed(large_, TESSERA_B, b_);
  clear();
  tessera_arguments in = arguments();
  in.packed_b = of_b;
  const auto refuses = [&](const char* words, const tessera_problem& problem) {
    EXPECT_EQ(tessera_gemm_with(handle_, &problem, nullptr, &in), TESSERA_BAD_ARGUMENT) << words;
    expect_said(words);
    EXPECT_FALSE(launched());
  };
  tessera_problem other = large_;
  other.n = 2047;
  refuses("packed_b was packed for n 2048, but the problem's is 2047", other);
  other = large_;
  other.k = 1024;
  refuses("for k 2048, but the problem's is 1024", other);
  other = large_;
  other.compute = TESSERA_COMPUTE_F32;
  refuses("packed_b was packed for type", other);
  other = large_;
  other.memory = TESSERA_HOST_MEMORY;
  refuses("packed_b is given, but operands in host memory", other);
  other = large_;
  other.batch = TESSERA_STRIDED;
  other.batch_count = 2;
  other.stride_a = other.stride_b = other.stride_c = other.stride_d = 2048 * 2048;
  refuses("a packed operand must be the same for all products", other);
  in.d = memory_;
  refuses("overlaps D", large_);
  in.d = d_;
  EXPECT_EQ(tessera_packed_destroy(of_b), TESSERA_OK);
  refuses("packed_b is none that was made", large_);
  EXPECT_EQ(tessera_packed_destroy(of_b), TESSERA_BAD_ARGUMENT);
}

TEST_F(PackedOperands, AddressesAreCheckedWhereAsked) {
  const tessera_handle checked = made(0, 1);
  const std::size_t enough = bytes(large_, TESSERA_B);
  tessera_packed made_of_nothing = nullptr;
  EXPECT_EQ(
      tessera_pack(&made_of_nothing, checked, &large_, TESSERA_B, b_, memory_, enough, nullptr),
      TESSERA_BAD_ARGUMENT);
  expect_said("address of matrix is");
  EXPECT_FALSE(launched());
  const tessera_packed unchecked = packed(large_, TESSERA_B, b_);
  clear();
  tessera_arguments in = arguments();
  in.packed_b = unchecked;
  EXPECT_EQ(tessera_gemm_with(checked, &large_, nullptr, &in), TESSERA_BAD_ARGUMENT);
  expect_said("address of packed_b is");
  EXPECT_FALSE(launched());
  EXPECT_EQ(tessera_packed_destroy(unchecked), TESSERA_OK);
  EXPECT_EQ(tessera_destroy(checked), TESSERA_OK);
}

TEST_F(PackedOperands, WhatCannotBePackedIsRefused) {
  const auto refuses = [&](const char* words, const tessera_problem& problem, std::int32_t operand,
                           const void* matrix, void* memory, std::size_t bytes,
                           tessera_status status = TESSERA_BAD_ARGUMENT) {
    tessera_packed made = reinterpret_cast<tessera_packed>(this);
    EXPECT_EQ(tessera_pack(&made, handle_, &problem, operand, matrix, memory, bytes, nullptr),
              status)
        << words;
    EXPECT_EQ(made, nullptr);
    expect_said(words);
    EXPECT_FALSE(launched());
  };
  const std::size_t enough = bytes(large_, TESSERA_B);
  EXPECT_EQ(tessera_pack(nullptr, handle_, &large_, TESSERA_B, b_, memory_, enough, nullptr),
            TESSERA_BAD_ARGUMENT);
  refuses("operand is 3, but must be 1 to 2", large_, 3, b_, memory_, enough);
  refuses("operand is 0", large_, 0, b_, memory_, enough);
  refuses("matrix is null", large_, TESSERA_B, nullptr, memory_, enough);
  refuses("memory is null", large_, TESSERA_B, b_, nullptr, enough);
  refuses("bytes is", large_, TESSERA_B, b_, memory_, enough - 1);
  refuses("matrix is at", large_, TESSERA_B, address((std::uint64_t{2} << 40) + 2), memory_,
          enough);
  refuses("memory is at", large_, TESSERA_B, b_, address((std::uint64_t{6} << 40) + 128), enough);
  refuses("overlaps the matrix", large_, TESSERA_B, b_, b_, enough);
  tessera_problem other = large_;
  other.compute = TESSERA_COMPUTE_F32;
  refuses("read operands as they are", other, TESSERA_B, b_, memory_, enough, TESSERA_UNSUPPORTED);
  other = large_;
  other.memory = TESSERA_HOST_MEMORY;
  refuses("memory of a GPU", other, TESSERA_B, b_, memory_, enough);
  other = large_;
  other.ldb = 5;
  refuses("ldb is 5", other, TESSERA_B, b_, memory_, enough);
  other = large_;
  other.batch = TESSERA_STRIDED;
  other.batch_count = 2;
  other.stride_d = 2048 * 2048;
  refuses("an operand is packed for problems of one product", other, TESSERA_B, b_, memory_,
          enough);
}

}  // namespace
