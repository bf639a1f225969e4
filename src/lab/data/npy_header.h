// Reads and writes the header of a .npy file: a magic word, lengths, a Python dictionary as text.
// The readers of the data decide what the fields may hold: matrices (cli/files/npy.h), arrays
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

// Returns everything before the data, in format version 1.
std::string npy_header(const std::string& descr, bool fortran_order,
                       const std::vector<std::int64_t>& shape);

// Returns the bytes of a regular file. Throws kBadArgument, or kUnavailable if there is not enough
// memory.
std::string read_whole_file(const std::string& path, const std::string& what);

// Returns the start of a text in printable ASCII, for messages: text from a file may hold anything.
std::string printable(std::string_view text);

}  // namespace tessera::lab
