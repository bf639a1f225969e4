#include "lab/suite/suite_run.h"

#include <algorithm>

#include "lab/verify/stop.h"

namespace tessera::lab {

SuiteRun::Cells SuiteRun::missing() const {
  Cells list;
  for (const DrawnCell& cell : cells_) {
    if (!file_.find(cell.number)) list.push_back(&cell);
  }
  return list;
}

SuiteRun::Cells SuiteRun::to_time_again() const {
  const auto is_first = [&](const DrawnCell& cell) { return cell.number < options_.both_ways; };
  Cells list;
  for (const DrawnCell& cell : cells_) {
    const Json* const json = file_.find(cell.number);
    const std::optional<double> ratio = json ? ratio_of(*json) : std::nullopt;
    if (!ratio || is_full(*json)) continue;
    if (*ratio < kTimedAgainBelow || is_first(cell)) list.push_back(&cell);
  }
  std::ranges::stable_sort(list, std::greater(), [&](const DrawnCell* cell) {
    return is_first(*cell) ? 1e9 : *ratio_of(*file_.find(cell->number));
  });
  return list;
}

void SuiteRun::each(const Cells& cells, const std::function<Json(const DrawnCell&)>& work) {
  int done = 0;
  for (const DrawnCell* const cell : cells) {
    if (options_.over && options_.over()) return;
    if (options_.progress) options_.progress(done++, static_cast<int>(cells.size()), *cell);
    try {
      file_.set(cell->number, work(*cell));
    } catch (const Stopped&) {
      return;
    }
    file_.keep();
  }
}

void SuiteRun::time() {
  const SuiteProtocol quick = quick_protocol(), full = full_protocol();
  each(missing(),
       [&](const DrawnCell& cell) { return to_json(cell, bench_.run(cell, quick), quick.name); });
  each(to_time_again(), [&](const DrawnCell& cell) {
    Json json = *file_.find(cell.number);
    set_full(json, bench_.run(cell, full));
    if (cell.number < options_.both_ways) json["both_ways"] = true;
    return json;
  });
}

void SuiteRun::sweep(double within) {
  each(missing(), [&](const DrawnCell& cell) { return to_json(cell, bench_.sweep(cell, within)); });
}

void SuiteRun::compare(const gemm::CostTable& other) {
  each(missing(),
       [&](const DrawnCell& cell) { return to_json(cell, bench_.compare(cell, other)); });
}

void SuiteRun::compare(ComputeType compute) {
  each(missing(),
       [&](const DrawnCell& cell) { return to_json(cell, bench_.compare(cell, compute)); });
}

}  // namespace tessera::lab
