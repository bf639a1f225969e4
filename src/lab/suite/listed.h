// Cells of a suite whose shapes are a list, not drawn.
#pragma once

#include <cstdint>

#include "lab/suite/draw.h"

namespace tessera::lab {

struct ListedShape {
  std::int64_t m, n, k;
  std::int64_t count = 1;  // products of a batch
};

// Returns a column-major cell whose columns have no gaps.
DrawnCell listed_cell(CellClass kind, const ListedShape& shape, const Types& types,
                      const char* layout);

}  // namespace tessera::lab
