#include "tools/calibrate/mined_distances.h"

#include <algorithm>
#include <utility>

#include "sass/model/register_dependences.h"

namespace tessera::sass {
namespace {

// A pair seen this often at its shortest distance was held up there by its latency. Others may just
// never have been close, so they need no more than the slowest such pair of the same producer:
// class kAny.
constexpr int kOften = 10;

}  // namespace

void MinedDistances::add(const Program& program) {
  for (const Operation& operation : program.operations) {
    if (operation.timing != Timing::kControl || !operation.known) continue;
    int& stall = stalls_.try_emplace(operation.name, operation.control.stall).first->second;
    stall = std::min(stall, operation.control.stall);
  }
  DependenceListener listener;
  listener.dependence = [&](const RegisterDependence& dependence) {
    if (dependence.is_open) return;
    Seen& seen = distances_[{dependence.kind, dependence.file,
                             class_of_first(program.operations[dependence.first]),
                             class_of_second(program.operations[dependence.second], dependence)}];
    if (dependence.cycles < seen.cycles) seen = {dependence.cycles, 0};
    seen.times += dependence.cycles == seen.cycles;
  };
  visit_register_dependences(program, listener);
}

void MinedDistances::add(const MinedDistances& other) {
  for (const auto& [key, theirs] : other.distances_) {
    Seen& ours = distances_[key];
    if (theirs.cycles < ours.cycles) ours = {theirs.cycles, 0};
    if (theirs.cycles == ours.cycles) ours.times += theirs.times;
  }
  for (const auto& [name, stall] : other.stalls_) {
    int& ours = stalls_.try_emplace(name, stall).first->second;
    ours = std::min(ours, stall);
  }
}

// Cycles after which a result of this class is read at the earliest; 0 if no reader was seen.
int MinedDistances::latency_of(LatencyClass producer) const {
  int latency = 0;
  for (const LatencyClass reader : {LatencyClass::kFma, LatencyClass::kAlu}) {
    const auto seen = distances_.find(
        {DependenceKind::kReadAfterWrite, RegisterFile::kGeneral, producer, reader});
    if (seen == distances_.end() || seen->second.times < kOften) continue;
    latency = latency == 0 ? seen->second.cycles : std::min(latency, seen->second.cycles);
  }
  return latency;
}

// Two writes of one register: each lands its latency after its issue, so the second one is last if
// it lands later. Pairs of rare classes may never have been seen that close.
void MinedDistances::lower_writes(std::map<Key, int>& rows) const {
  constexpr int kMargin = 2;  // as ptxas leaves between two of one class
  const auto classes = {LatencyClass::kFma, LatencyClass::kAlu, LatencyClass::kHalf,
                        LatencyClass::kClock};
  for (const LatencyClass first : classes) {
    for (const LatencyClass second : classes) {
      const int before = latency_of(first), after = latency_of(second);
      if (before == 0 || after == 0) continue;
      const int cycles = std::max(1, before - after + kMargin);
      const Key key{DependenceKind::kWriteAfterWrite, RegisterFile::kGeneral, first, second};
      const auto [row, is_new] = rows.emplace(key, cycles);
      if (!is_new) row->second = std::min(row->second, cycles);
    }
  }
}

std::vector<LatencyRow> MinedDistances::rows_of(const std::map<Key, int>& cycles_of) {
  std::vector<LatencyRow> rows;
  for (const auto& [key, cycles] : cycles_of) {
    const auto& [kind, file, first, second] = key;
    rows.push_back({kind, file, first, second, cycles});
  }
  return rows;
}

// The distances of pairs, then of each producer with any consumer that has no row.
std::vector<LatencyRow> MinedDistances::rows(std::span<const LatencyRow> known) const {
  std::map<Key, int> slowest, rows;
  std::map<std::pair<DependenceKind, RegisterFile>, int> slowest_of_all;
  for (const auto& [key, seen] : distances_) {
    const auto& [kind, file, first, second] = key;
    if (seen.times < kOften) continue;
    int& cycles = slowest[{kind, file, first, LatencyClass::kAny}];
    cycles = std::max(cycles, seen.cycles);
    int& all = slowest_of_all[{kind, file}];
    all = std::max(all, cycles);
  }
  for (const auto& [key, seen] : distances_) {  // producers of which little is known
    const auto& [kind, file, first, second] = key;
    slowest.emplace(Key{kind, file, first, LatencyClass::kAny}, slowest_of_all[{kind, file}]);
  }
  // Classes without a mined row keep the larger number: they may never have been close.
  for (const LatencyRow& row : known) {
    if (row.second != LatencyClass::kAny) continue;
    int& cycles = slowest[{row.kind, row.file, row.first, row.second}];
    cycles = std::max(cycles, row.cycles);
  }
  // A write waits for another no longer than a read would.
  for (auto& [key, cycles] : slowest) {
    const auto& [kind, file, first, any] = key;
    const auto read = slowest.find({DependenceKind::kReadAfterWrite, file, first, any});
    if (read != slowest.end()) cycles = std::min(cycles, read->second);
  }
  for (const auto& [key, seen] : distances_) {
    const auto& [kind, file, first, second] = key;
    const int any = slowest[{kind, file, first, LatencyClass::kAny}];
    if (seen.cycles < any) rows[key] = seen.cycles;
  }
  for (const LatencyRow& row : known) {
    const int any = slowest[{row.kind, row.file, row.first, LatencyClass::kAny}];
    if (row.second == LatencyClass::kAny || row.cycles >= any) continue;
    const auto [place, is_new] =
        rows.emplace(Key{row.kind, row.file, row.first, row.second}, row.cycles);
    if (!is_new) place->second = std::min(place->second, row.cycles);
  }
  rows.insert(slowest.begin(), slowest.end());
  lower_writes(rows);
  return rows_of(rows);
}

std::map<std::string, int> MinedDistances::stalls(std::span<const StallRow> known) const {
  std::map<std::string, int> all = stalls_;
  for (const StallRow& row : known) {
    int& stall = all.try_emplace(std::string(row.name), row.stall).first->second;
    stall = std::min(stall, row.stall);
  }
  std::erase_if(all, [](const auto& entry) { return entry.second <= 1; });
  return all;
}

std::vector<LatencyRow> MinedDistances::rows_beside(const LatencyTable& known) const {
  std::vector<LatencyRow> all = rows({});
  for (const auto& [key, seen] : distances_) {  // rows() leaves those to kAny that are as long
    const auto& [kind, file, first, second] = key;
    all.push_back({kind, file, first, second, seen.cycles});
  }
  const Distances before(known), after({known.sm, "", all, {}});
  std::map<Key, int> shorter;
  for (const auto& [kind, file, first, second, cycles] : all) {
    const int least = after.least(kind, file, first, second);
    if (least < before.least(kind, file, first, second)) {
      shorter[{kind, file, first, second}] = least;
    }
  }
  return rows_of(shorter);
}

std::vector<StallRow> MinedDistances::stalls_beside(const LatencyTable& known) const {
  std::vector<StallRow> beside;
  for (const StallRow& row : known.stalls) {
    const auto seen = stalls_.find(std::string(row.name));
    if (seen != stalls_.end() && seen->second < row.stall) {
      beside.push_back({row.name, seen->second});
    }
  }
  return beside;
}

}  // namespace tessera::sass
