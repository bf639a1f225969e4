#include "sass/rewrite/patch.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "sass/container/cubin.h"
#include "sass/container/elf.h"
#include "sass/model/hazards.h"
#include "sass/rewrite/check_code.h"
#include "sass/rewrite/main_loops.h"
#include "sass/rewrite/register_limits.h"

namespace tessera::sass {
namespace {

constexpr int kNewestArchitecture = 90;  // cubins for later SMs also copy facts about the code
constexpr int kPatchRounds = 6;

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what); }

void set(Program& program, std::size_t at, const Instruction& instruction) {
  program.code[at] = instruction;
  program.operations[at] = decode(instruction, at * kInstructionBytes, program.sm);
}

// Returns which instructions are referred to by another section of the file: by relocations of this
// kernel's code.
std::vector<bool> named_elsewhere(std::span<const std::byte> file, const Program& program) {
  std::vector<bool> named(program.code.size(), false);
  const Elf elf = read_elf(file);
  const auto mark = [&](const std::string& section, std::uint64_t entry_bytes) {
    const Section* table = elf.find(section + program.name);
    for (std::uint64_t at = 0; table && at < table->bytes.size(); at += entry_bytes) {
      const std::uint64_t place = number_at<std::uint64_t>(table->bytes, at) / kInstructionBytes;
      if (place < named.size()) named[place] = true;
    }
  };
  mark(".rel.text.", 16);
  mark(".rela.text.", 24);
  return named;
}

// Reorders a program region by region, and undoes changes to which the hazard checker objects.
class Patcher {
 public:
  Patcher(const Program& before, std::vector<bool> pinned, const PatchOptions& options)
      : before_(before),
        after_(before),
        waits_(waits_of(before)),
        pinned_(std::move(pinned)),
        options_(options),
        regions_(regions_of(before, options.least_moving)),
        origin_(before.code.size()) {
    std::iota(origin_.begin(), origin_.end(), std::size_t{0});
  }

  const Program& run() {
    std::set<std::size_t> open;
    for (std::size_t i = 0; i < regions_.size(); ++i) open.insert(i);
    for (int round = 0; !open.empty(); ++round) {
      for (const std::size_t region : open) rewrite(regions_[region], round == kPatchRounds);
      open.clear();
      for (const Hazard& hazard : find_hazards(after_)) {
        for (const std::size_t place : {hazard.at, hazard.by}) pin(place, open);
      }
    }
    return after_;
  }

  std::size_t moved() const {
    std::size_t moved = 0;
    for (std::size_t at = 0; at < origin_.size(); ++at) moved += origin_[at] != at;
    return moved;
  }
  std::size_t regions() const {
    return static_cast<std::size_t>(std::ranges::count_if(regions_, [&](const Region& region) {
      for (std::size_t at = region.begin; at < region.end; ++at) {
        if (origin_[at] != at) return true;
      }
      return false;
    }));
  }

 private:
  // Puts the instruction that is now at `place` back to its first position, and marks its region to
  // be reordered again.
  void pin(std::size_t place, std::set<std::size_t>& open) {
    for (std::size_t i = 0; i < regions_.size(); ++i) {
      if (place < regions_[i].begin || place >= regions_[i].end) continue;
      pinned_[origin_[place]] = true;
      open.insert(i);
    }
  }

  void rewrite(const Region& region, bool give_up) {
    for (std::size_t at = region.begin; at < region.end; ++at) {
      origin_[at] = at;
      set(after_, at, before_.code[at]);
    }
    if (give_up) return;
    const NewOrder found = reorder(before_, region, waits_, pinned_, options_.reorder);
    for (std::size_t i = 0; i < found.order.size(); ++i) {
      origin_[region.begin + i] = found.order[i];
      set(after_, region.begin + i, found.code[i]);
    }
  }

  const Program& before_;
  Program after_;
  Waits waits_;
  std::vector<bool> pinned_;
  const PatchOptions& options_;
  std::vector<Region> regions_;
  std::vector<std::size_t> origin_;  // by place: the old place of its instruction
};

std::vector<Operation> members_of(const Program& program, const Loop& loop) {
  std::vector<Operation> body;
  for (const std::size_t member : loop.members) body.push_back(program.operations[member]);
  return body;
}

std::vector<LoopChange> changes_of(const CubinKernel& kernel, const Program& before,
                                   const Program& after, const PortRules& rules) {
  std::vector<LoopChange> changes;
  for (const Loop* loop : multiplying_loops(kernel.loops)) {
    changes.push_back({loop->begin, loop->end, loop->members.size(),
                       ports_of_loop(members_of(before, *loop), rules),
                       ports_of_loop(members_of(after, *loop), rules)});
  }
  return changes;
}

// Returns a sentence if the kernel must not be patched, else "".
std::string fault_of_input(const Program& program) {
  const std::vector<Hazard> hazards = find_hazards(program);
  if (hazards.empty()) return "";
  return "The kernel has a hazard before anything is changed, so it is not patched: " +
         text_of(program, hazards[0]);
}

// Checks that every instruction, when its fields are written again, has the same bits as before.
void check_round_trip(const Program& program) {
  for (std::size_t at = 0; at < program.code.size(); ++at) {
    const Instruction& old = program.code[at];
    const Operation& operation = program.operations[at];
    if (operation.timing != Timing::kFixed) continue;
    const Instruction again = with_control(old, operation.control);
    if (again.low == old.low && again.high == old.high) continue;
    fail(program.name + ": the control field of " + operation.text + " does not survive writing.");
  }
}

// WHY: waits and scoreboards are not values, and they order not only registers, but also shared
// memory and barriers. A new order of FFMAs does not change them, so each position must have the
// same waits and scoreboards as before.
void check_waits(const Program& before, const Program& after) {
  for (std::size_t at = 0; at < before.operations.size(); ++at) {
    const Control& old_one = before.operations[at].control;
    const Control& new_one = after.operations[at].control;
    if (old_one.wait_mask != new_one.wait_mask ||
        old_one.write_scoreboard != new_one.write_scoreboard ||
        old_one.read_scoreboard != new_one.read_scoreboard) {
      fail("The patched code waits for something else than before at " + after.operations[at].text);
    }
  }
}

// Proves that the kernel in the patched file equals the kernel that was read.
Equality prove(const CubinKernel& patched, const Program& before,
               const std::vector<BlockRenaming>& renaming) {
  const Program after = program_of(patched, before.sm);
  const std::vector<Hazard> hazards = find_hazards(after);
  if (!hazards.empty()) fail("The patched code has a hazard: " + text_of(after, hazards[0]));
  const std::string beyond = beyond_limits(before, after);
  if (!beyond.empty()) fail("The patched code is illegal: " + beyond + ".");
  const Equality equality =
      renaming.empty() ? prove_equal(before, after) : prove_equal(before, after, renaming);
  if (!equality.is_proved) fail("The patched code is not proved equal: " + equality.reason);
  check_waits(before, after);
  return equality;
}

// Returns the kernel with this name; if there is no such kernel, all whose names contain `name`.
std::vector<const CubinKernel*> wanted(const CubinFile& file, const std::string& name) {
  if (const CubinKernel* exact = file.find(name)) return {exact};
  std::vector<const CubinKernel*> found;
  for (const CubinKernel& kernel : file.kernels) {
    if (kernel.name.find(name) != std::string::npos) found.push_back(&kernel);
  }
  if (found.empty()) fail("The cubin has no kernel " + name + ".");
  return found;
}

// A kernel that is being patched, and the intermediate results.
struct Work {
  const CubinKernel* kernel = nullptr;
  KernelPatch patch;
  std::optional<Program> before;
  std::vector<Instruction> code;  // the new code; empty if nothing is to be written
  std::vector<BlockRenaming> renaming;
};

// Returns the cost of the main loops before or after the patch, as the reordering computes it.
double cost_of(const Work& work, PortUse LoopChange::*version) {
  double cost = 0;
  for (const Loop* loop : main_loops(work.kernel->loops)) {
    const auto change = std::ranges::find(work.patch.loops, loop->begin, &LoopChange::begin);
    const PortUse& use = *change.*version;
    cost += use.cycles + kCyclesACrowdedFfma * use.crowded;
  }
  return cost;
}

void rename_registers(const PortRules& rules, const RemapOptions& options, Work& work) {
  const Program& before = *work.before;
  RemappedKernel found = remap(before, work.kernel->loops, options);
  work.patch.ranges = found.ranges;
  if (found.code.empty()) return;
  Program after = before;
  for (std::size_t at = 0; at < after.code.size(); ++at) set(after, at, found.code[at]);
  work.patch.loops = changes_of(*work.kernel, before, after, rules);
  if (cost_of(work, &LoopChange::after) >= cost_of(work, &LoopChange::before)) return;
  work.patch.renamed = found.moved;
  work.code = std::move(found.code);
  work.renaming = std::move(found.renaming);
}

void change_kernel(std::span<const std::byte> file, int sm, const PatchOptions& options,
                   Work& work) {
  work.patch.name = work.kernel->name;
  try {
    work.before = program_of(*work.kernel, sm);
  } catch (const std::runtime_error& error) {
    if (!options.kernel.empty()) throw;
    work.patch.left_alone = error.what();  // control flow that cannot be followed
    return;
  }
  const Program& before = *work.before;
  work.patch.left_alone = reason_not_to_check(before);
  if (!work.patch.left_alone.empty()) return;
  const std::string fault = fault_of_input(before);
  if (!fault.empty() && !options.kernel.empty()) fail(fault);
  work.patch.left_alone = fault;
  if (!fault.empty()) return;
  check_round_trip(before);
  if (options.remaps) return rename_registers(options.reorder.ports, options.remap, work);
  Patcher patcher(before, named_elsewhere(file, before), options);
  const Program& after = patcher.run();
  work.patch.moved = patcher.moved();
  work.patch.regions = patcher.regions();
  work.patch.loops = changes_of(*work.kernel, before, after, options.reorder.ports);
  work.code = after.code;
}

// Calls f for each piece of work, on all cores. If calls throw, the exception of the first piece
// that threw is rethrown.
template <class F>
void for_each_at_once(std::vector<Work>& all, F f) {
  std::vector<std::exception_ptr> thrown(all.size());
  std::atomic<std::size_t> next = 0;
  const auto take = [&] {
    for (std::size_t i = next++; i < all.size(); i = next++) {
      try {
        f(all[i]);
      } catch (...) {
        thrown[i] = std::current_exception();
      }
    }
  };
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  {
    std::vector<std::jthread> others;
    try {
      while (others.size() + 1 < std::min(cores, all.size())) others.emplace_back(take);
    } catch (const std::system_error&) {
      // no further thread can be started: those that already run do the work
    }
    take();
  }
  for (const std::exception_ptr& error : thrown) {
    if (error) std::rethrow_exception(error);
  }
}

// Makes one kind of change, of registers or of order, and proves it.
PatchResult change(std::span<const std::byte> cubin, PatchOptions options) {
  const CubinFile file = read_cubin(cubin);
  options.reorder.ports.ffma_cycles = cycles_of_ffma(file.sm);
  if (file.sm > kNewestArchitecture) {
    fail("Cubins for sm_" + std::to_string(file.sm) +
         " are not patched: only up to sm_90 is the code all that the driver looks at.");
  }
  std::vector<Work> all;
  for (const CubinKernel* kernel : wanted(file, options.kernel)) all.push_back({.kernel = kernel});
  for_each_at_once(all, [&](Work& work) { change_kernel(cubin, file.sm, options, work); });
  PatchResult result{file.sm, {cubin.begin(), cubin.end()}, {}};
  for (const Work& work : all) {
    if (!work.code.empty()) result.cubin = with_code(result.cubin, *work.kernel, work.code);
  }
  const CubinFile patched = read_cubin(result.cubin);
  for_each_at_once(all, [&](Work& work) {
    if (work.code.empty()) return;
    work.patch.equality = prove(*patched.find(work.kernel->name), *work.before, work.renaming);
  });
  for (Work& work : all) result.kernels.push_back(std::move(work.patch));
  return result;
}

// Adds the changes of the second rewrite to those of the first.
void add(const PatchResult& second, PatchResult& first) {
  for (std::size_t i = 0; i < first.kernels.size(); ++i) {
    KernelPatch& sum = first.kernels[i];
    const KernelPatch& more = second.kernels[i];
    sum.moved = more.moved;
    sum.regions = more.regions;
    sum.equality.is_proved = true;
    if (sum.renamed == 0) sum.equality = more.equality;
    if (sum.loops.empty()) sum.loops = more.loops;
    for (std::size_t loop = 0; loop < more.loops.size(); ++loop) {
      sum.loops[loop].after = more.loops[loop].after;
    }
  }
  first.cubin = second.cubin;
}

}  // namespace

PatchResult optimise(std::span<const std::byte> cubin, const PatchOptions& options) {
  if (!options.remaps) return change(cubin, options);
  PatchResult result = change(cubin, options);
  if (!options.reorders) return result;
  PatchOptions second = options;
  second.remaps = false;
  add(change(result.cubin, second), result);
  return result;
}

}  // namespace tessera::sass
