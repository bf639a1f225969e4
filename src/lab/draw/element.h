// Finds the threads that load a word and those that read it: "tile_a[5][7]" of a kernel's shared
// memory, or an element of A, B, C or D. It uses the accesses of a run on the virtual GPU.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "lab/counts/count_run.h"
#include "lab/json/json.h"
#include "lab/record/report.h"
#include "lab/sites/sites.h"

namespace tessera::lab {

// The name of an element: "tile_a[5][7]". A, B, C and D are the operands of the problem, with op
// applied; other names are variables in shared memory.
struct ElementName {
  std::string text, name;
  std::vector<std::int64_t> index;
  bool is_operand() const { return name.size() == 1 && name >= "A" && name <= "D"; }
};
// Throws a kBadArgument that names the argument if the text is not an element.
ElementName parse_element(const std::string& argument, const std::string& text);

constexpr int kCopyEngine = -1;  // in place of a thread number: a bulk copy, done by no thread

// The accesses to a word in one phase. In shared memory, a phase ends when the word is written
// again after a read. In global memory, a phase contains the accesses of one thread block.
struct ElementPhase {
  std::set<int> writers;       // linear thread numbers in the block, or kCopyEngine
  std::map<int, int> readers;  // linear thread numbers, and how often each thread reads
  friend bool operator==(const ElementPhase&, const ElementPhase&) = default;
};

struct ElementUse {
  std::string kernel, config;
  Problem problem;
  ElementName element;
  std::uint64_t address = 0;  // shared: bytes from the begin of the block's shared memory
  std::uint64_t ctas = 0;
  int threads = 0, width = 32;  // threads per block, and per row of its map
  // For shared memory: one phase for each time that block 0 writes the word. For global memory: one
  // phase for each block that accesses the word, in the order of block numbers.
  std::vector<ElementPhase> phases;
  std::vector<std::uint64_t> blocks;          // blocks of the phases: global memory alone
  std::set<std::string> written_at, read_at;  // "src/ladder/03_shared_tile/kernel.cu:23"
};

// Runs the kernel. Throws kBadArgument if the kernel has no variable of the element's name, if an
// index is out of range, or if the source that declares the variable cannot be read.
ElementUse element_use(Device& device, const KernelChoice& choice, const Problem& problem,
                       const ElementName& element, const SourceTree& tree);

std::string render(const ElementUse& use);
Table element_table(const ElementUse& use);  // one row per group of equal iterations or blocks
Json to_json(const ElementUse& use);
std::string element_svg(const ElementUse& use);

}  // namespace tessera::lab
