// NumPy's .npy files: a magic word, a Python dictionary as text, then the numbers. Files may come
// from strangers, so every length is compared with the file's size before it is used.
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

// Reads the header of a two-dimensional matrix: format versions 1, 2 and 3; little-endian float16,
// float32 and float64. `what` names the argument in messages: "A (a.npy)". Throws kBadArgument.
NpyHeader parse_npy(std::string_view file, const std::string& what);

// A whole file in memory. Header and data are in one piece, so that one write stores the file.
class NpyFile {
 public:
  // Reads a file. If the file is missing, truncated, not a matrix or of another type, throws
  // kBadArgument with `argument` ("A") in the message.
  static NpyFile read(const std::string& path, const std::string& argument);
  // Makes a matrix of zeros. Throws kUnavailable if there is not enough memory, and kUnsupported
  // for a type that NumPy does not have.
  static NpyFile make(ElementType type, std::int64_t rows, std::int64_t cols, bool fortran_order);

  const NpyHeader& header() const { return header_; }
  const std::string& bytes() const { return bytes_; }
  // The elements. Their address may not be a multiple of the element size.
  const char* data() const { return bytes_.data() + header_.data_offset; }
  char* data() { return bytes_.data() + header_.data_offset; }

 private:
  NpyHeader header_;
  std::string bytes_;
};

}  // namespace tessera::cli
