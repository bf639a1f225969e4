// Kernels with a persistent grid, beyond what every kernel has to pass: every depth of the sums,
// few and many SMs, so that tiles are cut and whole, and operands of more than 2^31
// elements. A plain kernel over the same schedule and launches stands beside those of the catalog.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>

#include "device/virtual/virtual_device.h"
#include "lab/verify/lattice.h"
#include "lab/verify/prepared_call.h"
#include "lab/verify/verify.h"
#include "tests/support/beside.h"
#include "tests/support/kernel_choice.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

using gemm::Policy;

// tests/kernels/gemm/stream_k_gemm.cu.
const Kernel& plain_kernel() {
  static const std::string ptx = [] {
    std::ifstream file(beside_test("tests/kernels/stream_k_gemm.ptx"), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  static const Kernel kernel{
      .name = "plain",
      .idea = "the plainest kernel over a stream-K schedule",
      .types = kF32Types,
      .family = "simt",
      .rows = {{.variant = "16x32",
                .entry = "stream_k_gemm",
                .majors = {},
                .block = {16, 32, 4},
                .thread = {1, 4},
                .threads = 128,
                .reduce_entry = "stream_k_add",
                .ctas_per_sm = 1}},
      .helpers = {},
      .own_images = {
          {"",
           CodeImage{.name = "plain", .ptx = ptx, .cubin_arch = "sm_90a", .portable_ptx = {}}}}};
  return kernel;
}

std::vector<KernelChoice> persistent_kernels() {
  std::vector<KernelChoice> choices = {{&plain_kernel(), "16x32"}};
  for (const KernelChoice& choice : choose_kernels("all/all")) {
    if (choice.kernel->is_patched() && !test_on_cuda()) continue;  // the same PTX once more
    // Other types are tested below and in portable_test.cpp, rungs that refuse alignments in
    // warpgroups_test.cpp.
    const Types& types = choice.kernel->types;
    if (types != kF32Types && types != kF64Types) continue;
    if (choice.kernel->family == "warpgroups") continue;
    if (choice.kernel->rows.front().ctas_per_sm > 0) choices.push_back(choice);
  }
  return choices;
}

Device& device_of(int sms) {
  if (test_on_cuda()) return test_device();
  static std::map<int, std::unique_ptr<Device>> devices;
  std::unique_ptr<Device>& device = devices[sms];
  if (!device) device = make_virtual_device({.sms = sms});
  return *device;
}

class Production : public testing::TestWithParam<KernelChoice> {
 protected:
  const Kernel& kernel() const { return *GetParam().kernel; }
  BlockTile block() const { return rows_of(kernel(), GetParam().variant).front().block; }

  // How many launches there were; 0 on a real GPU.
  std::size_t expect_verified(const lab::LatticeCase& each, int sms,
                              lab::VerifyOptions options) const {
    options.in_place = each.in_place;
    options.misalign = each.misalign;
    const lab::VerifyResult result = lab::verify(device_of(sms), GetParam(), each.problem, options);
    EXPECT_TRUE(result.ok()) << each.name() << " on " << sms << " sms: " << result.reason;
    return result.counts.size();
  }
};

// Few SMs leave tiles whole and cut the last ones; many cut everything.
TEST_P(Production, EveryDepth) {
  int i = 0;
  for (const lab::LatticeCase& each : lab::depth_lattice(block(), kernel().types)) {
    expect_verified(each, i++ % 3 == 0 ? 40 : 3, {.plan = {.split = Policy::kAlways}});
  }
}

// A launch ahead brings operands into the form that tensor copies take. Half the depths: the kernel
// behind it goes through all of them above.
TEST_P(Production, OperandsTurnedAhead) {
  int i = 0;
  for (const lab::LatticeCase& each : lab::depth_lattice(block(), kernel().types, 4)) {
    if (i++ % 8 >= 4) continue;  // four layouts in a row
    const bool checks = i % 6 == 1 && !test_on_cuda();
    expect_verified(each, 5, {.checks = checks, .plan = {.repack = Policy::kAlways}});
  }
}

// Outputs around whole tiles, in regions of their own. Of a column-major problem, m is n of the
// kernel.
TEST_P(Production, RaggedEdges) {
  if (kernel().rows.front().repack_entry.empty()) GTEST_SKIP() << "a kernel that splits nothing";
  std::size_t most = 0;
  int i = 0;
  for (const Order order : {Order::kRowMajor, Order::kColumnMajor}) {
    const BlockTile rows = block(), columns{rows.n, rows.m, rows.k};
    const BlockTile around = order == Order::kRowMajor ? rows : columns;
    for (const lab::LatticeCase& each : lab::depth_lattice(around, kernel().types, 5)) {
      if (each.problem.order != order || each.problem.k > 512) continue;
      const gemm::PlanOptions plan{.split = i % 2 ? Policy::kAlways : Policy::kModel,
                                   .repack = Policy::kAlways,
                                   .remainder = Policy::kAlways};
      const bool checks = i % 5 == 0 && !test_on_cuda();
      const lab::VerifyOptions options{.nans = i % 4 == 0 ? 3 : 0, .checks = checks, .plan = plan};
      most = std::max(most, expect_verified(each, 5, options));
      ++i;
    }
  }
  if (test_on_cuda()) return;
  if (kernel().family == "direct") {
    EXPECT_EQ(most, 3u) << "cut tiles of one size, behind a launch that turns";
  } else {
    EXPECT_EQ(most, 7u) << "three regions, all cut, behind a launch that turns";
  }
}

TEST_P(Production, WholeTilesAlone) {
  for (const lab::LatticeCase& each : lab::depth_lattice(block(), kernel().types, 3)) {
    if (each.problem.k % 4 == 1) expect_verified(each, 2, {.plan = {.split = Policy::kNever}});
  }
}

// Each layout has a row and, along k, a loop of its own: deeper than its ring of stages.
TEST_P(Production, EveryLayoutGoesAroundTheRing) {
  if (kernel().family != "direct") GTEST_SKIP() << "its loop is the same for every layout";
  for (const char* layout : {"NN", "NT", "TN", "TT"}) {
    lab::LatticeCase each;
    each.problem = {block().m, block().n, 20 * block().k, kernel().types};
    set_layout(each.problem, layout);
    each.problem = with_default_ld(each.problem);
    expect_verified(each, 1, {.plan = {.split = Policy::kNever, .repack = Policy::kNever}});
  }
}

TEST_P(Production, EveryDepthUnderChecks) {
  if (test_on_cuda()) GTEST_SKIP() << "the virtual GPU checks";
  int i = 0;
  for (const lab::LatticeCase& each : lab::depth_lattice(block(), kernel().types, 2)) {
    if (i++ % 5 != 0) continue;
    expect_verified(each, i % 2 ? 3 : 17, {.checks = true, .plan = {.split = Policy::kAlways}});
  }
}

// Rows of `pitch` elements, more than 2^30, so that the last one begins beyond 2^31. Memory and
// what the checks note of it exist only where somebody comes.
template <class T>
void expect_long_rows_of(const KernelChoice& choice, std::int64_t pitch,
                         const gemm::PlanOptions& plan) {
  const auto device = make_virtual_device(
      {.memory_bytes = std::size_t{1} << 40, .sms = 3, .observation = {.checks = true}});
  constexpr int m = 3, n = 70, k = 45;
  Problem problem{.m = m,
                  .n = n,
                  .k = k,
                  .types = choice.kernel->types,
                  .order = Order::kRowMajor,
                  .lda = pitch,
                  .ldd = pitch};
  problem = with_default_ld(problem);
  const auto a = [](int i, int l) { return static_cast<T>((3 * i + 5 * l) % 7 - 3); };
  const auto b = [](int l, int j) { return static_cast<T>((2 * l + 3 * j) % 5 - 2); };
  const DeviceBuffer on_a(*device, (2 * pitch + k) * sizeof(T));
  const DeviceBuffer on_b(*device, k * n * sizeof(T));
  const DeviceBuffer on_d(*device, (2 * pitch + n) * sizeof(T));
  std::vector<T> row;
  for (int i = 0; i < m; ++i) {
    row.clear();
    for (int l = 0; l < k; ++l) row.push_back(a(i, l));
    device->copy_in(on_a.address() + i * pitch * sizeof(T), row.data(), k * sizeof(T));
  }
  for (int l = 0; l < k; ++l) {
    row.clear();
    for (int j = 0; j < n; ++j) row.push_back(b(l, j));
    device->copy_in(on_b.address() + l * n * sizeof(T), row.data(), n * sizeof(T));
  }
  const Operands operands{on_a.address(), on_b.address(), 0, on_d.address()};
  lab::PreparedCall(*device, choice, problem, gemm::alignment_of(operands), plan).run(operands);
  for (const LaunchCounts& launch : device->take_counts()) {
    for (const vgpu::Finding& finding : launch.findings) ADD_FAILURE() << finding.message;
  }
  for (int i = 0; i < m; ++i) {
    std::vector<T> seen(n + 1);
    const int outside = i + 1 < m ? 1 : 0;  // the element behind the row: NaN, as it was
    device->copy_out(seen.data(), on_d.address() + i * pitch * sizeof(T),
                     (n + outside) * sizeof(T));
    for (int j = 0; j < n; ++j) {
      T sum = 0;
      for (int l = 0; l < k; ++l) sum += a(i, l) * b(l, j);
      ASSERT_EQ(seen[j], sum) << i << ", " << j;
    }
    if (outside) {
      EXPECT_TRUE(std::isnan(seen[n]));
    }
  }
}

void expect_long_rows(const KernelChoice& choice, std::int64_t pitch,
                      const gemm::PlanOptions& plan) {
  if (choice.kernel->types == kF64Types) {
    expect_long_rows_of<double>(choice, pitch, plan);
  } else {
    expect_long_rows_of<float>(choice, pitch, plan);
  }
}

constexpr std::int64_t kLongRow = (std::int64_t{1} << 30) + 16;

TEST_P(Production, RowsBeyondTwoToThe31Elements) {
  if (test_on_cuda()) GTEST_SKIP() << "a real GPU has no memory that exists only where touched";
  expect_long_rows(GetParam(), kLongRow, {.split = Policy::kAlways});
}

// A is brought into aligned rows first, D goes by way of scratch.
TEST_P(Production, UnalignedRowsBeyondTwoToThe31Elements) {
  if (test_on_cuda()) GTEST_SKIP() << "a real GPU has no memory that exists only where touched";
  for (const Policy repack : {Policy::kNever, Policy::kAlways}) {
    try {
      expect_long_rows(GetParam(), kLongRow + 1, {.split = Policy::kAlways, .repack = repack});
    } catch (const StatusError& error) {
      EXPECT_TRUE(may_refuse_alignments(GetParam())) << error.what();
    }
  }
}

// Without being asked to: a long product is cut where there are enough SMs.
TEST_P(Production, TheModelCutsLongProducts) {
  const Problem problem = with_default_ld({.m = 70, .n = 90, .k = 40000, .types = kernel().types});
  const gemm::Plan plan = gemm::plan(problem, {}, {.sms = 132}, {.kernel = GetParam()});
  const std::string& add = plan.row().reduce_entry;
  if (add.empty()) GTEST_SKIP() << "a kernel of whole tiles";
  EXPECT_TRUE(std::ranges::any_of(
      plan.steps, [&](const gemm::Step& planned) { return planned.launch.entry == add; }));
}

INSTANTIATE_TEST_SUITE_P(Kernels, Production, testing::ValuesIn(persistent_kernels()), test_name);

class TensorCores : public Production {};

TEST_P(TensorCores, EveryDepth) {
  int i = 0;
  for (const lab::LatticeCase& each : lab::depth_lattice(block(), kernel().types, 3)) {
    const Policy split = i % 2 ? Policy::kAlways : Policy::kModel;
    const bool checks = i++ % 6 == 0 && !test_on_cuda();
    expect_verified(each, 5, {.checks = checks, .plan = {.split = split}});
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, TensorCores,
                         testing::ValuesIn(choose_kernels("wgmma*,mma_*/all")), test_name);

}  // namespace
}  // namespace tessera
