// The arrays of a checked kernel: their contents before a run, and the comparison after it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "check/arguments.h"

namespace tessera::checking {

struct HostArray {
  std::string name;
  ElementType type = ElementType::kF32;
  std::vector<std::int64_t> shape;
  bool fortran_order = false;  // from a file; memory holds the elements in the file's order
  std::vector<std::byte> bytes;
  bool initialised = true;  // false: the device's memory stays as it was

  std::size_t elements() const { return bytes.size() / size_of(type); }
};

// Makes an array and fills it, or reads it from its file. A random value depends only on seed, name
// and position. Throws kBadArgument, or kUnavailable if there is not enough memory.
HostArray make_array(const std::string& name, const ArrayArgument& spec, std::uint64_t seed);

// Returns the element type of the file; nullopt if the file cannot be read (read_array reports the
// error).
std::optional<ElementType> type_of_file(const std::string& path);
// Read and write .npy files of any type of elements.h and any number of dimensions.
HostArray read_array(const std::string& path, const std::string& argument);
std::string npy_file_of(const HostArray& array);

// "f32[64,128]"
std::string shape_text(const HostArray& array);

// index_text() returns the indices of an element: "[3,17]".
std::string index_text(const HostArray& array, std::size_t element);
bool is_nan(const HostArray& array, std::size_t element);

// Differences between two arrays of one shape: elements that differ by more than tolerance * max(1,
// |expected|), and elements that are NaN in one array only. Tolerance 0: all unequal elements.
struct Difference {
  std::size_t count = 0;
  std::string first;   // "[3,17]: 2.5, expected 2.25"
  double largest = 0;  // largest |found - expected| without NaNs
};
Difference compare(const HostArray& found, const HostArray& expected, double tolerance);

// Throws kBadArgument unless `array` can be compared with `expected`, the array of a file.
void require_comparable(const HostArray& array, const HostArray& expected,
                        const std::string& argument);

}  // namespace tessera::checking
