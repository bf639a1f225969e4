// Computes the number of words that a kernel must move, by formulas alone. If a count differs from
// its formula, the cause is a bug, a tail, or words that were merged or cached. A report that
// prints the count and the formula names the cause.
#pragma once

#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "problem/problem.h"

namespace tessera::lab {

// Words are elements. The numbers are exact up to 2^53. If a size is not a multiple of the block,
// its number of blocks is rounded up.
struct WordFormulas {
  double naive = 0;    // global reads, nothing shared: 2MNK
  double blocked = 0;  // global reads, a block tile each operand, nothing cached: MNK(1/bm + 1/bn)
  double once = 0;     // global reads, each operand once: K(M + N)
  double staged = 0;   // words stored in shared memory: as blocked, whole tiles
  double shared = 0;   // shared reads of a thread tile rm x rn: MNK(1/rm + 1/rn)
  double output = 0;   // words of C written: MN; as many are read when beta is not 0
  double flop = 0;     // 2MNK
};

// Returns the formulas of a kernel's multiplying launch. `packed`: the launch reads copies that are
// padded to whole blocks.
WordFormulas word_formulas(const Problem& problem, const KernelRow& row, bool packed);

// Returns FLOP per byte; 0 if there are no bytes.
double intensity(double flop, double words, ElementType type);

// One formula and its count.
struct FormulaCheck {
  std::string what;     // "global reads, blocked"
  std::string formula;  // "MNK (1/32 + 1/32)"
  double expected = 0, counted = 0;
  std::string note;  // why they differ, or what the number means; may be empty

  bool equal() const { return expected == counted; }
};

// The counts of the multiplying launch, in words.
struct WordCounts {
  double global_reads = 0, global_writes = 0;
  double shared_reads = 0, shared_writes = 0;
};

// Returns the formulas that apply, with their counts: global reads (blocked if the kernel reads
// blocks, else naive), each operand once, C, and shared reads and writes if there are any.
// `is_matrix`: tensor cores multiply, so there is no thread tile.
std::vector<FormulaCheck> check_formulas(const Problem& problem, const KernelRow& row, bool packed,
                                         bool is_matrix, const WordCounts& counted);

}  // namespace tessera::lab
