#include "lab/suite/listed.h"

namespace tessera::lab {

DrawnCell listed_cell(CellClass kind, const ListedShape& shape, const Types& types,
                      const char* layout) {
  DrawnCell cell{.kind = kind};
  const bool odd = (shape.m | shape.n | shape.k) % 2 != 0 && shape.m > 1 && shape.n > 1;
  const bool sixteen = shape.m % 16 == 0 && shape.n % 16 == 0 && shape.k % 16 == 0;
  cell.stride = odd ? RowStride::kOdd : sixteen ? RowStride::kSixteen : RowStride::kEven;
  Problem& p = cell.problem;
  p = {.m = shape.m, .n = shape.n, .k = shape.k, .types = types};
  set_layout(p, layout);
  if (shape.count > 1) {
    p.batch = {BatchKind::kStrided, shape.count,       shape.m * shape.k,
               shape.k * shape.n,   shape.m * shape.n, shape.m * shape.n};
  }
  p = with_default_ld(p);
  return cell;
}

}  // namespace tessera::lab
