// The PTX of sixteen entries of one kernel takes megabytes, but is repetitive. zstd, whose window
// spans all entries, packs the PTX to a small fraction of that size. So image files, and binaries
// that contain them, stay small.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

// Packs several byte strings into one. unpack() must get the same `known`. A part that resembles
// `known` takes little room: a patched cubin takes a tenth if `known` is the unpatched cubin.
std::string pack(const std::vector<std::string_view>& parts, std::string_view known = {});

// Unpacked byte strings. `parts` are views of `bytes`, so that cubins of up to a megabyte are not
// copied again.
struct UnpackedParts {
  std::unique_ptr<char[]> bytes;
  std::vector<std::string_view> parts;
};

// Unpacks the byte strings that pack() has packed with the same `known`. Throws std::runtime_error
// if `packed` is not a result of pack().
UnpackedParts unpack(std::string_view packed, std::string_view known = {});

}  // namespace tessera
