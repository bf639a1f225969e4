#include "base/renamed.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

namespace tessera {
namespace {

TEST(Renamed, NamesAreTranslatedWhereTheyStandAlone) {
  EXPECT_EQ(with_current_names("\"06_strip_of_4\""), "\"06_four_outputs\"");
  EXPECT_EQ(with_current_names("rung_06_strip_of_4__2x2"), "rung_06_four_outputs__2x2");
  EXPECT_EQ(with_current_names("05/both_turned, 21/b_turned"),
            "05/both_transposed, 21/b_transposed");
  EXPECT_EQ(with_current_names("rung_21_packed_blocks__b_turned__pack_a"),
            "rung_21_packed_blocks__b_transposed__pack_a");
}

TEST(Renamed, OtherTextStaysAsItIs) {
  for (const char* text : {"", "06_strip_of_40", "106_strip_of_4", "xb_turned", "b_turnedx",
                           "06_four_outputs", "07_vector_access"}) {
    EXPECT_EQ(with_current_names(text), text);
  }
}

TEST(Renamed, StreamsAreReadToTheirEnd) {
  std::istringstream stream("a 06_strip_of_4\nb_turned");
  EXPECT_EQ(read_with_current_names(stream), "a 06_four_outputs\nb_transposed");
}

// Tables are written by Python, from the same list.
TEST(Renamed, PythonTranslatesTheSameWay) {
  if (std::system("command -v python3 > /dev/null") != 0) GTEST_SKIP() << "python3 is missing";
  const std::string text =
      "06_strip_of_4 rung_06_strip_of_4__2x2 05/both_turned b_turned_ xb_turned b_turned2";
  const std::string command =
      "PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=tools/tables python3 -c "
      "'import renamed; print(renamed.with_current_names(\"" +
      text + "\"), end=\"\")'";
  FILE* pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string said(1000, '\0');
  said.resize(std::fread(said.data(), 1, said.size(), pipe));
  EXPECT_EQ(pclose(pipe), 0);
  EXPECT_EQ(said, with_current_names(text));
}

}  // namespace
}  // namespace tessera
