#include "lab/suite/goals.h"

#include "lab/suite/listed.h"

namespace tessera::lab {
namespace {

constexpr double kLongestGoalMs = 30;

using Shapes = std::vector<ListedShape>;

ListedShape square(std::int64_t size) { return {size, size, size}; }

// The goals for these shapes are in tools/tables/goal_tables.py.
const Shapes kSquares = {square(512),  square(1024), square(2048),
                         square(4096), square(8192), square(16384)};
const Shapes kOddSquares = {square(1000), square(1023), square(2047),
                            square(4095), square(4097), square(5000)};
const Shapes kThin = {{16, 8192, 8192},  {64, 8192, 8192},   {128, 8192, 8192},
                      {256, 256, 65536}, {128, 128, 262144}, {8192, 8192, 64},
                      {100000, 64, 64},  {512, 128, 256},    {50257, 1024, 768}};
const Shapes kVectors = {{1, 4096, 4096}, {4096, 1, 4096}, {1, 50257, 768}, {1, 16384, 4096}};
const Shapes kFp32 = {{200, 30000, 500}, {6000, 700, 900}};
const Shapes kBatches = {{512, 512, 512, 64},
                         {2048, 128, 64, 256},
                         {64, 64, 64, 1000},
                         {32, 32, 32, 10000},
                         {16, 16, 16, 4096}};

class Cells {
 public:
  void add(CellClass kind, const Shapes& shapes, const Types& types) {
    for (const ListedShape& shape : shapes) {
      for (const char* const layout : {"NN", "NT", "TN", "TT"}) {
        DrawnCell cell = listed_cell(kind, shape, types, layout);
        if (estimated_ms(cell.problem) > kLongestGoalMs) continue;
        cell.number = static_cast<int>(cells_.size());
        cells_.push_back(cell);
      }
    }
  }
  std::vector<DrawnCell> take() { return std::move(cells_); }

 private:
  std::vector<DrawnCell> cells_;
};

}  // namespace

std::vector<DrawnCell> goal_suite() {
  Cells cells;
  struct Goals {
    Types types;
    bool thin, batches, vectors;
  };
  const Goals all[] = {{kBf16Types, true, true, false},
                       {kF16Types, false, false, false},
                       {kTf32Types, false, false, false},
                       {kF32Types, true, true, true},
                       {kF64Types, false, true, false}};
  for (const Goals& goals : all) {
    cells.add(CellClass::kSquare, kSquares, goals.types);
    cells.add(CellClass::kSquare, kOddSquares, goals.types);
    if (goals.thin) cells.add(CellClass::kSlender, kThin, goals.types);
    if (goals.batches) cells.add(CellClass::kBatch, kBatches, goals.types);
    if (!goals.vectors) continue;
    cells.add(CellClass::kSlender, kVectors, goals.types);
    cells.add(CellClass::kSlender, kFp32, goals.types);
  }
  return cells.take();
}

}  // namespace tessera::lab
