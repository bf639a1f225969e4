// The draw of one class of the drawn suite. Used by draw.cpp alone.
#pragma once

#include "lab/suite/chance.h"
#include "lab/suite/draw.h"

namespace tessera::lab {

// Sizes that may be chosen freely take the row stride's granularity; published ones stay, and their
// rows get gaps instead.
struct Granule {
  std::int64_t unit = 16;
  bool odd_multiple = false;

  // The nearest size of this granularity, at least one unit.
  std::int64_t rounded(std::int64_t size) const;
  // The smallest stride of this granularity that is not below.
  std::int64_t at_least(std::int64_t size) const;
};
Granule granule_of(RowStride stride, Chance& chance);

// Problem without leading dimensions, class's own fields of the cell. `few_tokens`: at most 128, of
// layers alone.
DrawnCell draw_cell(CellClass kind, bool few_tokens, const Types& types, const Granule& granule,
                    Chance& chance);

// Fills in leading dimensions, and the strides of a batch.
void set_strides(DrawnCell& cell, const Granule& granule, Chance& chance);

}  // namespace tessera::lab
