// The auxiliary output of a product in a kernel's parameters. It has the type of D.
#pragma once

namespace tessera::epilogue {

struct X {
  void* values;       // null: there is none
  long long row;      // elements from one row to the next
  long long product;  // bytes from one product's matrix to the next one's
};

}  // namespace tessera::epilogue
