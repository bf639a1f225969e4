#include "sass/rewrite/reorder.h"

#include <algorithm>
#include <string>
#include <utility>

#include "sass/model/reuse.h"
#include "sass/rewrite/dependences.h"
#include "sass/rewrite/order_search.h"

namespace tessera::sass {
namespace {

// WHY: instructions close to the edges of a region may depend on code outside it, which is not
// examined here. So nothing within this many instructions of an edge moves; the longest distance of
// an FFMA to a consumer is 5 cycles.
constexpr std::size_t kEdge = 5;
constexpr int kLongestStall = 15, kLongestStallWithoutYield = 11;

bool divides(const Operation& operation) {
  return !operation.known || operation.timing == Timing::kControl ||
         operation.name.ends_with("GMMA");
}

bool is_float(const std::string& name) {
  return name == "FFMA" || name == "FMUL" || name == "FADD";
}

// HW: the FP32 lanes of a sub-core take one instruction per cycle if there are 32 of them, and one
// in two cycles if there are 16 (sm_70, 75, 80). In the cycle between, ptxas issues only
// instructions of other pipes.
bool is_of_fp32_pipe(const std::string& name) { return is_float(name) || name.starts_with("IMAD"); }

// Whether bits 122-124 hold reuse flags, or nothing, so that the instruction may yield.
bool is_plain(const Operation& operation) {
  return operation.timing == Timing::kFixed || operation.control.reuse == 0;
}

bool may_flag(const Program& program, std::size_t at) {
  const Operation& operation = program.operations[at];
  return operation.known && is_float(operation.name) && !program.is_guarded(at) &&
         !operation.control.yields;
}

std::vector<Item> items_of(const Program& program, const Region& region, const Waits& waits,
                           const std::vector<bool>& pinned, const PortRules& rules) {
  const std::size_t count = region.end - region.begin;
  std::vector<bool> moves(program.code.size(), false);
  for (std::size_t at = region.begin + kEdge; at + kEdge < region.end; ++at) {
    moves[at] = !pinned[at] && may_move(program, at);
  }
  Dependences found = dependences_of(program, region, waits, moves);
  std::vector<Item> items(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = region.begin + i;
    const Operation& operation = program.operations[at];
    Item& item = items[i];
    item.moves = moves[at];
    item.access = port_access(operation, rules);
    item.access.stall = item.stall = item.moves ? 1 : std::max(1, operation.control.stall);
    item.holds_pipe = is_of_fp32_pipe(operation.name) ? cycles_of_ffma(program.sm) : 0;
    item.access.yields = !item.moves && operation.control.yields;
    item.longest_stall = item.moves || is_plain(operation) || operation.control.yields
                             ? kLongestStall
                             : kLongestStallWithoutYield;
    const bool keeps = item.moves || may_flag(program, at);
    for (PortRead& read : item.access.reads) read.keeps = keeps;
    for (const RegisterUse& use : operation.writes) {
      if (use.file != RegisterFile::kGeneral) continue;
      for (int reg = use.first; reg < use.first + use.count; ++reg) item.written.push_back(reg);
    }
    item.before = std::move(found.before[i]);
    item.of_place = std::move(found.at_place[i]);
    item.earliest = found.not_before[i];
    item.latest = item.moves ? count - 1 : i;
  }
  for (std::size_t i = count; i-- > 0;) {
    for (const Dependence& dependence : items[i].before) {
      Item& earlier = items[dependence.on];
      if (earlier.moves && items[i].latest > 0) {
        earlier.latest = std::min(earlier.latest, items[i].latest - 1);
      }
    }
  }
  return items;
}

// Returns the cycles that the region takes on its own: stalls that no other warp fills, cycles lost
// to ports, and the cost of crowded FFMAs.
double cost_of(std::span<const Operation> code, const PortRules& rules) {
  const PortUse use = ports_of_sequence(code, rules);
  double cycles = use.bubbles + kCyclesACrowdedFfma * use.crowded;
  for (const Operation& operation : code) cycles += cycles_of(operation.control);
  return cycles;
}

// Replaces all reuse flags by new ones. Instructions that yield get no flags.
void set_flags(std::vector<Operation>& code, const std::vector<bool>& allowed) {
  std::vector<bool> may_flag = allowed;
  for (std::size_t i = 0; i < code.size(); ++i) {
    may_flag[i] = allowed[i] && !code[i].control.yields;
    if (code[i].timing == Timing::kFixed) code[i].control.reuse = 0;
  }
  const std::vector<unsigned> flags = profitable_reuse(code, may_flag);
  for (std::size_t i = 0; i < code.size(); ++i) code[i].control.reuse |= flags[i];
}

// Returns the cost of a yield at `at`: how many registers are read again because the reuse cache
// keeps no register across the yield.
double reads_around(std::vector<Operation> code, const std::vector<bool>& allowed, std::size_t at,
                    const PortRules& rules) {
  constexpr std::size_t kAround = 24;
  code[at].control.yields = true;
  const std::size_t begin = at < kAround ? 0 : at - kAround;
  const std::size_t end = std::min(code.size(), at + kAround);
  std::vector<Operation> part(code.begin() + static_cast<std::ptrdiff_t>(begin),
                              code.begin() + static_cast<std::ptrdiff_t>(end));
  set_flags(part, {allowed.begin() + static_cast<std::ptrdiff_t>(begin),
                   allowed.begin() + static_cast<std::ptrdiff_t>(end)});
  const PortUse use = ports_of_sequence(part, rules);
  return 16 * use.bubbles + use.reads;
}

// Makes about one FFMA in `every` yield, each time the FFMA whose yield costs least.
void add_yields(std::vector<Operation>& code, const std::vector<bool>& allowed, int every,
                const PortRules& rules) {
  const int slack = every / 4;
  int since = every / 2;  // FFMAs since the last yield; unknown at the start
  std::size_t best = 0;
  double least = 0;
  for (std::size_t at = 0; at < code.size(); ++at) {
    if (code[at].control.yields) {
      since = 0;
      continue;
    }
    since += is_float(code[at].name);
    if (since < every - slack || !allowed[at]) continue;
    const double cost = reads_around(code, allowed, at, rules);
    if (since == every - slack || cost < least) {
      best = at;
      least = cost;
    }
    if (since < every + slack) continue;
    code[best].control.yields = true;
    since = 0;
    at = best;
  }
}

// Returns the region's operations in their new order, with new stalls, yields and reuse flags.
std::vector<Operation> scheduled(const Program& program, const Region& region,
                                 const std::vector<Item>& items,
                                 const std::vector<std::size_t>& order,
                                 const std::vector<int>& stalls, const ReorderOptions& options) {
  std::vector<Operation> code;
  std::vector<bool> allowed;
  for (std::size_t place = 0; place < order.size(); ++place) {
    const std::size_t at = region.begin + order[place];
    code.push_back(program.operations[at]);
    Control& control = code.back().control;
    control.stall = stalls[place];
    if (items[order[place]].moves) {
      control.wait_mask = program.operations[region.begin + place].control.wait_mask;
    }
    if (items[order[place]].moves) control.yields = false;
    const int longest =
        options.stalls_yield ? cycles_of_ffma(program.sm) : kLongestStallWithoutYield;
    if (is_plain(code.back()) && control.stall > longest) control.yields = true;
    allowed.push_back(items[order[place]].moves || may_flag(program, at));
  }
  if (options.yield_every > 0) add_yields(code, allowed, options.yield_every, options.ports);
  set_flags(code, allowed);
  return code;
}

}  // namespace

bool may_move(const Program& program, std::size_t at) {
  const Operation& operation = program.operations[at];
  const Control& control = operation.control;
  return operation.known && is_float(operation.name) && operation.timing == Timing::kFixed &&
         !program.is_guarded(at) && control.write_scoreboard < 0 && control.read_scoreboard < 0;
}

std::vector<Region> regions_of(const Program& program, int least) {
  std::vector<Region> regions;
  for (const Block& block : program.blocks) {
    std::size_t begin = block.begin;
    int moving = 0;
    for (std::size_t at = begin; at <= block.end; ++at) {
      if (at < block.end && !divides(program.operations[at])) {
        moving += may_move(program, at);
        continue;
      }
      if (moving >= least) regions.push_back({begin, at});
      begin = at + 1;
      moving = 0;
    }
  }
  return regions;
}

Waits waits_of(const Program& program) {
  Waits waits(program.code.size());
  DependenceListener listener;
  listener.wait = [&](const ScoreboardWait& wait) { waits[wait.waiter].push_back(wait); };
  visit_register_dependences(program, listener);
  return waits;
}

NewOrder reorder(const Program& program, const Region& region, const Waits& waits,
                 const std::vector<bool>& pinned, const ReorderOptions& options) {
  NewOrder result;
  const std::vector<Item> items = items_of(program, region, waits, pinned, options.ports);
  const std::span<const Operation> old(program.operations.data() + region.begin,
                                       region.end - region.begin);
  result.cycles_before = result.cycles = cost_of(old, options.ports);
  const auto found = find_order(items, options);
  if (!found) return result;
  const auto& [order, stalls] = *found;
  const std::vector<Operation> code = scheduled(program, region, items, order, stalls, options);
  const double cycles = cost_of(code, options.ports);
  if (cycles >= result.cycles_before) return result;
  result.cycles = cycles;
  for (std::size_t place = 0; place < order.size(); ++place) {
    result.order.push_back(region.begin + order[place]);
    result.code.push_back(
        with_control(program.code[region.begin + order[place]], code[place].control));
  }
  return result;
}

}  // namespace tessera::sass
