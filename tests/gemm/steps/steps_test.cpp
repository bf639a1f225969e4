// Steps of plans as lists: what each reads was written before it, nothing lies outside of the
// workspace, and D is written. For every kernel, problems drawn by seed.
#include "gemm/steps/step.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "gemm/plan/plan.h"

namespace tessera {
namespace {

constexpr gemm::DeviceLimits kGpu{.sm = 90, .sms = 132, .l2_bytes = 50 << 20};

Problem drawn_for(const Kernel& kernel, std::mt19937& random) {
  const auto from = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  constexpr const char* kLayouts[] = {"NN", "NT", "TN", "TT"};
  const int widest = from(0, 1) ? 40 : 700;
  Problem p{.m = from(1, widest), .n = from(1, widest), .k = from(1, from(0, 1) ? 90 : 9000)};
  p.types = kernel.types;
  p.order = from(0, 1) ? Order::kRowMajor : Order::kColumnMajor;
  set_layout(p, kLayouts[from(0, 3)]);
  p.beta = from(0, 1);
  if (from(0, 5) == 0) p.k = 0;
  if (from(0, 5) == 0) p.alpha = 0;
  p = with_default_ld(p);
  if (from(0, 3) == 0) {
    p.batch = {.kind = BatchKind::kStrided, .count = from(2, 9)};
    p.batch.stride_a = view_a(p).span(), p.batch.stride_b = view_b(p).span();
    p.batch.stride_c = view_c(p).span(), p.batch.stride_d = view_d(p).span();
    if (from(0, 1)) p.batch = {.kind = BatchKind::kPointers, .count = from(2, 9), .alignment = 16};
  }
  if (is_float(facts_of(p.types.compute).sum) && from(0, 2) == 0) {
    p.epilogue = parse_epilogue(from(0, 1) ? "bias_row+gelu" : "relu");
  }
  return p;
}

// Follows which places have been written, step by step.
class Flow {
 public:
  explicit Flow(const gemm::Plan& plan) : plan_(plan) {
    for (const Operand& one : OperandTable(plan.problem)) {
      if (one.use == Use::kRead) written_.insert({gemm::slot_of(one.id), 0});
    }
  }

  void follow() {
    for (const gemm::Step& step : plan_.steps) {
      for (const auto& patch : step.addresses) check_inside(patch.address, step);
      for (const auto& patch : step.maps) check_inside(patch.address, step);
      for (const auto& patch : step.addresses) read(patch.address, patch.use, step);
      for (const auto& patch : step.maps) read(patch.address, patch.use, step);
      for (const auto& patch : step.addresses) write(patch.address, patch.use);
      for (const auto& patch : step.maps) write(patch.address, patch.use);
    }
    EXPECT_TRUE(writes_d_) << plan_.kernel().name;
  }

 private:
  using Piece = std::pair<gemm::Slot, int>;
  static Piece piece_of(const gemm::PlannedAddress& at) {
    return {at.slot, at.slot == gemm::Slot::kWorkspace ? at.temp : 0};
  }
  void check_inside(const gemm::PlannedAddress& at, const gemm::Step& step) const {
    if (at.slot != gemm::Slot::kWorkspace) return;
    const auto temps = plan_.offers.front().all_temps();
    ASSERT_LT(static_cast<std::size_t>(at.temp), temps.size()) << step.launch.entry;
    EXPECT_LE(at.delta, plan_.workspace_bytes()) << step.launch.entry;
    if (temps[static_cast<std::size_t>(at.temp)] > 0) {
      EXPECT_LT(at.delta, plan_.workspace_bytes()) << step.launch.entry;
    }
  }
  bool is_there(const gemm::PlannedAddress& at) const {
    if (at.slot != gemm::Slot::kWorkspace) return true;
    return plan_.offers.front().all_temps()[static_cast<std::size_t>(at.temp)] > 0;
  }
  void read(const gemm::PlannedAddress& at, Use use, const gemm::Step& step) const {
    // Unread operands have patches, too; the kernel does not look at them.
    const bool is_operand = at.slot != gemm::Slot::kWorkspace;
    if (use != Use::kRead || is_operand || !is_there(at)) return;
    EXPECT_TRUE(written_.contains(piece_of(at)))
        << step.launch.entry << " reads temp " << at.temp << " of " << plan_.kernel().name;
  }
  void write(const gemm::PlannedAddress& at, Use use) {
    if (use != Use::kWritten) return;
    written_.insert(piece_of(at));
    writes_d_ |= at.slot == gemm::Slot::kD;
  }

  const gemm::Plan& plan_;
  std::set<Piece> written_;
  bool writes_d_ = false;
};

TEST(Steps, ReadWhatStepsBeforeThemWrote) {
  std::mt19937 random(20261126);
  int plans = 0, of_several = 0;
  for (const Kernel& kernel : all_kernels()) {
    for (int i = 0; i < 12; ++i) {
      const Problem p = drawn_for(kernel, random);
      try {
        const gemm::Plan plan = gemm::plan(p, {}, kGpu, {.kernel = KernelChoice{&kernel, ""}});
        Flow(plan).follow();
        ++plans;
        of_several += plan.steps.size() > 1;
      } catch (const StatusError& error) {
        EXPECT_EQ(error.status().code, StatusCode::kUnsupported) << error.what();
      }
    }
  }
  EXPECT_GT(plans, 400);
  EXPECT_GT(of_several, 100);
}

// Three temps at multiples of 256; an empty one takes nothing.
TEST(Steps, TempsLieOneAfterTheOther) {
  const std::int64_t temps[] = {100, 0, 256, 1};
  const gemm::WorkspaceLayout layout = gemm::workspace_layout(temps);
  EXPECT_EQ(layout.begins, (std::vector<std::int64_t>{0, 256, 256, 512}));
  EXPECT_EQ(layout.bytes, 513);
  EXPECT_EQ(gemm::workspace_bytes(temps), 513);
  EXPECT_EQ(gemm::workspace_bytes({}), 0);
  const std::int64_t more[] = {10};
  EXPECT_EQ(gemm::workspace_bytes(more, gemm::workspace_bytes(temps)), 768 + 10);
}

}  // namespace
}  // namespace tessera
