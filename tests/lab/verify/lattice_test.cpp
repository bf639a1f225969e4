#include "lab/verify/lattice.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

namespace tessera::lab {
namespace {

const std::set<std::int64_t> kSizes{0, 1, 2, 3, 7, 16, 31, 32, 33, 63, 65, 127, 128, 129, 255, 257};

TEST(Lattice, EveryCaseIsLegal) {
  for (const Types& type : {kF32Types, kF64Types}) {
    for (const LatticeCase& each : lattice(type)) {
      EXPECT_TRUE(check(each.problem).ok()) << each.name() << check(each.problem).message;
      EXPECT_EQ(each.problem.types, type);
      EXPECT_TRUE(!each.in_place || each.problem.ldc == each.problem.ldd) << each.name();
    }
  }
}

TEST(Lattice, HoldsTwentyShapesAndEverySize) {
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> shapes;
  std::set<std::int64_t> m, n, k;
  for (const LatticeCase& each : lattice(kF32Types)) {
    const Problem& p = each.problem;
    shapes.insert({p.m, p.n, p.k});
    m.insert(p.m);
    n.insert(p.n);
    k.insert(p.k);
  }
  EXPECT_GE(shapes.size(), 20u);
  EXPECT_TRUE(shapes.count({512, 128, 256}));
  for (std::int64_t size : kSizes) {
    EXPECT_TRUE(m.count(size)) << "m " << size;
    EXPECT_TRUE(n.count(size)) << "n " << size;
    EXPECT_TRUE(k.count(size)) << "k " << size;
  }
}

TEST(Lattice, ThreeShapesHaveTheFullCross) {
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>,
           std::set<std::tuple<Order, std::string, double, double, bool>>>
      cross;
  for (const LatticeCase& each : lattice(kF32Types)) {
    const Problem& p = each.problem;
    Problem tight = p;
    tight.lda = tight.ldb = tight.ldc = tight.ldd = 0;
    const bool padded = p.lda != with_default_ld(tight).lda;
    cross[{p.m, p.n, p.k}].insert({p.order, layout_of(p), p.alpha, p.beta, padded});
  }
  int full = 0;
  for (const auto& [shape, values] : cross) full += values.size() == 2 * 4 * 3 * 3 * 2;
  EXPECT_EQ(full, 3);
  for (const auto& [shape, values] : cross) EXPECT_GE(values.size(), 4u);  // each layout once
}

TEST(Lattice, DrawnCasesMeetInPlaceAndMisalignedOperands) {
  int in_place = 0, misaligned = 0, both_orders = 0, unequal_ld = 0;
  for (const LatticeCase& each : short_lattice(kF64Types)) {
    in_place += each.in_place;
    misaligned += each.misalign.any();
    both_orders += each.problem.order == Order::kRowMajor;
    unequal_ld += each.problem.ldc != each.problem.ldd;
  }
  EXPECT_GT(in_place, 2);
  EXPECT_GT(misaligned, 5);
  EXPECT_GT(both_orders, 5);
  EXPECT_GT(unequal_ld, 3);
}

// The cases that are drawn, without the full cross at three shapes.
std::vector<LatticeCase> drawn() {
  std::vector<LatticeCase> cases = lattice(kF32Types);
  std::erase_if(cases, [](const LatticeCase& each) {
    const Problem& p = each.problem;
    const auto is = [&](int m, int n, int k) { return p.m == m && p.n == n && p.k == k; };
    return is(33, 65, 7) || is(32, 128, 16) || is(129, 31, 65);
  });
  return cases;
}

TEST(Lattice, FewDrawnCasesMultiplyNothing) {
  int nothing = 0;
  for (const LatticeCase& each : drawn()) {
    const Problem& p = each.problem;
    nothing += p.alpha == 0 || p.m * p.n * p.k == 0;
  }
  EXPECT_EQ(drawn().size(), 96u);
  EXPECT_LE(nothing, 24) << "12 have an empty size";
  EXPECT_GE(nothing, 13);
}

TEST(Lattice, EachOperandIsMisalignedAlone) {
  const Misalign kAll[] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 0, 1}};
  std::set<int> alone;
  int aligned = 0, unlike = 0;
  for (const LatticeCase& each : drawn()) {
    const Misalign& by = each.misalign;
    aligned += !by.any();
    unlike += by.a != by.b;
    for (int i = 0; i < 3; ++i) {
      const Misalign& one = kAll[i];
      const bool is_alone =
          (by.a != 0) == (one.a != 0) && (by.b != 0) == (one.b != 0) && (by.d != 0) == (one.d != 0);
      if (is_alone) alone.insert(i);
    }
    if (each.in_place) {
      EXPECT_EQ(by.c, by.d) << each.name();
    }
  }
  EXPECT_EQ(alone.size(), 3u);
  EXPECT_GT(aligned, 20);
  EXPECT_GT(unlike, 40);
}

TEST(Lattice, SeedsDrawDifferentCases) {
  const auto names = [](std::uint64_t seed) {
    std::vector<std::string> out;
    for (const LatticeCase& each : lattice(kF32Types, seed)) out.push_back(each.name());
    return out;
  };
  EXPECT_EQ(names(1), names(1));
  EXPECT_NE(names(1), names(2));
}

}  // namespace
}  // namespace tessera::lab
