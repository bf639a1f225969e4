#include "tests/house/arrows.h"

#include <gtest/gtest.h>

#include "tests/house/repository.h"

namespace tessera::house {
namespace {

std::string joined(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) text += sentence + "\n";
  return text;
}

bool is_refused(const std::string& path, const std::string& line) {
  return violations(path, "// A file.\n" + line + "\n").size() == 1;
}

TEST(Arrows, EveryIncludeOfTheHouseIsDrawn) {
  std::vector<std::string> found;
  for (const char* folder : {"src/", "include/", "interpose/", "python/", "examples/", "tools/"}) {
    for (const SourceFile& file : files_in(folder, {".h", ".hpp", ".c", ".cpp", ".cu"})) {
      for (const std::string& one : violations(file.path, file.text)) found.push_back(one);
    }
  }
  ASSERT_GT(files_in("src/", {".cpp"}).size(), 50u) << "run from the root of the repository";
  EXPECT_EQ(joined(found), "");
}

// Tests may include everything, but kernels among them use the library's instructions.
TEST(Arrows, TestsHaveNoAsmOfTheirOwn) {
  for (const SourceFile& file : files_in("tests/", {".h", ".cpp", ".cu"})) {
    for (const std::string& sentence : violations(file.path, file.text)) {
      EXPECT_EQ(sentence.find("inline assembly"), sentence.npos) << sentence;
    }
  }
}

TEST(Arrows, PlantedIncludesAreRefused) {
  EXPECT_TRUE(is_refused("src/base/table.h", "#include \"problem/problem.h\""));
  EXPECT_TRUE(is_refused("src/problem/problem.h", "#include \"device/device.h\""));
  EXPECT_TRUE(is_refused("src/problem/problem.h", "#include \"launch/image.h\""));
  EXPECT_TRUE(is_refused("src/launch/launch.h", "#include \"problem/problem.h\""));
  EXPECT_TRUE(is_refused("src/arch/gpu.h", "#include \"launch/launch.h\""));
  EXPECT_TRUE(is_refused("src/vgpu/machine.cpp", "#include \"launch/image.h\""));
  EXPECT_TRUE(is_refused("src/sass/container/cubin.cpp", "#include \"launch/image.h\""));
  EXPECT_TRUE(is_refused("src/device/cuda/cuda_device.cpp", "#include \"vgpu/machine.h\""));
  EXPECT_TRUE(is_refused("src/device/device.h", "#include \"arch/gpu.h\""));
  EXPECT_TRUE(is_refused("src/device/device.h", "#include \"problem/problem.h\""));
  EXPECT_TRUE(is_refused("src/catalog/catalog.h", "#include \"device/device.h\""));
  EXPECT_TRUE(is_refused("src/catalog/catalog.h", "#include \"kernels/tile/coord.h\""));
  EXPECT_TRUE(is_refused("src/catalog/catalog.cpp", "#include \"ladder/02_coalesced/kernel.cu\""));
  EXPECT_TRUE(is_refused("src/gemm/plan/plan.cpp", "#include \"lab/data/fill.h\""));
  EXPECT_TRUE(is_refused("src/gemm/plan/plan.cpp", "#include \"device/virtual/virtual.h\""));
  EXPECT_TRUE(is_refused("src/gemm/plan/plan.cpp", "#include \"kernels/pipeline/ring.h\""));
  EXPECT_TRUE(is_refused("src/lab/data/fill.h", "#include \"vgpu/machine.h\""));
  EXPECT_TRUE(is_refused("src/lab/data/fill.h", "#include \"check/run.h\""));
  EXPECT_TRUE(is_refused("src/lab/data/fill.h", "  #  include \"cli/command.h\"  // why not"));
  EXPECT_TRUE(is_refused("src/check/runs/run.cpp", "#include \"lab/bench/bench.h\""));
  EXPECT_TRUE(is_refused("src/check/runs/run.cpp", "#include \"lab/record/record.h\""));
  EXPECT_TRUE(is_refused("src/check/runs/run.cpp", "#include \"cli/command.h\""));
  EXPECT_TRUE(is_refused("src/cli/app/main.cpp", "#include \"ladder/shared/common.h\""));
  EXPECT_TRUE(is_refused("src/cli/app/main.cpp", "#include \"vgpu/exec/cta.h\""));
  EXPECT_TRUE(is_refused("src/cli/app/main.cpp", "#include \"tests/support/beside.h\""));
  EXPECT_TRUE(is_refused("src/cli/app/main.cpp", "#include \"tools/calibrate/timing/bench.h\""));
  EXPECT_TRUE(is_refused("tools/calibrate/timing/main.cpp", "#include \"tests/kernels/gemms.h\""));
  EXPECT_TRUE(is_refused("include/tessera/gemm.h", "#include \"launch/params.h\""));
  EXPECT_TRUE(is_refused("interpose/cublas.cpp", "#include \"gemm/select.h\""));
  EXPECT_TRUE(is_refused("examples/multiply.cpp", "#include \"base/status.h\""));
  EXPECT_TRUE(is_refused("src/lab/data/fill.h", "#include <tessera/gemm.h>"));
}

// Inside gemm: c_api -> host -> call -> plan -> rewrites -> families -> steps -> cost.
TEST(Arrows, IncludesInsideARoomGoDown) {
  EXPECT_TRUE(is_refused("src/gemm/steps/step.cpp", "#include \"gemm/families/shared/family.h\""));
  EXPECT_TRUE(is_refused("src/gemm/families/mma.cpp", "#include \"gemm/plan/plan.h\""));
  EXPECT_TRUE(is_refused("src/gemm/cost/cost.h", "#include \"gemm/steps/step.h\""));
  EXPECT_TRUE(is_refused("src/gemm/plan/plan.h", "#include \"gemm/call/multiply.h\""));
  EXPECT_TRUE(is_refused("src/gemm/options.h", "#include \"gemm/plan/plan.h\""));
  EXPECT_TRUE(is_refused("src/gemm/elsewhere/new.h", "#include \"gemm/options.h\"")) << "no floor";
  EXPECT_FALSE(is_refused("src/gemm/call/run.cpp", "#include \"gemm/plan/plan.h\""));
  EXPECT_FALSE(is_refused("src/gemm/plan/plan.cpp", "#include \"gemm/options.h\""));
  EXPECT_FALSE(is_refused("src/gemm/families/shared/family.h", "#include \"gemm/steps/step.h\""));
}

// Inside sass: report -> assemble -> rewrite -> model -> container -> decode.
TEST(Arrows, IncludesInsideSassGoDown) {
  EXPECT_TRUE(is_refused("src/sass/model/values.cpp", "#include \"sass/rewrite/encode.h\""));
  EXPECT_TRUE(is_refused("src/sass/container/cubin.cpp", "#include \"sass/model/flow.h\""));
  EXPECT_TRUE(is_refused("src/sass/decode/decode.cpp", "#include \"sass/container/elf.h\""));
  EXPECT_TRUE(is_refused("src/sass/rewrite/patch.cpp", "#include \"sass/assemble/letters.h\""));
  EXPECT_TRUE(is_refused("src/sass/assemble/letters.cpp", "#include \"sass/report/mix.h\""));
  EXPECT_FALSE(is_refused("src/sass/model/waits/waits.cpp", "#include \"sass/model/flow.h\""));
  EXPECT_FALSE(is_refused("src/sass/model/flow.h", "#include \"sass/container/cubin.h\""));
}

// Inside cli: app -> commands -> check_call, sass_call -> files -> terminal -> options ->
// command.h.
TEST(Arrows, IncludesInsideTheCommandLineGoDown) {
  EXPECT_TRUE(is_refused("src/cli/options/session.cpp", "#include \"cli/app/app.h\""));
  EXPECT_TRUE(is_refused("src/cli/command.cpp", "#include \"cli/options/repeat.h\""));
  EXPECT_TRUE(is_refused("src/cli/terminal/output.cpp", "#include \"cli/commands/why.h\""));
  EXPECT_TRUE(is_refused("src/cli/options/parser.h", "#include \"cli/terminal/output.h\""));
  EXPECT_FALSE(is_refused("src/cli/app/app.cpp", "#include \"cli/commands.inc\""));
  EXPECT_FALSE(is_refused("src/cli/commands/list.cpp", "#include \"cli/options/parser.h\""));
}

// Inside check: propose -> report -> runs -> files of the room itself -> words, compile.
TEST(Arrows, IncludesInsideCheckGoDown) {
  EXPECT_TRUE(is_refused("src/check/code.h", "#include \"check/propose/propose.h\""));
  EXPECT_TRUE(is_refused("src/check/values.cpp", "#include \"check/runs/run.h\""));
  EXPECT_TRUE(is_refused("src/check/runs/groups.cpp", "#include \"check/report/report.h\""));
  EXPECT_TRUE(is_refused("src/check/words/tokens.cpp", "#include \"check/code.h\""));
  EXPECT_FALSE(is_refused("src/check/runs/cost.cpp", "#include \"check/compile/nvcc.h\""));
  EXPECT_FALSE(is_refused("src/check/propose/trial.h", "#include \"check/runs/run.h\""));
}

// Inside lab: tune -> suite -> bench -> explain -> draw -> record -> timing -> model -> sites ->
// counts -> verify -> data -> json.
TEST(Arrows, IncludesInsideLabGoDown) {
  EXPECT_TRUE(is_refused("src/lab/json/json.h", "#include \"lab/data/fill.h\""));
  EXPECT_TRUE(is_refused("src/lab/data/integers.h", "#include \"lab/verify/compare.h\""));
  EXPECT_TRUE(is_refused("src/lab/sites/sites.h", "#include \"lab/model/resources.h\""));
  EXPECT_TRUE(is_refused("src/lab/model/predict.h", "#include \"lab/explain/explain.h\""));
  EXPECT_TRUE(is_refused("src/lab/timing/vendor.h", "#include \"lab/record/record.h\""));
  EXPECT_TRUE(is_refused("src/lab/record/record.h", "#include \"lab/bench/bench.h\""));
  EXPECT_TRUE(is_refused("src/lab/draw/svg.h", "#include \"lab/explain/roofline.h\""));
  EXPECT_TRUE(is_refused("src/lab/suite/draw.h", "#include \"lab/tune/tuner.h\""));
  EXPECT_FALSE(is_refused("src/lab/bench/bench.h", "#include \"lab/record/record.h\""));
  EXPECT_FALSE(is_refused("src/lab/record/record.h", "#include \"lab/timing/measure.h\""));
  EXPECT_FALSE(is_refused("src/lab/explain/explain_json.cpp", "#include \"lab/json/json.h\""));
}

// Inside vgpu: files of the room itself -> observe -> exec -> async -> program -> memory -> ptx ->
// report.
TEST(Arrows, IncludesInsideTheVirtualGpuGoDown) {
  EXPECT_TRUE(is_refused("src/vgpu/exec/cta.h", "#include \"vgpu/observe/observers.h\""));
  EXPECT_TRUE(is_refused("src/vgpu/async/mbarrier.cpp", "#include \"vgpu/exec/cluster.h\""));
  EXPECT_TRUE(is_refused("src/vgpu/program/op.h", "#include \"vgpu/async/parts.h\""));
  EXPECT_TRUE(is_refused("src/vgpu/memory/global.h", "#include \"vgpu/program/op.h\""));
  EXPECT_TRUE(is_refused("src/vgpu/report/observer.h", "#include \"vgpu/memory/global.h\""));
  EXPECT_TRUE(is_refused("src/vgpu/exec/launch.cpp", "#include \"vgpu/machine.h\""));
  EXPECT_FALSE(is_refused("src/vgpu/machine.cpp", "#include \"vgpu/observe/observers.h\""));
  EXPECT_FALSE(is_refused("src/vgpu/exec/warp/warp.h", "#include \"vgpu/async/parts.h\""));
  EXPECT_FALSE(is_refused("src/vgpu/observe/check/site.h", "#include \"vgpu/exec/cta.h\""));
}

TEST(Arrows, HostCodeIsReadBehindOneHeader) {
  EXPECT_TRUE(is_refused("src/cli/commands/check.cpp", "#include \"check/propose/guess.h\""));
  EXPECT_FALSE(is_refused("src/cli/commands/check.cpp", "#include \"check/propose/propose.h\""));
  EXPECT_FALSE(is_refused("src/check/propose/trial.cpp", "#include \"check/propose/guess.h\""));
}

TEST(Arrows, PlantedIncludesOfDeviceCodeAreRefused) {
  EXPECT_TRUE(is_refused("src/ladder/07_vector_access/kernel.cu", "#include \"kernels/tile/t.h\""));
  EXPECT_TRUE(is_refused("src/ladder/10_general_tile/kernel.cu",
                         "#include \"ladder/09_tile_8x8/config.h\""));
  EXPECT_TRUE(
      is_refused("src/ladder/12_warp_tile/kernel.cu", "#include \"kernels/families/simt/s.h\""));
  EXPECT_TRUE(is_refused("src/ladder/12_warp_tile/kernel.cu", "#include \"problem/problem.h\""));
  EXPECT_TRUE(is_refused("src/ladder/05_conflict_free/kernel.cu", "#include \"ladder/more.h\""));
  const std::string shared = "#include \"ladder/shared/";
  EXPECT_TRUE(is_refused("src/ladder/05_conflict_free/kernel.cu", shared + "more.h\""));
  EXPECT_TRUE(is_refused("src/ladder/05_conflict_free/kernel.cu", shared + "vec4.h\""));
  EXPECT_TRUE(is_refused("src/ladder/12_warp_tile/kernel.cu", shared + "packed.h\""));
  EXPECT_TRUE(is_refused("src/ladder/12_warp_tile/kernel.cu", shared + "async_loop.h\""));
  EXPECT_TRUE(is_refused("src/kernels/ptx/ldmatrix.h", "#include \"kernels/tile/view.h\""));
  EXPECT_TRUE(is_refused("src/kernels/tile/view.h", "#include \"kernels/pipeline/ring.h\""));
  EXPECT_TRUE(is_refused("src/kernels/pipeline/ring.h", "#include \"kernels/schedule/next.h\""));
  EXPECT_TRUE(is_refused("src/kernels/epilogue/store.h", "#include \"kernels/mainloop/ffma.h\""));
  EXPECT_TRUE(is_refused("src/kernels/mainloop/ffma.h", "#include \"kernels/passes/repack.h\""));
  EXPECT_TRUE(is_refused("src/kernels/families/simt/kernel.cu",
                         "#include \"kernels/families/dmma/params.h\""));
}

TEST(Arrows, DrawnIncludesAreAccepted) {
  EXPECT_FALSE(is_refused("src/vgpu/machine.cpp", "#include \"base/hash.h\""));
  EXPECT_FALSE(is_refused("src/lab/counts/counts.h", "#include \"vgpu/report/report.h\""));
  EXPECT_FALSE(is_refused("src/lab/counts/counts.h", "#include \"lab/data/fill.h\""));
  EXPECT_FALSE(is_refused("src/check/runs/run.cpp", "#include \"lab/data/elements.h\""));
  EXPECT_FALSE(is_refused("src/check/runs/run.cpp", "#include \"vgpu/report/finding.h\""));
  EXPECT_FALSE(is_refused("src/device/virtual/device.cpp", "#include \"vgpu/machine.h\""));
  EXPECT_FALSE(is_refused("src/catalog/catalog.cpp", "#include \"ladder/02_coalesced/config.h\""));
  EXPECT_FALSE(
      is_refused("src/ladder/01_strided/kernel.cu", "#include \"ladder/shared/common.h\""));
  EXPECT_FALSE(
      is_refused("src/ladder/11_double_buffer/kernel.cu", "#include \"kernels/tile/t.h\""));
  EXPECT_FALSE(
      is_refused("src/kernels/families/simt/kernel.cu", "#include \"kernels/pipeline/ring.h\""));
  EXPECT_FALSE(
      is_refused("src/kernels/families/simt/kernel.cu", "#include \"kernels/ptx/ldmatrix.h\""));
  EXPECT_FALSE(is_refused("src/gemm/c_api.cpp", "#include \"tessera/gemm.h\""));
  EXPECT_FALSE(is_refused("examples/multiply.cpp", "#include \"tessera/gemm.hpp\""));
  EXPECT_FALSE(is_refused("tools/tables/facts.cpp", "#include \"sass/container/cubin.h\""));
  EXPECT_FALSE(is_refused("tests/lab/x_test.cpp", "#include \"tools/calibrate/timing/bench.h\""));
  EXPECT_FALSE(is_refused("src/cli/commands/list.cpp", "#include <nlohmann/json.hpp>"));
  EXPECT_FALSE(is_refused("src/cli/commands/list.cpp", "#include <sys/ioctl.h>"));
}

TEST(Arrows, AsmIsFoundInCodeOnly) {
  EXPECT_TRUE(is_refused("src/ladder/02_coalesced/kernel.cu", "asm volatile(\"bar.sync 0;\");"));
  EXPECT_TRUE(is_refused("src/vgpu/machine.cpp", "  __asm__(\"\");"));
  EXPECT_TRUE(is_refused("src/lab/data/fill.cpp", "int x = 1'000; asm(\"\");"));
  EXPECT_FALSE(is_refused("src/kernels/ptx/barrier.h", "asm volatile(\"bar.sync 0;\");"));
  EXPECT_FALSE(is_refused("src/lab/data/fill.cpp", "// no asm here, and none in \"asm\" either"));
  EXPECT_FALSE(
      is_refused("src/lab/data/fill.cpp", "text = \"an asm \\\" asm\"; c = '\"'; d = '\\'';"));
  EXPECT_FALSE(
      is_refused("src/lab/data/fill.cpp", "text = R\"(asm \" asm)\"; /* asm */ int asmx;"));
}

}  // namespace
}  // namespace tessera::house
