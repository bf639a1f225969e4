// The header of a .npy file as NumPy writes it: a magic word, lengths, a Python dictionary as text.
// What its fields may hold is for those who read the data: matrices (cli/files/npy.h), arrays
// (check/arrays.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::lab {

struct NpyFields {
  std::string descr;  // "<f4"
  bool fortran_order = false;
  std::vector<std::int64_t> shape;  // none negative
  std::size_t data_offset = 0;      // bytes from the start of the file
};

// Understands format versions 1, 2 and 3. `what` names the argument in messages: "A (a.npy)".
// Throws kBadArgument.
NpyFields parse_npy_fields(std::string_view file, const std::string& what);

// Everything before the data, format version 1.
std::string npy_header(const std::string& descr, bool fortran_order,
                       const std::vector<std::int64_t>& shape);

// A regular file's bytes. Throws kBadArgument, or kUnavailable when the memory cannot be had.
std::string read_whole_file(const std::string& path, const std::string& what);

// Text of a file may hold anything; messages show its start in printable ASCII.
std::string printable(std::string_view text);

}  // namespace tessera::lab
