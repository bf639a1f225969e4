// Operands in host memory on a machine with a GPU: the faster side multiplies, the GPU is not used
// before it is that side, and the handle keeps what a call needs.
#include <vector>

#include "tests/library/library.h"

namespace {

class Side : public Library {
 protected:
  static tessera_problem square(std::int64_t size, std::int32_t type = TESSERA_F32) {
    tessera_problem p = {.size = sizeof p, .m = size, .n = size, .k = size, .type_a = type};
    p.memory = TESSERA_HOST_MEMORY;
    return p;
  }
  static std::string text_of(tessera_handle handle, const tessera_problem& problem) {
    char text[4096];
    EXPECT_EQ(tessera_explain_text(handle, &problem, nullptr, text, sizeof text, nullptr),
              TESSERA_OK)
        << tessera_last_message();
    return text;
  }
  tessera_status call(tessera_handle handle, const tessera_problem& p, std::vector<float>& x,
                      std::vector<float>& d) {
    return tessera_gemm(handle, &p, 1, x.data(), x.data(), 0, nullptr, d.data(), nullptr);
  }
};

TEST_F(Side, TheCpuTakesSmallProblemsWithoutAContext) {
  fake<void()>("fake_cuda_clear")();
  const tessera_handle handle = made(TESSERA_ANY_PLACE, 0, TESSERA_FASTER_SIDE);
  const tessera_problem p = square(3);
  std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8, 9}, d(9);
  ASSERT_EQ(call(handle, p, x, d), TESSERA_OK) << tessera_last_message();
  EXPECT_EQ(d, (std::vector<float>{30, 36, 42, 66, 81, 96, 102, 126, 150}));
  EXPECT_TRUE(says(text_of(handle, p), "side: the CPU: by the model the CPU takes "))
      << text_of(handle, p);
  for (const char* name : {"Ctx", "cuMem", "cuStream", "cuEvent", "cuLaunch"}) {
    EXPECT_FALSE(says(calls(), name)) << calls();
  }
  EXPECT_EQ(tessera_destroy(handle), TESSERA_OK);
}

TEST_F(Side, TheGpuTakesLargeProblems) {
  const tessera_handle handle = made(TESSERA_ANY_PLACE, 0, TESSERA_FASTER_SIDE);
  const tessera_problem p = square(1500);
  std::vector<float> x(1500 * 1500), d(1500 * 1500);
  ASSERT_EQ(call(handle, p, x, d), TESSERA_OK) << tessera_last_message();
  EXPECT_TRUE(launched());
  EXPECT_TRUE(says(text_of(handle, p), "side: the GPU: by the model")) << text_of(handle, p);
  EXPECT_EQ(tessera_destroy(handle), TESSERA_OK);
}

// The model is of the problem: the CPU takes the smallest, the GPU the largest, and between them
// there is one size at which the side changes.
TEST_F(Side, ChangesOnceWithTheSize) {
  for (const std::int32_t type : {TESSERA_F32, TESSERA_F64, TESSERA_BF16}) {
    const tessera_handle handle = made(0, 0, TESSERA_FASTER_SIDE);
    int changes = 0;
    std::int32_t last = TESSERA_ON_CPU;
    for (std::int64_t size = 1; size <= 8192; size += 1 + size / 8) {
      const tessera_problem p = square(size, type);
      tessera_explanation why = {.size = sizeof why};
      ASSERT_EQ(tessera_explain(handle, &p, nullptr, &why, nullptr, 0), TESSERA_OK);
      changes += why.where != last;
      last = why.where;
    }
    EXPECT_EQ(changes, 1) << type;
    EXPECT_EQ(last, TESSERA_ON_GPU_BY_PANELS);
    EXPECT_EQ(tessera_destroy(handle), TESSERA_OK);
  }
}

TEST_F(Side, TheCallerMayChoose) {
  std::vector<float> x = {1, 2, 3, 4}, d(4);
  const tessera_problem p = square(2);
  EXPECT_EQ(call(handle_, p, x, d), TESSERA_OK);
  EXPECT_TRUE(launched());
  EXPECT_TRUE(says(text_of(handle_, p), "side: the GPU, as the handle asks"));
  fake<void()>("fake_cuda_clear")();
  const tessera_handle cpu = made(0, 0, TESSERA_CPU_SIDE);
  tessera_problem large = square(1500);
  std::vector<float> y(1500 * 1500), e(1500 * 1500);
  EXPECT_EQ(call(cpu, large, y, e), TESSERA_OK);
  EXPECT_FALSE(launched());
  EXPECT_TRUE(says(text_of(cpu, large), "side: the CPU, as the handle asks"));
  EXPECT_EQ(tessera_destroy(cpu), TESSERA_OK);
}

// Types without a kernel are multiplied on the CPU also where there is a GPU.
TEST_F(Side, TheCpuTakesTypesThatTheGpuLacks) {
  const tessera_handle any = made(TESSERA_ANY_PLACE, 0, TESSERA_FASTER_SIDE);
  const tessera_problem p = square(2, TESSERA_S8);  // D too: GPUs write their sums alone
  const std::int8_t x[] = {1, 2, 3, 4};
  std::int8_t d[4] = {};
  ASSERT_EQ(tessera_gemm(any, &p, 1, x, x, 0, nullptr, d, nullptr), TESSERA_OK)
      << tessera_last_message();
  EXPECT_EQ(d[0], 7);
  EXPECT_TRUE(says(text_of(any, p), "side: the CPU, because no kernel multiplies s8"))
      << text_of(any, p);
  EXPECT_EQ(tessera_gemm(handle_, &p, 1, x, x, 0, nullptr, d, nullptr), TESSERA_UNSUPPORTED);
  EXPECT_EQ(tessera_destroy(any), TESSERA_OK);
}

// The GPU of a handle for any place turns out to be unusable.
TEST_F(Side, AnyPlaceHasTheCpuWhereNoContextCanBeMade) {
  setenv("FAKE_CUDA_FAIL", "cuDevicePrimaryCtxRetain=101", 1);
  std::vector<float> x(600 * 600, 1), d(600 * 600);
  const tessera_problem p = square(600);
  const tessera_handle any = made(TESSERA_ANY_PLACE, 0, TESSERA_FASTER_SIDE);
  EXPECT_EQ(call(any, p, x, d), TESSERA_OK) << tessera_last_message();
  EXPECT_EQ(d[5], 600);
  unsetenv("FAKE_CUDA_FAIL");
  EXPECT_EQ(call(any, p, x, d), TESSERA_OK) << "the next call tries again";
  EXPECT_TRUE(launched());
  EXPECT_EQ(tessera_destroy(any), TESSERA_OK);
}

// A second call makes nothing: no memory, stream or event, and it waits for its own work alone.
TEST_F(Side, AWarmCallMakesNothing) {
  for (const std::int64_t size : {40, 1200}) {
    const tessera_problem p = square(size);
    std::vector<float> x(static_cast<std::size_t>(size * size)), d(x.size());
    ASSERT_EQ(call(handle_, p, x, d), TESSERA_OK) << tessera_last_message();
    fake<void()>("fake_cuda_clear")();
    ASSERT_EQ(call(handle_, p, x, d), TESSERA_OK);
    EXPECT_TRUE(launched());
    for (const char* name : {"cuMemAlloc", "cuMemHostAlloc", "cuMemFree", "Create", "Destroy",
                             "cuModule", "cuTensorMapEncode"}) {
      EXPECT_FALSE(says(calls(), name)) << size << "\n" << calls();
    }
  }
}

// As one product the batch would not fit the GPU; one product after the other does.
TEST_F(Side, ABatchIsFoldedOnlyWhereTheGpuHasRoom) {
  setenv("FAKE_CUDA_MEMORY", "4000000", 1);
  const tessera_handle handle = made();
  tessera_problem p = square(300);
  p.order = TESSERA_ROW_MAJOR;
  p.batch = TESSERA_STRIDED;
  p.batch_count = 6;
  p.stride_a = p.stride_d = 300 * 300;
  std::vector<float> x(6 * 300 * 300), d(6 * 300 * 300);
  fake<void()>("fake_cuda_clear")();
  EXPECT_EQ(call(handle, p, x, d), TESSERA_OK) << tessera_last_message();
  EXPECT_TRUE(launched());
  EXPECT_EQ(tessera_destroy(handle), TESSERA_OK);
}

TEST_F(Side, TheCallersContextStaysCurrent) {
  void* const context = fake<void*(int, int)>("fake_cuda_make_context")(0, 1);
  const tessera_handle any = made(TESSERA_ANY_PLACE, 0, TESSERA_FASTER_SIDE);
  std::vector<float> x(600 * 600), d(600 * 600);
  EXPECT_EQ(call(any, square(600), x, d), TESSERA_OK) << tessera_last_message();
  EXPECT_TRUE(launched());
  EXPECT_EQ(fake<void*()>("fake_cuda_current")(), context);
  EXPECT_EQ(tessera_destroy(any), TESSERA_OK);
  fake<void()>("fake_cuda_leave_contexts")();
}

TEST_F(Side, DetectedMemoryIsTheHostsWhereNoContextCanBeMade) {
  setenv("FAKE_CUDA_FAIL", "cuDevicePrimaryCtxRetain=101", 1);
  const tessera_handle any = made(TESSERA_ANY_PLACE, 0, TESSERA_FASTER_SIDE);
  tessera_problem p = square(2);
  p.memory = TESSERA_DETECT_MEMORY;
  std::vector<float> x = {1, 2, 3, 4}, d(4);
  EXPECT_EQ(call(any, p, x, d), TESSERA_OK) << tessera_last_message();
  EXPECT_EQ(d, (std::vector<float>{7, 10, 15, 22}));
  EXPECT_EQ(tessera_destroy(any), TESSERA_OK);
}

// Large operands are the program's memory again after the call, and the next call finds room for
// its own.
TEST_F(Side, LargeOperandsAreNotKept) {
  const auto allocated = fake<std::size_t()>("fake_cuda_allocated");
  const std::size_t before = allocated();
  tessera_problem p = square(8);
  p.m = 36'000'000;
  p.k = p.n = 1;
  std::vector<double> x(static_cast<std::size_t>(p.m), 1), d(x.size());
  p.type_a = TESSERA_F64;
  ASSERT_EQ(tessera_gemm(handle_, &p, 1, x.data(), x.data(), 0, nullptr, d.data(), nullptr),
            TESSERA_OK)
      << tessera_last_message();
  EXPECT_LT(allocated(), before + (1u << 20));
}

// The epilogue of such a D is no launch's: the CPU applies it at any size.
TEST_F(Side, TheCpuTakesEpiloguesThatTheGpuLacks) {
  const tessera_handle any = made(TESSERA_ANY_PLACE, 0, TESSERA_FASTER_SIDE);
  tessera_problem p = square(900, TESSERA_BF16);
  p.type_c = p.type_d = TESSERA_F64;
  p.activation = TESSERA_RELU;
  std::vector<std::uint16_t> x(900 * 900);
  std::vector<double> d(900 * 900, 7);
  EXPECT_EQ(tessera_gemm(any, &p, 1, x.data(), x.data(), 0, nullptr, d.data(), nullptr), TESSERA_OK)
      << tessera_last_message();
  EXPECT_EQ(d[3], 0);
  EXPECT_FALSE(launched());
  EXPECT_EQ(tessera_destroy(any), TESSERA_OK);
}

}  // namespace
