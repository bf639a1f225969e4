#include "lab/model/loop_code.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>

#include "lab/counts/counts.h"
#include "sass/model/ports.h"

namespace tessera::lab {
namespace {

using sass::CubinKernel;
using sass::Instruction;
using sass::Loop;

constexpr std::size_t kBytes = sass::kInstructionBytes;

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string_view stem_of(std::string_view name) { return name.substr(0, name.find('.')); }

bool is_multiply(std::string_view name) { return is_one_of(name, {"FFMA", "DFMA", "DMMA"}); }

// Whether the instruction is an arrival at a named barrier, after which the warp continues: bits
// 77-79 say what a BAR does.
bool is_arrival(const Instruction& instruction) { return instruction.bits(77, 3) == 1; }

Unit unit_of(const Instruction& instruction, std::string_view name) {
  const std::string_view stem = stem_of(name);
  if (is_one_of(stem, {"FFMA", "FMUL", "FADD", "HFMA2"})) return Unit::kFma;
  if (stem == "IMAD") return Unit::kImad;
  if (is_one_of(stem, {"DFMA", "DMUL", "DADD", "DSETP"})) return Unit::kFp64;
  if (is_one_of(stem, {"DMMA", "HMMA", "IMMA"})) return Unit::kTensor;
  if (is_one_of(stem, {"LDS", "STS", "LDG", "STG", "LD", "ST", "LDL", "STL", "LDGSTS", "LDSM"})) {
    return Unit::kMemory;
  }
  if (stem == "BAR") return is_arrival(instruction) ? Unit::kControl : Unit::kBarrier;
  if (stem.starts_with("U") && stem != "ULDC") return Unit::kUniform;
  if (is_one_of(stem, {"BRA", "BSSY", "BSYNC", "NOP", "EXIT", "LDC", "ULDC", "S2R", "S2UR"})) {
    return Unit::kControl;
  }
  const bool is_unknown = stem.starts_with("op_");
  return is_unknown && (instruction.key() & 0x1000) ? Unit::kUniform : Unit::kAlu;
}

// Returns the memory path of an access, by its name in the cubin.
MemoryPath path_of(std::string_view stem) {
  if (is_one_of(stem, {"LDS", "STS", "LDSM"})) return MemoryPath::kShared;
  if (is_one_of(stem, {"LDG", "STG", "LD", "ST", "LDGSTS"})) return MemoryPath::kGlobal;
  return MemoryPath::kNone;
}

// The cost of the PTX's accesses of one kind (LDS, STS, LDG, STG).
struct AccessCost {
  double issues = 0, wavefronts = 0, sectors = 0;
};
struct AccessCosts {
  std::map<std::string, AccessCost> by_name, by_stem;  // "LDS.64", "LDS"

  // Returns the name of an access in machine code. In these kernels, PTX accesses without a state
  // space go to global memory, so LD and ST become LDG and STG.
  static std::string machine_name(const FormClass& form, bool width) {
    const std::string load = form.kind == FormKind::kLoad ? "LD" : "ST";
    const std::string space = form.space == FormSpace::kShared ? "S" : "G";
    return load + space + (width ? "." + std::to_string(8 * form.bytes) : std::string());
  }
  void add(const std::string& name, const std::string& stem, const AccessCost& cost) {
    for (AccessCost* sum : {&by_name[name], &by_stem[stem]}) {
      sum->issues += cost.issues;
      sum->wavefronts += cost.wavefronts;
      sum->sectors += cost.sectors;
    }
  }
};

AccessCosts access_costs(const LaunchCounts& counts) {
  AccessCosts costs;
  for (const InstructionCount& instruction : counts.instructions) {
    const FormClass form = classify(instruction.form);
    const bool is_wmma = instruction.form.starts_with("wmma.");
    if (!is_wmma && form.kind != FormKind::kLoad && form.kind != FormKind::kStore) continue;
    const vgpu::MemoryCounts& memory = instruction.memory;
    AccessCost cost;
    cost.issues = static_cast<double>(instruction.warp);
    const bool shared = memory.shared.requests > memory.global.requests;
    cost.wavefronts =
        static_cast<double>(shared ? memory.shared.pair.wavefronts : memory.global.data_wavefronts);
    cost.sectors = static_cast<double>(memory.global.sectors);
    FormClass where = form;
    where.space = shared ? FormSpace::kShared : FormSpace::kGlobal;
    if (is_wmma) {
      const bool loads = instruction.form.find(".load.") != std::string::npos;
      where.kind = loads ? FormKind::kLoad : FormKind::kStore;
      where.bytes = 8;
    }
    costs.add(AccessCosts::machine_name(where, true), AccessCosts::machine_name(where, false),
              cost);
  }
  return costs;
}

std::string as_global(std::string_view name) {
  const std::string_view stem = stem_of(name);
  if (stem == "LD" || stem == "ST") return std::string(stem) + "G" + std::string(name.substr(2));
  return std::string(name);
}

// Follows one iteration through the cubin's loop. Branches skip code with accesses that never ran,
// which are those of a kind (LDS, STG, ...) that never ran in the PTX.
class Walk {
 public:
  Walk(const CubinKernel& kernel, int sm, const AccessCosts& costs)
      : kernel_(kernel), sm_(sm), costs_(costs) {}

  // Returns the indices of the instructions of one iteration. Inner loops run `inner_trips` times.
  std::vector<std::size_t> path(const Loop& loop, const Loop* inner, double inner_trips) const {
    std::vector<std::size_t> indices;
    const std::size_t end = loop.end / kBytes;
    double trips = inner_trips;
    for (std::size_t at = loop.begin / kBytes; at < end && indices.size() < 100000;) {
      const Instruction& instruction = kernel_.code[at];
      if (!is_member(at, loop)) return indices;  // behind the loop's last branch back
      if (!instruction.never_runs()) indices.push_back(at);
      at = next(at, loop, inner, trips);
    }
    return indices;
  }

 private:
  bool is_dead(std::size_t index) const {
    const std::string name = as_global(name_of(kernel_.code[index]));
    if (path_of(stem_of(name)) == MemoryPath::kNone) return false;
    const auto stem = costs_.by_stem.find(std::string(stem_of(name)));
    if (stem == costs_.by_stem.end()) return true;
    const auto found = costs_.by_name.find(name);
    if (found == costs_.by_name.end()) return false;  // merged or split by ptxas
    return found->second.issues < 0.02 * stem->second.issues;
  }

  static bool is_member(std::size_t index, const Loop& loop) {
    return std::ranges::binary_search(loop.members, index);
  }

  std::size_t next(std::size_t at, const Loop& loop, const Loop* inner, double& trips) const {
    const auto target = branch_target(kernel_.code[at], at * kBytes, sm_);
    if (!target) return at + 1;
    const std::size_t to = static_cast<std::size_t>(*target) / kBytes;
    if (to <= at) {  // back to the head of a loop
      if (inner && to == inner->begin / kBytes && --trips >= 0.5) return to;
      return to == loop.begin / kBytes ? loop.end / kBytes : at + 1;
    }
    if (to >= loop.end / kBytes) return at + 1;  // leaves the loop: not in a middle iteration
    if (kernel_.code[at].always_runs()) return to;
    for (std::size_t i = at + 1; i < to; ++i) {
      if (is_member(i, loop) && is_dead(i)) return to;
    }
    return at + 1;
  }

  const CubinKernel& kernel_;
  int sm_;
  const AccessCosts& costs_;
};

Step step_of(const Instruction& instruction, const std::string& name) {
  Step step;
  const std::string_view stem = stem_of(name);
  step.unit = unit_of(instruction, name);
  step.path = path_of(stem);
  step.width = name.ends_with(".128") ? 2 : name.ends_with(".64") ? 1 : 0;
  step.is_load = stem.starts_with("LD");
  step.stall = std::max(1, static_cast<int>(instruction.bits(105, 4)));
  step.write_scoreboard = static_cast<int>(instruction.bits(110, 3));
  step.read_scoreboard = static_cast<int>(instruction.bits(113, 3));
  step.wait_mask = static_cast<unsigned>(instruction.bits(116, 6));
  step.branches = stem == "BRA";
  return step;
}

double multiplies_of(const sass::Histogram& histogram) {
  double sum = 0;
  for (const auto& [name, count] : histogram) sum += is_multiply(name) ? count : 0;
  return sum;
}

double size_of(const sass::Histogram& histogram) {
  double sum = 0;
  for (const auto& [name, count] : histogram) sum += count;
  return sum;
}

bool contains(const Loop& outer, const Loop& inner) {
  return &outer != &inner && outer.begin <= inner.begin && inner.end <= outer.end;
}

const Loop* densest_loop(const CubinKernel& kernel) {
  const auto share = [](const Loop& loop) {
    return multiplies_of(loop.histogram) / size_of(loop.histogram);
  };
  const auto best = std::ranges::max_element(kernel.loops, {}, share);
  return best == kernel.loops.end() || multiplies_of(best->histogram) == 0 ? nullptr : &*best;
}

double barriers_in(const Loop& loop) {
  const auto found = loop.histogram.find("BAR");
  return found == loop.histogram.end() ? 0 : found->second;
}

// Returns the loop around `inner` that has barriers outside `inner`; one iteration of that loop
// handles one tile. Returns null if `inner` has all the barriers: then one iteration of `inner`
// handles a tile, and the loop around it handles a tile of D of a persistent kernel.
const Loop* loop_around(const CubinKernel& kernel, const Loop& inner) {
  for (const Loop& loop : kernel.loops) {
    if (!contains(loop, inner)) continue;
    return barriers_in(inner) > 0 && barriers_in(loop) == barriers_in(inner) ? nullptr : &loop;
  }
  return nullptr;
}

double dynamic_multiplies(const LaunchCounts& counts) {
  double sum = 0;
  for (const InstructionCount& instruction : counts.instructions) {
    const FormKind kind = classify(instruction.form).kind;
    if (kind == FormKind::kFma || kind == FormKind::kMatrix) {
      sum += static_cast<double>(instruction.warp);
    }
  }
  return sum;
}

double dynamic_barriers(const LaunchCounts& counts) {
  double sum = 0;
  for (const InstructionCount& instruction : counts.instructions) {
    if (classify(instruction.form).kind == FormKind::kBarrier) {
      sum += static_cast<double>(instruction.warp);
    }
  }
  return sum;
}

// Returns the iterations of an inner loop for one iteration of the outer loop. Barriers show how
// often the outer loop ran.
double trips_of(const Loop& inner, const Loop& outer, const LaunchCounts& counts) {
  const double barriers = barriers_in(outer), total = dynamic_barriers(counts);
  if (barriers == 0 || total == 0) return 1;
  const double outer_iterations = total / barriers;
  return std::max(1.0, std::round(dynamic_multiplies(counts) / outer_iterations /
                                  multiplies_of(inner.histogram)));
}

// Distributes the cost of the PTX's accesses over the machine's accesses of the same kind.
void add_costs(std::vector<Step>& steps, const std::vector<std::string>& names,
               const AccessCosts& costs, double machine_iterations) {
  std::map<std::string, double> issued;  // machine accesses by stem, in all iterations
  for (const std::string& name : names) issued[std::string(stem_of(name))] += machine_iterations;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].path == MemoryPath::kNone) continue;
    const std::string stem(stem_of(names[i]));
    const auto by_name = costs.by_name.find(names[i]);
    const auto by_stem = costs.by_stem.find(stem);
    if (by_name != costs.by_name.end() && by_name->second.issues > 0) {
      steps[i].wavefronts = by_name->second.wavefronts / by_name->second.issues;
      steps[i].sectors = by_name->second.sectors / by_name->second.issues;
    } else if (by_stem != costs.by_stem.end()) {
      steps[i].wavefronts = by_stem->second.wavefronts / issued[stem];
      steps[i].sectors = by_stem->second.sectors / issued[stem];
    }
  }
}

}  // namespace

std::vector<int> port_bubbles(std::span<const sass::Operation> loop, int sm) {
  const sass::PortUse use = sass::ports_of_loop(loop, sass::rules_of(sm));
  const double crowded = sass::cycles_of_crowded_ffma(sm) * use.crowded;
  const double forgiven = std::max(0.0, crowded - use.bubbles);
  const double each = use.ffmas == 0 ? 0 : forgiven / use.ffmas;
  std::vector<int> bubbles;
  double owed = 0;
  for (std::size_t i = 0; i < loop.size(); ++i) {
    owed += use.bubbles_at[i] + (loop[i].name == "FFMA" ? each : 0);
    bubbles.push_back(static_cast<int>(owed));
    owed -= bubbles.back();
  }
  return bubbles;
}

LoopCode loop_code(const CubinKernel& kernel, int sm, const LaunchCounts& counts) {
  LoopCode code;
  const Loop* inner = densest_loop(kernel);
  if (!inner) return code;
  const Loop* outer = loop_around(kernel, *inner);
  const double trips = outer ? trips_of(*inner, *outer, counts) : 1;
  const Loop& whole = outer ? *outer : *inner;
  const AccessCosts costs = access_costs(counts);
  const Walk walk(kernel, sm, costs);
  std::vector<std::string> names;
  std::vector<sass::Operation> operations;
  for (std::size_t index : walk.path(whole, outer ? inner : nullptr, trips)) {
    const Instruction& instruction = kernel.code[index];
    names.push_back(as_global(name_of(instruction)));
    code.steps.push_back(step_of(instruction, names.back()));
    operations.push_back(decode(instruction, index * kBytes, sm));
    code.multiplies += is_multiply(names.back()) ? 1 : 0;
  }
  const double warps =
      static_cast<double>(counts.resources.ctas) * std::ceil(counts.resources.threads / 32.0);
  if (code.multiplies == 0 || warps == 0) return {};
  const double all_iterations = dynamic_multiplies(counts) / code.multiplies;
  code.iterations = all_iterations / warps;
  const std::vector<int> bubbles = port_bubbles(operations, sm);
  for (std::size_t i = 0; i < bubbles.size(); ++i) code.steps[i].port_bubbles = bubbles[i];
  add_costs(code.steps, names, costs, all_iterations);
  return code;
}

}  // namespace tessera::lab
