// Finds the sites where a kernel's cost arises. A site is the group of PTX instructions that share
// a source line, a form and the memory that they touch. So an unrolled loop is one site, and two
// different loads in one line are two sites.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lab/counts/count_run.h"
#include "lab/counts/counts.h"
#include "lab/sites/source_tree.h"

namespace tessera::lab {

struct Site {
  std::string entry;  // the kernel's entry that ran the site
  std::string file;   // "src/ladder/03_shared_tile/kernel.cu"; empty if unknown
  int line = 0;
  std::string via;         // the line of the inlined function, "src/ladder/shared/common.h:61"
  std::string text;        // text of the line; empty without the source tree
  std::string touches;     // "tile_b", "operand a"; empty if not found or no access
  std::string form;        // "ld.shared.f32"
  int instructions = 0;    // instructions of the PTX
  int forms = 1;           // different forms of the instructions; `form` is the most frequent
  int bytes_beside = 0;    // largest PtxPlace::bytes_beside of the site's accesses
  std::uint64_t warp = 0;  // executions by warps; `thread`: by active lanes
  std::uint64_t thread = 0;
  vgpu::MemoryCounts memory;

  std::string place() const;  // "src/ladder/03_shared_tile/kernel.cu:28", or the entry
};

// Returns the site of each instruction that ran in the multiplying launch, by
// InstructionReport::index.
std::map<std::uint32_t, Site> sites_by_instruction(const CountedRun& run, const SourceTree& tree);

// Returns all sites of a run, in order of first appearance.
std::vector<Site> sites_of(const CountedRun& run, const SourceTree& tree);

// A launch of a user's own kernel.
struct ForeignLaunch {
  LaunchCounts counts;  // counts with memory
  std::string entry;
  std::string_view ptx;
  std::string file;                              // the kernel's file: its lines are preferred
  std::map<std::string, std::string> arguments;  // names of arguments by place: "parameter +8"
  std::function<std::string(const std::string& file, int line)> text;  // text of a source line
  std::function<std::string(const std::string& file)> shown;           // a path, for people
  std::string no_code;  // why there is no machine code, where there is none
};
std::vector<Site> sites_of(const ForeignLaunch& launch);

}  // namespace tessera::lab
