// Compares two rungs of the ladder that follow each other: the source, the compiler's output, the
// counts, and the time.
#pragma once

#include <string>
#include <vector>

#include "lab/explain/explain.h"
#include "lab/record/measured.h"
#include "lab/sites/text_diff.h"

namespace tessera::lab {

struct FileDiff {
  std::string before, after;  // paths in the repository
  std::vector<DiffLine> lines;
};

struct Step {
  std::string before, after;    // names with variants, as columns are headed
  std::vector<FileDiff> files;  // empty without the source tree, or where nothing differs
  std::string source_note;      // why there are no files
  Table counts;                 // count, before, after, after / before
  Table code;                   // code of the cubin, the same columns
  Table times;                  // ms as predicted and as measured, with the file it is from
};

// Compares two kernels on the same problem, with an explanation of each.
Step compare_step(const CountedRun& before, const CountedRun& after, const arch::Gpu& gpu,
                  const SourceTree& tree);

std::vector<FileDiff> source_diffs(const Kernel& before, const Kernel& after,
                                   const SourceTree& tree);

// `colour`: removed lines are red, added ones green, heads of hunks cyan.
std::string render(const Step& step, bool colour);
Json to_json(const Step& step);

}  // namespace tessera::lab
