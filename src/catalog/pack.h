// PTX says the same thing very often: sixteen entries of one kernel take megabytes, and every
// binary that runs kernels carries them all. Packed with zstd, whose window spans all entries, they
// are a small part of that, which keeps the binaries small enough to travel.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera {

// Packs several byte strings into one. `known`: bytes that unpack() is given, too; what is like
// them takes next to no room (a patched cubin beside the unpatched one: a tenth).
std::string pack(const std::vector<std::string_view>& parts, std::string_view known = {});

// The byte strings again. Throws std::runtime_error when the bytes are not what pack() wrote.
std::vector<std::string> unpack(std::string_view packed, std::string_view known = {});

}  // namespace tessera
