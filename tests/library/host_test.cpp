// Operands in host memory: on the CPU all types against a sum in FP64; on a GPU the panels, whose
// bytes must come and go whatever the shape (the stand-in driver copies, but multiplies nothing).
#include <sys/mman.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "base/elements.h"
#include "base/types.h"
#include "tests/library/library.h"

namespace {

using tessera::ElementType;

// A matrix of the caller's, with an ld of its own and marks in the gaps.
struct Matrix {
  Matrix(ElementType of, std::int64_t rows, std::int64_t cols, bool is_col_major, std::int64_t gap)
      : type(of),
        ld((is_col_major ? rows : cols) + gap),
        bytes(static_cast<std::size_t>(ld * (is_col_major ? cols : rows) * size_of(of)), 0x5a),
        is_col(is_col_major) {}
  void* at(std::int64_t r, std::int64_t c) {
    return bytes.data() + (is_col ? r + c * ld : r * ld + c) * size_of(type);
  }
  double get(std::int64_t r, std::int64_t c) { return tessera::load_element(type, at(r, c)); }
  void set(std::int64_t r, std::int64_t c, double value) { store_element(type, value, at(r, c)); }

  ElementType type;
  std::int64_t ld;
  std::vector<unsigned char> bytes;
  bool is_col;
};

struct Case {
  std::int32_t type, type_c, type_d;
  ElementType element, element_c, element_d;
};

void multiply_and_compare(tessera_handle cpu, const Case& c, std::int64_t m, std::int64_t n,
                          std::int64_t k, int variant) {
  const bool col = variant & 1, ta = variant & 2, tb = variant & 4;
  const double alpha = variant & 8 ? 2 : 1, beta = variant & 16 ? -1 : 0;
  Matrix a(c.element, ta ? k : m, ta ? m : k, col, 3), b(c.element, tb ? n : k, tb ? k : n, col, 1);
  Matrix mc(c.element_c, m, n, col, 2), d(c.element_d, m, n, col, 5);
  std::mt19937 random(static_cast<unsigned>(variant + 97 * m));
  const auto number = [&] { return static_cast<double>(static_cast<int>(random() % 9) - 4); };
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t p = 0; p < k; ++p) ta ? a.set(p, i, number()) : a.set(i, p, number());
  }
  for (std::int64_t p = 0; p < k; ++p) {
    for (std::int64_t j = 0; j < n; ++j) tb ? b.set(j, p, number()) : b.set(p, j, number());
  }
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) mc.set(i, j, beta != 0 ? number() : std::nan(""));
  }
  tessera_problem problem = {.size = sizeof problem, .m = m, .n = n, .k = k, .type_a = c.type};
  problem.type_c = c.type_c;
  problem.type_d = c.type_d;
  problem.order = col ? TESSERA_COLUMN_MAJOR : TESSERA_ROW_MAJOR;
  problem.op_a = ta;
  problem.op_b = tb;
  problem.lda = a.ld;
  problem.ldb = b.ld;
  problem.ldc = mc.ld;
  problem.ldd = d.ld;
  problem.memory = TESSERA_HOST_MEMORY;
  Matrix expected = d;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t p = 0; p < k; ++p) {
        sum += (ta ? a.get(p, i) : a.get(i, p)) * (tb ? b.get(j, p) : b.get(p, j));
      }
      expected.set(i, j, alpha * sum + (beta != 0 ? beta * mc.get(i, j) : 0));
    }
  }
  ASSERT_EQ(tessera_gemm(cpu, &problem, alpha, a.bytes.data(), b.bytes.data(), beta,
                         mc.bytes.data(), d.bytes.data(), nullptr),
            TESSERA_OK)
      << tessera_last_message();
  EXPECT_EQ(d.bytes, expected.bytes) << m << "x" << n << "x" << k << " variant " << variant
                                     << " type " << c.type << ", gaps included";
}

TEST_F(Library, TheCpuMultipliesAllTypes) {
  const tessera_handle cpu = made(TESSERA_CPU);
  ASSERT_NE(cpu, nullptr) << tessera_last_message();
  using E = ElementType;
  const Case cases[] = {{TESSERA_F64, TESSERA_F64, TESSERA_F64, E::kF64, E::kF64, E::kF64},
                        {TESSERA_F32, TESSERA_F32, TESSERA_F32, E::kF32, E::kF32, E::kF32},
                        {TESSERA_F16, TESSERA_F16, TESSERA_F16, E::kF16, E::kF16, E::kF16},
                        {TESSERA_BF16, TESSERA_F32, TESSERA_F32, E::kBf16, E::kF32, E::kF32},
                        {TESSERA_BF16, TESSERA_BF16, TESSERA_BF16, E::kBf16, E::kBf16, E::kBf16},
                        {TESSERA_E4M3, TESSERA_BF16, TESSERA_BF16, E::kE4m3, E::kBf16, E::kBf16},
                        {TESSERA_E5M2, TESSERA_F32, TESSERA_F32, E::kE5m2, E::kF32, E::kF32},
                        {TESSERA_S8, TESSERA_S32, TESSERA_S32, E::kS8, E::kS32, E::kS32},
                        // OpenBLAS knows no such C.
                        {TESSERA_F32, TESSERA_BF16, TESSERA_F32, E::kF32, E::kBf16, E::kF32}};
  for (const Case& one : cases) {
    for (int variant = 0; variant < 32; ++variant) {
      multiply_and_compare(cpu, one, 7, 5, 9, variant);
    }
    multiply_and_compare(cpu, one, 530, 515, 40, 5);
    multiply_and_compare(cpu, one, 1, 3, 1100, 26);
    multiply_and_compare(cpu, one, 4, 4, 0, 17);
  }
  EXPECT_EQ(tessera_destroy(cpu), TESSERA_OK);
}

TEST_F(Library, TheCpuKeepsTheRulesOfZeros) {
  const tessera_handle cpu = made(TESSERA_CPU);
  for (const std::int32_t type : {TESSERA_F64, TESSERA_F32}) {
    for (const std::int32_t d_type : {type, std::int32_t{TESSERA_F32}}) {
      const ElementType e = type == TESSERA_F64 ? ElementType::kF64 : ElementType::kF32;
      const ElementType ed = d_type == TESSERA_F64 ? ElementType::kF64 : ElementType::kF32;
      Matrix a(e, 2, 2, true, 0), c(ed, 2, 2, true, 0), d(ed, 2, 2, true, 0);
      for (int i = 0; i < 4; ++i) {
        a.set(i % 2, i / 2, std::nan(""));
        c.set(i % 2, i / 2, 3);
      }
      tessera_problem p = {.size = sizeof p, .m = 2, .n = 2, .k = 2, .type_a = type};
      p.type_c = p.type_d = d_type;
      p.memory = TESSERA_HOST_MEMORY;
      EXPECT_EQ(
          tessera_gemm(cpu, &p, 0, nullptr, nullptr, 2, c.bytes.data(), d.bytes.data(), nullptr),
          TESSERA_OK)
          << tessera_last_message();
      EXPECT_EQ(d.get(1, 1), 6) << "A and B are not read where alpha is 0";
      tessera_problem empty = p;
      empty.k = 0;
      EXPECT_EQ(tessera_gemm(cpu, &empty, std::numeric_limits<double>::infinity(), nullptr, nullptr,
                             2, c.bytes.data(), d.bytes.data(), nullptr),
                TESSERA_OK);
      EXPECT_EQ(d.get(1, 1), 6) << "nor where k is 0, whatever alpha is";
      EXPECT_EQ(tessera_gemm(cpu, &p, 1, a.bytes.data(), a.bytes.data(), 0, nullptr, d.bytes.data(),
                             nullptr),
                TESSERA_OK);
      EXPECT_TRUE(std::isnan(d.get(0, 1)));
    }
  }
  EXPECT_EQ(tessera_destroy(cpu), TESSERA_OK);
}

// Small sizes, for which OpenBLAS has kernels that look at A and B whatever alpha is; and no memory
// where it would look.
TEST_F(Library, TheCpuReadsNeitherAnorBWhereAlphaIsZero) {
  const tessera_handle cpu = made(TESSERA_CPU);
  void* const nothing = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(nothing, MAP_FAILED);
  for (const std::int32_t type : {TESSERA_F64, TESSERA_F32, TESSERA_BF16}) {
    for (const std::int64_t size : {1, 3, 8, 17}) {
      for (int variant = 0; variant < 8; ++variant) {
        tessera_problem p = {.size = sizeof p, .m = size, .n = size, .k = size, .type_a = type};
        p.type_c = p.type_d = type == TESSERA_BF16 ? TESSERA_F32 : type;
        p.order = variant & 1;
        p.op_a = variant >> 1 & 1;
        p.op_b = variant >> 2;
        p.lda = p.ldb = 1 << 24;  // its second line is beyond any stack
        p.memory = TESSERA_HOST_MEMORY;
        std::vector<double> c(400, 3), d(400, std::nan(""));
        ASSERT_EQ(tessera_gemm(cpu, &p, 0, nothing, nothing, 0, nullptr, d.data(), nullptr),
                  TESSERA_OK)
            << tessera_last_message();
        const auto bytes = static_cast<std::size_t>(size * size) * (type == TESSERA_F64 ? 8 : 4);
        EXPECT_EQ(std::memcmp(d.data(), std::vector<char>(bytes).data(), bytes), 0) << size;
        ASSERT_EQ(tessera_gemm(cpu, &p, 0, nothing, nullptr, 1, c.data(), d.data(), nullptr),
                  TESSERA_OK);
        EXPECT_EQ(std::memcmp(d.data(), c.data(), bytes), 0) << size;
      }
    }
  }
  munmap(nothing, 4096);
  EXPECT_EQ(tessera_destroy(cpu), TESSERA_OK);
}

TEST_F(Library, BatchesOnTheCpu) {
  const tessera_handle cpu = made(TESSERA_CPU);
  const float a[] = {1, 2, 3}, b[] = {10, 100};
  float d[6] = {};
  tessera_problem p = {.size = sizeof p, .m = 1, .n = 1, .k = 1, .type_a = TESSERA_F32};
  p.memory = TESSERA_HOST_MEMORY;
  p.batch = TESSERA_STRIDED;
  p.batch_count = 3;
  p.stride_a = 1;
  p.stride_d = 2;
  ASSERT_EQ(tessera_gemm(cpu, &p, 1, a, b, 0, nullptr, d, nullptr), TESSERA_OK)
      << tessera_last_message();
  EXPECT_EQ(std::vector<float>(d, d + 6), (std::vector<float>{10, 0, 20, 0, 30, 0}));
  const void* list_a[] = {&a[2], &a[0]};
  const void* list_b[] = {&b[1], &b[0]};
  void* list_d[] = {&d[0], &d[5]};
  p.batch = TESSERA_POINTERS;
  p.batch_count = 2;
  p.batch_alignment = 4;
  p.stride_a = p.stride_d = 0;
  ASSERT_EQ(tessera_gemm(cpu, &p, 1, list_a, list_b, 0, nullptr, list_d, nullptr), TESSERA_OK)
      << tessera_last_message();
  EXPECT_EQ(d[0], 300);
  EXPECT_EQ(d[5], 10);
  void* const nothing = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_EQ(tessera_gemm(cpu, &p, 0, nothing, nothing, 0, nothing, list_d, nullptr), TESSERA_OK)
      << "lists of what is not read are not read";
  EXPECT_EQ(d[0], 0);
  munmap(nothing, 4096);
  list_a[1] = nullptr;
  EXPECT_EQ(tessera_gemm(cpu, &p, 1, list_a, list_b, 0, nullptr, list_d, nullptr),
            TESSERA_BAD_ARGUMENT);
  expect_said("product 1 of the batch: address of A is 0");
  p.batch = TESSERA_STRIDED;
  p.batch_alignment = 0;
  p.stride_d = std::int64_t{1} << 62;
  p.batch_count = 1000;
  EXPECT_EQ(tessera_gemm(cpu, &p, 1, a, b, 0, nullptr, d, nullptr), TESSERA_BAD_ARGUMENT)
      << "beyond the address space";
  EXPECT_EQ(tessera_destroy(cpu), TESSERA_OK);
}

TEST_F(Library, TheCpuRefusesWhatItCannotDo) {
  const tessera_handle cpu = made(TESSERA_CPU);
  std::vector<float> x(4);
  const auto call = [&](const tessera_problem& p, void* d) {
    return tessera_gemm(cpu, &p, 1, x.data(), x.data(), 0, nullptr, d, nullptr);
  };
  std::vector<float> d(4, 7);
  tessera_problem p = {.size = sizeof p, .m = 2, .n = 2, .k = 2, .type_a = TESSERA_F32};
  EXPECT_EQ(call(p, d.data()), TESSERA_BAD_ARGUMENT);
  expect_said("memory is TESSERA_DEVICE_MEMORY (0), but the handle is for the CPU");
  p.memory = TESSERA_HOST_MEMORY;
  EXPECT_EQ(call(p, x.data()), TESSERA_BAD_ARGUMENT);
  expect_said("D shares an element with A");
  EXPECT_EQ(call(p, nullptr), TESSERA_BAD_ARGUMENT);
  expect_said("address of D is 0");
  EXPECT_EQ(call(p, reinterpret_cast<char*>(d.data()) + 1), TESSERA_BAD_ARGUMENT);
  expect_said("must be a multiple of its element's bytes, 4");
  p.compute = TESSERA_COMPUTE_F16;
  EXPECT_EQ(call(p, d.data()), TESSERA_UNSUPPORTED);
  expect_said("compute is f16");
  tessera_plan none = nullptr;
  EXPECT_EQ(tessera_plan_create(&none, cpu, &p, nullptr), TESSERA_UNSUPPORTED);
  expect_said("compute is f16");
  EXPECT_EQ(d, std::vector<float>(4, 7)) << "outputs are untouched";
  p.compute = 0;
  p.memory = TESSERA_DETECT_MEMORY;
  EXPECT_EQ(call(p, d.data()), TESSERA_OK) << "a CPU's memory is the host's";
  tessera_explanation why = {.size = sizeof why};
  ASSERT_EQ(tessera_explain(cpu, &p, nullptr, &why, nullptr, 0), TESSERA_OK);
  EXPECT_EQ(why.where, TESSERA_ON_CPU);
  EXPECT_TRUE(says(why.kernel, "OpenBLAS")) << why.kernel;
  tessera_plan plan = nullptr;
  ASSERT_EQ(tessera_plan_create(&plan, cpu, &p, nullptr), TESSERA_OK);
  std::size_t bytes = 7;
  EXPECT_EQ(tessera_plan_workspace(plan, &bytes), TESSERA_OK);
  EXPECT_EQ(bytes, 0u);
  x = {1, 2, 3, 4};
  tessera_arguments in = {
      .size = sizeof in, .alpha = 1, .a = x.data(), .b = x.data(), .d = d.data()};
  EXPECT_EQ(tessera_plan_run(plan, &in), TESSERA_OK);
  EXPECT_EQ(d, (std::vector<float>{7, 10, 15, 22}));
  EXPECT_EQ(tessera_plan_destroy(plan), TESSERA_OK);
  EXPECT_EQ(tessera_destroy(cpu), TESSERA_OK);
}

// The stand-in multiplies nothing, so D comes back as C was: every byte of C went to the GPU, and
// every byte of D came from there, through panels of every shape; and the gaps are left alone.
TEST_F(Library, PanelsCarryEveryElement) {
  struct Shape {
    std::int64_t m, n, k;
  };
  for (const Shape& s : {Shape{5, 7, 3},
                         {2500, 3, 2},
                         {3, 2600, 1},
                         {2100, 2050, 4},
                         {1, 1, 9},
                         {3, 20000, 1},
                         {20000, 2, 1},
                         {600, 9000, 1}}) {
    for (const bool col : {true, false}) {
      Matrix a(ElementType::kF64, s.m, s.k, col, 1), b(ElementType::kF64, s.k, s.n, col, 0);
      Matrix c(ElementType::kF64, s.m, s.n, col, 3), d(ElementType::kF64, s.m, s.n, col, 2);
      for (std::int64_t i = 0; i < s.m; ++i) {
        for (std::int64_t j = 0; j < s.n; ++j) c.set(i, j, static_cast<double>(i * 37 + j));
      }
      Matrix expected = d;
      for (std::int64_t i = 0; i < s.m; ++i) {
        for (std::int64_t j = 0; j < s.n; ++j) expected.set(i, j, c.get(i, j));
      }
      tessera_problem p = {.size = sizeof p, .m = s.m, .n = s.n, .k = s.k, .type_a = TESSERA_F64};
      p.order = col ? TESSERA_COLUMN_MAJOR : TESSERA_ROW_MAJOR;
      p.lda = a.ld;
      p.ldb = b.ld;
      p.ldc = c.ld;
      p.ldd = d.ld;
      p.memory = s.m == 5 ? TESSERA_DETECT_MEMORY : TESSERA_HOST_MEMORY;
      fake<void()>("fake_cuda_clear")();
      ASSERT_EQ(tessera_gemm(handle_, &p, 1, a.bytes.data(), b.bytes.data(), 1, c.bytes.data(),
                             d.bytes.data(), nullptr),
                TESSERA_OK)
          << tessera_last_message();
      EXPECT_TRUE(launched());
      EXPECT_FALSE(says(calls(), "of no event")) << "a stream waits for nothing";
      EXPECT_EQ(d.bytes, expected.bytes) << s.m << "x" << s.n << (col ? " col" : " row");
    }
  }
}

// Memory that is pinned already is copied from and to as it is: no buffer is made for it.
TEST_F(Library, PinnedMemoryNeedsNoBuffers) {
  void* all = nullptr;
  const auto pin = fake<int(void**, std::size_t, unsigned)>("cuMemHostAlloc");
  constexpr int kSide = 700, kCount = kSide * kSide;  // too large to be packed
  ASSERT_EQ(pin(&all, std::size_t{4} * kCount * 4, 0), 0);
  float* const x = static_cast<float*>(all);
  for (int i = 0; i < kCount; ++i) x[2 * kCount + i] = static_cast<float>(i);
  tessera_problem p = {.size = sizeof p, .m = kSide, .n = kSide, .k = kSide, .type_a = TESSERA_F32};
  p.memory = TESSERA_HOST_MEMORY;
  fake<void()>("fake_cuda_clear")();
  ASSERT_EQ(tessera_gemm(handle_, &p, 1, x, x + kCount, 1, x + 2 * kCount, x + 3 * kCount, nullptr),
            TESSERA_OK)
      << tessera_last_message();
  EXPECT_FALSE(says(calls(), "cuMemHostAlloc")) << calls();
  EXPECT_EQ(x[4 * kCount - 1], kCount - 1) << "C came through";
  std::vector<float> c(kCount, 5);
  ASSERT_EQ(tessera_gemm(handle_, &p, 1, x, x + kCount, 1, c.data(), x + 3 * kCount, nullptr),
            TESSERA_OK);
  EXPECT_TRUE(says(calls(), "cuMemHostAlloc")) << "C is not pinned";
  EXPECT_EQ(x[4 * kCount - 1], 5);
  EXPECT_EQ(fake<int(void*)>("cuMemFreeHost")(all), 0);
}

TEST_F(Library, PanelsThatDoNotFitAreRefusedByName) {
  setenv("FAKE_CUDA_MEMORY", "1000000", 1);
  const tessera_handle small = made();
  std::vector<float> x(1 << 20);
  tessera_problem p = {.size = sizeof p, .m = 1024, .n = 1024, .k = 16, .type_a = TESSERA_F32};
  p.memory = TESSERA_HOST_MEMORY;
  std::vector<float> d(1 << 20, 3);
  EXPECT_EQ(tessera_gemm(small, &p, 1, x.data(), x.data(), 0, nullptr, d.data(), nullptr),
            TESSERA_UNSUPPORTED);
  expect_said("problems larger than device memory come later");
  p.m = p.n = 300;
  setenv("FAKE_CUDA_FAIL", "cuMemHostAlloc=2", 1);
  EXPECT_EQ(tessera_gemm(small, &p, 1, x.data(), x.data(), 0, nullptr, d.data(), nullptr),
            TESSERA_OUT_OF_MEMORY);
  expect_said("pinned bytes asked");
  EXPECT_EQ(d, std::vector<float>(1 << 20, 3)) << "outputs are untouched";
  unsetenv("FAKE_CUDA_FAIL");
  EXPECT_EQ(tessera_destroy(small), TESSERA_OK);
}

TEST_F(Library, DetectedMemoriesMustAgree) {
  std::uint64_t on_gpu = 0;
  ASSERT_EQ(fake<int(std::uint64_t*, std::size_t)>("cuMemAlloc_v2")(&on_gpu, 240000), 0);
  std::vector<float> x(30000);
  tessera_problem p = problem_;
  p.memory = TESSERA_DETECT_MEMORY;
  EXPECT_EQ(
      tessera_gemm(handle_, &p, 1, address(on_gpu), x.data(), 0, nullptr, address(on_gpu), nullptr),
      TESSERA_BAD_ARGUMENT);
  expect_said("but A is in device memory, and all must be in the same");
  EXPECT_FALSE(launched());
  EXPECT_EQ(fake<int(std::uint64_t)>("cuMemFree_v2")(on_gpu), 0);
}

// Every call of the driver in turn fails: a status, nothing left, nothing on its way from or to the
// caller's memory, and the handle works again.
TEST_F(Library, EveryCallOfTheDriverMayFail) {
  setenv("FAKE_CUDA_LAZY", "1", 1);
  std::vector<float> x(4096, 1), d(4096);
  tessera_problem p = {.size = sizeof p, .m = 64, .n = 64, .k = 64, .type_a = TESSERA_F32};
  p.memory = TESSERA_HOST_MEMORY;
  const auto fail_at = fake<void(int, int)>("fake_cuda_fail_at");
  for (const int result : {2, 999, 719}) {
    bool is_over = false;
    for (int call = 1; !is_over; ++call) {
      ASSERT_LT(call, 1000);
      const std::size_t live = fake<std::size_t()>("fake_cuda_live")();
      fail_at(call, result);
      const tessera_handle handle = made();
      tessera_status status = TESSERA_OK;
      if (handle) {
        status = tessera_gemm(handle, &p, 1, x.data(), x.data(), 0, nullptr, d.data(), nullptr);
      }
      is_over = fake<int()>("fake_cuda_calls_made")() < call;
      EXPECT_EQ(fake<std::size_t()>("fake_cuda_pending")(), 0u) << "call " << call;
      const bool failed = !handle || status != TESSERA_OK;
      EXPECT_TRUE(!failed || *tessera_last_message() != '\0') << call;
      fail_at(0, 0);
      EXPECT_EQ(tessera_destroy(handle), TESSERA_OK);
      EXPECT_EQ(fake<std::size_t()>("fake_cuda_live")(), live) << "call " << call;
    }
  }
  unsetenv("FAKE_CUDA_LAZY");
}

}  // namespace
