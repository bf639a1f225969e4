// Published register maps and maxas' order, held to the counts that were published with them.
#include "sass/report/published_maps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace tessera::sass {
namespace {

const PublishedMap& map_named(std::string_view name) {
  return *std::ranges::find(published_maps(), name, &PublishedMap::name);
}

int clashes(std::string_view name) {
  const PublishedMap& map = map_named(name);
  return bank_clashes(multiplies_of(map), map.model).clashes;
}

bool says(const std::string& words) { return published_text().find(words) != std::string::npos; }

TEST(PublishedMaps, EachSumHasARegisterOfItsOwn) {
  for (const PublishedMap& map : published_maps()) {
    const std::vector<Operation> code = multiplies_of(map);
    std::set<int> sums, factors(map.rows.begin(), map.rows.end());
    factors.insert(map.columns.begin(), map.columns.end());
    for (const Operation& one : code) sums.insert(one.writes.front().first);
    EXPECT_EQ(code.size(), 64u) << map.name;
    EXPECT_EQ(sums.size(), 64u) << map.name;
    EXPECT_EQ(factors.size(), 16u) << map.name;
  }
}

TEST(PublishedMaps, ClashesAreThoseThatWerePublished) {
  EXPECT_EQ(clashes("volta"), 32);
  EXPECT_EQ(clashes("volta-remapped"), 0);
  EXPECT_EQ(clashes("maxas"), 16);
  const PublishedMap& maxas = map_named("maxas");
  EXPECT_EQ(pairs_in_a_bank(maxas, 2, 0), 0) << "C and A";
  EXPECT_EQ(pairs_in_a_bank(maxas, 2, 1), 0) << "C and B";
  EXPECT_EQ(pairs_in_a_bank(maxas, 0, 1), 16) << "A and B";
}

TEST(PublishedMaps, TheTextShowsRegistersOrderAndWhatReuseHides) {
  EXPECT_TRUE(says("R80   C    R16  R17  R18  R19")) << published_text();
  EXPECT_TRUE(says("R64   C     R3   R2  R11  R10"));
  EXPECT_TRUE(says("1 0 2 3 5 4 6 7 33 32"));
  EXPECT_TRUE(says("the reuse cache hides 16 of the 16 clashes"));
  EXPECT_TRUE(says("C meets A in 0, C meets B in 0, A meets B in 16"));
}

}  // namespace
}  // namespace tessera::sass
