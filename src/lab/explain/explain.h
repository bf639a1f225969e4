// Explains what limits a kernel and where: the counts of one run on the virtual GPU, compared with
// formulas for the problem and with the numbers of one GPU.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arch/gpu.h"
#include "lab/counts/count_run.h"
#include "lab/explain/advice/advice.h"
#include "lab/explain/formulas.h"
#include "lab/model/predict.h"
#include "lab/record/record.h"
#include "lab/record/report.h"

namespace tessera::lab {

// FLOP per byte of global memory, read or written. Bytes are counted in three ways: those that
// lanes request, those that sectors move without a cache, and those that a perfect cache would
// move.
struct Intensities {
  double requested = 0, sector = 0, footprint = 0;
  double once = 0;  // by formula: each operand read once, and nothing but reads
};

struct Explanation {
  std::string kernel, config, entry;
  std::string counted_as;  // kernel whose PTX and cubin were counted; "": this one
  Problem problem;
  arch::Gpu gpu;
  CountSummary counts;              // counts with their tag
  std::uint64_t ctas = 0, ran = 0;  // CTAs of the multiplying launch; fewer ran if it was sampled
  std::vector<FormulaCheck> formulas;
  Intensities intensities;
  double peak_tflops = 0;  // peak of the multiplying unit, by lanes and clock; 0: the GPU has none
  double reads_per_shared_word = 0;  // 0: no shared memory
  Evidence evidence;
  std::string code_arch;                 // architecture of the machine code, "sm_90a"
  std::optional<Prediction> prediction;  // none where a launch cannot run on the GPU, and why
  std::string not_predicted;
  std::vector<UnitTime> rest;  // if the prediction exceeds 1.5 times the bound: what fills the time
  std::string limited_by, verdict;
  std::vector<Advice> advice;
  std::vector<Site> costly;  // sites of the longest resource, the largest first
};

Explanation explain(const CountedRun& run, const arch::Gpu& gpu, const SourceTree& tree);

// Explains a user's own kernel, without formulas and problem. If `cubin` is empty, nothing is
// predicted, and the number of registers is the most that are live in the PTX at the same time.
Explanation explain_launch(const ForeignLaunch& launch, std::span<const std::byte> cubin,
                           const arch::Gpu& gpu);
// The resources that machine code needs to start. All are 0 if the kernel is not in the cubin.
struct CodeNeeds {
  int registers = 0;             // per thread
  bool moves_registers = false;  // setmaxnreg that the assembler did not drop
};
// Whether an SM has enough registers for a block of `threads` threads. All GPUs from SM 7.5 on have
// the same number of registers.
bool is_started(const CodeNeeds& needs, int threads);
int registers_of_sm();
CodeNeeds needs_of(std::span<const std::byte> cubin, const std::string& entry);

std::string render_launch(const Explanation& explanation, int lines = 6);
Json launch_json(const Explanation& explanation, int lines = 6);

// Returns a few words for a table, "bank conflicts"; "" if memory was not counted.
std::string limited_by(const CountedRun& run, const arch::Gpu& gpu);

// Returns text for a terminal of 100 columns, one or two screens, with the `lines` costliest source
// lines.
std::string render(const Explanation& explanation, int lines = 6);
Json to_json(const Explanation& explanation, int lines = 6);
// Returns a table with one row per costly source line, for files.
Table lines_table(const Explanation& explanation);

}  // namespace tessera::lab
