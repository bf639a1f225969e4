#include "sass/model/ports.h"

#include <algorithm>
#include <stdexcept>

namespace tessera::sass {
namespace {

// A loop's state is small, so it repeats soon. If the state has not repeated after this many
// iterations, the average of these iterations is taken.
constexpr int kMaxIterations = 64;

void check(const PortRules& rules) {
  if (rules.banks < 1 || rules.banks > kMaxBanks) {
    throw std::invalid_argument("A port model has 1 to 4 banks.");
  }
  if (rules.reads_per_cycle < 1 || rules.reads_per_cycle > 15 || rules.window < 1 ||
      rules.window > 4) {
    throw std::invalid_argument("A port model has 1 to 15 reads a cycle and a window of 1 to 4.");
  }
}

// HW: a yield costs a warp that runs alone a second cycle (results/calibration/h200_registers.json,
// "yields").
int as_alone(const PortAccess& access, const PortRules& rules) {
  return rules.stalls_are_filled ? 1 : std::max(access.yields ? 2 : 1, access.stall);
}

// HW: an FFMA that names one register twice reads it once (results/calibration/h200_registers.json,
// "roles").
bool is_read_before(const PortAccess& access, std::size_t at) {
  const auto same = [&](const PortRead& read) { return read.reg == access.reads[at].reg; };
  return std::any_of(access.reads.begin(), access.reads.begin() + at, same);
}

// Simulates the issue of `accesses` once and adds the cost to `use`.
void run(std::span<const PortAccess> accesses, const std::vector<bool>& is_ffma,
         const PortRules& rules, PortState& state, PortUse& use) {
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    const int waited = state.issue(accesses[i], rules);
    use.bubbles_at[i] += waited;
    use.bubbles += waited;
    use.cycles += waited + as_alone(accesses[i], rules);
    use.reads += state.fresh_reads();
    if (!is_ffma[i]) continue;
    use.ffma_reads += state.fresh_reads();
    use.crowded += state.is_crowded();
  }
}

struct Prepared {
  std::vector<PortAccess> accesses;
  std::vector<bool> is_ffma;
  PortUse empty;
};

Prepared prepare(std::span<const Operation> code, const PortRules& rules) {
  check(rules);
  Prepared prepared;
  for (const Operation& operation : code) {
    prepared.accesses.push_back(port_access(operation, rules));
    prepared.is_ffma.push_back(operation.name == "FFMA");
    prepared.empty.ffmas += operation.name == "FFMA";
  }
  prepared.empty.bubbles_at.resize(code.size());
  return prepared;
}

// Adds the time by which the FFMA pipe is the limit. Other instructions, of this warp or of other
// warps, can use the issue slots that FFMAs leave free; the pipe is the limit if there are too few
// such instructions.
void add_pipe(PortUse& use, const PortRules& rules) {
  const double slots = use.cycles - use.bubbles;
  use.cycles += std::max(0.0, static_cast<double>(use.ffmas) * rules.ffma_cycles - slots);
}

void divide(PortUse& use, int iterations) {
  for (double* sum : {&use.cycles, &use.bubbles, &use.reads, &use.ffma_reads, &use.crowded}) {
    *sum /= iterations;
  }
  for (double& bubbles : use.bubbles_at) bubbles /= iterations;
}

}  // namespace

int cycles_of_ffma(int sm) { return sm < 86 ? 2 : 1; }

PortRules rules_of(int sm) { return {.ffma_cycles = cycles_of_ffma(sm)}; }

double cycles_of_crowded_ffma(int sm) { return sm == 90 ? kCyclesACrowdedFfma : 0; }

PortAccess port_access(const Operation& operation, const PortRules& rules) {
  PortAccess access{
      {}, operation.control.stall, operation.control.yields, operation.name == "FFMA"};
  if (rules.only_fixed_latency && operation.timing != Timing::kFixed) return access;
  for (const RegisterUse& use : operation.reads) {
    if (use.file != RegisterFile::kGeneral || use.operand < 0 || use.operand >= kOperandSlots) {
      continue;
    }
    const bool keeps = (operation.control.reuse >> use.operand & 1) != 0;
    for (int i = 0; i < use.count; ++i) {
      const int reg = use.first + i;
      access.reads.push_back({reg, reg % rules.banks, use.operand, keeps});
    }
  }
  return access;
}

bool PortState::fits(const std::array<int, kMaxBanks>& wanted, int start, int window,
                     const PortRules& rules) const {
  for (int bank = 0; bank < rules.banks; ++bank) {
    int free = 0;
    for (int cycle = start; cycle < start + window; ++cycle) {
      free += rules.reads_per_cycle - reads_in(taken_[bank], cycle);
    }
    if (free < wanted[bank]) return false;
  }
  return true;
}

void PortState::reserve(const std::array<int, kMaxBanks>& wanted, int start,
                        const PortRules& rules) {
  for (int bank = 0; bank < rules.banks; ++bank) {
    int left = wanted[bank];
    for (int cycle = start; left > 0 && cycle < kHorizon; ++cycle) {
      const int reads = std::min(left, rules.reads_per_cycle - reads_in(taken_[bank], cycle));
      taken_[bank] += static_cast<Taken>(reads) << (kBits * cycle);
      left -= reads;
    }
  }
}

void PortState::advance(int cycles) {
  for (Taken& bank : taken_) bank = cycles < kHorizon ? bank >> (kBits * cycles) : 0;
}

int PortState::issue(const PortAccess& access, const PortRules& rules) {
  const int until_pipe = access.is_ffma ? pipe_ : 0;
  advance(until_pipe);
  std::array<int, kMaxBanks> wanted = {};
  auto kept = kept_;
  fresh_reads_ = 0;
  for (std::size_t i = 0; i < access.reads.size(); ++i) {
    const PortRead& read = access.reads[i];
    const bool is_kept = rules.reuse && kept_[read.bank][read.slot] == read.reg;
    if (!is_kept && !is_read_before(access, i)) {
      ++wanted[read.bank];
      ++fresh_reads_;
    }
    // Any read in a slot replaces the register that the slot kept of that bank. Only a read with a
    // reuse flag keeps the new register.
    kept[read.bank][read.slot] =
        read.keeps ? static_cast<std::int16_t>(read.reg) : std::int16_t{-1};
  }
  kept_ = rules.yield_clears && access.yields ? empty_cache() : kept;
  // WHY: instructions that read whole tuples (stores of 128 bits, MMAs) may need more registers
  // than fit into a window. The window of such an instruction is as long as its reads need.
  const int most = *std::max_element(wanted.begin(), wanted.end());
  is_crowded_ = most > rules.reads_per_cycle * rules.ffma_cycles;
  const int window =
      std::max(rules.window, (most + rules.reads_per_cycle - 1) / rules.reads_per_cycle);
  int waited = 0;
  while (!fits(wanted, waited, window, rules)) ++waited;
  reserve(wanted, waited, rules);
  const int alone = as_alone(access, rules);
  advance(waited + alone);
  const int held = access.is_ffma ? rules.ffma_cycles : pipe_ - waited;
  pipe_ = std::max(0, held - alone);
  return waited;
}

void PortState::forget(int reg) {
  for (auto& slots : kept_) {
    for (std::int16_t& kept : slots) {
      if (kept == reg) kept = -1;
    }
  }
}

PortUse ports_of_sequence(std::span<const Operation> code, const PortRules& rules) {
  const Prepared prepared = prepare(code, rules);
  PortUse use = prepared.empty;
  PortState state;
  run(prepared.accesses, prepared.is_ffma, rules, state, use);
  add_pipe(use, rules);
  return use;
}

PortUse ports_of_loop(std::span<const Operation> body, const PortRules& rules) {
  const Prepared prepared = prepare(body, rules);
  std::vector<PortState> starts(1);
  PortUse ignored = prepared.empty;
  PortState state;
  auto same = starts.end();
  do {
    run(prepared.accesses, prepared.is_ffma, rules, state, ignored);
    same = std::find(starts.begin(), starts.end(), state);
    if (same != starts.end()) break;
    starts.push_back(state);
  } while (starts.size() < kMaxIterations);
  const int period = same == starts.end() ? kMaxIterations : static_cast<int>(starts.end() - same);
  PortUse use = prepared.empty;
  for (int i = 0; i < period; ++i) run(prepared.accesses, prepared.is_ffma, rules, state, use);
  divide(use, period);
  add_pipe(use, rules);
  return use;
}

}  // namespace tessera::sass
