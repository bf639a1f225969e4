#include "lab/suite/classes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "lab/suite/published.h"

namespace tessera::lab {
namespace {

constexpr std::string_view kAllLayouts[] = {"NN", "NT", "TN", "TT"};

struct Drawing {
  const Types& types;
  const Granule& granule;
  Chance& chance;

  std::int64_t size(double low, double high) {
    return granule.rounded(chance.log_uniform(low, high));
  }
  DrawnCell cell(CellClass kind, std::string from = {}) const {
    DrawnCell out;
    out.kind = kind;
    out.from = std::move(from);
    out.problem.types = types;
    return out;
  }
};

// Sets the product of a layer in one direction: "forward", "gradient of x", ... All matrices are
// row-major: x[tokens, inputs] and weights[outputs, inputs].
void set_direction(DrawnCell& cell, std::string_view direction, std::int64_t tokens,
                   std::int64_t outputs, std::int64_t inputs) {
  Problem& p = cell.problem;
  p.order = Order::kRowMajor;
  if (direction == "forward") {
    p.m = tokens, p.n = outputs, p.k = inputs;
    set_layout(p, "NT");
  } else if (direction == "gradient of x") {
    p.m = tokens, p.n = inputs, p.k = outputs;
    set_layout(p, "NN");
  } else {
    p.m = outputs, p.n = inputs, p.k = tokens;
    set_layout(p, "TN");
  }
  cell.from += fmt::format(", {}", direction);
  cell.tokens = tokens;
}

std::string_view drawn_direction(Chance& chance, double forward) {
  if (chance.happens(forward)) return "forward";
  return chance.happens(0.5) ? "gradient of x" : "gradient of weights";
}

struct Layer {
  std::string name;
  std::int64_t outputs, inputs;
};

Layer drawn_layer(Chance& chance) {
  const PublishedModel& model = chance.one_of(published_models());
  const std::int64_t all_heads = model.heads * model.head;
  const Layer layers[] = {
      {"qkv", all_heads + 2 * model.shared_heads * model.head, model.hidden},
      {"attention out", model.hidden, all_heads},
      {"up", model.inner, model.hidden},
      {"down", model.hidden, model.inner},
  };
  Layer layer = chance.one_of(layers);
  layer.name = fmt::format("{}, {}", model.name, layer.name);
  return layer;
}

DrawnCell draw_square(Drawing d) {
  DrawnCell cell = d.cell(CellClass::kSquare);
  const std::int64_t size = d.size(64, 16384);
  cell.problem.m = cell.problem.n = cell.problem.k = size;
  set_layout(cell.problem, d.chance.one_of(kAllLayouts));
  return cell;
}

DrawnCell draw_layer(Drawing d, bool few_tokens) {
  const Layer layer = drawn_layer(d.chance);
  DrawnCell cell = d.cell(CellClass::kLayer, layer.name);
  const std::int64_t tokens =
      few_tokens ? d.chance.log_uniform(1, 128) : d.chance.log_uniform(129, 16384);
  // WHY forward only: products with few tokens occur in inference, not in training.
  set_direction(cell, few_tokens ? "forward" : drawn_direction(d.chance, 0.6), tokens,
                layer.outputs, layer.inputs);
  return cell;
}

// Draws the products of attention, Q K^T or scores x V: one product for each head and sequence.
DrawnCell draw_heads(Drawing d) {
  const PublishedModel& model = d.chance.one_of(published_models());
  const bool scores = d.chance.happens(0.5);
  DrawnCell cell = d.cell(CellClass::kAttention,
                          fmt::format("{}, {}", model.name, scores ? "scores" : "values"));
  Problem& p = cell.problem;
  p.order = Order::kRowMajor;
  cell.tokens = d.size(32, 8192);
  p.m = cell.tokens;
  p.n = scores ? cell.tokens : model.head;
  p.k = scores ? model.head : cell.tokens;
  set_layout(p, scores ? "NT" : "NN");
  p.batch = {.kind = BatchKind::kStrided,
             .count = model.heads * d.chance.log_uniform(1, 32),
             .stride_a = 1,
             .stride_b = 1,
             .stride_c = 1,
             .stride_d = 1};
  return cell;
}

DrawnCell draw_attention(Drawing d) {
  if (d.chance.happens(0.5)) return draw_heads(d);
  const PublishedModel& model = d.chance.one_of(published_models());
  DrawnCell cell = d.cell(CellClass::kAttention, fmt::format("{}, vocabulary", model.name));
  set_direction(cell, drawn_direction(d.chance, 0.6), d.chance.log_uniform(1, 8192),
                model.vocabulary, model.hidden);
  return cell;
}

// Draws the update of the trailing matrix in LU (NN) or Cholesky (NT): C -= A B, where A, B and C
// are parts of one matrix.
DrawnCell draw_update(Drawing d) {
  const bool lu = d.chance.happens(0.5);
  DrawnCell cell = d.cell(CellClass::kUpdate, lu ? "LU" : "Cholesky");
  Problem& p = cell.problem;
  p.m = d.size(128, 16384);
  p.n = !lu || d.chance.happens(0.7) ? p.m : d.size(128, 16384);
  p.k = d.size(32, 512);
  p.alpha = -1;
  p.beta = 1;
  set_layout(p, lu ? "NN" : "NT");
  cell.in_place = true;
  return cell;
}

DrawnCell draw_convolution(Drawing d) {
  const PublishedConvolution& one = d.chance.one_of(published_convolutions());
  DrawnCell cell = d.cell(CellClass::kConvolution, std::string(one.name));
  const std::int64_t images = d.chance.log_uniform(1, 256);
  set_direction(cell, drawn_direction(d.chance, 0.7), one.outputs * images, one.n, one.k);
  cell.tokens = 0;
  return cell;
}

DrawnCell draw_slender(Drawing d) {
  constexpr std::string_view kKinds[] = {"thin", "wide", "long k"};
  const std::string_view kind = d.chance.one_of(kKinds);
  DrawnCell cell = d.cell(CellClass::kSlender, std::string(kind));
  Problem& p = cell.problem;
  set_layout(p, d.chance.one_of(kAllLayouts));
  if (kind == "long k") {
    p.m = d.size(16, 1024), p.n = d.size(16, 1024), p.k = d.size(8192, 1048576);
    return cell;
  }
  // WHY the short side is not rounded to the granule: any size is wanted, also 1, with which the
  // matrix is a vector.
  const std::int64_t shorter = d.chance.log_uniform(1, 256);
  const std::int64_t longer = d.size(1024, 131072);
  p.k = d.size(64, 16384);
  p.m = kind == "thin" ? longer : shorter;
  p.n = kind == "thin" ? shorter : longer;
  return cell;
}

DrawnCell draw_batch(Drawing d) {
  constexpr std::string_view kKinds[] = {"strided",  "strided",  "shared A",
                                         "shared B", "pointers", "pointers"};
  const std::string_view kind = d.chance.one_of(kKinds);
  DrawnCell cell = d.cell(CellClass::kBatch, std::string(kind));
  Problem& p = cell.problem;
  p.m = d.size(8, 2048), p.n = d.size(8, 2048), p.k = d.size(8, 2048);
  set_layout(p, d.chance.one_of(kAllLayouts));
  p.order = d.chance.happens(0.5) ? Order::kColumnMajor : Order::kRowMajor;
  const std::int64_t count = d.chance.log_uniform(2, 8192);
  if (kind == "pointers") {
    p.batch = {.kind = BatchKind::kPointers, .count = count, .alignment = 16};
  } else {
    p.batch = {.kind = BatchKind::kStrided,
               .count = count,
               .stride_a = kind == "shared A" ? 0 : 1,
               .stride_b = kind == "shared B" ? 0 : 1,
               .stride_c = 1,
               .stride_d = 1};
  }
  return cell;
}

DrawnCell draw_epilogue(Drawing d) {
  const Layer layer = drawn_layer(d.chance);
  DrawnCell cell = d.cell(CellClass::kEpilogue, layer.name);
  set_direction(cell, "forward", d.chance.log_uniform(1, 16384), layer.outputs, layer.inputs);
  constexpr Activation kActivations[] = {Activation::kIdentity, Activation::kRelu,
                                         Activation::kGelu};
  cell.problem.epilogue = {.bias = VectorKind::kPerColumn,
                           .activation = d.chance.one_of(kActivations)};
  return cell;
}

// A stored matrix: `lines` lines of `length` adjacent elements.
struct StoredLines {
  std::int64_t length, lines;
};

StoredLines stored_lines(Order order, Op op, std::int64_t rows, std::int64_t cols) {
  const bool along_rows = (order == Order::kColumnMajor) == (op == Op::kNone);
  return along_rows ? StoredLines{rows, cols} : StoredLines{cols, rows};
}

}  // namespace

std::int64_t Granule::rounded(std::int64_t size) const {
  if (!odd_multiple) return std::max(unit, (size + unit / 2) / unit * unit);
  return std::max<std::int64_t>(0, size / (2 * unit)) * 2 * unit + unit;
}

std::int64_t Granule::at_least(std::int64_t size) const {
  if (!odd_multiple) return std::max(unit, (size + unit - 1) / unit * unit);
  const std::int64_t units = (size + unit - 1) / unit;
  return (units | 1) * unit;
}

Granule granule_of(RowStride stride, Chance& chance) {
  constexpr std::int64_t kEven[] = {2, 4, 8};
  if (stride == RowStride::kEven) return {chance.one_of(kEven), true};
  if (stride == RowStride::kOdd) return {1, true};
  return {16, false};
}

DrawnCell draw_cell(CellClass kind, bool few_tokens, const Types& types, const Granule& granule,
                    Chance& chance) {
  const Drawing d{types, granule, chance};
  switch (kind) {
    case CellClass::kSquare:
      return draw_square(d);
    case CellClass::kLayer:
      return draw_layer(d, few_tokens);
    case CellClass::kAttention:
      return draw_attention(d);
    case CellClass::kUpdate:
      return draw_update(d);
    case CellClass::kConvolution:
      return draw_convolution(d);
    case CellClass::kSlender:
      return draw_slender(d);
    case CellClass::kBatch:
      return draw_batch(d);
    case CellClass::kEpilogue:
      return draw_epilogue(d);
  }
  throw StatusError(Status::bad_argument("there is no such class of cells"));
}

void set_strides(DrawnCell& cell, const Granule& granule, Chance& chance) {
  Problem& p = cell.problem;
  const bool padded = cell.stride == RowStride::kPadded;
  // A factorisation updates parts of one matrix. All parts have the row stride of that matrix,
  // which also includes the panel of width k.
  const std::int64_t whole =
      cell.kind == CellClass::kUpdate ? granule.at_least(std::max(p.m, p.n) + p.k) : 0;
  const StoredLines a = stored_lines(p.order, p.op_a, p.m, p.k);
  const StoredLines b = stored_lines(p.order, p.op_b, p.k, p.n);
  const StoredLines d = stored_lines(p.order, Op::kNone, p.m, p.n);
  const auto stride_for = [&](const StoredLines& stored) -> std::int64_t {
    // WHY: a matrix with rows of one element is a vector, and vectors have no gaps.
    if (stored.length == 1 && whole == 0) return 1;
    const double wider = padded ? 1.05 + chance.unit() : 1;
    const auto least = static_cast<double>(std::max(stored.length, whole));
    return granule.at_least(static_cast<std::int64_t>(least * wider));
  };
  p.lda = stride_for(a);
  p.ldb = stride_for(b);
  p.ldd = p.ldc = stride_for(d);
  if (whole > 0) p.ldb = p.ldc = p.ldd = p.lda;
  if (p.batch.kind != BatchKind::kStrided) return;
  p.batch.stride_a *= p.lda * a.lines;
  p.batch.stride_b *= p.ldb * b.lines;
  p.batch.stride_c *= p.ldc * d.lines;
  p.batch.stride_d *= p.ldd * d.lines;
}

}  // namespace tessera::lab
