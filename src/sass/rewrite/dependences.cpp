#include "sass/rewrite/dependences.h"

#include <algorithm>
#include <map>
#include <utility>

#include "sass/model/latencies.h"

namespace tessera::sass {
namespace {

using Place = std::pair<RegisterFile, int>;

// The last writers of a register, and its readers since then. A guarded write may leave the old
// value, so the earlier writers stay in the list.
struct History {
  std::vector<std::size_t> writers, readers;
};

class Collector {
 public:
  Collector(const Program& program, const Region& region, const std::vector<bool>& moves)
      : program_(program), region_(region), moves_(moves) {
    const std::size_t count = region.end - region.begin;
    found_ = {.before = std::vector<std::vector<Dependence>>(count),
              .at_place = std::vector<std::vector<Dependence>>(count),
              .not_before = std::vector<std::size_t>(count, 0)};
  }

  void add(std::size_t at) {
    at_ = at;
    const Operation& operation = program_.operations[at];
    for_each(operation.reads, [&](const RegisterUse& use, History& history) {
      for (const std::size_t writer : history.writers) {
        depend(writer, least(DependenceKind::kReadAfterWrite, writer, use));
      }
    });
    for_each(operation.writes, [&](const RegisterUse& use, History& history) {
      for (const std::size_t writer : history.writers) {
        depend(writer, least(DependenceKind::kWriteAfterWrite, writer, use));
      }
      for (const std::size_t reader : history.readers) depend(reader, 0);
    });
    for_each(operation.writes, [&](const RegisterUse&, History& history) {
      if (!program_.is_guarded(at)) history = {};
      history.writers.push_back(at);
    });
    for_each(operation.reads,
             [&](const RegisterUse&, History& history) { history.readers.push_back(at); });
  }

  // Makes all instructions that need a result of the wait at `at` stay after this wait.
  void add_wait(std::size_t at, const std::vector<ScoreboardWait>& waits) {
    at_ = at;
    for (const ScoreboardWait& wait : waits) {
      if (wait.setter >= region_.begin && wait.setter < at) {
        if (moves_[at]) {
          found_.at_place[at - region_.begin].push_back(
              {wait.setter - region_.begin, kScoreboardShows});
        } else {
          depend(wait.setter, kScoreboardShows);
        }
      }
      settled_[{wait.file, wait.reg}] = at;
    }
    if (moves_[at] && !waits.empty()) found_.not_before[at - region_.begin] = at - region_.begin;
  }

  void depend_on_waits(std::size_t at) {
    at_ = at;
    const Operation& operation = program_.operations[at];
    for (const std::vector<RegisterUse>* uses : {&operation.reads, &operation.writes}) {
      for (const RegisterUse& use : *uses) {
        for (int reg = use.first; reg < use.first + use.count; ++reg) {
          const auto settled = settled_.find({use.file, reg});
          if (settled == settled_.end() || settled->second == at) continue;
          if (moves_[settled->second]) {
            std::size_t& place = found_.not_before[at - region_.begin];
            place = std::max(place, settled->second - region_.begin);
          } else {
            depend(settled->second, 0);
          }
        }
      }
    }
  }

  Dependences take() { return std::move(found_); }

 private:
  template <class Visit>
  void for_each(const std::vector<RegisterUse>& uses, Visit visit) {
    for (const RegisterUse& use : uses) {
      for (int reg = use.first; reg < use.first + use.count; ++reg) {
        visit(use, history_[{use.file, reg}]);
      }
    }
  }

  int least(DependenceKind kind, std::size_t writer, const RegisterUse& use) const {
    const Operation& first = program_.operations[writer];
    if (is_variable(first, program_.sm)) return 0;
    const RegisterDependence dependence{kind, writer, at_, use.file, use.first, use.operand};
    return distances_of(program_.sm)
        .least(kind, use.file, class_of_first(first),
               class_of_second(program_.operations[at_], dependence));
  }

  void depend(std::size_t on, int cycles) {
    if (on == at_) return;
    std::vector<Dependence>& all = found_.before[at_ - region_.begin];
    const std::size_t index = on - region_.begin;
    const auto known =
        std::ranges::find_if(all, [&](const Dependence& other) { return other.on == index; });
    if (known == all.end()) {
      all.push_back({index, cycles});
    } else {
      known->cycles = std::max(known->cycles, cycles);
    }
  }

  const Program& program_;
  const Region& region_;
  const std::vector<bool>& moves_;
  Dependences found_;
  std::map<Place, History> history_;
  std::map<Place, std::size_t> settled_;  // registers, and the last wait that settled them
  std::size_t at_ = 0;
};

}  // namespace

Dependences dependences_of(const Program& program, const Region& region, const Waits& waits,
                           const std::vector<bool>& moves) {
  Collector collector(program, region, moves);
  for (std::size_t at = region.begin; at < region.end; ++at) {
    collector.add_wait(at, waits[at]);
    collector.depend_on_waits(at);
    collector.add(at);
  }
  return collector.take();
}

}  // namespace tessera::sass
