#include "sass/reorder.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>

#include "sass/dependences.h"
#include "sass/reuse.h"

namespace tessera::sass {
namespace {

// WHY: what lies close to the edges of a region may meet code outside of it, which is not looked at
// here. Nothing at the edges moves; the longest distance of an FFMA to a consumer is 5 cycles.
constexpr std::size_t kEdge = 5;
constexpr int kLongestStall = 15, kLongestStallWithoutYield = 11;

bool divides(const Operation& operation) {
  return !operation.known || operation.timing == Timing::kControl ||
         operation.name.ends_with("GMMA");
}

bool is_float(const std::string& name) {
  return name == "FFMA" || name == "FMUL" || name == "FADD";
}

// HW: 32 FP32 lanes a sub-core take an instruction a cycle, 16 (sm_70, 75, 80) one in two.
int shortest_stall(int sm) { return sm == 70 || sm == 75 || sm == 80 ? 2 : 1; }

// Whether bits 122-124 are reuse flags, or nothing, so that it may yield.
bool is_plain(const Operation& operation) {
  return operation.timing == Timing::kFixed || operation.control.reuse == 0;
}

struct Item {
  bool moves = false;
  PortAccess access;         // with every operand kept that may be
  std::vector<int> written;  // general registers
  int stall = 1, longest_stall = 1;
  std::vector<Dependence> before;
  std::size_t latest = 0;  // place where it may stand at the latest
};

bool may_flag(const Program& program, std::size_t at) {
  const Operation& operation = program.operations[at];
  return operation.known && is_float(operation.name) && !program.is_guarded(at) &&
         !operation.control.yields;
}

std::vector<Item> items_of(const Program& program, const Region& region, const Waits& waits,
                           const std::vector<bool>& pinned, const PortRules& rules) {
  std::vector<std::vector<Dependence>> before = dependences_of(program, region, waits);
  const std::size_t count = region.end - region.begin;
  std::vector<Item> items(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = region.begin + i;
    const Operation& operation = program.operations[at];
    Item& item = items[i];
    item.moves = may_move(program, at) && !pinned[at] && i >= kEdge && i + kEdge < count;
    item.access = port_access(operation, rules);
    item.access.stall = item.stall =
        item.moves ? shortest_stall(program.sm) : std::max(1, operation.control.stall);
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
    item.before = std::move(before[i]);
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

// One instruction after the other, backwards to the first.
struct Placed {
  int previous = -1;  // in the list of all that were placed, in any order
  std::size_t item = 0;
  int stall = 1;  // of the instruction before it
};

// The smaller the better; of equals the order that is closer to the old one.
// TRIED: three orders of ptxas' ran at 57.5, 57.4 and 57.0 TFLOP/s on an H200. Without a weight on
// crowded FFMAs this gained 0 to 1 %; with twice that of a bubble they ran at 58.5, 58.4 and 58.5.
// A weight on reads as well (1.6 an FFMA instead of 1.9) gained nothing.
int score_of(int cost, int crowded) { return cost + 2 * crowded; }

struct State {
  PortState ports;
  int time = 0;  // when the next one is issued
  int cost = 0;  // bubbles, and stalls beyond the shortest
  int crowded = 0;
  int placed = -1;
  int last_stall = 1, longest_stall = 0;  // of the last one
  std::uint64_t done_hash = 0;
  std::vector<bool> done;
  std::vector<int> issued;
  std::size_t first_open = 0;      // no item before it waits to move
  std::size_t first_pressing = 0;  // nor one before this in the list by latest places

  int score() const { return score_of(cost, crowded); }
};

struct Choice {
  std::size_t parent = 0, item = 0;
  int score = 0;
};

class Search {
 public:
  Search(std::vector<Item> items, const ReorderOptions& options)
      : items_(std::move(items)), options_(options) {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (items_[i].moves) by_latest_.push_back(i);
      std::uint64_t mixed = (i + 1) * 0x9E3779B97F4A7C15u;
      mixed ^= mixed >> 29;
      hash_of_.push_back(mixed * 0xBF58476D1CE4E5B9u);
    }
    std::ranges::stable_sort(by_latest_, {}, [&](std::size_t i) { return items_[i].latest; });
    slots_before_.push_back(0);
    for (const Item& item : items_) slots_before_.push_back(slots_before_.back() + item.moves);
  }

  // Items in their new order and the stall of each; nothing if all ways ended early.
  std::optional<std::pair<std::vector<std::size_t>, std::vector<int>>> run() {
    State start;
    start.done.assign(items_.size(), false);
    start.issued.assign(items_.size(), 0);
    std::vector<State> states = {start}, next;
    for (std::size_t place = 0; place < items_.size(); ++place) {
      const std::vector<Choice> choices = choose(states, place);
      if (choices.empty()) return std::nullopt;
      next.resize(choices.size());  // keeps what its states have allocated
      for (std::size_t i = 0; i < choices.size(); ++i) {
        next[i] = states[choices[i].parent];
        put(next[i], choices[i].item);
      }
      states.swap(next);
    }
    return path_to(*std::ranges::min_element(states, {}, &State::score));
  }

 private:
  // When it could be issued; nothing while something that it depends on is missing.
  std::optional<int> earliest(const State& state, const Item& item) const {
    int time = state.time;
    for (const Dependence& dependence : item.before) {
      if (!state.done[dependence.on]) return std::nullopt;
      time = std::max(time, state.issued[dependence.on] + dependence.cycles);
    }
    const int stall = state.last_stall + time - state.time;
    if (time > state.time && stall > state.longest_stall) return std::nullopt;
    return time;
  }

  // The last place by which some item must have been put next; the end if none presses. Nothing if
  // it is too late for one.
  std::optional<std::size_t> pressing(const State& state, std::size_t place) const {
    constexpr std::size_t kView = 160;
    int waiting = 0;
    for (std::size_t at = state.first_pressing; at < by_latest_.size(); ++at) {
      const std::size_t i = by_latest_[at];
      if (state.done[i]) continue;
      const std::size_t latest = items_[i].latest;
      if (latest > place + kView) break;
      ++waiting;
      const int slots = slots_before_[latest + 1] - slots_before_[place];
      if (latest < place || waiting > slots) return std::nullopt;
      if (waiting == slots) return latest;
    }
    return items_.size();
  }

  void consider(const State& state, std::size_t parent, std::size_t i,
                std::vector<Choice>& choices) const {
    const std::optional<int> time = earliest(state, items_[i]);
    if (!time) return;
    PortState ports = state.ports;
    const int waited = ports.issue(items_[i].access, options_.ports);
    choices.push_back(
        {parent, i,
         score_of(state.cost + waited + *time - state.time, state.crowded + ports.is_crowded())});
  }

  std::vector<Choice> choose(const std::vector<State>& states, std::size_t place) const {
    std::vector<Choice> choices;
    for (std::size_t parent = 0; parent < states.size(); ++parent) {
      const State& state = states[parent];
      const std::optional<std::size_t> press = pressing(state, place);
      if (!press) continue;
      if (!items_[place].moves) {
        consider(state, parent, place, choices);
        continue;
      }
      int tried = 0;
      for (std::size_t i = state.first_open; i < items_.size() && tried < options_.lookahead; ++i) {
        if (!items_[i].moves || state.done[i] || items_[i].latest > *press) continue;
        ++tried;
        consider(state, parent, i, choices);
      }
    }
    std::ranges::stable_sort(choices, {}, &Choice::score);
    return best_of(choices, states);
  }

  // The best ones, of which no two have put the same items and end alike.
  std::vector<Choice> best_of(const std::vector<Choice>& choices,
                              const std::vector<State>& states) const {
    std::vector<Choice> best;
    std::set<std::pair<std::uint64_t, std::size_t>> seen;
    for (const Choice& choice : choices) {
      const std::uint64_t hash = states[choice.parent].done_hash ^ hash_of_[choice.item];
      if (!seen.emplace(hash, choice.item).second) continue;
      best.push_back(choice);
      if (static_cast<int>(best.size()) == options_.beam) break;
    }
    return best;
  }

  void put(State& state, std::size_t i) {
    const Item& item = items_[i];
    const int time = *earliest(state, item);
    const int waited = state.ports.issue(item.access, options_.ports);
    for (const int reg : item.written) state.ports.forget(reg);
    state.cost += waited + time - state.time;
    state.crowded += state.ports.is_crowded();
    placed_.push_back({state.placed, i, state.last_stall + time - state.time});
    state.placed = static_cast<int>(placed_.size()) - 1;
    state.issued[i] = time;
    state.done[i] = true;
    state.done_hash ^= hash_of_[i];
    state.time = time + item.stall;
    state.last_stall = item.stall;
    state.longest_stall = item.longest_stall;
    while (state.first_open < items_.size() &&
           (!items_[state.first_open].moves || state.done[state.first_open])) {
      ++state.first_open;
    }
    while (state.first_pressing < by_latest_.size() &&
           state.done[by_latest_[state.first_pressing]]) {
      ++state.first_pressing;
    }
  }

  std::pair<std::vector<std::size_t>, std::vector<int>> path_to(const State& state) const {
    std::vector<std::size_t> order;
    std::vector<int> stalls;
    int stall = state.last_stall;
    for (int at = state.placed; at >= 0; at = placed_[static_cast<std::size_t>(at)].previous) {
      const Placed& placed = placed_[static_cast<std::size_t>(at)];
      order.push_back(placed.item);
      stalls.push_back(stall);
      stall = placed.stall;
    }
    std::ranges::reverse(order);
    std::ranges::reverse(stalls);
    return {order, stalls};
  }

  std::vector<Item> items_;
  ReorderOptions options_;
  std::vector<std::size_t> by_latest_;
  std::vector<int> slots_before_;
  std::vector<std::uint64_t> hash_of_;
  std::vector<Placed> placed_;
};

// Cycles of the region with nothing around it: stalls that nobody fills, bubbles, crowded FFMAs.
double cost_of(std::span<const Operation> code, const PortRules& rules) {
  const PortUse use = ports_of_sequence(code, rules);
  double cycles = use.bubbles + kCyclesACrowdedFfma * use.crowded;
  for (const Operation& operation : code) cycles += cycles_of(operation.control);
  return cycles;
}

// Reuse flags from scratch. What yields has none.
void set_flags(std::vector<Operation>& code, const std::vector<bool>& allowed) {
  std::vector<bool> may_flag = allowed;
  for (std::size_t i = 0; i < code.size(); ++i) {
    may_flag[i] = allowed[i] && !code[i].control.yields;
    if (code[i].timing == Timing::kFixed) code[i].control.reuse = 0;
  }
  const std::vector<unsigned> flags = profitable_reuse(code, may_flag);
  for (std::size_t i = 0; i < code.size(); ++i) code[i].control.reuse |= flags[i];
}

// What a yield at `at` costs there: registers that are read again because nothing is kept over it.
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

// Lets about one FFMA in `every` yield, each time where it costs least.
void add_yields(std::vector<Operation>& code, const std::vector<bool>& allowed, int every,
                const PortRules& rules) {
  const int slack = every / 4;
  int since = every / 2;  // FFMAs since the last yield; of those in front nothing is known
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

// The region's operations in their new order, with stalls, yields and reuse flags made anew.
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
    if (items[order[place]].moves) control.yields = false;
    const int longest =
        options.stalls_yield ? shortest_stall(program.sm) : kLongestStallWithoutYield;
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
         !program.is_guarded(at) && control.wait_mask == 0 && control.write_scoreboard < 0 &&
         control.read_scoreboard < 0;
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
  MeetingListener listener;
  listener.wait = [&](const ScoreboardWait& wait) { waits[wait.waiter].push_back(wait); };
  visit_meetings(program, listener);
  return waits;
}

NewOrder reorder(const Program& program, const Region& region, const Waits& waits,
                 const std::vector<bool>& pinned, const ReorderOptions& options) {
  NewOrder result;
  const std::vector<Item> items = items_of(program, region, waits, pinned, options.ports);
  const std::span<const Operation> old(program.operations.data() + region.begin,
                                       region.end - region.begin);
  result.cycles_before = result.cycles = cost_of(old, options.ports);
  const auto found = Search(items, options).run();
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
