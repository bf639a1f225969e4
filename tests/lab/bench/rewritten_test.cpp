// Rewritten machine code beside the code as ptxas wrote it: what is made, what is timed, and what
// is refused.
#include "lab/bench/rewritten.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "lab/bench/bench.h"
#include "tests/lab/timing/fake_device.h"

namespace tessera::lab {
namespace {

const Problem kProblem{64, 48, 32};

BenchOptions quick() {
  BenchOptions options;
  options.modes = {Mode::kBurst};
  options.measure.idle_ms = 0;
  options.measure.rounds = 1;
  return options;
}

// A kernel as compiled, and its "rewritten" code, an image of its own.
struct Pair {
  Kernel kernel = fake_kernel(kF32Types), after = kernel;
  std::vector<BenchCandidate> candidates;
  Pair() {
    after.own_images[""].name = "remapped";
    candidates.resize(2);
    candidates[0].choice = {&kernel, "only"};
    candidates[0].rewriting = "as compiled";
    candidates[1].choice = {&after, "only"};
    candidates[1].rewriting = "remapped";
    candidates[1].companion_of = 0;
    candidates[1].by_model = RewrittenLoop{100, 90, 20, 10};
  }
};

TEST(Rewritten, IsTimedInTurnAndHasTheSameBits) {
  FakeDevice device(DeviceKind::kCuda);
  device.ms_of_image["remapped"] = 0.8;
  const Pair pair;
  const auto records = bench(device, pair.candidates, kProblem, quick());
  ASSERT_EQ(records.size(), 2u);
  ASSERT_EQ(records[0].rewritten.size(), 1u);
  const Companion& told = records[0].rewritten[0];
  EXPECT_EQ(told.rewriting, "remapped");
  EXPECT_NEAR(*told.speedup, 1.25, 1e-9);
  EXPECT_TRUE(*told.same_bits);
  EXPECT_EQ(told.by_model->cycles, 90);
  EXPECT_FALSE(records[0].other_image);
  EXPECT_EQ(records[1].verified, "full");
  EXPECT_EQ(records[1].d_hash, records[0].d_hash);
  EXPECT_EQ(records[1].d_hash.size(), 16u);
  const Json json = to_json(records[0]);
  EXPECT_EQ(json.at("build"), "as compiled");
  EXPECT_EQ(json.at("rewritten").at(0).at("same_bits"), true);
  EXPECT_EQ(json.at("rewritten").at(0).at("main_loop").at("tag"), "model");
  EXPECT_EQ(to_json(records[1]).at("build"), "remapped");
}

TEST(Rewritten, WithOtherBitsIsAFailureAndIsNotTimed) {
  FakeDevice device(DeviceKind::kCuda);
  device.images_of_other_bits = {"remapped"};
  const Pair pair;
  const auto records = bench(device, pair.candidates, kProblem, quick());
  ASSERT_EQ(records.size(), 2u);
  const Record& after = records[records[0].rewriting == "remapped" ? 0 : 1];
  EXPECT_EQ(after.verified, "failed");
  EXPECT_NE(after.reason.find("other bits"), std::string::npos) << after.reason;
  EXPECT_FALSE(after.time_ms);
  const Record& before = records[records[0].rewriting == "remapped" ? 1 : 0];
  EXPECT_TRUE(before.time_ms);
  EXPECT_EQ(before.rewritten.at(0).same_bits, false);
}

TEST(Rewritten, DoesNotRunOnTheVirtualGpu) {
  FakeDevice device;
  const Pair pair;
  const auto records = bench(device, pair.candidates, kProblem, quick());
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].verified, "full");
  EXPECT_FALSE(records[1].verified);
  EXPECT_NE(records[1].reason.find("proved, not run"), std::string::npos);
}

TEST(RewrittenCode, KeepsTheOriginalBesideEachNewCubin) {
  const KernelChoice choice = choose_kernels("08").front();
  const std::string entry = first_entry_of(choice);
  RewrittenCode code;
  const auto made = code.make({{choice, {entry}, Rewriting::kAsCompiled},
                               {choice, {entry}, Rewriting::kRemapped},
                               {choice, {entry}, Rewriting::kReordered},
                               {choice, {entry}, Rewriting::kBoth},
                               {choice, {}, Rewriting::kBoth}});
  ASSERT_EQ(made.size(), 5u);
  const CodeImage& original = image_of(*choice.kernel, entry);
  std::set<std::string> names, codes;
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(made[i].unavailable, "");
    const CodeImage& image = image_of(*made[i].choice.kernel, entry);
    EXPECT_EQ(image.cubin.data(), original.cubin.data());
    names.insert(std::string(image.name));
    const auto bytes = best_cubin(image);
    EXPECT_EQ(bytes.size(), original.cubin.size());
    codes.insert({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    if (i == 0) continue;
    ASSERT_TRUE(made[i].by_model);
    EXPECT_LT(made[i].by_model->cycles, made[i].by_model->cycles_before);
  }
  EXPECT_EQ(names.size(), 4u);  // devices keep modules by name
  EXPECT_EQ(codes.size(), 4u);
  EXPECT_FALSE(made[4].unavailable.empty());  // nothing to rewrite
}

// A device keeps loaded code by the name of its image: the code for another layout, of which
// another entry was rewritten, must not be taken for it.
TEST(RewrittenCode, EachEntryHasAnImageOfItsOwn) {
  const KernelChoice choice = choose_kernels("08").front();
  std::vector<RewrittenCode::Wish> wishes;
  for (const KernelRow& row : rows_of(*choice.kernel, choice.variant)) {
    wishes.push_back({choice, {row.entry}, Rewriting::kReordered});
  }
  ASSERT_EQ(wishes.size(), 4u);
  RewrittenCode code;
  std::set<std::string> names;
  for (const Rewritten& one : code.make(wishes)) {
    names.insert(std::string(image_of(*one.choice.kernel, wishes.front().entries.front()).name));
  }
  EXPECT_EQ(names.size(), 4u);
}

TEST(RewrittenCode, LeavesOutThePatchesOfTheBuild) {
  const KernelChoice choice = choose_kernels("16").front();
  RewrittenCode code;
  const auto made = code.make({{choice, {first_entry_of(choice)}, Rewriting::kAsCompiled}});
  const CodeImage& image = image_of(*made[0].choice.kernel, first_entry_of(choice));
  EXPECT_TRUE(image.patched.bytes.empty());
  EXPECT_FALSE(image_of(*choice.kernel, first_entry_of(choice)).patched.bytes.empty());
}

}  // namespace
}  // namespace tessera::lab
