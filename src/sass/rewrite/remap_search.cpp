#include "sass/rewrite/remap_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

namespace tessera::sass {
namespace {

constexpr int kRegisters = 255;

class PlaceSearch {
 public:
  PlaceSearch(const RemapModel& model, const Meets& meets, const std::vector<FreshReads>& ffmas,
              const std::vector<bool>& stays, const RemapSearch& options)
      : model_(model),
        meets_(meets),
        ffmas_(ffmas),
        stays_(stays),
        options_(options),
        random_(options.seed),
        reg_(model.ranges.size()),
        used_by_(model.ranges.size()),
        zeros_of_(kRegisters) {
    for (std::size_t range = 0; range < reg_.size(); ++range) {
      reg_[range] = model.live.ranges[range].reg;
      in_[static_cast<std::size_t>(reg_[range])].push_back(static_cast<int>(range));
    }
    for (std::size_t at = 0; at < ffmas.size(); ++at) {
      for (const int range : ffmas[at].ranges)
        used_by_[static_cast<std::size_t>(range)].push_back(at);
    }
    for (std::size_t i = 0; i < model.zeros.size(); ++i) {
      for (const int reg : model.zeros[i].registers) {
        zeros_of_[static_cast<std::size_t>(reg)].push_back(static_cast<int>(i));
      }
    }
  }

  std::vector<int> run() {
    std::vector<int> used;  // ranges that FFMAs read and that may move
    for (std::size_t range = 0; range < reg_.size(); ++range) {
      if (moves(static_cast<int>(range)) && !used_by_[range].empty()) {
        used.push_back(static_cast<int>(range));
      }
    }
    std::vector<int> registers;
    for (int reg = 0; reg < kRegisters; ++reg) {
      if (!in_[static_cast<std::size_t>(reg)].empty()) registers.push_back(reg);
    }
    if (used.empty()) return reg_;
    constexpr double kHot = 1.0, kCold = 0.05;
    for (int step = 0; step < options_.steps; ++step) {
      const double heat = kHot * std::pow(kCold / kHot, static_cast<double>(step) / options_.steps);
      const int range = used[random_() % used.size()];
      const int to = registers[random_() % registers.size()];
      if (bank(to) != bank(reg(range))) exchange(range, to, heat);
    }
    return reg_;
  }

 private:
  int bank(int reg) const { return reg % options_.banks; }
  int reg(int range) const { return reg_[static_cast<std::size_t>(range)]; }
  const LiveRange& live(int range) const {
    return model_.live.ranges[static_cast<std::size_t>(range)];
  }
  bool moves(int range) const {
    return model_.ranges[static_cast<std::size_t>(range)].is_single &&
           !stays_[static_cast<std::size_t>(range)];
  }

  // Whether the range may have the register `to`. If CS2R instructions set `to` to zero, only
  // ranges that begin with this zero, or that are not live there, may use `to`. Ranges that begin
  // with these zeros may use no other register.
  bool may_live_in(int range, int to) const {
    if (to >= model_.ranges[static_cast<std::size_t>(range)].limit) return false;
    const int own = model_.ranges[static_cast<std::size_t>(range)].zeros;
    const auto& written = zeros_of_[static_cast<std::size_t>(to)];
    if (own >= 0 && std::ranges::find(written, own) == written.end()) return false;
    return std::ranges::all_of(written, [&](int zeros) {
      return zeros == own || !live(range).meets(model_.zeros[static_cast<std::size_t>(zeros)].span);
    });
  }

  // Returns all ranges that must change between two registers if range `first` changes to `to`;
  // empty if one of these ranges cannot.
  std::vector<int> chain(int first, int to) const {
    constexpr std::size_t kLongest = 24;
    std::vector<int> all = {first};
    for (std::size_t i = 0; i < all.size(); ++i) {
      const int range = all[i], target = reg(range) == to ? reg(first) : to;
      if (!moves(range) || !may_live_in(range, target) || all.size() > kLongest) return {};
      for (const int other : in_[static_cast<std::size_t>(target)]) {
        if (!meets_(other, range)) continue;
        if (std::ranges::find(all, other) == all.end()) all.push_back(other);
      }
    }
    return all;
  }

  double cost_of(std::size_t ffma) const {
    std::array<int, 4> count{}, regs{};
    std::size_t different = 0;
    for (const int range : ffmas_[ffma].ranges) {
      const int number = reg(range);
      if (std::find(regs.begin(), regs.begin() + different, number) != regs.begin() + different) {
        continue;
      }
      regs[different++] = number;
      ++count[static_cast<std::size_t>(bank(number))];
    }
    const int most = *std::ranges::max_element(count);
    if (most >= 3) return options_.counts_pairs ? 3 : 1;
    return options_.counts_pairs && most == 2 ? 1 : 0;
  }

  double cost_of(const std::vector<std::size_t>& ffmas) const {
    double cost = 0;
    for (const std::size_t ffma : ffmas) cost += cost_of(ffma);
    return cost;
  }

  void move(int range, int to) {
    auto& old = in_[static_cast<std::size_t>(reg(range))];
    old.erase(std::ranges::find(old, range));
    in_[static_cast<std::size_t>(to)].push_back(range);
    reg_[static_cast<std::size_t>(range)] = to;
  }

  void exchange(int first, int to, double heat) {
    const std::vector<int> all = chain(first, to);
    if (all.empty()) return;
    std::vector<std::size_t> ffmas;
    for (const int range : all) {
      const auto& users = used_by_[static_cast<std::size_t>(range)];
      ffmas.insert(ffmas.end(), users.begin(), users.end());
    }
    std::ranges::sort(ffmas);
    ffmas.erase(std::unique(ffmas.begin(), ffmas.end()), ffmas.end());
    const double before = cost_of(ffmas);
    const int from = reg(first);
    const auto turn = [&] {
      for (const int range : all) move(range, reg(range) == to ? from : to);
    };
    turn();
    const double worse = cost_of(ffmas) - before;
    const double chance = static_cast<double>(random_()) / static_cast<double>(random_.max());
    if (worse > 0 && chance > std::exp(-worse / heat)) turn();
  }

  const RemapModel& model_;
  const Meets& meets_;
  const std::vector<FreshReads>& ffmas_;
  const std::vector<bool>& stays_;
  const RemapSearch& options_;
  std::mt19937 random_;
  std::vector<int> reg_;
  std::array<std::vector<int>, kRegisters> in_;  // ranges by register
  std::vector<std::vector<std::size_t>> used_by_;
  std::vector<std::vector<int>> zeros_of_;
};

}  // namespace

Meets::Meets(const LiveRanges& live) : count_(live.ranges.size()), bits_(count_ * count_, false) {
  for (std::size_t range = 0; range < count_; ++range) update(live, static_cast<int>(range));
}

void Meets::update(const LiveRanges& live, int range) {
  const LiveRange& one = live.ranges[static_cast<std::size_t>(range)];
  for (int other = 0; other < static_cast<int>(count_); ++other) {
    if (other == range) continue;
    const bool meets = one.meets(live.ranges[static_cast<std::size_t>(other)]);
    bits_[index(range, other)] = bits_[index(other, range)] = meets;
  }
}

std::vector<int> find_registers(const RemapModel& model, const Meets& meets,
                                const std::vector<FreshReads>& ffmas,
                                const std::vector<bool>& stays, const RemapSearch& search) {
  return PlaceSearch(model, meets, ffmas, stays, search).run();
}

}  // namespace tessera::sass
