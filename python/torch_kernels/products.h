// Products of PyTorch's tensors by the library, where it takes them.
#pragma once

#include "tensors.h"

namespace tessera::torch_abi {

// result = alpha * a b + beta * addend; a and b are matrices, or batches of as many.
struct Product {
  AtenTensorHandle a = nullptr, b = nullptr;
  AtenTensorHandle addend = nullptr;  // null: there is none
  double alpha = 1, beta = 0;
  AtenTensorHandle out = nullptr;  // null: a new tensor in C order
  std::int64_t dims = 0;           // that a and b must have; 0: two or three
  bool folds = false;              // a may have more dimensions, whose rows are those of one matrix
};

enum class Taken {
  kYes,
  kNo,        // nothing has happened: PyTorch's own kernel multiplies
  kNoMemory,  // for the result, as PyTorch says
};

// Looks the library's functions up; false: why says what is missing.
bool open_library(const char* path, const char** why);
void set_compute_of_fp32(std::int32_t compute);

// Sets *result to a new tensor where product.out is null.
Taken multiply(const Product& product, AtenTensorHandle* result);

}  // namespace tessera::torch_abi
