#include "sass/rewrite/order_search.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

namespace tessera::sass {
namespace {

// One instruction of an order; `previous` links to the one before it.
struct Placed {
  int previous = -1;  // its index in the list of placed instructions
  std::size_t item = 0;
  int stall = 1;  // stall of the instruction before it
};

// Returns the score of an order: the smaller the better. Of two orders with equal scores, the order
// closer to the old order is taken.
// TRIED: without a weight on crowded FFMAs, an H200 gains little or nothing over ptxas' order; with
// an added weight on reads, it gains no more than with the weight below. With the weight below
// simt_f32 runs NT of 4096 at 58.0 TFLOP/s instead of 56.6 (results/ladder/h200_rewritten.json).
int score_of(int cost, int crowded) { return cost + 2 * crowded; }

struct State {
  PortState ports;
  int time = 0;  // when the next instruction is issued
  int cost = 0;  // bubbles, and stalls beyond the shortest
  int crowded = 0;
  int placed = -1;
  int last_stall = 1, longest_stall = 0;  // stalls of the last instruction
  int pipe_free = 0;                      // when the FP32 pipe takes the next instruction
  std::uint64_t done_hash = 0;
  std::vector<bool> done;
  std::vector<int> issued;
  std::size_t first_open = 0;      // all movable items before this one are placed
  std::size_t first_pressing = 0;  // the same for the list by latest places

  int score() const { return score_of(cost, crowded); }
};

struct Choice {
  std::size_t parent = 0, item = 0;
  int score = 0;
};

class OrderSearch {
 public:
  OrderSearch(const std::vector<Item>& items, const ReorderOptions& options)
      : items_(items), options_(options) {
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

  std::optional<FoundOrder> run() {
    State start;
    start.done.assign(items_.size(), false);
    start.issued.assign(items_.size(), 0);
    std::vector<State> states = {start}, next;
    for (std::size_t place = 0; place < items_.size(); ++place) {
      const std::vector<Choice> choices = choose(states, place);
      if (choices.empty()) return std::nullopt;
      next.resize(choices.size());  // keeps the memory of its states
      for (std::size_t i = 0; i < choices.size(); ++i) {
        next[i] = states[choices[i].parent];
        put(next[i], choices[i].item, place);
      }
      states.swap(next);
    }
    return path_to(*std::ranges::min_element(states, {}, &State::score));
  }

 private:
  // Returns the earliest time at which the item could be issued; nullopt if an item that it depends
  // on has not been placed, or if no stall is long enough.
  std::optional<int> earliest(const State& state, const Item& item, std::size_t place) const {
    int time = item.holds_pipe > 0 ? std::max(state.time, state.pipe_free) : state.time;
    for (const Dependence& dependence : items_[place].of_place) {
      time = std::max(time, state.issued[dependence.on] + dependence.cycles);
    }
    for (const Dependence& dependence : item.before) {
      if (!state.done[dependence.on]) return std::nullopt;
      time = std::max(time, state.issued[dependence.on] + dependence.cycles);
    }
    const int stall = state.last_stall + time - state.time;
    if (time > state.time && stall > state.longest_stall) return std::nullopt;
    return time;
  }

  // Returns the last position by which some item must have been placed; the end if no item is
  // urgent. Returns nullopt if it is too late for some item.
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

  void consider(const State& state, std::size_t parent, std::size_t i, std::size_t place,
                std::vector<Choice>& choices) const {
    const std::optional<int> time = earliest(state, items_[i], place);
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
        consider(state, parent, place, place, choices);
        continue;
      }
      int tried = 0;
      for (std::size_t i = state.first_open; i < items_.size() && tried < options_.lookahead; ++i) {
        if (!items_[i].moves || state.done[i] || items_[i].latest > *press) continue;
        if (items_[i].earliest > place) continue;
        ++tried;
        consider(state, parent, i, place, choices);
      }
    }
    std::ranges::stable_sort(choices, {}, &Choice::score);
    return best_of(choices, states);
  }

  // Returns the best choices, except choices with the same items and last item as a better choice.
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

  void put(State& state, std::size_t i, std::size_t place) {
    const Item& item = items_[i];
    const int time = *earliest(state, item, place);
    const int waited = state.ports.issue(item.access, options_.ports);
    for (const int reg : item.written) state.ports.forget(reg);
    state.cost += waited + time - state.time;
    state.crowded += state.ports.is_crowded();
    placed_.push_back({state.placed, i, state.last_stall + time - state.time});
    state.placed = static_cast<int>(placed_.size()) - 1;
    state.issued[i] = time;
    if (item.holds_pipe > 0) state.pipe_free = time + item.holds_pipe;
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

  FoundOrder path_to(const State& state) const {
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

  const std::vector<Item>& items_;
  const ReorderOptions& options_;
  std::vector<std::size_t> by_latest_;
  std::vector<int> slots_before_;
  std::vector<std::uint64_t> hash_of_;
  std::vector<Placed> placed_;
};

}  // namespace

std::optional<FoundOrder> find_order(const std::vector<Item>& items,
                                     const ReorderOptions& options) {
  return OrderSearch(items, options).run();
}

}  // namespace tessera::sass
