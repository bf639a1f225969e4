// The port model: each register bank of a sub-core delivers one register per cycle, so an FFMA
// whose three sources are all fresh reads costs more than its issue slot. The model counts the
// cycles that code loses to the ports, and takes into account the reuse cache, which saves reads.
// The rules were measured on Ampere and Blackwell (R. Huerta et al., MICRO 2025) and are assumed to
// hold on Hopper, where measured losses were at least as large as those of the model.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sass/decode/operation.h"

namespace tessera::sass {

// Rules in which GPUs may differ. The defaults are those measured by R. Huerta et al. (see above).
struct PortRules {
  int banks = 2;                   // register r lies in bank r % banks; at most kMaxBanks
  int reads_per_cycle = 1;         // per bank
  int window = 3;                  // cycles in which an instruction has to get all of its registers
  bool reuse = true;               // whether there is a reuse cache at all
  bool yield_clears = false;       // whether an instruction that yields empties the reuse cache
  bool only_fixed_latency = true;  // whether memory instructions read through other ports
  bool stalls_are_filled = true;   // by other warps; false: one warp alone, whose stalls cost time
  int ffma_cycles = 1;             // how long an FFMA holds its pipe
};

// Returns how many cycles an FFMA occupies its pipe. HW: a sub-core has 16 FP32 lanes on sm_70,
// sm_75 and sm_80 and 32 later, so an FFMA takes two cycles or one (NVIDIA's architecture
// whitepapers).
int cycles_of_ffma(int sm);
// Returns the rules of architecture `sm` (75). Banks and ports are the same since Volta (Huerta et
// al. found them on Turing, Ampere and Blackwell); the FFMA pipe differs.
PortRules rules_of(int sm);
inline constexpr int kMaxBanks = 4;
inline constexpr int kOperandSlots = 3;

// One register that an instruction reads, and the slot of its logical operand.
struct PortRead {
  int reg = 0, bank = 0, slot = 0;
  bool keeps = false;  // carries the reuse flag
};

// The facts about one instruction that matter to register ports.
struct PortAccess {
  std::vector<PortRead> reads;
  int stall = 1;
  bool yields = false;
  bool is_ffma = false;
};
PortAccess port_access(const Operation& operation, const PortRules& rules);

// The state of the ports and the reuse cache between two instructions of one warp. Cheap to copy.
class PortState {
 public:
  // Issues the instruction. Returns the cycles for which it waits until its registers can be read.
  int issue(const PortAccess& access, const PortRules& rules);
  // Drops the register from the reuse cache, because it was written.
  void forget(int reg);
  // Returns how many registers the last instruction read from the banks, not from the reuse cache.
  int fresh_reads() const { return fresh_reads_; }
  // Whether the last instruction read more registers from one bank than the bank delivers while an
  // FFMA occupies its pipe: two or more; on sm_70 to sm_80, where that takes two cycles, three or
  // more.
  bool is_crowded() const { return is_crowded_; }
  bool operator==(const PortState&) const = default;

 private:
  // The reads that are reserved in each of the next 16 cycles, 4 bits each.
  using Taken = std::uint64_t;
  static constexpr int kHorizon = 16, kBits = 4;

  static int reads_in(Taken taken, int cycle) {
    return cycle < kHorizon ? static_cast<int>(taken >> (kBits * cycle) & 15) : 0;
  }
  bool fits(const std::array<int, kMaxBanks>& wanted, int start, int window,
            const PortRules& rules) const;
  void reserve(const std::array<int, kMaxBanks>& wanted, int start, const PortRules& rules);
  void advance(int cycles);

  std::array<Taken, kMaxBanks> taken_ = {};
  std::array<std::array<std::int16_t, kOperandSlots>, kMaxBanks> kept_ = empty_cache();
  int pipe_ = 0;  // cycles until the next FFMA may go
  int fresh_reads_ = 0;
  bool is_crowded_ = false;

  static constexpr std::array<std::array<std::int16_t, kOperandSlots>, kMaxBanks> empty_cache() {
    std::array<std::array<std::int16_t, kOperandSlots>, kMaxBanks> cache;
    for (auto& slots : cache) slots.fill(-1);
    return cache;
  }
};

// The estimated cost of a crowded FFMA (PortState::is_crowded) in cycles, for comparing orders or
// registers. The estimate is above the cost in the profile below. The window of the model hides a
// crowded FFMA that slack follows. On sm_70 to sm_80 the cost is not measured; a published order
// that avoids crowded FFMAs gained about 1 % on a V100. HW: an H200 does not hide crowded FFMAs. A
// loop of 1024 FFMAs with 73 crowded ones lost 51.2 cycles; of the 30 instructions that lost most,
// 20 are five instructions after a crowded FFMA: 17.12 cycles after the 43 in the even bank, 5.47
// cycles after the 30 in the odd bank (Nsight Compute, stalls by dispatch;
// results/calibration/h200_fp32_profile.json).
inline constexpr double kCyclesACrowdedFfma = 0.5;
// Returns the cost of a crowded FFMA in a prediction: 0 on architectures where it was not measured.
double cycles_of_crowded_ffma(int sm);

// The cost of some code. For a loop, the cost of one iteration in its steady state, which may be a
// fraction because one period can span several iterations.
struct PortUse {
  double cycles = 0;      // the longer of issue slots and FFMA pipe, plus bubbles, plus stalls
                          // that no other warp fills
  double bubbles = 0;     // cycles lost to ports
  double reads = 0;       // registers taken from the banks
  double ffma_reads = 0;  // registers that FFMAs take from the banks
  double crowded = 0;     // FFMAs that take too many registers from one bank
  int ffmas = 0;
  std::vector<double> bubbles_at;  // by instruction

  double reads_per_ffma() const { return ffmas == 0 ? 0 : ffma_reads / ffmas; }
};

// Returns the cost of straight code that starts with idle ports and an empty reuse cache.
PortUse ports_of_sequence(std::span<const Operation> code, const PortRules& rules = {});
// Returns the cost of a loop, whose body is simulated until its state repeats.
PortUse ports_of_loop(std::span<const Operation> body, const PortRules& rules = {});

}  // namespace tessera::sass
