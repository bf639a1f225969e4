#include "lab/suite/losses.h"

#include "lab/suite/listed.h"

namespace tessera::lab {
namespace {

using Layouts = std::vector<const char*>;
const Layouts kAll = {"NN", "NT", "TN", "TT"};

// One row of the table, or a part of one: every shape in every layout.
struct Loss {
  const char* row;
  CellClass kind;
  Types types;
  Layouts layouts;
  std::vector<ListedShape> shapes;
};

// Where the table names a range of sizes, or no number of products, these are examples.
const std::vector<Loss> kLosses = {
    {"rows16", CellClass::kSlender, kBf16Types, {"TN", "TT"}, {{4096, 4096, 4104}}},
    {"rows16", CellClass::kSquare, kBf16Types, kAll, {{1000, 1000, 1000}}},
    {"odd_within", CellClass::kSquare, kTf32Types, {"NN", "TN"}, {{5001, 5001, 5001}}},
    {"odd_within", CellClass::kSquare, kBf16Types, {"NN", "TN"}, {{5001, 5001, 5001}}},
    {"fp32_within",
     CellClass::kSquare,
     kF32Types,
     {"NN"},
     {{4097, 4097, 4097}, {8192, 8192, 8192}, {16384, 16384, 16384}}},
    {"between",
     CellClass::kSquare,
     kBf16Types,
     kAll,
     {{1536, 1536, 1536}, {2560, 2560, 2560}, {5120, 5120, 5120}}},
    {"up_projection", CellClass::kLayer, kBf16Types, {"TN"}, {{11008, 4096, 4096}}},
    {"decode",
     CellClass::kLayer,
     kBf16Types,
     {"TN"},
     {{4096, 8, 4096}, {28672, 8, 4096}, {4096, 32, 4096}, {28672, 32, 4096}, {28672, 96, 4096}}},
    {"decode", CellClass::kLayer, kF16Types, {"TN"}, {{4096, 32, 4096}, {28672, 32, 4096}}},
    {"decode", CellClass::kLayer, kBf16Types, {"TN"}, {{4096, 1, 4096}, {28672, 1, 4096}}},
    {"long_k", CellClass::kSlender, kBf16Types, kAll, {{512, 512, 32768}, {256, 256, 65536}}},
    {"tf32_across_k", CellClass::kSquare, kTf32Types, {"NN", "TT"}, {{3072, 3072, 3072}}},
    {"fp64_updates",
     CellClass::kUpdate,
     kF64Types,
     {"NN", "NT"},
     {{4096, 4096, 256}, {4096, 4096, 512}}},
    {"fp64", CellClass::kSlender, kF64Types, {"NN"}, {{10000, 500, 500}}},
    {"fp64", CellClass::kSquare, kF64Types, {"TN"}, {{3072, 3072, 3072}}},
    {"fp64", CellClass::kSquare, kF64Types, kAll, {{256, 256, 256}, {512, 512, 512}}},
    {"fp32", CellClass::kSquare, kF32Types, kAll, {{777, 777, 777}}},
    {"fp32", CellClass::kSlender, kF32Types, {"TN"}, {{64, 4096, 14336}}},
    {"fp32_batches",
     CellClass::kBatch,
     kF32Types,
     {"NN", "TN"},
     {{100, 100, 100, 1000}, {256, 256, 256, 64}}},
    {"odd_batch", CellClass::kBatch, kF16Types, {"NN"}, {{197, 64, 197, 768}}},
    {"short_batch", CellClass::kBatch, kBf16Types, kAll, {{4096, 4096, 128, 16}}},
    {"large",
     CellClass::kSquare,
     kBf16Types,
     {"NN", "TN"},
     {{4096, 4096, 4096}, {8192, 8192, 8192}}},
    {"large",
     CellClass::kEpilogue,
     kBf16Types,
     {"TN"},
     {{3072, 3072, 3072}, {4096, 4096, 4096}, {8192, 8192, 8192}}},
};

DrawnCell cell_of(const Loss& loss, const ListedShape& shape, const char* layout) {
  DrawnCell cell = listed_cell(loss.kind, shape, loss.types, layout);
  cell.from = loss.row;
  Problem& p = cell.problem;
  if (loss.kind == CellClass::kUpdate) {
    p.alpha = -1;
    p.beta = 1;
    cell.in_place = true;
  }
  if (loss.kind == CellClass::kEpilogue) {
    p.epilogue = {.bias = VectorKind::kPerRow, .activation = Activation::kGelu};
  }
  if (loss.kind == CellClass::kLayer) cell.tokens = p.n;
  return cell;
}

}  // namespace

std::vector<DrawnCell> loss_suite() {
  std::vector<DrawnCell> cells;
  for (const Loss& loss : kLosses) {
    for (const ListedShape& shape : loss.shapes) {
      for (const char* const layout : loss.layouts) {
        cells.push_back(cell_of(loss, shape, layout));
        cells.back().number = static_cast<int>(cells.size()) - 1;
      }
    }
  }
  return cells;
}

}  // namespace tessera::lab
