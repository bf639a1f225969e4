// The replay of a loop on synthetic instruction streams whose time is known by hand, and the
// prediction of real kernels: more work takes longer, never less than any unit allows.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "arch/gpus.h"
#include "device/virtual/virtual_device.h"
#include "lab/model/predict.h"
#include "lab/model/resources.h"
#include "lab/model/sm_model.h"
#include "lab/record/record.h"
#include "sass/model/ports.h"

namespace tessera::lab {
namespace {

const arch::Costs kCosts = arch::costs_of(arch::kH200);

Step step(Unit unit) {
  Step made;
  made.unit = unit;
  return made;
}

Step shared_load(double wavefronts, int scoreboard) {
  Step made = step(Unit::kMemory);
  made.path = MemoryPath::kShared;
  made.is_load = true;
  made.wavefronts = wavefronts;
  made.write_scoreboard = scoreboard;
  return made;
}

LoopCode loop_of(const Step& one, int times) {
  LoopCode code;
  code.steps.assign(times, one);
  code.iterations = code.multiplies = 1;
  return code;
}

TEST(Model, FfmasOfManyWarpsIssueOneACycleAndPart) {
  const LoopTime time = run_loop(loop_of(step(Unit::kFma), 100), {1, 16}, 0, kCosts);
  EXPECT_NEAR(time.cycles, 100 * 16 / 4, 8);
  EXPECT_NEAR(time.busy[static_cast<int>(Unit::kFma)], time.cycles, 8);
}

TEST(Model, IntegerMultiplyAddsTakeTheFmaUnitTwiceAsLong) {
  const LoopTime time = run_loop(loop_of(step(Unit::kImad), 100), {1, 16}, 0, kCosts);
  EXPECT_NEAR(time.cycles, 2 * 100 * 16 / 4, 16);
}

TEST(Model, StallCyclesOfOneWarpAddUp) {
  Step slow = step(Unit::kFma);
  slow.stall = 4;
  EXPECT_NEAR(run_loop(loop_of(slow, 50), {1, 1}, 0, kCosts).cycles, 200, 4);
  // Four warps, one on each part, do not disturb each other; sixteen hide all of it.
  EXPECT_NEAR(run_loop(loop_of(slow, 50), {1, 4}, 0, kCosts).cycles, 200, 4);
  EXPECT_NEAR(run_loop(loop_of(slow, 50), {1, 16}, 0, kCosts).cycles, 200, 8);
}

TEST(Model, SharedMemoryServesOneWavefrontACycleForTheWholeSm) {
  const LoopTime free = run_loop(loop_of(shared_load(1, 7), 100), {1, 16}, 0, kCosts);
  const LoopTime conflicts = run_loop(loop_of(shared_load(32, 7), 100), {1, 16}, 0, kCosts);
  EXPECT_NEAR(free.cycles, 100 * 16, 40);
  EXPECT_NEAR(conflicts.cycles, 32 * 100 * 16, 1000);
}

TEST(Model, AWarpWaitsForTheScoreboardOfItsLoad) {
  LoopCode code;
  code.steps = {shared_load(1, 0), step(Unit::kFma)};
  code.steps[1].wait_mask = 1;
  code.iterations = code.multiplies = 1;
  const LoopTime time = run_loop(code, {1, 1}, 0, kCosts);
  EXPECT_NEAR(time.cycles, kCosts.shared_latency + 2, 3);
}

TEST(Model, BarriersCostWhatCalibrationSays) {
  for (int warps : {1, 8, 32}) {
    const LoopTime time = run_loop(loop_of(step(Unit::kBarrier), 16), {1, warps}, 0, kCosts);
    EXPECT_NEAR(time.cycles / 16, kCosts.barrier + kCosts.barrier_arrival * warps, 4) << warps;
  }
}

TEST(Model, MissesTakeLongerThanHits) {
  Step load = shared_load(1, 0);
  load.path = MemoryPath::kGlobal;
  load.sectors = 4;
  LoopCode code = loop_of(load, 8);
  code.steps.push_back(step(Unit::kFma));
  code.steps.back().wait_mask = 1;
  double last = 0;
  for (double hits : {1.0, 0.5, 0.0}) {
    const double cycles = run_loop(code, {1, 4}, hits, kCosts).cycles;
    EXPECT_GT(cycles, last) << hits;
    last = cycles;
  }
  EXPECT_GT(last, kCosts.miss_latency);
}

TEST(Model, MoreResidentWarpsNeverMakeAWarpFaster) {
  LoopCode code;
  code.steps = {shared_load(4, 0), step(Unit::kFma), step(Unit::kFma), step(Unit::kAlu)};
  code.steps[1].wait_mask = 1;
  code.iterations = code.multiplies = 1;
  double last = 0;
  for (int ctas = 1; ctas <= 8; ++ctas) {
    const double cycles = run_loop(code, {ctas, 4}, 0, kCosts).cycles;
    EXPECT_GE(cycles, last - 1) << ctas;
    last = cycles;
  }
}

// FFMA Rd, Ra, Rb, Rc with the fields of sass/decode/instruction.h.
sass::Operation ffma(unsigned a, unsigned b, unsigned c, unsigned reuse = 0) {
  const sass::Instruction instruction{
      0x223u | 7u << 12 | std::uint64_t{a} << 24 | std::uint64_t{b} << 32,
      std::uint64_t{c} | std::uint64_t{reuse} << (122 - 64)};
  return sass::decode(instruction, 0, 90);
}

int sum_of(const std::vector<int>& values) {
  return std::accumulate(values.begin(), values.end(), 0);
}

TEST(Model, PortsCostTheirBubblesOrHalfACycleACrowdedFfma) {
  // Three even registers each: two cycles lost, whatever the window.
  const std::vector<sass::Operation> even(8, ffma(2, 4, 6));
  EXPECT_EQ(sum_of(port_bubbles(even, 90)), 16);
  // Two in one bank, and neighbours that read nothing: the window forgives it.
  std::vector<sass::Operation> loose(16, ffma(255, 255, 255));
  loose[0] = loose[4] = loose[8] = loose[12] = ffma(2, 4, 9);
  EXPECT_EQ(sass::ports_of_loop(loose).bubbles, 0);
  EXPECT_EQ(sum_of(port_bubbles(loose, 90)), 2);
  EXPECT_EQ(sum_of(port_bubbles(loose, 86)), 0) << "measured on sm_90 alone";
  EXPECT_EQ(sum_of(port_bubbles(even, 75)), 8) << "the pipe of two cycles hides one of them";
  EXPECT_EQ(sum_of(port_bubbles(std::vector<sass::Operation>(16, ffma(2, 3, 255)), 90)), 0);
}

CountedRun counted(const char* kernel, std::int64_t size) {
  const KernelChoice choice = choose_kernels(kernel)[0];
  Problem problem;
  problem.m = problem.n = problem.k = size;
  problem.types = choice.kernel->types;
  const auto device = make_virtual_device();
  return count_run(*device, choice, problem, 1, 16);
}

double unit_ms(const LaunchPrediction& launch, std::string_view name) {
  for (const UnitTime& unit : launch.units) {
    if (unit.name == name) return unit.ms;
  }
  return 0;
}

// A persistent kernel's tiles of D stand in a loop around the one that multiplies, and a late stage
// has a block of its own behind both: none of that is in the turn that is replayed.
TEST(Model, OneTurnOfAPersistentKernelIsItsInnerLoop) {
  const CountedRun run = counted("15", 512);
  const sass::CubinFile cubin =
      sass::read_cubin(image_of(*run.kernel, run.launches[0].entry).cubin);
  const LoopCode code = loop_code(*cubin.find(run.launches[0].entry), cubin.sm, run.counts[0]);
  EXPECT_EQ(code.multiplies, 1024);
  EXPECT_LT(code.steps.size(), 1024 + 48 + 40);
  // Warps that multiply only arrive at barriers and do not wait.
  for (const Step& step : code.steps) EXPECT_NE(step.unit, Unit::kBarrier);
}

// One turn goes on where a branch could leave, and ends at the branch back.
TEST(Model, ATurnGoesPastABranchThatLeavesTheLoop) {
  sass::CubinKernel kernel{.name = "handmade"};
  kernel.code = {
      {0x000000160d0d7223, 0x000fe20000000000},  // FFMA R13, R13, R22, R0
      {0x0000000000041947, 0x000fea0003800000},  // @P1 BRA 0x30
      {0xfffffffc00f40947, 0x000fea000383ffff},  // @P0 BRA 0x0
      {0x000000000000794d, 0x000fea0003800000},  // EXIT
  };
  sass::Loop loop{.begin = 0, .end = 3 * 16, .members = {0, 1, 2}};
  loop.histogram = {{"FFMA", 1}, {"BRA", 2}};
  kernel.loops = {loop};
  LaunchCounts counts;
  counts.resources = {.ctas = 1, .threads = 32};
  const LoopCode code = loop_code(kernel, 90, counts);
  EXPECT_EQ(code.multiplies, 1);
  ASSERT_EQ(code.steps.size(), 3u);
  EXPECT_FALSE(code.steps[0].branches);
  EXPECT_TRUE(code.steps[1].branches && code.steps[2].branches);
}

// What never ran on the virtual GPU has no sectors, and moves none.
TEST(Model, AnAccessWithoutACountMovesNothing) {
  Step load = shared_load(1, 0);
  load.path = MemoryPath::kGlobal;
  Step none = load;
  none.sectors = 0;
  EXPECT_EQ(run_loop(loop_of(load, 50), {1, 4}, 0, kCosts).cycles,
            run_loop(loop_of(none, 50), {1, 4}, 0, kCosts).cycles);
  EXPECT_EQ(load.sectors, 0);
}

TEST(Model, BankConflictsAreWhatLimitsRung03) {
  const Prediction conflicts = predict(counted("03", 512), arch::kH200);
  const Prediction free = predict(counted("05", 512), arch::kH200);
  EXPECT_EQ(conflicts.bound, "shared memory");
  EXPECT_GT(conflicts.time_ms, 5 * free.time_ms);
  EXPECT_EQ(conflicts.gpu, "h200");
  EXPECT_NE(conflicts.model.find("median error"), std::string::npos);
}

TEST(Model, TimeGrowsWithTheProblemAndIsNoShorterThanAnyUnit) {
  double last = 0;
  for (std::int64_t size : {256, 512, 1024}) {
    const Prediction prediction = predict(counted("12", size), arch::kH200);
    EXPECT_GT(prediction.time_ms, last) << size;
    last = prediction.time_ms;
    for (const LaunchPrediction& launch : prediction.launches) {
      for (const UnitTime& unit : launch.units) {
        EXPECT_LE(unit.ms, launch.ms * 1.001) << launch.entry << " " << unit.name;
      }
      const double fmas = 2e-9 * static_cast<double>(size) * size * size;
      EXPECT_GE(unit_ms(launch, "FMA unit"), 0.9 * fmas / arch::kH200.fp32_peak());
    }
  }
}

// Those of tensor cores, for types smaller than FP64.
bool lacks_rate(const Kernel& kernel) {
  const bool on_cuda_cores = kernel.name.starts_with("simt_") || kernel.name.starts_with("vector_");
  return kernel.types != kF32Types && kernel.types != kF64Types && !on_cuda_cores;
}

TEST(Model, NoUnitOfAnyKernelIsBusyLongerThanTheLaunch) {
  for (const Kernel& kernel : all_kernels()) {
    const std::optional<Prediction> prediction =
        predict_if_known(counted(kernel.name.c_str(), 256), arch::kH200);
    EXPECT_EQ(prediction.has_value(), !lacks_rate(kernel)) << kernel.name;
    if (!prediction) continue;
    for (const LaunchPrediction& launch : prediction->launches) {
      for (const UnitTime& unit : launch.units) {
        EXPECT_LE(unit.ms, launch.ms * 1.001) << launch.entry << " " << unit.name;
      }
    }
  }
}

// What stands outside of the loop that is replayed counts, too: here launches and waves cost
// nothing, and one SM is busy all the time, so that nothing else makes up for it.
TEST(Model, NoRunIsShorterThanItsBusiestResource) {
  arch::Gpu gpu = arch::kH200;
  gpu.sms = 1;
  arch::Costs costs = kCosts;
  costs.launch_us = costs.next_launch_us = costs.wave_us = 0;
  for (const Kernel& kernel : all_kernels()) {
    if (lacks_rate(kernel)) continue;
    const CountedRun run = counted(kernel.name.c_str(), 256);
    const Totals totals = totals_of(run, sites_of(run, SourceTree("")));
    const std::vector<ResourceUse> uses = resources_of(totals, gpu);
    EXPECT_GE(predict(run, gpu, costs).time_ms, 0.999 * uses.at(0).ms)
        << kernel.name << ", " << uses[0].name;
  }
}

TEST(Model, PackingIsALaunchOfItsOwn) {
  const Prediction prediction = predict(counted("23", 256), arch::kH200);
  ASSERT_EQ(prediction.launches.size(), 3u);
  double sum = 0;
  for (const LaunchPrediction& launch : prediction.launches) sum += launch.ms;
  EXPECT_NEAR(prediction.time_ms, sum, 1e-9);
}

TEST(Model, MatrixProductsWithoutARateAreRefused) {
  CountedRun run = counted("12", 256);
  EXPECT_NO_THROW(predict(run, arch::kH200));
  InstructionCount row = run.counts[0].instructions[0];
  row.form = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32";
  row.warp = 1;
  run.counts[0].instructions.push_back(row);
  EXPECT_THROW(predict(run, arch::kH200), StatusError);
}

TEST(Model, OtherGpusSayThatTheyWereNotMeasured) {
  const Prediction prediction = predict(counted("05", 256), arch::kA100);
  EXPECT_GT(prediction.time_ms, 0);
  EXPECT_NE(prediction.model.find("error unknown"), std::string::npos);
}

// What the program prints of its error is what the committed fit says.
TEST(Model, ErrorsAreThoseOfTheFit) {
  std::ifstream stream("results/calibration/h200_model_fit.json");
  ASSERT_TRUE(stream.is_open());
  const Json fit = Json::parse(stream);
  EXPECT_NEAR(kCosts.median_error, fit["median_error"].get<double>(), 0.005);
  EXPECT_NEAR(kCosts.largest_error, fit["largest_error"].get<double>(), 0.005);
  EXPECT_EQ(kCosts.miss_latency, fit["parameters"]["miss_latency"].get<double>());
  EXPECT_EQ(kCosts.wave_us, fit["parameters"]["wave_us"].get<double>());
  for (const Json& row : fit["rows"]) EXPECT_LE(row["size"].get<int>(), 2048);
}

}  // namespace
}  // namespace tessera::lab
