// PTX repeats itself: sixteen entries of one kernel take megabytes, and every binary that runs
// kernels carries them. zstd, whose window spans all entries, makes them a small fraction of that,
// so that the binaries stay small.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

// Packs several byte strings into one. `known` are bytes that unpack() will also get. Parts that
// resemble them take little room: a patched cubin takes a tenth if the unpatched cubin is known.
std::string pack(const std::vector<std::string_view>& parts, std::string_view known = {});

// Unpacked byte strings, all in one allocation: cubins take up to a megabyte, and are not copied
// again.
struct UnpackedParts {
  std::unique_ptr<char[]> bytes;
  std::vector<std::string_view> parts;
};

// Unpacks the byte strings that pack() has packed. Throws std::runtime_error if pack() did not
// write these bytes.
UnpackedParts unpack(std::string_view packed, std::string_view known = {});

}  // namespace tessera
