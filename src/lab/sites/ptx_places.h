// Finds source lines and names for PTX instructions: counts belong to instructions, but people
// think of "the load of tile_b in line 28". The PTX text of one kernel contains both: lines in its
// .loc directives, including those of callers of inlined code, and names among the sources of an
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
  // The names of the shared variables ("tile_b") or pointers of the parameter block ("parameter
  // +8") from which the address comes. Empty if the instruction is no access or nothing is found.
  std::vector<std::string> touches;
  // For an access: the bytes that this entry loads, or stores, at constant offsets from the same
  // address register, including those of this access. Accesses to a struct's fields, and those of
  // an unrolled loop, have such neighbours.
  int bytes_beside = 0;
};

// Returns the source position of each instruction of the entry, by its line in the text (from 1).
// Empty if there is no such entry.
std::map<int, PtxPlace> places_of(std::string_view ptx, std::string_view entry);

// Returns the last part of a mangled name, without the counter that distinguishes equal names:
// "tile_a" for "_ZZN4demo3runEvE6tile_a_0". Other names are returned unchanged.
std::string_view plain_name(std::string_view mangled);

}  // namespace tessera::lab
