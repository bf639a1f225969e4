// docs/when-not-to-use.md says what is not there. What has come since must leave the page: each
// absence that a command can show is asked for, and every other point names its table or file.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "tests/support/beside.h"
#include "tests/support/program.h"

namespace tessera::cli {
namespace {

const char* const kPage = "docs/when-not-to-use.md";

// Words of the page, and a call that is refused as long as they are true.
struct Absence {
  const char* words;
  std::vector<std::string> call;
  const char* refusal;
};

std::vector<Absence> absences() {
  return {{"No kernel multiplies it", {"bench", "--why", "--type", "e4m3"}, "e4m3"},
          {"complex products", {"bench", "--why", "--type", "c64"}, "c64"}};
}

// A kernel of one instruction.
std::string ptx_with(const std::string& instruction) {
  return ".version 9.0\n.target sm_90a\n.address_size 64\n"
         ".extern .func (.param .b32 retval) cudaLaunchDeviceV2(.param .b64 a, .param .b64 b);\n"
         ".visible .entry one(.param .u64 z)\n{\n  .reg .b32 %r<8>;\n  .reg .b16 %rs<8>;\n"
         "  .reg .b64 %rd<8>;\n  ld.param.u64 %rd1, [z];\n" +
         instruction + "\n  ret;\n}\n";
}

struct Refused {
  const char* words;
  const char* instruction;
};
constexpr Refused kRefused[] = {
    {"`tcgen05`", "tcgen05.wait::ld.sync.aligned;"},
    {"`im2col`",
     "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1], "
     "[%rd1, {%r1, %r1, %r1}], [%r1], {%rs1};"},
    {"dynamic parallelism",
     "{ .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %rd1; st.param.b64 [b], "
     "%rd1; call.uni (r), cudaLaunchDeviceV2, (a, b); }"}};

std::vector<std::string> points_of(const std::string& page) {
  static const std::regex kPoint(R"(\n- \*\*[^]*?(?=\n- \*\*|$))");
  std::vector<std::string> points;
  for (std::sregex_iterator it(page.begin(), page.end(), kPoint), end; it != end; ++it) {
    points.push_back((*it)[0]);
  }
  return points;
}

TEST(WhenNotToUse, WhatIsSaidToBeAbsentIs) {
  if (!std::filesystem::exists(beside_test("tessera"))) GTEST_SKIP() << "no program here";
  const std::string page = file_text(kPage);
  for (const Absence& absence : absences()) {
    EXPECT_TRUE(contains(page, absence.words)) << absence.words;
    const Ran ran = run_program(absence.call);
    EXPECT_EQ(ran.code, 2) << absence.words << ": " << ran.out;
    EXPECT_TRUE(contains(ran.err, absence.refusal)) << ran.err;
  }
  const TemporaryFolder folder;
  for (const Refused& refused : kRefused) {
    EXPECT_TRUE(contains(page, refused.words)) << refused.words;
    write_text(folder / "one.ptx", ptx_with(refused.instruction));
    const Ran ran = run_program(
        {"check", folder / "one.ptx", "--grid", "1", "--block", "32", "--arg", "z=f32[64]"});
    EXPECT_EQ(ran.code, 2) << refused.words << ": " << ran.out;
    EXPECT_TRUE(contains(ran.err, "at PTX line ")) << ran.err;
  }
  EXPECT_EQ(contains(page, "drop-in"), !std::filesystem::exists("interpose"));
}

TEST(WhenNotToUse, EachPointHasEvidence) {
  const std::vector<std::string> points = points_of(file_text(kPage));
  ASSERT_GT(points.size(), 10u);
  for (const std::string& point : points) {
    bool is_shown = contains(point, "](") || contains(point, "results/");
    for (const Absence& absence : absences()) is_shown |= contains(point, absence.words);
    for (const Refused& refused : kRefused) is_shown |= contains(point, refused.words);
    for (const char* words : {"Rungs 07 to 12 then", "are\n  untested"}) {
      is_shown |= contains(point, words);  // the lattice of every rung; the build's own limits
    }
    EXPECT_TRUE(is_shown) << point;
  }
}

}  // namespace
}  // namespace tessera::cli
