// Finds source lines and names for PTX instructions: counts belong to instructions, but people
// think of "the load of tile_b in line 28". Both are read from the PTX text of one kernel: lines
// from its .loc directives, callers of inlined code included, and names from the sources of an
// access's address.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::lab {

struct SourcePlace {
  std::string file;  // as the PTX names it, "src/ladder/shared/common.h"
  int line = 0;
  friend bool operator==(const SourcePlace&, const SourcePlace&) = default;
};

struct PtxPlace {
  std::vector<SourcePlace> frames;  // innermost first, then its callers
  // The shared variables ("tile_b") or pointers of the parameter block ("parameter +8") that the
  // address comes from, by name; empty when it is no access or nothing is found.
  std::vector<std::string> touches;
  // For an access: the bytes that this entry loads, or stores, at constant offsets from the same
  // address register, including the access itself. Fields of a struct and unrolled loops have such
  // neighbours.
  int bytes_beside = 0;
};

// The place of each instruction of the entry, by its line in the text (from 1). Empty if there is
// no such entry.
std::map<int, PtxPlace> places_of(std::string_view ptx, std::string_view entry);

// The last part of a mangled name, without a counter of equal names: "tile_a" for
// "_ZZN4demo3runEvE6tile_a_0". Other names stay as they are.
std::string_view plain_name(std::string_view mangled);

}  // namespace tessera::lab
