// tessera check as a person uses it: a racy kernel is found at its line with what to do, its mended
// twin is clean, and what never ends is a finding.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "check/arrays.h"
#include "lab/record/record.h"
#include "tests/check/call.h"

namespace tessera::checking {
namespace {

TEST_F(Check, CallsToRepeatBeginWithTheProgramAsItWasCalled) {
  const TemporaryFolder folder;
  const std::string program = beside_test("tessera"), out = folder / "out";
  const std::string call = program + " check " + kFolder + "transpose.ptx";
  const std::string shape =
      " --grid 2,2 --block 32,8 --arg out=f32[64,64] --arg in=f32[64,64]:iota --arg n=i32:64";
  const std::string all = call + shape + " > " + out + " 2>&1; " + call + " >> " + out + " 2>&1";
  EXPECT_NE(std::system(all.c_str()), 0);
  expect_parts(file_text(out), {"\nagain: " + program + " check ", "\n  " + program + " check "});
}

TEST_F(Check, AMissingBarrierIsFoundAtItsLines) {
  const Ran ran = check(transpose("transpose.ptx"));
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_TRUE(ran.out.starts_with(kFolder + "transpose.ptx: kernel transpose(float*, float const*, "
                                            "int), grid 2 x 2 x 1, block 32 x 8 x 1\n"))
      << ran.out;
  expect_parts(ran.out,
               {"error: race: ", "tests/check/kernels/transpose.cu:13: ",
                "tests/check/kernels/transpose.cu:8: ",
                "13 | out[(ty + j) * n + tx] = tile[threadIdx.x][threadIdx.y + j];",
                "8 | tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];", "ld.shared.f32",
                "st.shared.f32", "CTA ", "__syncthreads", "again: tessera check "});
  EXPECT_LE(std::count(ran.out.begin(), ran.out.end(), '\n'), 50) << ran.out;  // one screen
}

TEST_F(Check, WhatOneBarrierMendsIsOneFinding) {
  const Words words = {
      kFolder + "groups.ptx", "--grid", "1", "--block", "128", "--arg", "out=f32[128]", "--arg",
      "in=f32[256]:uniform"};
  const Ran ran = check(words);
  EXPECT_EQ(ran.code, 1) << ran.err;
  expect_parts(ran.out,
               {"\n2 findings, at 6 places\n", "  also:  tests/check/kernels/groups.cu:1",
                "\n         and 1 more; --all shows them\n",
                "  do:    put __syncthreads() between line 10 and line 11; that mends all 5\n",
                "  do:    put __syncthreads() between line 17 and line 18\n"});
  const Ran all = check(joined(words, {"--all"}));
  EXPECT_FALSE(contains(all.out, " more; ")) << all.out;
  EXPECT_TRUE(contains(all.out, "groups.cu:12 and ")) << all.out;

  const lab::Json findings =
      lab::Json::parse(check(joined(words, {"--json", "-"})).out).at("findings");
  ASSERT_EQ(findings.size(), 6u);
  for (const lab::Json& finding : findings) {
    const int line = finding.at("places").at(0).at("source_line");
    EXPECT_EQ(finding.at("group"), line == 18 ? 2 : 1) << line;
  }
}

TEST_F(Check, TheMendedTwinIsClean) {
  const Ran ran = check(transpose("transpose_fixed.ptx"));
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_TRUE(contains(ran.out, "clean: no finding")) << ran.out;
}

TEST_F(Check, ASourceFileIsCompiled) {
  const Words words = transpose("transpose.cu");
  const Ran ran = check(words);
  if (contains(ran.err, "needs nvcc")) GTEST_SKIP() << "no nvcc";
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_TRUE(contains(ran.out, "tests/check/kernels/transpose.cu:13: ")) << ran.out;
  EXPECT_EQ(check(transpose("transpose_fixed.cu")).code, 0);

  const TemporaryFolder folder;
  write_text(folder / "bad.cu", "__global__ void k() { nothing; }\n");
  const Ran bad = check({folder / "bad.cu", "--grid", "1", "--block", "32"});
  EXPECT_EQ(bad.code, 2);
  EXPECT_TRUE(contains(bad.err, "identifier \"nothing\" is undefined")) << bad.err;
  EXPECT_TRUE(contains(bad.err, "bad.cu' does not compile")) << bad.err;

  write_text(folder / "size.cu", "__global__ void k(float* x) { x[threadIdx.x * STEP] = 1; }\n");
  const Words sized = {folder / "size.cu", "--grid", "1", "--block", "32", "--arg", "x=f32[32]"};
  EXPECT_EQ(check(joined(sized, {"--nvcc-arg", "-DSTEP=1"})).code, 0);
  EXPECT_EQ(check(joined(sized, {"--nvcc-arg", "-DSTEP=2", "--nvcc-arg", "-arch=sm_80"})).code, 1);
}

TEST_F(Check, WithoutNvccTheSentenceSaysHowToGetOne) {
  const Ran ran = run_program(joined({"check"}, transpose("transpose.cu")), {"NVCC=/nowhere/nvcc"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_TRUE(contains(ran.err, "NVCC is '/nowhere/nvcc', but there is no such program"))
      << ran.err;
}

TEST_F(Check, FilesInAndOutAndExpected) {
  const TemporaryFolder folder;
  Words call = {kFolder + "add.ptx", "--grid", "2", "--block", "16"};
  const auto with = [&](const Words& more) { return check(joined(call, more)); };
  const Words arrays = {"--arg", "y=f32[32]:constant=0.5", "--arg", "z=f32[32]",
                        "--arg", "x=f32[32]:iota"};
  const Ran first = with(joined(arrays, {"--out", "z=" + (folder / "z.npy")}));
  ASSERT_EQ(first.code, 0) << first.out << first.err;  // by name: the PTX names its parameters so
  EXPECT_EQ(read_array(folder / "z.npy", "z").shape, std::vector<std::int64_t>{32});
  EXPECT_EQ(with(joined(arrays, {"--expect", "z=" + (folder / "z.npy")})).code, 0);

  const Words other = {"--arg",    "x=" + (folder / "z.npy"), "--arg", "y=f32[32]:zeros", "--arg",
                       "z=f32[32]"};
  EXPECT_EQ(with(joined(other, {"--expect", "z=" + (folder / "z.npy")})).code, 0);
  const Words off = {"--arg",    "x=" + (folder / "z.npy"),
                     "--arg",    "y=f32[32]:constant=0.25",
                     "--arg",    "z=f32[32]",
                     "--expect", "z=" + (folder / "z.npy")};
  const Ran wrong = with(off);
  EXPECT_EQ(wrong.code, 1) << wrong.err;
  expect_parts(wrong.out, {"unexpected-result", "in 32 of 32 elements", "[0]: 0.75, expected 0.5"});
  EXPECT_EQ(with(joined(off, {"--tolerance", "0.25"})).code, 0);
  expect_refused(joined(call, joined(arrays, {"--expect", "q=" + (folder / "z.npy")})),
                 {"names the array 'q', but the arrays are: "});
  expect_refused(joined(call, joined(arrays, {"--out", "z=/nowhere/z.npy"})),
                 {"cannot be written"});
}

TEST_F(Check, FaultsAreFindings) {
  const Ran beyond = check({kKernels, "--kernel", "beyond_the_end", "--grid", "1", "--block", "32",
                            "--arg", "out=f32[32]"});
  EXPECT_EQ(beyond.code, 1) << beyond.err;
  expect_parts(beyond.out,
               {"error: out-of-bounds: an access of 4 bytes of global memory, 0 bytes past the end "
                "of array out (f32[32])\n"},
               {"  where: ", "out of bounds in"});
  expect_parts(beyond.out, {"kernels.cu:55: ", "out[threadIdx.x + 1] = 1", "lane 31",
                            "0 bytes past the end of array out (f32[32])", "in 3 of 3",
                            "do:    Check the bound of line 55 first; if the access is meant, "});
  const Ran stuck = check({kKernels, "--kernel", "half_of_the_block_waits", "--grid", "1",
                           "--block", "64", "--arg", "out=i32[64]"});
  EXPECT_NE(stuck.code, 2) << stuck.err;
}

TEST_F(Check, ShapesOfThreeDimensionsAndDynamicSharedMemory) {
  const TemporaryFolder folder;
  const Ran ran = check({kKernels, "--kernel", "shape", "--grid", "2,3,2", "--block", "4,2,3",
                         "--arg", "out=i32[12,24]", "--out", "out=" + (folder / "out.npy")});
  ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  const HostArray out = read_array(folder / "out.npy", "out");
  for (std::size_t i = 0; i < 12 * 24; ++i) {
    EXPECT_EQ(load_element(ElementType::kS32, out.bytes.data() + 4 * i),
              double(i / 24 * 100 + i % 24));
  }
  const Words dynamic = {kKernels,  "--kernel", "dynamic", "--grid",     "1",
                         "--block", "64",       "--arg",   "out=f32[64]"};
  EXPECT_EQ(check(dynamic).code, 1);
  EXPECT_EQ(check(joined(dynamic, {"--shared", "256"})).code, 0);
}

TEST_F(Check, KernelsByTheirNamesInCppAndPtx) {
  const Words rest = {"--grid",      "1",     "--block",         "32",    "--arg",
                      "out=f32[32]", "--arg", "in=f32[32]:iota", "--arg", "n=i32:32"};
  for (const char* name : {"_ZN4demo5scaleILi2EEEvPfPKfi", "demo::scale<2>", "scale<3>",
                           "demo::scale<2>(float*, float const*, int)"}) {
    EXPECT_EQ(check(joined({kKernels, "--kernel", name}, rest)).code, 0) << name;
  }
  expect_refused(joined({kKernels, "--kernel", "demo::scale"}, rest),
                 {"names 2 kernels", "'demo::scale<3>(float*, float const*, int)'"});
  expect_refused(joined({kKernels, "--kernel", "scale<4>"}, rest),
                 {"'scale<4>'", "'demo::scale<3>("});
  expect_refused(joined({kKernels}, rest), {"--kernel is not given", "kernels: "});
}

// What one run has recorded does not hold for the next: its reads are looked at again.
TEST_F(Check, StoresThatTheOrderDecidesRaceInEveryRun) {
  const Ran ran =
      check({kFolder + "stores.ptx", "--grid", "1", "--block", "256", "--seeds", "5", "--arg",
             "data=i32[512]:zeros", "--arg", "out=i32[256]", "--arg", "counter=i32[1]:zeros"});
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_TRUE(contains(ran.out, "error: race: ")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "in 6 of 6 runs")) << ran.out;
}

TEST_F(Check, ReportsAsJsonAndMarkdown) {
  const TemporaryFolder folder;
  const Ran ran = check(
      joined(transpose("transpose.ptx"), {"--json", "-", "--md", folder / "t.md", "--seeds", "1"}));
  EXPECT_EQ(ran.code, 1) << ran.err;
  const lab::Json object = lab::Json::parse(ran.out);
  EXPECT_EQ(object.at("clean"), false);
  EXPECT_EQ(object.at("runs").size(), 2u);
  const lab::Json& finding = object.at("findings").at(0);
  EXPECT_EQ(finding.at("check"), "race");
  EXPECT_EQ(finding.at("places").at(0).at("source_line"), 13);
  EXPECT_TRUE(contains(finding.at("places").at(0).at("source_text"), "tile[threadIdx.x]"));
  EXPECT_TRUE(contains(file_text(folder / "t.md"), "| race |"));
}

TEST_F(Check, KernelsThatDoNotEndAreFindings) {
  const Ran round = check({kKernels, "--kernel", "endless", "--grid", "1", "--block", "32", "--arg",
                           "flag=i32[1]:zeros"});
  EXPECT_EQ(round.code, 1) << round.err;
  EXPECT_TRUE(contains(round.out, "error: deadlock: ")) << round.out;
  EXPECT_TRUE(contains(round.out, "kernels.cu:58: ")) << round.out;
  const Ran counts = check({kFolder + "count.ptx", "--grid", "1", "--block", "32", "--arg",
                            "x=u64[1]:zeros", "--seconds", "1", "--seeds", "0"});
  EXPECT_EQ(counts.code, 1) << counts.err;
  EXPECT_TRUE(contains(counts.out, "error: endless: still running after 1 s")) << counts.out;
}

// The call that docs/check.md shows for a Hopper kernel.
TEST_F(Check, AHopperKernelOfTensorCopiesAndWgmma) {
  const Ran ran = check({"tests/kernels/gemm/hopper_gemm.cu",
                         "--nvcc-arg",
                         "-std=c++20",
                         "--nvcc-arg",
                         "--expt-relaxed-constexpr",
                         "--nvcc-arg",
                         "-Isrc",
                         "--nvcc-arg",
                         "-I" + beside_test("generated"),
                         "--kernel",
                         "hopper_gemm",
                         "--grid",
                         "4",
                         "--block",
                         "384",
                         "--shared",
                         "197632",
                         "--array",
                         "A=bf16[150,328]:integers",
                         "--array",
                         "B=bf16[136,328]:integers",
                         "--array",
                         "C=f32[150,136]",
                         "--arg",
                         "a=tensormap(A, 64x128, 128)",
                         "--arg",
                         "b=tensormap(B, 64x128, 128)",
                         "--arg",
                         "c=tensormap(C, 32x64, 128)",
                         "--arg",
                         "size=struct(i32:150, i32:136, i32:328)"});
  if (contains(ran.err, "needs nvcc")) GTEST_SKIP() << "no nvcc";
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_TRUE(contains(ran.out, "6 runs (asynchronous operations eager and lazy")) << ran.out;
}

TEST_F(Check, TensorMapsAreDescribedByArrayBoxAndSwizzle) {
  const Words call = {kFolder + "map.ptx",     "--grid", "1", "--block", "32", "--array",
                      "a=bf16[64,128]:uniform"};
  const auto map = [&](const std::string& text) { return joined(call, {"--arg", "t=" + text}); };
  const Ran ran = check(map("tensormap(a, 64x32, 128)"));
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  expect_refused(map("tensormap(a, 64, 128)"), {"the box has 1 extents and array a has 2"});
  expect_refused(map("tensormap(a, 64x32, 127)"), {"swizzle of none, 32, 64 or 128"});
  expect_refused(map("tensormap(b, 64x32)"), {"names the array 'b'", "arrays are: a"});
  expect_refused(map("tensormap(a, 512x1)"), {"at most 256"});
  expect_refused(map("tensormap(a, 128x1, 128)"), {"--arg is 't=tensormap(a, 128x1, 128)'"});
  expect_refused(map("tensormap(a)"), {"a tensor map is tensormap(ARRAY, BOX, SWIZZLE)"});
  expect_refused(map("tensormap(a, 64x32, 128"), {"lacks its ')'"});
}

}  // namespace
}  // namespace tessera::checking
