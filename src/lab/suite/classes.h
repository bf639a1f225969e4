// Draws one class of cells for the drawn suite. Used by draw.cpp alone.
#pragma once

#include "lab/suite/chance.h"
#include "lab/suite/draw.h"

namespace tessera::lab {

// The unit to which sizes and row strides are rounded. Sizes that may be chosen freely are rounded
// to it; published sizes are not, and their rows get gaps instead.
struct Granule {
  std::int64_t unit = 16;
  bool odd_multiple = false;

  // Returns the nearest multiple of the granule, at least one unit.
  std::int64_t rounded(std::int64_t size) const;
  // Returns the smallest stride that the granule allows and that is at least `size`.
  std::int64_t at_least(std::int64_t size) const;
};
Granule granule_of(RowStride stride, Chance& chance);

// Draws a problem without leading dimensions, and the fields of the cell that belong to its class.
// `few_tokens`: at most 128 tokens, for layers only.
DrawnCell draw_cell(CellClass kind, bool few_tokens, const Types& types, const Granule& granule,
                    Chance& chance);

// Fills in leading dimensions, and the strides of a batch.
void set_strides(DrawnCell& cell, const Granule& granule, Chance& chance);

}  // namespace tessera::lab
