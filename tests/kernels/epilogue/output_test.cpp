// The last step of kernels: D = alpha * sum + beta * C, in the element type of D, by vectors
// where base and rows allow them, and never outside of the matrix. A partial sum stays as it is.
#include <gtest/gtest.h>

#include <limits>

#include "launch/params.h"
#include "tests/kernels/run_kernel.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

struct Case {
  int m, n, ld;
  float beta;
  int c_begin = 0;  // elements between a multiple of 16 bytes and C
};

template <class T>
T c_at(const Case& c, int i) {
  return c.beta == 0 ? static_cast<T>(kNaN) : static_cast<T>(i % 13);
}

// What tests/kernels/epilogue/output_types.cu writes with alpha = 3; gaps between rows stay.
template <class T>
std::vector<T> expected(const Case& c) {
  std::vector<T> d(static_cast<std::size_t>(c.m) * c.ld, T{-77});
  for (int row = 0; row < c.m; ++row) {
    for (int col = 0; col < c.n; ++col) {
      const int i = row * c.ld + col;
      d[i] = 3 * T(10 * row + col) + (c.beta == 0 ? 0 : c.beta * c_at<T>(c, i));
    }
  }
  return d;
}

void run(const char* entry, const GemmParams& params) {
  Device& device = test_device();
  Launch launch{.entry = entry, .shape = {.grid = 1, .block = 32}, .params = {}};
  Params().add(params).pass_to(launch);
  const LoadedImage image = device.load(kernel_image("output_types"));
  EXPECT_EQ(described(launch_and_check(device, image, launch)), "");
}

void* pointer(DeviceAddress address) { return reinterpret_cast<void*>(address); }

template <class T>
void expect_right(const char* entry, const Case& c) {
  std::vector<T> old(static_cast<std::size_t>(c.m) * c.ld + c.c_begin);
  for (std::size_t i = 0; i < old.size(); ++i) old[i] = c_at<T>(c, static_cast<int>(i) - c.c_begin);
  const DeviceBytes from(test_device(), bytes_of(old));
  const DeviceBytes d(test_device(), bytes_of(std::vector<T>(old.size() - c.c_begin, T{-77})));
  GemmParams params{};
  params.c = pointer(from.address() + c.c_begin * sizeof(T));
  params.d = pointer(d.address());
  params.m = c.m, params.n = c.n;
  params.c_row = params.d_row = c.ld;
  params.alpha = 3, params.beta = c.beta;
  run(entry, params);
  EXPECT_EQ(d.read(), bytes_of(expected<T>(c))) << entry << ' ' << c.n << ' ' << c.ld;
}

TEST(Output, StoresEitherTypeByVectorsAndByElements) {
  if (!can_run_kernels(test_device())) GTEST_SKIP() << "needs sm_90a";
  for (const Case& c :
       {Case{6, 8, 8, 0}, Case{6, 8, 12, 2}, Case{5, 7, 8, 2}, Case{5, 10, 11, 2}, Case{1, 1, 1, 0},
        Case{4, 6, 7, -1}, Case{6, 8, 8, 2, 1}, Case{6, 8, 8, 0, 1}}) {
    expect_right<float>("output_f32", c);
    expect_right<double>("output_f64", c);
  }
}

TEST(Output, LeavesPartialSumsAsTheyAre) {
  if (!can_run_kernels(test_device())) GTEST_SKIP() << "needs sm_90a";
  std::vector<float> want(64, -77);
  for (int i = 0; i < 32; ++i) want[32 + i] = static_cast<float>(10 * (i / 8) + i % 8);
  const DeviceBytes d(test_device(), bytes_of(std::vector<float>(64, -77)));
  GemmParams params{};
  params.d = pointer(d.address());
  run("output_partial", params);
  EXPECT_EQ(d.read(), bytes_of(want));
}

}  // namespace
}  // namespace tessera
