#include "vgpu/ptx/source_line.h"

#include "tests/vgpu/ptx/helpers.h"

namespace tessera::vgpu::ptx {
namespace {

// What the first instruction behind these .loc is shown with.
std::string shown(const std::string& locations) {
  const std::string files =
      ".file 1 \"kernel.cu\"\n.file 2 \"helper.h\"\n"
      ".file 3 \"src/kernels/ptx/fence.h\"\n.file 4 \"/opt/cuda/include/intrinsics.hpp\"\n";
  const Module module = parse(kHead + files + ".entry k() {\n.reg .f32 %f<3>;\n" + locations +
                              "\nadd.f32 %f1, %f2, %f2;\nret;\n}\n");
  const Function& k = module.functions.at(0);
  const SourceLine line = source_line(module, k, k.body.at(0).source);
  return line.file + ":" + std::to_string(line.line);
}

TEST(SourceLine, IsThatOfTheInstruction) {
  EXPECT_EQ(shown(".loc 1 12 3"), "kernel.cu:12");
  EXPECT_EQ(shown(""), ":0");
  EXPECT_EQ(shown(".loc 7 12 3"), ":12");
}

TEST(SourceLine, OfAnInlinedHelperIsItsOwn) {
  EXPECT_EQ(shown(".loc 1 12 3\n.loc 2 5 9, function_name $L__info_string0, inlined_at 1 12 3"),
            "helper.h:5");
}

TEST(SourceLine, OfAWrapperIsItsCaller) {
  EXPECT_EQ(shown(".loc 1 12 3\n.loc 3 5 9, function_name $L__info_string0, inlined_at 1 12 3"),
            "kernel.cu:12");
  EXPECT_EQ(shown(".loc 4 5 9, function_name $L__info_string0+8, inlined_at 1 12 3"),
            "kernel.cu:12");
}

TEST(SourceLine, WalksThroughSeveralCalls) {
  const std::string helper = ".loc 2 8 3, function_name $L__info_string0, inlined_at ";
  const std::string wrappers =
      "\n.loc 3 2 5, function_name $L__info_string1, inlined_at 2 8 3"
      "\n.loc 4 9 1, function_name $L__info_string2, inlined_at 3 2 5";
  EXPECT_EQ(shown(".loc 1 12 3\n" + helper + "1 12 3" + wrappers), "helper.h:8");
}

// A wrapper inlined twice: the last call before the instruction is its own.
TEST(SourceLine, KnowsWhichCallItIs) {
  const std::string outer = "\n.loc 3 2 5, function_name $L, inlined_at ";
  const std::string inner = "\n.loc 4 9 1, function_name $L, inlined_at 3 2 5";
  EXPECT_EQ(
      shown(".loc 1 12 3" + outer + "1 12 3" + inner + "\n.loc 1 14 3" + outer + "1 14 3" + inner),
      "kernel.cu:14");
}

TEST(SourceLine, OfWrappersAloneIsTheInnermost) {
  EXPECT_EQ(shown(".loc 3 12 3\n.loc 4 5 9, function_name $L, inlined_at 3 12 3"),
            "/opt/cuda/include/intrinsics.hpp:5");
}

}  // namespace
}  // namespace tessera::vgpu::ptx
