// The arguments of tessera check: every type goes in and comes out, and a call that does not fit
// says what would.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "base/status.h"
#include "check/arrays.h"
#include "check/bind.h"
#include "lab/record/record.h"
#include "tests/check/call.h"

namespace tessera::checking {
namespace {

TEST_F(Check, MissingArgumentsAreListed) {
  const Words call = {kFolder + "transpose.ptx", "--grid", "2,2", "--block", "32,8"};
  expect_refused(joined(call, {"--arg", "out=f32[64,64]"}),
                 {"kernel 'transpose(float*, float const*, int)' takes 3 arguments, but 1 is given",
                  "_Z9transposePfPKfi_param_2", "float const*", "u64", "u32", "out=f32[64,64]",
                  "This call runs, and found: race, ", "--grid 2,2 --block 32,8",
                  "--arg 'out=f32[64,64]' --arg 'in=f32[4096]:uniform' --arg 'n=i32:64'"});
  expect_refused({kFolder + "transpose.ptx"}, {"--grid is not given", "This call runs"});
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
  expect_refused(with(x, x, "f31:1"), {"'f31' is not a type; the types are i8, "});
  expect_refused(with(x, x, "seven"), {"'n=seven'", "a value is TYPE:NUMBER"});
  expect_refused(with("f32[32,-1]", x, n), {"'-1'", "at least 1"});
  expect_refused(with("f32[32", x, n), {"lacks its ']'"});
  expect_refused(with("f32[8]:pretty", x, n), {"'pretty' is not a fill"});
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
    EXPECT_EQ(load_element(ElementType::kF64, out.bytes.data() + 8 * i), expected[i]) << i;
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
  EXPECT_EQ(load_element(ElementType::kF32, y.bytes.data() + 4 * 39), 97.5);
  // n = 0: nothing is touched, whatever the pointers are.
  EXPECT_EQ(check(joined(call, {"--arg", "line=bytes:" + std::string(64, '0')})).code, 0);
  expect_refused(joined(call, {"--arg", "line=struct(y, x, i32:40)"}),
                 {"a struct of 24 bytes, but", "takes 32"});
  expect_refused(joined(call, {"--arg", "line=struct(y, nobody, i32:40, f64:1)"}),
                 {"names the array 'nobody', but the arrays are: y, x"});
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

class NamedArguments : public testing::Test {
 protected:
  static constexpr const char* kNames[] = {"out", "in", "n"};

  // The names as they are bound, or why none is.
  static std::string bound(const Words& texts) {
    vgpu::KernelSignature kernel;
    kernel.name = "k";
    kernel.parameters.resize(3);
    for (std::size_t i = 0; i < 3; ++i) kernel.parameters[i].name = "k_param_" + std::to_string(i);
    std::vector<Argument> arguments;
    for (const std::string& text : texts) {
      arguments.push_back(parse_argument("--arg", text + "=i32:1"));
    }
    std::string all;
    try {
      for (const Argument& one : in_order_of(kernel, arguments, {kNames[0], kNames[1], kNames[2]}))
        all += one.name + " ";
    } catch (const StatusError& error) {
      return error.status().message;
    }
    return all;
  }
};

TEST_F(NamedArguments, OfTheSourceAreBoundInAnyOrder) {
  EXPECT_EQ(bound({"n", "in", "out"}), "out in n ");
  EXPECT_EQ(bound({"in", "out"}), "out in ");
  EXPECT_EQ(bound({"k_param_2", "k_param_0", "k_param_1"}), "k_param_0 k_param_1 k_param_2 ");
}
TEST_F(NamedArguments, OfOnesOwnAreInTheKernelsOrder) {
  EXPECT_EQ(bound({"z", "y", "x"}), "z y x ");
  EXPECT_EQ(bound({"z"}), "z ");
  EXPECT_EQ(bound({"z", "in", "n"}), "z in n ") << "these are where they belong";
}
TEST_F(NamedArguments, AnUnknownOneIsRefusedWithTheNames) {
  EXPECT_EQ(bound({"n", "x", "out"}),
            "--arg is 'x=i32:1', but the parameters of kernel 'k' are out, in, n: use these names "
            "for all arguments, or give them in this order");
  EXPECT_EQ(bound({"n", "out"}),
            "--arg is 'n=i32:1', but parameter in of kernel 'k' is not given, and in comes before "
            "it; the parameters are out, in, n");
}

TEST(ShuffledArrays, HoldEveryNumberOnceInAnOrderOfTheSeed) {
  const Argument argument = parse_argument("--arg", "x=i32[1000]:shuffled");
  const auto values = [&](std::uint64_t seed) {
    const HostArray array = make_array("x", std::get<ArrayArgument>(argument.value), seed);
    std::vector<double> all;
    for (std::size_t i = 0; i < array.elements(); ++i) {
      all.push_back(load_element(array.type, array.bytes.data() + 4 * i));
    }
    return all;
  };
  std::vector<double> one = values(1);
  EXPECT_NE(one, values(2));
  EXPECT_FALSE(std::is_sorted(one.begin(), one.end()));
  std::sort(one.begin(), one.end());
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_EQ(one[i], static_cast<double>(i));
}
// How often each value is in the array.
std::map<double, int> counts_of(const std::string& text) {
  const Argument argument = parse_argument("--arg", text);
  const HostArray array = make_array("x", std::get<ArrayArgument>(argument.value), 1);
  std::map<double, int> counts;
  for (std::size_t i = 0; i < array.elements(); ++i) {
    ++counts[load_element(array.type, array.bytes.data() + size_of(array.type) * i)];
  }
  return counts;
}
TEST(RepeatedArrays, HoldValuesBelowTheirLengthFourTimesEach) {
  const std::map<double, int> counts = counts_of("x=i32[1001]:repeated");
  EXPECT_EQ(counts.size(), 251u);
  EXPECT_LT(counts.rbegin()->first, 1001);
  EXPECT_GT(counts.rbegin()->first, 995);
  for (const auto& [value, count] : counts) EXPECT_EQ(count, value < 1000 ? 4 : 1) << value;
}
TEST(RepeatedArrays, NarrowTypesBeginAnew) {
  for (const char* fill : {"iota", "shuffled"}) {
    EXPECT_EQ(counts_of(std::string("x=u8[2560]:") + fill).at(255), 10) << fill;
    EXPECT_EQ(counts_of(std::string("x=i8[1280]:") + fill).at(127), 10) << fill;
  }
}

}  // namespace
}  // namespace tessera::checking
