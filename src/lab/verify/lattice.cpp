#include "lab/verify/lattice.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numeric>

#include "lab/data/fill.h"

namespace tessera::lab {
namespace {

struct Shape {
  std::int64_t m, n, k;
};

// Every size of the list 0 1 2 3 7 16 31 32 33 63 65 127 128 129 255 257 occurs at least once as m,
// as n and as k, with tails in one, two and three dimensions at once.
constexpr std::array kShapes{
    Shape{0, 7, 3},      Shape{3, 0, 16},    Shape{2, 3, 0},      Shape{1, 1, 1},
    Shape{1, 129, 7},    Shape{257, 1, 2},   Shape{2, 2, 31},     Shape{3, 16, 129},
    Shape{16, 31, 33},   Shape{31, 32, 63},  Shape{32, 32, 32},   Shape{33, 63, 65},
    Shape{63, 65, 127},  Shape{65, 33, 16},  Shape{127, 128, 31}, Shape{128, 127, 128},
    Shape{128, 128, 16}, Shape{129, 2, 257}, Shape{7, 257, 255},  Shape{129, 129, 129},
    Shape{255, 255, 32}, Shape{1, 1, 257},   Shape{257, 255, 1},  Shape{512, 128, 256}};

// Small shapes, since each runs 144 times: one with all tails, one of exactly one block, one of
// several blocks.
constexpr std::array kFullCross{Shape{33, 65, 7}, Shape{32, 128, 16}, Shape{129, 31, 65}};

constexpr std::array kScales{0.0, 1.0, -1.5};
constexpr std::array kOrders{Order::kColumnMajor, Order::kRowMajor};
constexpr std::array kLayouts{"NN", "NT", "TN", "TT"};

// Paddings of a leading dimension. 4 keeps rows of floats 16-byte aligned, 1 and 3 do not.
constexpr std::array kCrossPadding{0, 3};
constexpr std::array kPadding{0, 1, 3, 4};

LatticeCase make_case(const Shape& shape, const Types& types, Order order, std::string_view layout,
                      double alpha, double beta, int pad) {
  LatticeCase out;
  Problem& p = out.problem;
  p.m = shape.m;
  p.n = shape.n;
  p.k = shape.k;
  p.types = types;
  p.order = order;
  set_layout(p, layout);
  const bool is_whole = !is_float(facts_of(types.compute).sum);
  p.alpha = is_whole ? std::nearbyint(alpha) : alpha;
  p.beta = is_whole ? std::nearbyint(beta) : beta;
  p = with_default_ld(p);
  p.lda += pad;
  p.ldb += 2 * pad;
  p.ldc += pad;
  p.ldd += pad;
  return out;
}

// The random choices of one case, all from its seed.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(mix_bits(seed)) {}
  int below(int count) {
    state_ = mix_bits(state_);
    return static_cast<int>(state_ % count);
  }

 private:
  std::uint64_t state_;
};

// Draws the misalignment: in a third of the cases all operands are aligned, in a third one operand
// is misaligned, in a third each operand has its own misalignment.
Misalign drawn_misalign(Draw& draw, bool in_place) {
  const int kind = draw.below(3);
  if (kind == 0) return 0;
  Misalign by{draw.below(4), draw.below(4), draw.below(4), draw.below(4)};
  if (kind == 1) {
    Misalign one;
    constexpr int Misalign::*kOperands[] = {&Misalign::a, &Misalign::b, &Misalign::d};
    one.*kOperands[draw.below(3)] = 1 + draw.below(3);
    by = one;
  }
  if (in_place) by.c = by.d;  // D is C
  return by;
}

LatticeCase drawn_case(const Shape& shape, const Types& types, std::string_view layout, Draw draw) {
  const Order order = kOrders[draw.below(2)];
  // WHY alpha is rarely 0 here: lattice() also crosses all scales, with many cases of alpha 0.
  const double alpha = kScales[draw.below(8) == 0 ? 0 : 1 + draw.below(2)];
  const double beta = kScales[draw.below(3)];
  LatticeCase out =
      make_case(shape, types, order, layout, alpha, beta, kPadding[draw.below(kPadding.size())]);
  out.in_place = draw.below(3) == 0;
  if (!out.in_place) out.problem.ldd += draw.below(3);  // ldc and ldd are independent
  out.misalign = drawn_misalign(draw, out.in_place);
  return out;
}

}  // namespace

std::string LatticeCase::name() const {
  const Problem& p = problem;
  return fmt::format("{}x{}x{} {} {} lda={} ldb={} ldc={} ldd={} alpha={} beta={}{}{}", p.m, p.n,
                     p.k, layout_of(p), name_of(p.order), p.lda, p.ldb, p.ldc, p.ldd, p.alpha,
                     p.beta, misalign.any() ? " misaligned by " + text_of(misalign) : "",
                     in_place ? " in place" : "") +
         (p.batch.kind == BatchKind::kNone ? "" : ", " + describe(p.batch));
}

std::vector<LatticeCase> batch_lattice(const Types& types, std::uint64_t seed) {
  constexpr Shape kOfBatches[] = {{1, 1, 1},    {2, 2, 31},   {16, 16, 16},
                                  {33, 63, 65}, {32, 32, 32}, {130, 65, 40}};
  std::vector<LatticeCase> cases;
  for (const Shape& shape : kOfBatches) {
    for (const char* layout : kLayouts) {
      Draw draw(seed * 1000003 + cases.size());
      LatticeCase one = drawn_case(shape, types, layout, draw);
      Problem& p = one.problem;
      const bool of_pointers = cases.size() % 2 == 1;
      const std::int64_t gap = kPadding[draw.below(kPadding.size())];
      const auto stride = [&](const MatrixView& view) { return view.span() + gap; };
      p.batch = {.kind = BatchKind::kStrided,
                 .count = 3 + draw.below(3),
                 .stride_a = draw.below(4) == 0 ? 0 : stride(view_a(p)),
                 .stride_b = draw.below(4) == 0 ? 0 : stride(view_b(p)),
                 .stride_c = stride(view_c(p)),
                 .stride_d = stride(view_d(p))};
      if (one.in_place) p.batch.stride_c = p.batch.stride_d;
      if (of_pointers) {
        p.batch = {.kind = BatchKind::kPointers,
                   .count = p.batch.count,
                   .alignment = draw.below(2) == 0 ? 16 : 8};
      }
      cases.push_back(one);
    }
  }
  return cases;
}

std::vector<LatticeCase> lattice(const Types& types, std::uint64_t seed) {
  std::vector<LatticeCase> cases;
  for (const Shape& shape : kFullCross) {
    for (Order order : kOrders) {
      for (const char* layout : kLayouts) {
        for (double alpha : kScales) {
          for (double beta : kScales) {
            for (int pad : kCrossPadding) {
              cases.push_back(make_case(shape, types, order, layout, alpha, beta, pad));
            }
          }
        }
      }
    }
  }
  for (const Shape& shape : kShapes) {
    for (const char* layout : kLayouts) {
      cases.push_back(drawn_case(shape, types, layout, Draw(seed * 1000003 + cases.size())));
    }
  }
  return cases;
}

std::vector<LatticeCase> depth_lattice(BlockTile block, const Types& types, std::uint64_t seed) {
  const auto around = [](int extent, int i) {
    const int sizes[] = {extent, extent + 1, 2 * extent - 1, 1, extent / 2 + 3, 3 * extent + 5};
    return static_cast<std::int64_t>(sizes[i]);
  };
  std::vector<LatticeCase> cases;
  std::vector<int> depths(64);
  std::iota(depths.begin(), depths.end(), 1);
  depths.insert(depths.end(), {257, 512, 1031});
  for (const int k : depths) {
    Draw draw(seed * 1000003 + cases.size());
    const Shape shape{around(block.m, draw.below(6)), around(block.n, draw.below(6)), k};
    cases.push_back(drawn_case(shape, types, kLayouts[k % 4], draw));
    LatticeCase& one = cases.back();
    // In every other group of four depths (one for each layout) all operands are aligned.
    if (k / 4 % 2 == 0) {
      one.misalign = 0;
      for (std::int64_t* ld : {&one.problem.lda, &one.problem.ldb}) *ld = (*ld + 3) / 4 * 4;
    }
    if (one.problem.alpha == 0) one.problem.alpha = 1;  // with it nothing would be multiplied
  }
  return cases;
}

std::vector<LatticeCase> short_lattice(const Types& types, std::uint64_t seed) {
  std::vector<LatticeCase> cases;
  for (const Shape& shape : kShapes) {
    Draw draw(seed * 1000003 + cases.size());
    const char* layout = kLayouts[draw.below(4)];
    cases.push_back(drawn_case(shape, types, layout, draw));
  }
  return cases;
}

}  // namespace tessera::lab
