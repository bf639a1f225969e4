// Files that a newer compiler refuses for names that no kernel depends on.
#include <gtest/gtest.h>

#include "check/compile/removed_names.h"
#include "tests/check/call.h"

namespace tessera::checking {
namespace {

TEST(RemovedNames, OthersTakeTheirPlaceWhereNothingElseIsWrong) {
  const std::string gone = "a.cu(3): error: identifier \"cudaThreadSynchronize\" is undefined\n";
  const std::string member =
      "a.cu(4): error: class \"cudaDeviceProp\" has no member \"clockRate\"\n"
      "      int rate = prop.clockRate;\n                      ^\n";
  const std::string shuffle = "a.cu(5): error: identifier \"__shfl_xor\" is undefined\n";
  const std::string end = "3 errors detected in the compilation of \"a.cu\".\n";
  EXPECT_EQ(replacements_for(gone + gone + member + shuffle + end),
            (Words{"cudaThreadSynchronize cudaDeviceSynchronize", "clockRate multiProcessorCount",
                   "__shfl_xor(...) __shfl_xor_sync(__activemask(), __VA_ARGS__)"}));
  EXPECT_EQ(replacements_for(gone + "a.cu(6): error: identifier \"x\" is undefined\n"), Words{});
  EXPECT_EQ(replacements_for("a.cu(6): error: expected a \";\"\n" + gone), Words{});
  EXPECT_EQ(replacements_for(end), Words{});
}

class CheckCompile : public Check {};

TEST_F(CheckCompile, ArgumentsAreBoundByTheNamesOfTheSource) {
  const TemporaryFolder folder;
  write_text(folder / "k.cu",
             "__global__ void k(float* out, const float* in, int n) {\n"
             "  if (threadIdx.x < n) out[threadIdx.x] = in[threadIdx.x];\n}\n");
  const auto call = [&](const Words& arguments) {
    Words words = {"check", folder / "k.cu", "--grid", "1", "--block", "32"};
    for (const std::string& one : arguments) words.insert(words.end(), {"--arg", one});
    return run_program(words, {"TESSERA_CACHE=" + (folder / "cache")});
  };
  const Ran ran = call({"n=i32:16", "in=f32[16]:uniform", "out=f32[16]"});
  if (contains(ran.err, "needs nvcc")) GTEST_SKIP() << "no nvcc";
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_EQ(call({"a=f32[16]", "b=f32[16]:uniform", "c=i32:16"}).code, 0) << "in their order";
  const Ran other = call({"n=i32:16", "b=f32[16]:uniform", "out=f32[16]"});
  EXPECT_EQ(other.code, 2);
  EXPECT_TRUE(contains(other.err,
                       "the parameters of kernel 'k(float*, float const*, int)' are "
                       "out, in, n: use these names"))
      << other.err;
  const Ran misfit = call({"out=f32[16]", "in=f32[16]", "n=f32:1"});
  expect_parts(misfit.err, {"\nFor example:\n", "--arg 'out=f32[16]' ", "--arg 'n=i32:64'"});
}
TEST_F(CheckCompile, AProgramForAnOlderCudaIsChecked) {
  const TemporaryFolder folder;
  write_text(folder / "k.cu",
             "__global__ void k(int* x) { x[threadIdx.x] = __shfl_down(threadIdx.x, 1, 16); }\n"
             "int main() { k<<<1, 16>>>(nullptr); return cudaThreadSynchronize(); }\n");
  const Words words = {"check", folder / "k.cu", "--grid",   "1", "--block",
                       "16",    "--arg",         "x=i32[16]"};
  const std::vector<std::string> cache = {"TESSERA_CACHE=" + (folder / "cache")};
  const auto says_what_was_replaced = [](const Ran& ran) {
    return contains(ran.err, "note: compiled with ") &&
           contains(ran.err, "cudaDeviceSynchronize for cudaThreadSynchronize");
  };
  const Ran ran = run_program(words, cache);
  if (contains(ran.err, "needs nvcc")) GTEST_SKIP() << "no nvcc";
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_TRUE(says_what_was_replaced(ran)) << ran.err;
  // What is kept is used, and says so, too: here it is made unusable.
  for (const auto& one : std::filesystem::directory_iterator(folder / "cache")) {
    if (one.path().extension() != ".ptx") continue;
    write_text(one.path().string(), file_text(one.path().string()) + "this is no PTX\n");
  }
  const Ran kept = run_program(words, cache);
  EXPECT_EQ(kept.code, 2) << kept.out << kept.err;
  EXPECT_TRUE(says_what_was_replaced(kept)) << kept.err;
  write_text(folder / "k.cu", "__global__ void k() { cudaThreadSynchronize(); no_such_name(); }\n");
  const Ran refused = run_program(words, cache);
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "\"no_such_name\" is undefined")) << refused.err;
}

TEST_F(CheckCompile, KernelsThatLaunchKernelsAreRefusedByName) {
  const TemporaryFolder folder;
  const std::string launch = "__global__ void a() {}\n__global__ void b() { a<<<1, 1>>>(); }\n";
  write_text(folder / "k.cu", launch);
  const Ran refused = run_program({"check", folder / "k.cu", "--kernel", "b"});
  if (contains(refused.err, "needs nvcc")) GTEST_SKIP() << "no nvcc";
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "kernels that launch kernels do not run here")) << refused.err;
  const Ran linked = run_program({"check", folder / "k.cu", "--kernel", "b", "--nvcc-arg",
                                  "-rdc=true", "--grid", "1", "--block", "1"});
  EXPECT_EQ(linked.code, 2);
  EXPECT_TRUE(contains(linked.err, "kernels that launch kernels are not implemented"))
      << linked.err;
}

}  // namespace
}  // namespace tessera::checking
