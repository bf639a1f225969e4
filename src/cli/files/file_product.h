// D = alpha * A * B + beta * C on matrices from .npy files: on a device with one of our kernels, or
// on the host's own BLAS. Long work is split into panels of rows, so that a bar can move.
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
  const NpyFile* c = nullptr;  // may be null when beta is 0
  double alpha = 1, beta = 0;
  // How the numbers of the files are multiplied, each rounded to its type first; empty: as they
  // are.
  std::optional<Types> types = {};
  std::function<void(std::int64_t, std::int64_t)> progress;  // rows done, rows in all
  std::function<bool()> stop;                                // asked between panels
};

// The problem as a call: row-major unless A and B are both in Fortran order, op T for an operand in
// the other order. Throws kBadArgument when types or shapes do not fit together.
Problem problem_of(const FileProduct& product);

struct ProductResult {
  NpyFile d;             // in the type of A's file
  std::string code;      // the code that computed it: "cubin sm_90a", "OpenBLAS 0.3.21"
  bool complete = true;  // false: stopped
  KernelChoice kernel = {nullptr, ""};  // the device's kernel; null if nothing was launched
  // "fastest of 11 by model: 11.6 us, next simt_f32/128x128 14.2 us"; empty on the host
  std::string why;
};

// Multiplies with the named kernel, or with the one that the library chooses. Throws kUnsupported
// when that kernel cannot take the problem.
ProductResult multiply_on_device(const FileProduct& product, Device& device,
                                 const gemm::PlanOptions& options);
// Multiplies with OpenBLAS, or with our own loop if OpenBLAS is missing; sums in float64 for either
// type.
ProductResult multiply_on_host(const FileProduct& product);

}  // namespace tessera::cli
