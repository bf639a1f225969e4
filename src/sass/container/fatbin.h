// Machine code is distributed inside other files: fatbins hold one image per architecture, mostly
// compressed; programs and libraries hold fatbins in a section of their own. This file finds the
// cubins in any of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tessera::sass {

using Bytes = std::vector<std::byte>;

struct FoundCubin {
  int sm = 0;
  Bytes bytes;
};

// The contents of a file: its cubins in order, and entries that are not cubins.
struct FoundCode {
  std::vector<FoundCubin> cubins;
  int ptx = 0;                       // PTX texts, which the driver compiles
  std::vector<std::string> skipped;  // a sentence each
};

// A cubin, a fatbin, or any file with fatbins in it (programs, objects, shared libraries). Throws
// std::runtime_error with one sentence when the file has no GPU code at all or is damaged.
FoundCode find_code(std::span<const std::byte> file);

// Entries of fatbins are packed by zstd (CUDA 12.8 and later) or as LZ4 blocks. `size` is the
// unpacked size; both throw std::runtime_error if it does not match.
Bytes unpack_zstd(std::span<const std::byte> packed, std::uint64_t size);
Bytes unpack_lz4(std::span<const std::byte> packed, std::uint64_t size);

}  // namespace tessera::sass
