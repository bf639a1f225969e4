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

// The GPU code of a file: its cubins in order, and its other entries.
struct FoundCode {
  std::vector<FoundCubin> cubins;
  int ptx = 0;                       // PTX texts, which the driver compiles
  std::vector<std::string> skipped;  // a sentence each
};

// Finds the code in a cubin, a fatbin, or a file that contains fatbins (program, object, shared
// library). Throws std::runtime_error with one sentence if the file has no GPU code or is damaged.
FoundCode find_code(std::span<const std::byte> file);

// Unpack entries of fatbins, which are packed by zstd (CUDA 12.8 and later) or as LZ4 blocks. Both
// functions throw std::runtime_error if the unpacked size is not `size`.
Bytes unpack_zstd(std::span<const std::byte> packed, std::uint64_t size);
Bytes unpack_lz4(std::span<const std::byte> packed, std::uint64_t size);

}  // namespace tessera::sass
