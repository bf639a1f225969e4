#include "lab/sites/text_diff.h"

#include <gtest/gtest.h>

namespace tessera::lab {
namespace {

std::string diff(std::string_view before, std::string_view after, int context) {
  std::string text;
  for (const DiffLine& line : unified_diff(before, after, context)) {
    text += line.mark == '@' ? line.text : line.mark + line.text;
    text += '\n';
  }
  return text;
}

TEST(TextDiff, EqualTextsHaveNone) {
  EXPECT_EQ(diff("a\nb\n", "a\nb\n", 3), "");
  EXPECT_EQ(diff("", "", 3), "");
}

TEST(TextDiff, AChangedLineStandsBetweenItsNeighbours) {
  EXPECT_EQ(diff("a\nb\nc\nd\ne\n", "a\nb\nC\nd\ne\n", 1), "@@ -2,3 +2,3 @@\n b\n-c\n+C\n d\n");
}

TEST(TextDiff, DistantChangesAreHunksOfTheirOwn) {
  EXPECT_EQ(diff("a\n1\n2\n3\nb\n", "A\n1\n2\n3\nb\nc\n", 0),
            "@@ -1,1 +1,1 @@\n-a\n+A\n@@ -5,0 +6,1 @@\n+c\n");
}

TEST(TextDiff, MovesKeepTheLongerPart) {
  EXPECT_EQ(diff("x\na\nb\nc\n", "a\nb\nc\nx\n", 0), "@@ -1,1 +0,0 @@\n-x\n@@ -4,0 +4,1 @@\n+x\n");
}

TEST(TextDiff, OneSideMayBeEmpty) {
  EXPECT_EQ(diff("", "a\nb\n", 3), "@@ -0,0 +1,2 @@\n+a\n+b\n");
  EXPECT_EQ(diff("a\n", "", 3), "@@ -1,1 +0,0 @@\n-a\n");
}

}  // namespace
}  // namespace tessera::lab
