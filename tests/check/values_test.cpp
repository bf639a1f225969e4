// Null pointers, aliases, arrays of pointers, variables of the module, names as people type them,
// and sources that are compiled once.
#include <gtest/gtest.h>

#include <filesystem>

#include "check/arrays.h"
#include "check/loose_name.h"
#include "tests/check/call.h"

namespace tessera::checking {
namespace {

class CheckValues : public Check {
 protected:
  static Words call(const std::string& kernel, const Words& arguments) {
    return launch("arguments.ptx", kernel, "1", "32", arguments);
  }
};

TEST_F(CheckValues, VariablesOfTheModuleAreSetByName) {
  const Words weighs = call("weighs", {"out=f32[32]", "in=f32[32]:iota", "offset=null"});
  const Words set = {"--set", "coefficients=f32[4]:constant=2", "--set", "mode=i32:5"};
  const std::vector<double> out = result(joined(weighs, set));
  ASSERT_EQ(out.size(), 32u);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(out[static_cast<std::size_t>(i)], 2 * i + 5);
  EXPECT_FALSE(contains(check(joined(weighs, set)).out, "is zero here"));
  EXPECT_TRUE(contains(check(weighs).out, "note: __constant__ coefficients is zero here; --set"));
  expect_refused(joined(weighs, {"--set", "coeficients=f32:1"}),
                 {"names the variable 'coeficients', but there are: 'coefficients'"});
  expect_refused(joined(weighs, {"--set", "ns::mode=i32:1"}), {"names the variable 'ns::mode'"});
  expect_refused(joined(weighs, {"--set", "ns:mode=i32:1"}), {"a name is made of letters"});
  expect_refused(joined(weighs, {"--set", "mode=f64:1"}), {"8 bytes, but the variable has 4"});
}

TEST_F(CheckValues, NullAndTheAddressOfAnotherArray) {
  const Words set = {"--set", "coefficients=f32[4]:ones", "--set", "mode=i32:5"};
  const auto with = [&](const std::string& offset, const Words& more = {}) {
    const Words words = call("weighs", {"out=f32[32]", "in=f32[32]:zeros", "offset=" + offset});
    return result(joined(joined(words, set), more)).at(3);
  };
  EXPECT_EQ(with("null"), 5);
  EXPECT_EQ(with("more", {"--array", "more=i32[4]:iota"}), 0);
  EXPECT_EQ(with("more+8", {"--array", "more=i32[4]:iota"}), 2);
  const Words in_place = call("weighs", {"out=f32[32]:iota", "in=out", "offset=null"});
  EXPECT_EQ(result(joined(in_place, set)).at(7), 12);
  expect_refused(call("weighs", {"out=f32[32]", "in=nowhere", "offset=null"}),
                 {"names the array 'nowhere', but the arrays are: out"});
  expect_refused(call("sums", {"out=f32[32]", "rows=null", "n=null"}),
                 {"an address, but the kernel takes none there"});
}

TEST_F(CheckValues, ArraysOfPointers) {
  const Words words = joined(call("sums", {"out=f32[32]", "rows=pointers(a, null, b)", "n=i32:3"}),
                             {"--array", "a=f32[32]:iota", "--array", "b=f32[32]:ones"});
  EXPECT_EQ(result(words).at(9), 10);
  const Words part = joined(call("sums", {"out=f32[32]", "rows=pointers(a, a+128)", "n=i32:2"}),
                            {"--array", "a=f32[64]:iota"});
  EXPECT_EQ(result(part).at(9), 9 + (32 + 9));
  expect_refused(call("sums", {"out=f32[32]", "rows=pointers(a)", "n=i32:1"}),
                 {"names the array 'a'"});
  const Ran beyond = check(joined(call("sums", {"out=f32[32]", "rows=pointers(a)", "n=i32:2"}),
                                  {"--array", "a=f32[32]:iota"}));
  EXPECT_EQ(beyond.code, 1) << beyond.out << beyond.err;
}

TEST_F(CheckValues, NamesMatchAsPeopleTypeThem) {
  for (const char* name : {"doubled<float,32>", "doubled<float, 32u>", "doubled<float, 32U>",
                           "doubled<float,(unsigned)32>"}) {
    EXPECT_EQ(check(call(name, {"out=f32[32]", "in=f32[32]:ones"})).code, 0) << name;
  }
  expect_refused(call("doubled<float,64>", {}),
                 {"has these: 'doubled<float, 16u>(",
                  "'doubled<float, 32u>(float*, float const*)' and 7 more"});
  expect_refused(call("wieghs", {}), {"has these: 'weighs("});
}

TEST_F(CheckValues, TemplateArgumentsMatchAsPeopleTypeThem) {
  for (const char* name :
       {"chosen<uint8_t>", "chosen<std::uint8_t, 4>", "chosen<unsigned char,0x4,0,'x'>",
        "chosen<int64_t, 4, 1>", "chosen<long long, 4, 1>", "chosen<long, 4, (Mode)7, 'y'>",
        "chosen<size_t>"}) {
    const std::string type = contains(name, "8_t") || contains(name, "char") ? "u8" : "i64";
    const Ran ran = check(call(name, {"out=" + type + "[32]"}));
    EXPECT_EQ(ran.code, 0) << name << ran.out << ran.err;
  }
  expect_refused(call("chosen<long>", {}), {"names 2 kernels", "(Mode)1", "(Mode)7"});
  expect_refused(call("chosen<long, 8>", {}), {"has these: 'chosen<"});
}

TEST(LooseNames, EnumeratorsAreThoseOfTheSource) {
  const std::string source = kFolder + "arguments.cu";
  EXPECT_EQ(with_enumerators("chosen<long, 4, Mode::kC>", source, {}), "chosen<long,4,7>");
  EXPECT_EQ(with_enumerators("chosen<long,4,ns::Mode::kB,'x'>", source, {}),
            "chosen<long,4,1,'x'>");
  EXPECT_EQ(with_enumerators("Mode::kB<kB>", source, {}), "Mode::kB<kB>");
}

TEST_F(CheckValues, AFileThatHasNotChangedIsCompiledOnce) {
  const TemporaryFolder folder;
  const std::string nvcc = folder / "nvcc", calls = folder / "calls";
  write_text(folder / "size.h", "#define SIZE 1\n");
  write_text(folder / "k.cu",
             "#include \"size.h\"\n__global__ void k(float* x) { int unused; x[threadIdx.x] = "
             "SIZE + MORE; }\n");
  const Words words = {"check", folder / "k.cu", "-DMORE=2", "-std=c++17", "--grid",
                       "1",     "--block",       "32",       "--arg",      "x=f32[32]"};
  const std::vector<std::string> cache = {"TESSERA_CACHE=" + (folder / "cache")};
  const Ran first = run_program(words, cache);
  if (contains(first.err, "needs nvcc")) GTEST_SKIP() << "no nvcc";
  EXPECT_EQ(first.code, 0) << first.out << first.err;
  EXPECT_EQ(first.err, "") << "a warning of a file that compiles";
  EXPECT_TRUE(contains(first.out, "-DMORE=2 -std=c++17")) << first.out;
  const auto entries = [&] {
    std::size_t count = 0;
    for (const auto& one : std::filesystem::directory_iterator(folder / "cache")) {
      count += one.path().extension() == ".ptx";
    }
    return count;
  };
  EXPECT_EQ(entries(), 1u);
  // Marks what is kept, to see it used.
  const auto kept = std::filesystem::directory_iterator(folder / "cache")->path().string();
  std::string text = file_text(kept);
  write_text(kept, text + "\nthis is no PTX\n");
  EXPECT_EQ(run_program(words, cache).code, 2);
  write_text(folder / "size.h", "#define SIZE 1000\n");
  EXPECT_EQ(run_program(words, cache).code, 0) << "a changed header";
}

}  // namespace
}  // namespace tessera::checking
