#include "sass/report/report.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

namespace tessera::sass {
namespace {

// HW: a sub-core has 16 FP64 lanes on sm_90, 8 on sm_70 and sm_80, and almost none on other GPUs
// (NVIDIA's architecture whitepapers).
int cycles_of_dfma(int sm) { return sm == 90 || sm == 100 ? 2 : sm == 70 || sm == 80 ? 4 : 64; }

bool is_in_place(const Operation& operation) {
  if (operation.name != "FFMA" || operation.writes.empty()) return false;
  return std::any_of(operation.reads.begin(), operation.reads.end(), [&](const RegisterUse& use) {
    return use.file == RegisterFile::kGeneral && use.operand == 2 &&
           use.first == operation.writes.front().first;
  });
}

// Returns the bytes that a thread loads from global memory by this instruction.
int loaded_bytes(const Instruction& instruction, const Operation& operation) {
  static const std::map<std::string, int, std::less<>> kBytes = {
      {".8", 1}, {".16", 2}, {".32", 4}, {".64", 8}, {".128", 16}};
  const bool loads = operation.name.starts_with("LDG.") || operation.name.starts_with("LDGSTS.");
  if (!loads || instruction.never_runs()) return 0;
  const auto width = kBytes.find(operation.name.substr(operation.name.rfind('.')));
  return width == kBytes.end() ? 0 : width->second;
}

// Returns the general or uniform register that an integer operation writes; nullptr if it writes
// only a predicate.
const RegisterUse* made_register(const Operation& operation) {
  for (const RegisterUse& use : operation.writes) {
    if (use.file == RegisterFile::kGeneral || use.file == RegisterFile::kUniform) return &use;
  }
  return nullptr;
}

// Returns the step by which "IADD3 R5, R5, -0x4, RZ" or "VIADD R5, R5, 0x1" changes its register; 0
// if the instruction is not such a sum.
std::int64_t step_of(const Instruction& instruction, const Operation& operation) {
  const std::string& name = operation.name;
  const bool adds = name == "IADD3" || name == "UIADD3" || name == "VIADD";
  constexpr int kImmediate = 4;
  const RegisterUse* made = made_register(operation);
  if (!adds || !made || instruction.bits(9, 3) != kImmediate) return 0;
  int registers = 0, same = 0;
  for (const RegisterUse& use : operation.reads) {
    if (use.operand < 0) continue;
    ++registers;
    same += use.file == made->file && use.first == made->first;
  }
  if (registers != 1 || same != 1) return 0;
  return static_cast<std::int32_t>(instruction.bits(32, 32));
}

std::string name_of(const RegisterUse& use) {
  return (use.file == RegisterFile::kUniform ? "UR" : "R") + std::to_string(use.first);
}

// Returns the loop's counter: the register that a single sum in the loop changes and that the last
// comparison before the branch back reads.
std::optional<LoopCounter> counter_of(const KernelReport& kernel, const LoopReport& loop) {
  std::map<std::string, std::vector<std::int64_t>> steps;
  for (const std::size_t member : loop.members) {
    const Operation& operation = kernel.operations[member];
    const std::int64_t step = step_of(kernel.code[member], operation);
    if (step != 0) steps[name_of(*made_register(operation))].push_back(step);
  }
  for (auto member = loop.members.rbegin(); member != loop.members.rend(); ++member) {
    const Operation& operation = kernel.operations[*member];
    if (operation.name != "ISETP" && operation.name != "UISETP") continue;
    for (const RegisterUse& use : operation.reads) {
      if (use.operand < 0) continue;
      const auto found = steps.find(name_of(use));
      if (found != steps.end() && found->second.size() == 1) {
        return LoopCounter{found->first, found->second.front()};
      }
    }
  }
  return std::nullopt;
}

// Returns the number of chains of multiply-adds. In a chain, each multiply-add adds to the result
// of the previous multiply-add. A loop has one chain for each of its sums; the length of a chain is
// the number of times that the loop was unrolled.
int chains_of(const KernelReport& kernel, const LoopReport& loop) {
  std::set<int> made;  // registers that hold a sum of this iteration
  int chains = 0;
  for (const std::size_t member : loop.members) {
    const Operation& operation = kernel.operations[member];
    const bool multiplies = operation.name == "FFMA" || operation.name == "DFMA" ||
                            operation.name == "DMMA" || operation.name == "HMMA";
    bool continues = false;
    for (const RegisterUse& use : operation.reads) {
      continues |=
          use.file == RegisterFile::kGeneral && use.operand == 2 && made.contains(use.first);
    }
    chains += multiplies && !continues;
    for (const RegisterUse& use : operation.writes) {
      if (use.file != RegisterFile::kGeneral) continue;
      for (int i = 0; i < use.count; ++i) made.erase(use.first + i);
      if (multiplies) made.insert(use.first);
    }
  }
  return chains;
}

bool is_branch(const Operation& operation) {
  return operation.name == "BRA" || operation.name == "BRX" || operation.name == "CALL";
}

void count_member(const KernelReport& kernel, std::size_t member, LoopReport& loop) {
  const Instruction& instruction = kernel.code[member];
  const Operation& operation = kernel.operations[member];
  loop.mix.add(instruction, operation);
  loop.stalls += operation.control.stall;
  loop.illegal_controls += !illegal_control(operation).empty();
  loop.in_place += is_in_place(operation);
  loop.global_bytes += loaded_bytes(instruction, operation);
  for (int slot = 0; slot < 3; ++slot) loop.reuse_flags += operation.control.reuse >> slot & 1;
}

LoopReport loop_of(const KernelReport& kernel, const Loop& found) {
  LoopReport loop;
  loop.begin = found.begin;
  loop.end = found.end;
  loop.members = found.members;
  std::vector<Operation> body;
  for (const std::size_t member : loop.members) {
    count_member(kernel, member, loop);
    body.push_back(kernel.operations[member]);
  }
  const auto branches = std::count_if(body.begin(), body.end(), is_branch);
  const std::size_t span = (loop.end - loop.begin) / kInstructionBytes;
  loop.is_straight = branches == 1 && is_branch(body.back()) && span == body.size();
  loop.ports = ports_of_loop(body, rules_of(kernel.sm));
  loop.reuse_faults = check_reuse(body);
  for (std::size_t i = 0; i < kBankModels.size(); ++i) {
    loop.clashes[i] = bank_clashes_of_loop(body, kBankModels[i]);
  }
  loop.counter = counter_of(kernel, loop);
  loop.sums = chains_of(kernel, loop);
  return loop;
}

void find_depths(std::vector<LoopReport>& loops) {
  for (LoopReport& loop : loops) {
    for (const LoopReport& outer : loops) {
      const bool is_inside =
          &outer != &loop && outer.members.size() > loop.members.size() &&
          std::binary_search(outer.members.begin(), outer.members.end(), loop.members.front());
      loop.depth += is_inside;
    }
  }
}

}  // namespace

int LoopReport::multiplies() const {
  return mix[Kind::kFfma] + mix.of("DFMA") + mix[Kind::kTensor] - mix.of("WARPGROUP");
}

double LoopReport::ffma_share() const {
  return slots() == 0 ? 0 : static_cast<double>(mix[Kind::kFfma]) / slots();
}

namespace {

double share_of(double multiplies, double cycles_each, double cycles) {
  return multiplies == 0 ? 0
                         : multiplies * cycles_each / std::max(multiplies * cycles_each, cycles);
}

double share_in(const LoopReport& loop, int sm, double cycles) {
  if (loop.mix[Kind::kFfma] > 0) {
    return share_of(loop.mix[Kind::kFfma], cycles_of_ffma(sm), cycles);
  }
  return share_of(loop.mix.of("DFMA"), cycles_of_dfma(sm), cycles);
}

}  // namespace

double LoopReport::ceiling(int sm) const { return share_in(*this, sm, slots()); }
double LoopReport::port_ceiling(int sm) const { return share_in(*this, sm, ports.cycles); }

double LoopReport::unroll() const {
  return sums == 0 ? 0 : static_cast<double>(multiplies()) / sums;
}

double LoopReport::flop_per_byte() const {
  if (global_bytes == 0) return 0;
  return 2.0 * (mix[Kind::kFfma] + mix.of("DFMA")) / global_bytes;
}

const LoopReport* KernelReport::main_loop() const {
  const auto share = [](const LoopReport& loop) {
    return static_cast<double>(loop.multiplies()) / loop.slots();
  };
  const LoopReport* best = nullptr;
  for (const LoopReport& loop : loops) {
    if (loop.multiplies() == 0) continue;
    if (!best || share(loop) > share(*best)) best = &loop;
  }
  return best;
}

double KernelReport::bubbles_at(std::size_t index) const {
  const LoopReport* innermost = nullptr;
  for (const LoopReport& loop : loops) {
    const bool holds = std::binary_search(loop.members.begin(), loop.members.end(), index);
    if (holds && (!innermost || loop.members.size() < innermost->members.size())) innermost = &loop;
  }
  if (!innermost) return 0;
  const auto place = std::lower_bound(innermost->members.begin(), innermost->members.end(), index);
  return innermost->ports.bubbles_at[place - innermost->members.begin()];
}

KernelReport report_of(const CubinKernel& kernel, int sm) {
  KernelReport report;
  report.name = kernel.name;
  report.sm = sm;
  report.registers = kernel.registers;
  report.max_threads = kernel.max_threads;
  report.shared_bytes = kernel.shared_bytes;
  report.local_bytes = kernel.local_bytes;
  report.code = kernel.code;
  report.lines = kernel.lines;
  std::set<std::string> unknown;
  for (std::size_t i = 0; i < kernel.code.size(); ++i) {
    report.operations.push_back(decode(kernel.code[i], i * kInstructionBytes, sm));
    const Operation& operation = report.operations.back();
    report.mix.add(kernel.code[i], operation);
    report.illegal_controls += !illegal_control(operation).empty();
    if (!operation.known) unknown.insert(operation.name);
  }
  report.unknown.assign(unknown.begin(), unknown.end());
  for (const Loop& loop : kernel.loops) report.loops.push_back(loop_of(report, loop));
  find_depths(report.loops);
  return report;
}

}  // namespace tessera::sass
