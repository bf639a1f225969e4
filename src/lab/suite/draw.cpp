#include "lab/suite/draw.h"

#include <algorithm>
#include <array>
#include <utility>

#include "lab/data/batch_memory.h"
#include "lab/suite/chance.h"
#include "lab/suite/classes.h"

namespace tessera::lab {
namespace {

constexpr int kMostCells = 100000;
constexpr int kMostTries = 10000;  // most draws of one cell until its time and bytes are allowed

template <class Value>
struct Weight {
  Value value;
  int percent;
};

struct ClassOfCells {
  CellClass kind;
  bool few_tokens = false;
};

// `tflops` is a usual rate of the types. The time of a call is estimated from this rate.
struct TypeOfCells {
  Types types;
  double tflops;
};
const Weight<TypeOfCells> kTypeWeights[] = {{{kBf16Types, 700}, 30},
                                            {{kF16Types, 700}, 15},
                                            {{kTf32Types, 350}, 15},
                                            {{kF32Types, 50}, 20},
                                            {{kF64Types, 55}, 20}};

// Weights in units of 0.5 %. Layers are two classes of 12.5 % each: few tokens, and more tokens.
constexpr Weight<ClassOfCells> kClassWeights[] = {
    {{CellClass::kSquare}, 20},    {{CellClass::kLayer, true}, 25}, {{CellClass::kLayer}, 25},
    {{CellClass::kAttention}, 20}, {{CellClass::kUpdate}, 20},      {{CellClass::kConvolution}, 20},
    {{CellClass::kSlender}, 30},   {{CellClass::kBatch}, 30},       {{CellClass::kEpilogue}, 10}};

constexpr Weight<RowStride> kStrideWeights[] = {{RowStride::kSixteen, 60},
                                                {RowStride::kEven, 25},
                                                {RowStride::kPadded, 5},
                                                {RowStride::kOdd, 10}};

// Returns how many of `count` each weight gets, rounded so that the sum is right (largest
// remainders first).
template <class Weights>
std::vector<int> shares(const Weights& weights, int count) {
  std::vector<int> parts;
  std::vector<std::pair<double, std::size_t>> rests;
  double total = 0;
  for (const auto& [value, weight] : weights) total += weight;
  int given = 0;
  for (const auto& [value, weight] : weights) {
    const double share = count * (weight / total);
    parts.push_back(static_cast<int>(share));
    rests.emplace_back(static_cast<double>(parts.back()) - share, parts.size() - 1);
    given += parts.back();
  }
  std::stable_sort(rests.begin(), rests.end());
  for (int i = 0; i < count - given; ++i) ++parts[rests[static_cast<std::size_t>(i)].second];
  return parts;
}

// Returns `count` values in an order in which every part of the list, not only the whole list, has
// nearly the given weights: the next value is the one that is furthest behind its share.
template <class Weights>
std::vector<std::size_t> spread(const Weights& weights, int count) {
  const std::vector<int> parts = shares(weights, count);
  std::vector<int> used(parts.size());
  std::vector<std::size_t> out;
  for (int i = 0; i < count; ++i) {
    std::size_t best = 0;
    double furthest = -1e300;
    for (std::size_t v = 0; v < parts.size(); ++v) {
      const double behind = static_cast<double>(parts[v]) * (i + 1) / count - used[v];
      if (used[v] == parts[v] || behind <= furthest) continue;
      furthest = behind;
      best = v;
    }
    ++used[best];
    out.push_back(best);
  }
  return out;
}

// The indices of a cell's types, class and row stride, which are chosen before its sizes are drawn.
struct Ticket {
  std::size_t type = 0, kind = 0, stride = 0;
};

void shuffle(std::vector<Ticket>& tickets, Chance& chance) {
  for (std::size_t i = tickets.size(); i > 1; --i) {
    std::swap(tickets[i - 1],
              tickets[static_cast<std::size_t>(chance.below(static_cast<std::int64_t>(i)))]);
  }
}

// Chooses types, class and row stride of each cell. Types are spread evenly over the cells in order
// of class; strides, over the cells in order of types and class. So the weights hold for each of
// the types, and nearly for each class.
std::vector<Ticket> draw_tickets(int count, Chance& chance) {
  std::vector<Ticket> tickets(static_cast<std::size_t>(count));
  const std::vector<int> classes = shares(kClassWeights, count);
  std::size_t next = 0;
  for (std::size_t kind = 0; kind < classes.size(); ++kind) {
    for (int i = 0; i < classes[kind]; ++i) tickets[next++].kind = kind;
  }
  const std::vector<std::size_t> types = spread(kTypeWeights, count);
  for (std::size_t i = 0; i < tickets.size(); ++i) tickets[i].type = types[i];
  std::stable_sort(tickets.begin(), tickets.end(), [](const Ticket& x, const Ticket& y) {
    return std::pair(x.type, x.kind) < std::pair(y.type, y.kind);
  });
  const std::vector<std::size_t> strides = spread(kStrideWeights, count);
  // WHY the pattern of strides begins at a drawn cell: otherwise, for every seed, odd strides would
  // go to the same classes.
  const std::size_t begin = static_cast<std::size_t>(chance.below(count));
  for (std::size_t i = 0; i < tickets.size(); ++i) {
    tickets[i].stride = strides[(i + begin) % tickets.size()];
  }
  shuffle(tickets, chance);
  return tickets;
}

// Returns the usual rate of the types; for types that are not drawn, the lowest rate of all.
double tflops_of(const Types& types) {
  double slowest = kTypeWeights[0].value.tflops;
  for (const auto& [value, percent] : kTypeWeights) {
    if (value.types == types) return value.tflops;
    slowest = std::min(slowest, value.tflops);
  }
  return slowest;
}

double bytes_of(const Problem& p, const MatrixView& view, ElementType type, std::int64_t stride) {
  return static_cast<double>(memory_view(p, view, type, stride).span()) * size_of(type);
}

DrawnCell draw_one(const Ticket& ticket, Chance chance) {
  const ClassOfCells& kind = kClassWeights[ticket.kind].value;
  const RowStride stride = kStrideWeights[ticket.stride].value;
  for (int attempt = 0; attempt < kMostTries; ++attempt) {
    const Granule granule = granule_of(stride, chance);
    DrawnCell cell = draw_cell(kind.kind, kind.few_tokens, kTypeWeights[ticket.type].value.types,
                               granule, chance);
    cell.stride = stride;
    set_strides(cell, granule, chance);
    const bool fits = estimated_ms(cell.problem) <= kLongestCallMs &&
                      operand_bytes(cell.problem) <= kLargestCallBytes;
    if (fits && check(cell.problem).ok()) return cell;
  }
  throw StatusError(
      Status::failed("no cell of class " + std::string(name_of(kind.kind)) + " is short enough"));
}

}  // namespace

std::string_view name_of(CellClass kind) {
  constexpr std::string_view kNames[] = {"square",      "layer",   "attention", "update",
                                         "convolution", "slender", "batch",     "epilogue"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view name_of(RowStride stride) {
  constexpr std::string_view kNames[] = {"16", "even", "padded", "odd"};
  return kNames[static_cast<std::size_t>(stride)];
}

double operand_bytes(const Problem& p) {
  const Batch& b = p.batch;
  const double c = p.beta != 0 ? bytes_of(p, view_c(p), p.types.c, b.stride_c) : 0;
  return bytes_of(p, view_a(p), p.types.a, b.stride_a) +
         bytes_of(p, view_b(p), p.types.b, b.stride_b) + c +
         bytes_of(p, view_d(p), p.types.d, b.stride_d);
}

double estimated_ms(const Problem& p) {
  constexpr double kBytesAMs = 2.5e9;
  return std::max(flop_of(p) / (tflops_of(p.types) * 1e9), operand_bytes(p) / kBytesAMs);
}

std::vector<DrawnCell> draw_suite(std::uint64_t seed, int count) {
  if (count < 1 || count > kMostCells) {
    throw StatusError(Status::bad_argument("cells is " + std::to_string(count) +
                                           ", but must be 1 to " + std::to_string(kMostCells)));
  }
  Chance chance(seed);
  const std::vector<Ticket> tickets = draw_tickets(count, chance);
  std::vector<DrawnCell> cells;
  for (const Ticket& ticket : tickets) {
    cells.push_back(draw_one(ticket, chance.split()));
    cells.back().number = static_cast<int>(cells.size()) - 1;
  }
  return cells;
}

}  // namespace tessera::lab
