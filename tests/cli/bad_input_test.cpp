// Every bad call: exit code 2, one sentence on stderr that names the argument, its value and the
// rule, nothing on stdout, no output file, and an existing one untouched.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "cli/app/app.h"
#include "tests/support/beside.h"
#include "tests/support/program.h"

namespace tessera::cli {
namespace {

using Words = std::vector<std::string>;

const std::string kData = TESSERA_SOURCE_DIR "/tests/cli/data/";

class BadInput : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(beside_test("tessera"))) GTEST_SKIP() << "no program here";
  }

  // Runs the call; its stderr must be one line that holds every part.
  void expect_refused(const Words& arguments, const Words& parts, const Words& environment = {}) {
    std::string shown;
    for (const std::string& word : arguments) shown += " " + word;
    SCOPED_TRACE("tessera" + shown);
    const Ran ran = run_program(arguments, environment);
    EXPECT_EQ(ran.code, 2);
    EXPECT_EQ(ran.out, "");
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    EXPECT_TRUE(ran.err.starts_with("tessera")) << ran.err;
    for (const std::string& part : parts) {
      EXPECT_NE(ran.err.find(part), std::string::npos) << "lacks '" << part << "': " << ran.err;
    }
  }

  // The same, and neither a new output file nor a change to an old one.
  void expect_no_output(const Words& arguments, const Words& parts, const Words& environment = {}) {
    const TemporaryFolder folder;
    Words with_output = arguments;
    with_output.insert(with_output.end(), {"--json", folder / "new.json"});
    expect_refused(with_output, parts, environment);
    EXPECT_TRUE(folder.names().empty());
    write_text(folder / "old.json", "old");
    with_output.back() = folder / "old.json";
    expect_refused(with_output, parts, environment);
    EXPECT_EQ(file_text(folder / "old.json"), "old");
    EXPECT_EQ(folder.names().size(), 1u);
  }

  void expect_multiply_refused(const Words& files, const Words& parts) {
    const TemporaryFolder folder;
    Words call = {"multiply"};
    call.insert(call.end(), files.begin(), files.end());
    call.insert(call.end(), {"-o", folder / "d.npy"});
    expect_refused(call, parts);
    EXPECT_TRUE(folder.names().empty());
    write_text(folder / "d.npy", "old");
    expect_refused(call, parts);
    EXPECT_EQ(file_text(folder / "d.npy"), "old");
  }
};

TEST_F(BadInput, WhyIsAboutTheBestKernel) {
  expect_refused({"bench", "--device", "virtual", "--why", "--kernel", "12", "-m", "8"},
                 {"--kernel", "'12'", "--why"});
}

TEST_F(BadInput, Commands) {
  std::vector<std::string> named = {"no command was given"};
  for (const Command& command : all_commands()) named.push_back(command.name);
  expect_refused({}, named);
  expect_refused({"climb"}, {"'climb' is not a command", "must be one of: ladder"});
  expect_refused({"bench", "--colour", "red"}, {"tessera bench: ", "'--colour'", "--help"});
  expect_refused({"bench", "-m"}, {"-m was given without a value"});
  expect_refused({"bench", "-m", "1", "-m", "2"}, {"-m was given more than once"});
  expect_refused({"multiply", "a.npy", "b.npy"}, {"-o", "required"});
}

TEST_F(BadInput, EmptyValues) {
  const std::string a = kData + "one_f32.npy";
  for (const char* name : {"--kernel", "--type", "-m", "--shapes", "--layout", "--order", "--alpha",
                           "--seed", "--device", "--threads", "--vendor-lib", "--csv"}) {
    expect_no_output({"bench", name, ""}, {std::string(name) + " is '', but must not be empty"});
  }
  expect_multiply_refused({a, a, "--c", ""}, {"--c is ''"});
  expect_multiply_refused({a, a, "--kernel", ""}, {"--kernel is ''"});
  expect_multiply_refused({a, ""}, {"B is ''"});
}

// What a message quotes cannot break its line or command the terminal.
TEST_F(BadInput, MessagesAreOneLine) {
  expect_refused({"bench", "-m", "1\n2\x1b[31m"}, {"-m is '1?2?[31m'"});
  expect_multiply_refused({"a\nb", "b"}, {"A (a?b)", "no such file"});
}

TEST_F(BadInput, Kernels) {
  expect_no_output({"bench", "--kernel", "99_fastest"},
                   {"--kernel is '99_fastest'", "02_coalesced"});
  expect_no_output({"verify", "--kernel", "02/huge"}, {"--kernel", "'huge'", "16x16"});
  expect_no_output({"ladder", "--kernel", ""}, {"--kernel is ''"});
  expect_no_output({"list", "--type", "f33"}, {"f33", "f32", "f64"});
  expect_no_output({"bench", "--kernel", "02", "--type", "f64"}, {"--type is f64", "computes f32"});
}

TEST_F(BadInput, Sizes) {
  const Words bench = {"bench", "--device", "virtual", "--kernel", "02"};
  const auto refused = [&](const Words& sizes, const Words& parts) {
    Words call = bench;
    call.insert(call.end(), sizes.begin(), sizes.end());
    expect_no_output(call, parts);
  };
  refused({"-m", "ten"}, {"-m is 'ten', but must be a whole number"});
  refused({"-m", "-5"}, {"-m is '-5', but must be at least 0"});
  refused({"-m", "99999999999999999999"}, {"-m is '99999999999999999999'", "2^63"});
  refused({"-m", "1,,2"}, {"-m is '1,,2'", "a list 'a,b'"});
  refused({"-m", "1:2"}, {"-m is '1:2'", "lo:hi:step"});
  refused({"-m", "9:2:1"}, {"-m is '9:2:1'", "not above its last"});
  refused({"-m", "0:8:x2"}, {"-m is '0:8:x2'", "at least 1"});
  refused({"-m", "1:8:x1"}, {"the step of -m is '1'", "at least 2"});
  refused({"-m", "1:8:0"}, {"the step of -m is '0'", "at least 1"});
  refused({"-m", "1:1000000000:1"}, {"-m", "at most 100000 sizes"});
  refused({"-m", "4", "-n", "4"}, {"-k is ''", "all three"});
  refused({"-k", "4"}, {"-m is ''", "all three"});
  refused({"-m", "4", "--shapes", "squares"}, {"--shapes is 'squares'", "with -m"});
  refused({"--shapes", "/no/such/file"}, {"--shapes is '/no/such/file'", "squares"});
  refused({"-m", "4611686018427387904"}, {"4611686018427387904"});
  refused({"-m", "9223372036854775807"}, {"9223372036854775807", "64-bit"});
  refused({"-m", "1:5000:1", "-n", "1:5000:1", "-k", "8"}, {"25000000 shapes", "at most 100000"});
}

TEST_F(BadInput, StridesOfBatches) {
  const Words batch = {"verify", "--device", "virtual", "--kernel", "simt_f32", "-m", "8",
                       "-n",     "8",        "-k",      "8",        "--batch",  "2"};
  const auto with = [&](const Words& more) {
    Words words = batch;
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  EXPECT_EQ(run_program(batch).code, 0) << "strides of dense products";
  EXPECT_EQ(run_program(with({"--stride-a", "0"})).code, 0) << "one A for all";
  expect_refused(with({"--stride-d", "3"}), {"--stride-d is 3", "must not share an element"});
  expect_refused(with({"--stride-b", "x"}), {"--stride-b is 'x'"});
}

TEST_F(BadInput, ShapeFiles) {
  const TemporaryFolder folder;
  write_text(folder / "two", "1 2 3\n4 5\n");
  expect_refused({"bench", "--shapes", folder / "two"}, {"line 2", "'4 5'", "'m n k'"});
  write_text(folder / "word", "# sizes\n\n1 b 3\n");
  expect_refused({"bench", "--shapes", folder / "word"}, {"line 3", "'b'"});
  write_text(folder / "none", "# nothing\n");
  expect_refused({"bench", "--shapes", folder / "none"}, {"at least one line"});
  mkfifo((folder / "pipe").c_str(), 0600);  // opening it would wait for ever
  expect_refused({"bench", "--shapes", folder / "pipe"}, {"a file that can be read"});
}

TEST_F(BadInput, LayoutsScalesAndDevices) {
  const Words bench = {"bench", "--kernel", "02", "-m", "8"};
  const auto refused = [&](const Words& more, const Words& parts) {
    Words call = bench;
    call.insert(call.end(), more.begin(), more.end());
    expect_no_output(call, parts);
  };
  refused({"--layout", "NX"}, {"NX", "NN"});
  refused({"--order", "diagonal"}, {"diagonal", "col", "row"});
  refused({"--lda", "7"}, {"lda", "7", "8"});
  refused({"--ldd", "7"}, {"ldd", "7", "8"});
  refused({"--lda", "x"}, {"--lda is 'x'"});
  refused({"--alpha", "one"}, {"--alpha is 'one'"});
  refused({"--beta", "1.5x"}, {"--beta is '1.5x'"});
  refused({"--seed", "-1"}, {"--seed is '-1'"});
  refused({"--mode", "slow"}, {"--mode is 'slow'", "burst"});
  refused({"--fill", "ones"}, {"ones", "uniform"});
  refused({"--device", "tpu"}, {"--device is 'tpu'", "cuda or virtual"});
  refused({"--device", "virtual", "--threads", "0"}, {"--threads is '0'", "1"});
  refused({"--device", "virtual", "--vendor-lib", "/x"}, {"--vendor-lib is '/x'", "without a GPU"});
  refused({"--chain", "0"}, {"--chain is '0'"});
  refused({"--chain", "3", "-n", "8", "-k", "9"}, {"square", "9"});
  for (const char* name : {"--fill", "--mode", "--beta", "--lda"}) {
    refused({"--chain", "3", name, "9"}, {name, "'9'", "combined with --chain"});
  }
  refused({"--chain", "3", "--rounds", "0"}, {"--rounds is '0'"});
  refused({"--add-before"}, {"--add-before", "needs --chain"});
  refused({"--chain", "101", "--add-before"}, {"--chain is '101'", "100"});
  refused({"--chain", "3", "--add-before"}, {"f64", "f32"});
  refused({"--chain", "3", "--no-verify"}, {"--no-verify", "combined with --chain"});
  refused({"--device", "cuda", "--threads", "x"}, {"--threads is 'x'"});
  expect_no_output({"verify", "--beta", "2"}, {"--beta is '2'", "needs a shape"});
  expect_no_output({"verify", "--misalign", "3"}, {"--misalign is '3'", "needs a shape"});
  expect_no_output({"verify", "--in-place"}, {"--in-place", "needs a shape"});
  expect_no_output({"verify", "-m", "8", "--quick"}, {"--quick", "combined with a shape"});
  expect_no_output({"ladder", "-m", "8,16"}, {"2 problems", "takes one"});
}

TEST_F(BadInput, OutputsThatCannotBeWritten) {
  expect_refused({"list", "--json", "/no/such/folder/x.json"},
                 {"--json", "/no/such/folder/x.json"});
  expect_refused({"list", "--csv", "/"}, {"--csv", "/"});
  expect_refused({"list", "--json", "-", "--md", "-"}, {"'-'", "same place"});
  const TemporaryFolder folder;
  expect_refused({"list", "--json", folder / "x", "--md", folder / "./x"}, {"--md", "same place"});
  EXPECT_TRUE(folder.names().empty());
  write_text(folder / "sizes", "8 8 8\n");
  expect_refused({"bench", "--shapes", folder / "sizes", "--json", folder / "sizes"},
                 {"--json", "same place as --shapes"});
  EXPECT_EQ(file_text(folder / "sizes"), "8 8 8\n");
}

// A full disk, and a stdout that was closed.
TEST_F(BadInput, StdoutThatCannotBeWritten) {
  const TemporaryFolder folder;
  for (const char* sink : {">/dev/full", ">&-"}) {
    const std::string call = beside_test("tessera") + " list " + sink + " 2>" + (folder / "err");
    const int status = std::system(call.c_str());
    EXPECT_EQ(WEXITSTATUS(status), 2) << sink;
    EXPECT_TRUE(file_text(folder / "err").starts_with("tessera list: standard output cannot"));
  }
}

TEST_F(BadInput, MemoryThatIsNotThere) {
  expect_no_output({"bench", "--device", "virtual", "--kernel", "02", "-m", "3000000"},
                   {"3000000", "memory"});
  expect_no_output(
      {"bench", "--device", "virtual", "--kernel", "02", "-m", "1000000", "--chain", "2"},
      {"a chain of 1000000 x 1000000 matrices", "memory"});
}

TEST_F(BadInput, Files) {
  const std::string a = kData + "a_f32.npy", b = kData + "b_f32.npy";
  expect_multiply_refused({"/no/a.npy", b}, {"A (/no/a.npy)", "no such file"});
  expect_multiply_refused({a, kData}, {"B (", "not a regular file"});
  expect_multiply_refused({a, kData + "vector.npy"}, {"B (", "has 1 dimensions"});
  expect_multiply_refused({kData + "int.npy", b}, {"A (", "'<i8'", "float16", "float32"});
  expect_multiply_refused({kData + "half.npy", b}, {"B holds f32", "must hold f16"});
  expect_multiply_refused({a, kData + "b_f64.npy"}, {"B holds f64", "must hold f32"});
  expect_multiply_refused({a, a}, {"A is 17 x 33 and B is 17 x 33", "as many columns"});
  expect_multiply_refused({a, b, "--c", a}, {"C is 17 x 33", "17 x 9"});
  expect_multiply_refused({a, b, "--beta", "2"}, {"--beta is '2'", "without a matrix C"});
  expect_multiply_refused({a, b, "--alpha", "two"}, {"--alpha is 'two'"});
  expect_multiply_refused({a, b, "--kernel", "24"}, {"--kernel is '24'", "computes f64"});
  expect_multiply_refused({a, b, "--kernel", "all"}, {"--kernel is 'all'", "must name one"});
  expect_multiply_refused({a, b, "--kernel", "zz"}, {"--kernel is 'zz'"});
  expect_multiply_refused({a, b, "--kernel", "02", "--device", "cpu"}, {"--kernel", "cpu"});
  expect_multiply_refused({a, b, "--device", "abacus"}, {"--device is 'abacus'"});
}

TEST_F(BadInput, TruncatedFiles) {
  const TemporaryFolder folder;
  const std::string whole = file_text(kData + "a_f32.npy");
  for (const std::size_t bytes : {0, 5, 9, 60, 128, 1000}) {
    write_text(folder / "a.npy", whole.substr(0, bytes));
    expect_multiply_refused({folder / "a.npy", kData + "b_f32.npy"}, {"A (", "a.npy)", "trunc"});
  }
}

TEST_F(BadInput, OutputsOfMultiply) {
  const TemporaryFolder folder;
  std::filesystem::copy(kData + "one_f32.npy", folder / "a.npy");
  const std::string a = folder / "a.npy", before = file_text(folder / "a.npy");
  expect_refused({"multiply", a, a, "-o", a}, {"-o is '", "must not be the file of A"});
  EXPECT_EQ(file_text(a), before);
  const std::string d = folder / "d.npy";
  expect_refused({"multiply", a, a, "-o", d, "--json", a}, {"--json", "same place as A"});
  expect_refused({"multiply", a, a, "-o", d, "--csv", d}, {"--csv", "same place as -o"});
  EXPECT_EQ(file_text(a), before);
  EXPECT_FALSE(std::filesystem::exists(d));
  expect_refused({"multiply", a, a, "-o", "/no/such/d.npy"}, {"-o", "/no/such/d.npy"});
  expect_refused({"multiply", a, a, "-o", "-"}, {"-o is '-'"});
}

// Machines without a driver, without a GPU, with an old driver or too little memory: a stand-in
// driver plays them all.
TEST_F(BadInput, GpusThatAreNotThere) {
  const std::string fake = fake_driver();
  if (!std::filesystem::exists(fake)) GTEST_SKIP() << "no stand-in driver";
  const std::string path = "LD_LIBRARY_PATH=" + std::filesystem::path(fake).parent_path().string();
  const Words bench = {"bench", "--device", "cuda", "--kernel", "02", "-m", "8"};
  const TemporaryFolder no_driver;
  write_text(no_driver / "libcuda.so.1", "");
  expect_no_output(bench, {"--device is 'cuda'", "libcuda.so.1 cannot be loaded"},
                   {"LD_LIBRARY_PATH=" + (no_driver / "")});
  expect_no_output(bench, {"--device is 'cuda'", "cuInit failed", "nvidia-smi"},
                   {path, "FAKE_CUDA_FAIL=cuInit=100"});
  expect_no_output(bench, {"--device is 'cuda'", "driver is too old", "CUDA 11.4", "CUDA 12.0"},
                   {path, "FAKE_CUDA_DRIVER=11040"});
  expect_no_output(bench, {"cannot be loaded by this GPU and driver (CUDA 12.4)"},
                   {path, "FAKE_CUDA_DRIVER=12040"});
  expect_no_output(bench, {"not enough device memory", "of 100 bytes free"},
                   {path, "FAKE_CUDA_MEMORY=100", "FAKE_CUDA_ACCEPT=1"});
  Words second = bench;
  second[2] = "cuda:2";
  expect_no_output(second, {"--device is 'cuda:2'", "2 GPUs, whose numbers are 0 to 1"},
                   {path, "FAKE_CUDA_COUNT=2"});
  second[2] = "cuda:x";
  expect_no_output(second, {"the number of --device is 'x'"}, {path});
  expect_no_output({"ladder", "--device", "cuda"}, {"--device is 'cuda'"},
                   {path, "FAKE_CUDA_COUNT=0"});
}

}  // namespace
}  // namespace tessera::cli
