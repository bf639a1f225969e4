// What the shortest distances are that ptxas leaves between two instructions in a number of
// kernels. For tools that write the tables of src/sass/model/latency_rows/ and that judge them.
#pragma once

#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "sass/model/flow.h"
#include "sass/model/latencies.h"

namespace tessera::sass {

class MinedDistances {
 public:
  void add(const Program& program);
  void add(const MinedDistances& other);
  // As LatencyTable has them. Of what `known` has the shorter distance stays.
  std::vector<LatencyRow> rows(std::span<const LatencyRow> known) const;
  // By name of the instruction; those of 1 cycle are left out.
  std::map<std::string, int> stalls(std::span<const StallRow> known) const;

  // Those that are shorter than in `known`, for a second table: see Distances.
  std::vector<LatencyRow> rows_beside(const LatencyTable& known) const;
  std::vector<StallRow> stalls_beside(const LatencyTable& known) const;

 private:
  using Key = std::tuple<DependenceKind, RegisterFile, LatencyClass, LatencyClass>;
  struct Seen {
    int cycles = kLongestLatency, times = 0;  // the shortest distance, and how often
  };

  static std::vector<LatencyRow> rows_of(const std::map<Key, int>& cycles_of);
  int latency_of(LatencyClass producer) const;
  void lower_writes(std::map<Key, int>& rows) const;

  std::map<Key, Seen> distances_;
  std::map<std::string, int> stalls_;  // of instructions that decide where control goes
};

}  // namespace tessera::sass
