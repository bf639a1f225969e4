// A launch that no GPU starts is reported, whether its shape says so or the registers of its code;
// a proposal says it of the program's own launch.
#include <gtest/gtest.h>

#include "tests/check/propose.h"
#include "tests/check/small_kernel.h"

namespace tessera::checking {
namespace {

class CheckRefused : public Propose {
 protected:
  static Words many_sums(const std::string& block, const Words& more = {}) {
    return joined(launch("rules/refused.cu", "many_sums", "1", block,
                         {"out=f32[1024]", "in=f32[72]:uniform", "n=i32:2"}),
                  more);
  }
  // Warpgroups of a block of 384 threads that is compiled for 168 registers a thread: one gives
  // back all but 40, the others take so many.
  static Words moves(const std::string& most) {
    const std::string path = testing::TempDir() + "/moves_" + most + ".ptx";
    write_text(path,
               ".version 8.0\n.target sm_90a\n.address_size 64\n"
               ".visible .entry kernel(.param .u64 out)\n.maxntid 384, 1, 1\n.minnctapersm 1\n{\n"
               ".reg .pred %p<3>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n"
               "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\n"
               "setp.ge.u32 %p1, %r1, 128;\n@%p1 bra TAKES;\n"
               "setmaxnreg.dec.sync.aligned.u32 40;\nbra STORES;\n"
               "TAKES:\nsetmaxnreg.inc.sync.aligned.u32 " +
                   most +
                   ";\n"
                   "STORES:\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
                   "st.global.u32 [%rd3], %r1;\nret;\n}\n");
    return {path, "--grid", "1", "--block", "384", "--arg", "out=u32[384]"};
  }
};

TEST_F(CheckRefused, RegistersOfAllThreadsMustFit) {
  expect_says(many_sums("1024"), 1,
              {"error: launch-refused: A GPU refuses this launch: 1024 threads of",
               "do:    declare the kernel with __launch_bounds__(1024)"});
}

TEST_F(CheckRefused, SmallerBlocksAndBoundedKernelsAreStarted) {
  expect_says(many_sums("256"), 0, {"clean: no finding"});
  expect_says(many_sums("512"), 0, {"clean: no finding"});
  expect_says(many_sums("1024", {"-D", "BOUNDED"}), 0, {"clean: no finding"});
}

TEST_F(CheckRefused, WarpgroupsShareTheRegistersOfTheBlock) {
  expect_says(moves("240"), 1,
              {"error: setmaxnreg: Warp ",
               "waits for 240 registers a thread, and the block never has "
               "as many: it was launched with 168 for each of its 384 threads",
               "do:    Let the numbers of all warpgroups add up to at most 504, 3 times 168"});
  expect_says(moves("232"), 0, {"clean: no finding"});
}

TEST_F(CheckRefused, ShapesThatNoGpuStarts) {
  const Words out = {"out=f32[4096]"};
  expect_refused(launch("rules/refused.cu", "small_block", "1", "256", out),
                 {"a GPU refuses this launch: 256 threads a CTA", "compiled for at most 128"});
  expect_refused(launch("rules/refused.cu", "any_block", "1,70000", "32", out),
                 {"--grid", "65535"});
  expect_refused(launch("rules/refused.cu", "any_block", "1", "64,32", out), {"--block", "1024"});
  expect_refused(
      joined(launch("rules/refused.cu", "shared_block", "1", "64", out), {"--shared", "1048576"}),
      {"--shared", "232448"});
}

TEST_F(CheckRefused, ProposalsSayItOfTheProgramsOwnLaunch) {
  proposed_of("rules/refused.cu", "small_block");
  expect_shown("A GPU refuses the launch small_block<<<1, 256>>>");
  expect_shown("it has 256 threads in a block, and the kernel is compiled for at most 128.");
  EXPECT_FALSE(proposed_of("rules/refused.cu", "any_block").empty());
  expect_shown("it has 2048 threads in a block, and at most 1024 are possible.");
  proposed_of("rules/refused.cu", "shared_block");
  expect_shown("it has 1048576 bytes of dynamic shared memory, and at most 232448 are possible.");
  proposed_of("rules/refused.cu", "many_sums");
  EXPECT_FALSE(contains(shown_, "refuses")) << shown_;
}

}  // namespace
}  // namespace tessera::checking
