// Predicts a kernel's speed from its machine code, without a run: its loops, how their issue slots
// are used, what register ports cost, how wide accesses are. The figures of ports come from a model
// (ports.h); all other figures are counts of the code.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sass/container/cubin.h"
#include "sass/decode/operation.h"
#include "sass/model/banks.h"
#include "sass/model/ports.h"
#include "sass/model/reuse.h"
#include "sass/report/mix.h"

namespace tessera::sass {

inline constexpr std::array kBankModels = {BankModel::kKepler4, BankModel::kMaxwell4,
                                           BankModel::kVolta2};

// A loop counter that changes by an immediate number and is compared at the end of the loop.
struct LoopCounter {
  std::string name;  // "R5", "UR4"
  std::int64_t step = 0;
};

// One loop; its counts include the loops inside it.
struct LoopReport {
  std::uint64_t begin = 0, end = 0;  // bytes in the kernel
  int depth = 1;                     // 1: in no other loop
  bool is_straight = true;           // one path through the loop
  std::vector<std::size_t> members;  // instructions, by index
  Mix mix;
  PortUse ports;                                        // per iteration
  std::array<BankClashes, kBankModels.size()> clashes;  // by kBankModels
  int reuse_flags = 0;
  std::vector<ReuseFault> reuse_faults;  // `at` is an index of `members`
  int illegal_controls = 0;
  int in_place = 0;  // FFMAs that write the register to which they add
  int stalls = 0;    // sum of the stall fields: cycles of a warp that waits for nothing else
  std::optional<LoopCounter> counter;
  int sums = 0;          // chains of multiply-adds: sums that a thread computes at the same time
  int global_bytes = 0;  // loaded per thread and iteration, asynchronous copies included

  int slots() const { return mix.total(); }
  int multiplies() const;  // FFMA, DFMA, tensor core instructions
  double ffma_share() const;
  // The share of peak FP32 (FP64 in loops without FFMA) that the loop reaches if every issue slot
  // is used. port_ceiling() also takes the port model into account. 0 if the loop has no such
  // multiplies.
  double ceiling(int sm) const;
  double port_ceiling(int sm) const;
  double unroll() const;         // multiply-adds per sum and iteration; 0 without sums
  double flop_per_byte() const;  // per requested byte of global loads; 0 without loads
};

struct KernelReport {
  std::string name;
  int sm = 0;
  int registers = 0, max_threads = 0;
  std::uint64_t shared_bytes = 0, local_bytes = 0;
  std::vector<Instruction> code;
  std::vector<Operation> operations;
  std::vector<SourceLine> lines;  // by instruction; empty when the file does not say
  Mix mix;
  int illegal_controls = 0;
  std::vector<std::string> unknown;  // opcodes that our table lacks
  std::vector<LoopReport> loops;     // by address

  // Returns the loop with the largest share of multiplies among its instructions; if several loops
  // have this share, the shortest of them.
  const LoopReport* main_loop() const;
  // Returns the cycles that the port model loses at an instruction, for the innermost loop that
  // holds it.
  double bubbles_at(std::size_t index) const;
};

KernelReport report_of(const CubinKernel& kernel, int sm);

// Returns one sentence: what to do about this loop, or that machine code offers nothing to do.
std::string verdict(const KernelReport& kernel, const LoopReport& loop);

// A fact from outside the code that the report states as well: "occupancy", "2 blocks of an SM".
struct Note {
  std::string name, text;
};

// Returns the report as text for a terminal of 100 columns.
std::string render(const KernelReport& kernel, const std::vector<Note>& notes);
// Returns every instruction with its control field, with loops marked.
std::string listing(const KernelReport& kernel);
// Returns every FFMA of the main loop with several sources in one bank, with the registers and
// banks.
std::string clash_list(const KernelReport& kernel, BankModel model);
// Returns the reports of two kernels side by side.
std::string render_diff(const KernelReport& before, const KernelReport& after);
// Returns the reports as an HTML page that needs no other files.
std::string html_page(const std::vector<KernelReport>& kernels,
                      const std::vector<std::vector<Note>>& notes);

}  // namespace tessera::sass
