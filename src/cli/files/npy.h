// NumPy's .npy files: a magic word, a Python dictionary as text, then the numbers. Files come from
// strangers, so every length is checked against the file's size before it is believed.
// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "problem/problem.h"

namespace tessera::cli {

struct NpyHeader {
  ElementType type = ElementType::kF32;
  bool fortran_order = false;  // columns are contiguous
  std::int64_t rows = 0, cols = 0;
  std::size_t data_offset = 0;  // bytes from the start of the file

  std::size_t data_bytes() const;
};

// Understands format versions 1, 2 and 3, little-endian float16, float32 and float64, matrices of
// two dimensions. `what` names the argument in messages: "A (a.npy)". Throws kBadArgument.
NpyHeader parse_npy(std::string_view file, const std::string& what);

// A whole file in memory: header and data in one piece, so that writing it is one write.
class NpyFile {
 public:
  // Reads a file. Throws kBadArgument (missing, truncated, not a matrix, wrong type, ...) with
  // `argument` in the message ("A").
  static NpyFile read(const std::string& path, const std::string& argument);
  // Zeros. Throws kUnavailable when the memory cannot be had, kUnsupported for a type that NumPy
  // has no word for.
  static NpyFile make(ElementType type, std::int64_t rows, std::int64_t cols, bool fortran_order);

  const NpyHeader& header() const { return header_; }
  const std::string& bytes() const { return bytes_; }
  // The elements; not aligned for the type when the file's header is oddly long.
  const char* data() const { return bytes_.data() + header_.data_offset; }
  char* data() { return bytes_.data() + header_.data_offset; }

 private:
  NpyHeader header_;
  std::string bytes_;
};

}  // namespace tessera::cli
