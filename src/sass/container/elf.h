// Reads the part of ELF64 that a cubin needs: its sections and its symbols. Every offset in the
// file is checked before it is followed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::sass {

struct Section {
  std::string name;
  std::uint32_t type = 0;
  std::uint64_t size = 0;            // also for a section without bytes in the file
  std::span<const std::byte> bytes;  // empty if the file holds no bytes
};

struct Elf {
  int sm = 0;   // 90
  int abi = 0;  // 7 (CUDA 12) or 8 (CUDA 13)
  std::vector<Section> sections;
  std::vector<std::string> symbols;  // names, by symbol index

  const Section* find(std::string_view name) const;  // nullptr if not found
};

// Reads cubins of CUDA 12 and 13 (ABI versions 7 and 8). Throws a std::runtime_error that says what
// is wrong. The result points into `file`.
Elf read_elf(std::span<const std::byte> file);

// Returns bytes [offset, offset + size). Throws std::runtime_error with the text `refusal` if they
// leave the file.
std::span<const std::byte> slice(std::span<const std::byte> bytes, std::uint64_t offset,
                                 std::uint64_t size, const char* refusal);

// Returns the little-endian number at an offset. Throws std::runtime_error if it lies outside the
// bytes.
template <class Number>
Number number_at(std::span<const std::byte> bytes, std::uint64_t offset);

}  // namespace tessera::sass
