// Runs a whole suite: chooses the cells that are still to be timed, the protocol, and the end.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "lab/suite/suite_file.h"

namespace tessera::lab {

struct SuiteRunOptions {
  int both_ways = 0;           // number of first cells to time by both protocols
  std::function<bool()> over;  // asked before each cell: true keeps what there is
  // Called with the cells done, the cells of this part, and the next cell.
  std::function<void(int, int, const DrawnCell&)> progress;
};

class SuiteRun {
 public:
  SuiteRun(CellBench& bench, const std::vector<DrawnCell>& cells, SuiteFile& file,
           SuiteRunOptions options)
      : bench_(bench), cells_(cells), file_(file), options_(std::move(options)) {}

  // Times cells that are not in the file by the quick protocol, then the first cells (both_ways)
  // and the losses by the full one. The smallest losses, which may be scatter, come first.
  void time();
  // Sweep, or compare, the cells that are not in the file.
  void sweep(double within);
  void compare(const gemm::CostTable& other);
  void compare(ComputeType compute);

 private:
  using Cells = std::vector<const DrawnCell*>;

  Cells missing() const;
  Cells to_time_again() const;
  void each(const Cells& cells, const std::function<Json(const DrawnCell&)>& work);

  CellBench& bench_;
  const std::vector<DrawnCell>& cells_;
  SuiteFile& file_;
  const SuiteRunOptions options_;
};

}  // namespace tessera::lab
