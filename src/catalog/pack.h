// PTX says the same thing very often: sixteen entries of one kernel take megabytes, and every
// binary that runs kernels carries them all. Packed they are a tenth of that, which keeps the
// binaries small enough to travel.
//
// The format is a plain dictionary coder with an unlimited window, a list of
//   count of literal bytes, the bytes, length of a copy, its distance back
// where numbers are base-128, lowest digits first, and a copy of length 0 ends the list.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

// Packs several byte strings into one.
std::string pack(const std::vector<std::string_view>& parts);

// The byte strings again. Throws std::runtime_error when the bytes are not what pack() wrote.
std::vector<std::string> unpack(std::string_view packed);

}  // namespace tessera
