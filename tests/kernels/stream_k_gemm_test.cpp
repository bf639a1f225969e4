// Stream-K from end to end, on the plainest kernel: every k tile of every tile computed once, the
// parts of cut tiles added in order, D written where it should be and nowhere else. On a real GPU
// as well.
#include <gtest/gtest.h>

#include <cstring>

#include "gemm/choose_stream_k.h"
#include "kernels/families/simt/params.h"
#include "tests/kernels/run_kernel.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

constexpr BlockTile kBlock{16, 32, 4};  // of tests/kernels/gemm/stream_k_gemm.cu
constexpr float kUntouched = -77;

struct Case {
  int m, n, k;
  int ctas, whole_tiles, runs;
  float alpha = 1, beta = 0;
  int pad = 0;  // of each row of C and D
};

float number(int i, int j, int seed) {
  return static_cast<float>((i * 3 + j * 7 + i * j + seed) % 5 - 2);
}

std::vector<float> numbers(int rows, int cols, int seed) {
  std::vector<float> x;
  for (int i = 0; i < rows * cols; ++i) x.push_back(number(i / cols, i % cols, seed));
  return x;
}

// Row-major D with `pad` untouched elements behind each row.
std::vector<float> expected(const Case& c) {
  const int ld = c.n + c.pad;
  std::vector<float> d(static_cast<std::size_t>(c.m) * ld, kUntouched);
  for (int i = 0; i < c.m; ++i) {
    for (int j = 0; j < c.n; ++j) {
      float sum = 0;
      for (int l = 0; l < c.k; ++l) sum += number(i, l, 1) * number(l, j, 2);
      d[i * ld + j] = c.alpha * sum + (c.beta == 0 ? 0 : c.beta * number(i, j, 3));
    }
  }
  return d;
}

schedule::StreamK schedule_of(const Case& c) {
  auto s = schedule::data_parallel(c.m, c.n, c.k, kBlock, c.ctas);
  s.ctas = c.ctas;
  return schedule::with_runs(s, c.whole_tiles, c.runs, schedule::kSnap);
}

Launch launch_of(const simt::SimtParams& params, const char* entry, LaunchShape shape) {
  Launch launch{.entry = entry, .shape = shape, .params = {}};
  Params().add(params).pass_to(launch);
  return launch;
}

class StreamKGemm : public testing::TestWithParam<Case> {};

TEST_P(StreamKGemm, ComputesEverythingOnce) {
  Device& device = test_device();
  if (!can_run_kernels(device)) GTEST_SKIP() << "needs sm_90a";
  const Case& c = GetParam();
  const int ld = c.n + c.pad;
  std::vector<float> old(static_cast<std::size_t>(c.m) * ld, kUntouched);
  for (int i = 0; i < c.m * c.n; ++i) old[i / c.n * ld + i % c.n] = number(i / c.n, i % c.n, 3);
  const DeviceBytes a(device, bytes_of(numbers(c.m, c.k, 1)));
  const DeviceBytes b(device, bytes_of(numbers(c.k, c.n, 2)));
  const DeviceBytes from(device, bytes_of(old));
  const DeviceBytes d(device, bytes_of(std::vector<float>(old.size(), kUntouched)));
  const schedule::StreamK schedule = schedule_of(c);
  const std::size_t part_bytes = schedule::slots_of(schedule) * kBlock.m * kBlock.n * 4;
  const DeviceAddress parts = device.allocate(part_bytes);

  const auto pointer = [](DeviceAddress address) { return reinterpret_cast<void*>(address); };
  simt::SimtParams params{};
  params.gemm = {pointer(a.address()),
                 pointer(b.address()),
                 pointer(from.address()),
                 pointer(d.address()),
                 c.m,
                 c.n,
                 c.k,
                 c.k,
                 1,
                 c.n,
                 1,
                 ld,
                 ld,
                 c.alpha,
                 c.beta};
  params.schedule = schedule;
  params.partials = static_cast<float*>(pointer(parts));
  const LoadedImage image = device.load(kernel_image("stream_k_gemm"));
  auto findings = launch_and_check(
      device, image, launch_of(params, "stream_k_gemm", {.grid = schedule.ctas, .block = 128}));
  Launch add = launch_of(params, "stream_k_add", {.grid = 2, .block = passes::kReduceThreads});
  add.shape.starts_early = true;
  const auto more = launch_and_check(device, image, add);
  findings.insert(findings.end(), more.begin(), more.end());
  EXPECT_EQ(described(findings), "");
  EXPECT_EQ(d.read(), bytes_of(expected(c)));
  device.free(parts);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, StreamKGemm,
    testing::Values(Case{48, 96, 37, 4, 8, 4},            // two waves, one tile cut in four
                    Case{48, 96, 37, 4, 4, 4, -1.5f, 2},  // a wave, and five tiles in four runs
                    Case{33, 65, 29, 3, 0, 3, 1, 1, 3},   // ragged, rows of D not aligned
                    Case{16, 32, 101, 7, 0, 7},           // one tile, split along k
                    Case{16, 32, 400, 61, 0, 61},         // parts in slices of a few,
                    Case{20, 30, 2400, 300, 0, 290},      // as many slices as there may be,
                    Case{31, 50, 900, 45, 0, 43, 2, 3},   // several tiles, runs across edges
                    Case{31, 50, 23, 5, 0, 2, 2, 0, 2},   // fewer runs than blocks
                    Case{1, 1, 999, 11, 0, 11},           // one output
                    Case{17, 33, 64, 5, 0, 4, 1, -1}));   // runs that end with their tile: split-K

}  // namespace
}  // namespace tessera
