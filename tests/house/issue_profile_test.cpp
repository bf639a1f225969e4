// tools/calibrate/issue_profile.py: bubbles of a profile, laid over the reuse flags of the listing.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace tessera::house {
namespace {

struct Row {
  const char* text;
  int reuse;  // mask of the operands that are kept
  int dispatch;
};

// A loop; in front of it stands one instruction that runs once. Each is selected in 100 samples and
// waits in as many.
const std::vector<Row> kLoop = {
    {"FFMA R9, R2.reuse, RZ, R9", 1, 0},
    {"FFMA R11, R2, R4, R11", 0, 0},  // R2 is kept: one fresh read a bank
    {"FFMA R8, R2, R6, R13", 0, 0},   // crowded: R2 was kept for one reader only
    {"FFMA R8, R3, R6, R15", 0, 0},   // crowded in the odd bank
    {"NOP", 0, 0},
    {"NOP", 0, 0},
    {"NOP", 0, 60},
    {"NOP", 0, 100},  // 5 behind the first crowded one
    {"NOP", 0, 25},   // 5 behind the second
    {"BRA 0x10", 0, 0},
};

std::string csv_row(int offset, const char* text, int runs, int selected, int wait, int dispatch) {
  char row[200];
  std::snprintf(row, sizeof row, "\"0x%x\",\"  %s\",\"%d\",\"%d\",\"%d\",\"%d\",\"7\"\n",
                0x7000 + offset, text, runs, selected, wait, dispatch);
  return row;
}

std::string profile() {
  std::string csv =
      "==PROF== a line of the profiler\n\"Kernel Name\",\"mul\",\n\"Address\",\"Source\","
      "\"Instructions Executed\",\"stall_selected\",\"stall_wait\",\"stall_dispatch\","
      "\"stall_wait (Not Issued)\"\n";
  csv += csv_row(0, "MOV R1, R2", 1, 1, 900, 0);
  int offset = 0;
  for (const Row& row : kLoop) csv += csv_row(offset += 16, row.text, 64, 100, 100, row.dispatch);
  return csv + csv_row(offset + 16, "EXIT", 1, 1, 0, 0);
}

std::string listing() {
  std::string json = "{\"kernels\": [{\"kernel\": \"mul\", \"instructions\": [";
  int offset = 0;
  for (const Row& row : kLoop) {
    char one[200];
    std::snprintf(one, sizeof one, "%s{\"offset\": %d, \"text\": \"%s\", \"yield\": false, ",
                  offset == 0 ? "" : ", ", offset + 16, row.text);
    json += one + ("\"reuse\": " + std::to_string(row.reuse)) + "}";
    offset += 16;
  }
  return json + "]}]}";
}

struct Result {
  int exit_code;
  std::string out;
};

Result run_tool(const std::string& csv, const std::string& json) {
  const std::filesystem::path folder = testing::TempDir();
  std::ofstream(folder / "profile.csv") << csv;
  std::ofstream(folder / "listing.json") << json;
  const std::string command = "PYTHONDONTWRITEBYTECODE=1 tools/calibrate/issue_profile.py " +
                              (folder / "profile.csv").string() + " " +
                              (folder / "listing.json").string() + " 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  Result result{-1, ""};
  for (int c; (c = std::fgetc(pipe)) != EOF;) result.out += static_cast<char>(c);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  return result;
}

class IssueProfile : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("command -v python3 > /dev/null") != 0) {
      GTEST_SKIP() << "python3 is not installed";
    }
  }
};

TEST_F(IssueProfile, FindsBubblesBehindCrowdedFfmas) {
  const Result result = run_tool(profile(), listing());
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out,
            "mul: loop of 10 instructions, 4 FFMA; 2 warps a sub-core, 2185 samples\n"
            "issue slots used: 91.5 %; lost at dispatch: 16.9 %, 1.9 bubbles per iteration\n"
            "5 behind a crowded FFMA: 1.2, elsewhere 0.6; of half a cycle and more: 1 of 2\n"
            "  crowded in the even bank: 1 FFMAs, 1.0 bubbles\n"
            "  crowded in the odd bank: 1 FFMAs, 0.2 bubbles\n"
            "warps' time: selected 45.8 %, wait 45.8 %, dispatch 8.5 %\n");
}

TEST_F(IssueProfile, RefusesTheListingOfOtherCode) {
  std::string other = listing();
  other.replace(other.find("NOP"), 3, "MOV");
  const Result result = run_tool(profile(), other);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.out.find("at 0x50 the listing has MOV"), std::string::npos) << result.out;
  EXPECT_EQ(run_tool("nothing\n", listing()).exit_code, 1);
}

}  // namespace
}  // namespace tessera::house
