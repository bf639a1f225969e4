// tessera check as a person uses it: a racy kernel is found at its line with what to do, its mended
// twin is clean, and a call that does not fit says what would.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/check_arrays.h"
#include "lab/record.h"
#include "tests/cli/program.h"
#include "tests/support/beside.h"

namespace tessera::cli {
namespace {

using Words = std::vector<std::string>;

const std::string kFolder = TESSERA_SOURCE_DIR "/tests/cli/check/";
const std::string kKernels = kFolder + "kernels.ptx";

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Words joined(Words one, const Words& other) {
  one.insert(one.end(), other.begin(), other.end());
  return one;
}

class Check : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(beside_test("tessera"))) GTEST_SKIP() << "no program here";
  }

  static Ran check(const Words& words) { return run_program(joined({"check"}, words)); }

  static Words transpose(const std::string& file) {
    return {kFolder + file,   "--grid",  "2,2",
            "--block",        "32,8",    "--arg",
            "out=f32[64,64]", "--arg",   "in=f32[64,64]:iota",
            "--arg",          "n=i32:64"};
  }

  // Exit code 2, nothing on stdout, and each of the parts on stderr.
  static void expect_refused(const Words& words, const Words& parts) {
    std::string shown;
    for (const std::string& word : words) shown += " " + word.substr(0, 200);
    SCOPED_TRACE("tessera check" + shown);
    const Ran ran = check(words);
    EXPECT_EQ(ran.code, 2) << ran.out << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_TRUE(ran.err.starts_with("tessera check: ")) << ran.err;
    for (const std::string& part : parts) {
      EXPECT_TRUE(contains(ran.err, part)) << "lacks '" << part << "': " << ran.err;
    }
  }
};

TEST_F(Check, AMissingBarrierIsFoundAtItsLines) {
  const Ran ran = check(transpose("transpose.ptx"));
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_TRUE(ran.out.starts_with(kFolder + "transpose.ptx: kernel transpose(float*, float const*, "
                                            "int), grid 2 x 2 x 1, block 32 x 8 x 1\n"))
      << ran.out;
  for (const char* part :
       {"error: race: ", "tests/cli/check/transpose.cu:13: ", "tests/cli/check/transpose.cu:8: ",
        "13 | out[(ty + j) * n + tx] = tile[threadIdx.x][threadIdx.y + j];",
        "8 | tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];", "ld.shared.f32",
        "st.shared.f32", "CTA ", "__syncthreads", "again: tessera check "}) {
    EXPECT_TRUE(contains(ran.out, part)) << "lacks " << part << "\n" << ran.out;
  }
  EXPECT_LE(std::count(ran.out.begin(), ran.out.end(), '\n'), 50) << ran.out;  // one screen
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
  EXPECT_TRUE(contains(ran.out, "tests/cli/check/transpose.cu:13: ")) << ran.out;
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

TEST_F(Check, MissingArgumentsAreListed) {
  const Words call = {kFolder + "transpose.ptx", "--grid", "2,2", "--block", "32,8"};
  expect_refused(joined(call, {"--arg", "out=f32[64,64]"}),
                 {"kernel 'transpose(float*, float const*, int)' takes 3 arguments, but 1 is given",
                  "_Z9transposePfPKfi_param_2", "float const*", "u64", "u32", "out=f32[64,64]",
                  "For example:\n  tessera check ", "--grid 2,2 --block 32,8",
                  "--arg 'p1=f32[4096]:uniform' --arg 'p2=i32:64'"});
  expect_refused({kFolder + "transpose.ptx"}, {"--grid is not given", "For example:"});
  expect_refused({kFolder + "transpose.ptx", "--grid", "1"}, {"--block is not given"});
  expect_refused(joined(transpose("transpose.ptx"), {"--arg", "more=i32:1"}), {"takes 3", "4 are"});
}

// The example that the refusal gives must itself be a call that fits.
TEST_F(Check, TheExampleCanBeCopied) {
  const Ran refused = check({kFolder + "add.ptx", "--grid", "1", "--block", "32"});
  EXPECT_EQ(refused.code, 2);
  const std::string example = refused.err.substr(refused.err.find("  tessera check ") + 2);
  Words words;
  for (std::size_t at = 0; at < example.size();) {
    const std::size_t end = std::min(example.find_first_of(" \n", at), example.size());
    std::string word = example.substr(at, end - at);
    word.erase(std::remove(word.begin(), word.end(), '\''), word.end());
    if (!word.empty()) words.push_back(word);
    at = end + 1;
  }
  ASSERT_GT(words.size(), 5u) << example;
  words.erase(words.begin());
  const Ran ran = run_program(words);
  EXPECT_EQ(ran.code, 0) << example << ran.out << ran.err;
}

TEST_F(Check, ArgumentsOfTheWrongKindAreRefused) {
  const auto with = [](const std::string& out, const std::string& in, const std::string& n) {
    return Words{kFolder + "transpose.ptx",
                 "--grid",
                 "1",
                 "--block",
                 "32,8",
                 "--arg",
                 "out=" + out,
                 "--arg",
                 "in=" + in,
                 "--arg",
                 "n=" + n};
  };
  const std::string x = "f32[32,32]:ones", n = "i32:32";
  expect_refused(with("i64:0", x, n), {"--arg is 'out=i64:0'", "takes an address", "float*"});
  expect_refused(with("f64[32,32]", x, n), {"'out=f64[32,32]'", "an array of f64", "float*"});
  expect_refused(with(x, x, "i64:32"), {"'n=i64:32'", "a number of 8 bytes", "takes 4"});
  expect_refused(with(x, x, "f32:32"), {"'n=f32:32'", "of type f32", "int"});
  expect_refused(with(x, x, "f32[4]"), {"'n=f32[4]'", "no address"});
  expect_refused(with(x, x, "bytes:00"), {"1 bytes, but the kernel takes 4"});
  expect_refused(with(x, x, "i32:x"), {"but must be a whole number from -2147483648"});
  expect_refused(with(x, x, "i32:3000000000"), {"from -2147483648 to 2147483647"});
  expect_refused(with(x, x, "f31:1"), {"'f31' is no type; the types are i8, "});
  expect_refused(with(x, x, "seven"), {"'n=seven'", "a value is TYPE:NUMBER"});
  expect_refused(with("f32[32,-1]", x, n), {"'-1'", "at least 1"});
  expect_refused(with("f32[32", x, n), {"lacks its ']'"});
  expect_refused(with("f32[8]:pretty", x, n), {"'pretty' is no fill"});
  expect_refused(with("i32[8]:uniform", x, n), {"uniform fills floats"});
  expect_refused(with("f32[9223372036854775807]", x, n), {"64-bit addresses"});
  expect_refused(with("f32[1000000,1000000]", x, n), {"host memory"});
}

TEST_F(Check, ArgumentsOfEveryType) {
  const TemporaryFolder folder;
  const Ran ran = check({kKernels,
                         "--kernel",
                         "types",
                         "--grid",
                         "1",
                         "--block",
                         "32",
                         "--arg",
                         "out=f64[12]",
                         "--arg",
                         "a=i8:-128",
                         "--arg",
                         "b=u8:255",
                         "--arg",
                         "c=i16:-32768",
                         "--arg",
                         "d=u16:0xffff",
                         "--arg",
                         "e=i32:-2147483648",
                         "--arg",
                         "f=u32:4294967295",
                         "--arg",
                         "g=i64:-9007199254740992",
                         "--arg",
                         "h=u64:0x10000000000000",
                         "--arg",
                         "i=f16:0.1",
                         "--arg",
                         "j=bf16:-3.14159",
                         "--arg",
                         "k=f32:0.1",
                         "--arg",
                         "l=f64:1e-300",
                         "--out",
                         "out=" + (folder / "out.npy")});
  ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  const HostArray out = read_array(folder / "out.npy", "out");
  const double expected[] = {-128,
                             255,
                             -32768,
                             65535,
                             -2147483648.0,
                             4294967295.0,
                             -9007199254740992.0,
                             4503599627370496.0,
                             0.0999755859375,
                             -3.140625,
                             0.1f,
                             1e-300};
  ASSERT_EQ(out.elements(), 12u);
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(load(ElementType::kF64, out.bytes.data() + 8 * i), expected[i]) << i;
  }
}

TEST_F(Check, StructsByValueFieldByFieldAndAsBytes) {
  const TemporaryFolder folder;
  const Words call = {kKernels,
                      "--kernel",
                      "line",
                      "--grid",
                      "1",
                      "--block",
                      "64",
                      "--array",
                      "y=f32[40]",
                      "--array",
                      "x=f32[40]:iota",
                      "--out",
                      "y=" + (folder / "y.npy")};
  const Ran ran = check(joined(call, {"--arg", "line=struct(y, x, i32:40, f64:2.5)"}));
  ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  const HostArray y = read_array(folder / "y.npy", "y");
  EXPECT_EQ(load(ElementType::kF32, y.bytes.data() + 4 * 39), 97.5);
  // n = 0: nothing is touched, whatever the pointers are.
  EXPECT_EQ(check(joined(call, {"--arg", "line=bytes:" + std::string(64, '0')})).code, 0);
  expect_refused(joined(call, {"--arg", "line=struct(y, x, i32:40)"}),
                 {"a struct of 24 bytes, but", "takes 32"});
  expect_refused(joined(call, {"--arg", "line=struct(y, nobody, i32:40, f64:1)"}),
                 {"names the array 'nobody', but the arrays are: y, x"});
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
  for (const char* part :
       {"unexpected-result", "in 32 of 32 elements", "[0]: 0.75, expected 0.5"}) {
    EXPECT_TRUE(contains(wrong.out, part)) << part << "\n" << wrong.out;
  }
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
  for (const char* part : {"error: out-of-bounds: ", "kernels.cu:55: ", "out[threadIdx.x + 1] = 1",
                           "lane 31", "0 bytes past the end of array out (f32[32])", "in 3 of 3"}) {
    EXPECT_TRUE(contains(beyond.out, part)) << part << "\n" << beyond.out;
  }
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
    EXPECT_EQ(load(ElementType::kI32, out.bytes.data() + 4 * i), double(i / 24 * 100 + i % 24));
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
  expect_refused(joined({kKernels, "--kernel", "scale<4>"}, rest), {"'scale<4>'", "'line'"});
  expect_refused(joined({kKernels}, rest), {"--kernel is not given", "kernels: "});
}

TEST_F(Check, APrintingKernelIsRefusedWithTheReason) {
  expect_refused(
      {kKernels, "--kernel", "prints", "--grid", "1", "--block", "1", "--arg", "n=i32:1"},
      {"vprintf", "printf does not run here"});
}

TEST_F(Check, ManyArgumentsAndOddBytesAreOnlyBadCalls) {
  Words many = {kFolder + "add.ptx", "--grid", "1", "--block", "32"};
  for (int i = 0; i < 5000; ++i) many.insert(many.end(), {"--arg", "a=i32:1"});
  expect_refused(many, {"takes 3 arguments, but 5000 are given"});
  expect_refused({kFolder + "add.ptx", "--grid", "1", "--block", "32", "--arg", "z\xff=f32[1]"},
                 {"a name is made of letters"});
  const TemporaryFolder folder;
  const std::string odd = folder / "\xff\xfe.ptx";
  std::filesystem::copy_file(kFolder + "add.ptx", odd);
  const Ran ran = check({odd, "--grid", "1", "--block", "32", "--arg", "z=f32[31]", "--arg",
                         "x=f32[32]:ones", "--arg", "y=f32[32]:ones", "--json", "-"});
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_EQ(lab::Json::parse(ran.out).at("clean"), false);
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

TEST_F(Check, BadCallsNameTheArgument) {
  const TemporaryFolder folder;
  const std::string file = kFolder + "add.ptx";
  const auto launch = [&](const std::string& option, const std::string& value) {
    return Words{file,    "--grid",         "1",     "--block",        "32",   "--arg", "z=f32[32]",
                 "--arg", "x=f32[32]:ones", "--arg", "y=f32[32]:ones", option, value};
  };
  for (const char* grid : {"0", "-1", "1,2,3,4", "2147483648", "1,65536", "x", "1,,1"}) {
    expect_refused({file, "--grid", grid, "--block", "32", "--arg", "z=f32[32]", "--arg",
                    "x=f32[32]", "--arg", "y=f32[32]"},
                   {"--grid"});
  }
  for (const char* block : {"0", "1025", "32,33", "1,1,65", "-32"}) {
    expect_refused({file, "--grid", "1", "--block", block, "--arg", "z=f32[32]", "--arg",
                    "x=f32[32]", "--arg", "y=f32[32]"},
                   {"--block"});
  }
  expect_refused(launch("--shared", "232449"), {"--shared is '232449'"});
  expect_refused(launch("--cluster", "0"), {"--cluster"});
  expect_refused(launch("--seeds", "-1"), {"--seeds is '-1'"});
  expect_refused(launch("--tolerance", "-1"), {"--tolerance is '-1'"});
  expect_refused(launch("--nvcc-arg", "-O0"), {"--nvcc-arg is '-O0'"});
  expect_refused(launch("--json", "/nowhere/x.json"), {"--json"});
  expect_refused(launch("--out", "z=" + file), {"--out is 'z=", "not that of the kernel"});
  expect_refused(launch("--out", "z=-"), {"--out is 'z=-'"});
  expect_refused({folder / "none.ptx", "--grid", "1", "--block", "1"}, {"no such file"});
  std::filesystem::create_directory(folder / "folder.ptx");
  expect_refused({folder / "folder.ptx"}, {"not a regular file"});
  expect_refused({file + "x"}, {"must end with .ptx or .cu"});
  write_text(folder / "empty.ptx", "");
  expect_refused({folder / "empty.ptx"}, {"no kernel"});
  write_text(folder / "bytes.ptx", std::string("\x7f\x45\xff\xfe\x00\x01", 6));
  expect_refused({folder / "bytes.ptx"}, {"holds zero bytes"});
  write_text(folder / "words.ptx", "this is no PTX \xff\xfe\n");
  expect_refused({folder / "words.ptx"}, {"PTX line 1"});
  write_text(folder / "odd.ptx",
             ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k() {\n"
             "  frobnicate.b32 1, 2;\n  ret;\n}\n");
  expect_refused({folder / "odd.ptx", "--grid", "1", "--block", "1"},
                 {"PTX line 5", "frobnicate.b32"});
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
}  // namespace tessera::cli
