// D = alpha * A * B + beta * C with matrices from .npy files: on a device with our kernels, or on
// the host with its BLAS. Long work is split into panels of rows, so that a progress bar can move.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "catalog/catalog.h"
#include "cli/files/npy.h"
#include "device/device.h"
#include "gemm/options.h"
#include "problem/problem.h"

namespace tessera::cli {

struct FileProduct {
  const NpyFile& a;
  const NpyFile& b;
  const NpyFile* c = nullptr;  // may be null if beta is 0
  double alpha = 1, beta = 0;
  // The types of the product, to which the numbers of the files are rounded first;
  // empty: the types of the files.
  std::optional<Types> types = {};
  std::function<void(std::int64_t, std::int64_t)> progress;  // rows done, rows in all
  std::function<bool()> stop;                                // true stops the work
};

// The product as a problem: row-major unless A and B are both in Fortran order; a matrix in the
// other order gets op T. Throws kBadArgument if types or shapes do not fit together.
Problem problem_of(const FileProduct& product);

struct ProductResult {
  NpyFile d;                            // of the type in A's file
  std::string code;                     // what computed D: "cubin sm_90a", "OpenBLAS 0.3.21"
  bool complete = true;                 // false: the user stopped the work
  KernelChoice kernel = {nullptr, ""};  // null if nothing was launched
  // on a device: "fastest of 11 by model: 11.6 us, next simt_f32/128x128 14.2 us"; else empty
  std::string why;
};

// Multiplies with the kernel that `options` names, or with the library's choice. Throws
// kUnsupported if the named kernel cannot take the problem.
ProductResult multiply_on_device(const FileProduct& product, Device& device,
                                 const gemm::PlanOptions& options);
// Multiplies with OpenBLAS, or with our own loop if OpenBLAS is missing. The sums are
// float64 for files of any type.
ProductResult multiply_on_host(const FileProduct& product);

}  // namespace tessera::cli
