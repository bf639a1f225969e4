#include "cli/commands/why.h"

#include <fmt/format.h>

#include "catalog/edges.h"
#include "lab/record/record.h"

namespace tessera::cli {
namespace {

std::string tiles_text(int count) { return fmt::format("{} tile{}", count, count == 1 ? "" : "s"); }

// "396 tiles, 116 cut in 132 runs"; of a product in regions that of the first one, with the
// variants that multiply the others: "512 tiles; 128x16, 64x128". "-" for a block a tile.
std::string schedule_text(const gemm::Candidate& candidate, const Problem& problem,
                          const PlanContext& context) {
  const KernelRow& row = *candidate.row;
  const GemmParams p = canonical_params(problem, {});
  if (row.resident == 0 || p.m == 0 || p.n == 0) return "-";
  const std::vector<catalog::Region> regions =
      catalog::regions_of(*candidate.choice.kernel, row, p, context);
  const scheduler::StreamK s =
      catalog::schedule_of(row, catalog::product_of(regions.front(), p), context);
  std::string text = s.whole_tiles == 0 ? "" : tiles_text(s.whole_tiles);
  if (s.cut_tiles() > 0) {
    text += fmt::format("{}{} cut in {} runs", text.empty() ? "" : ", ", tiles_text(s.cut_tiles()),
                        s.runs);
  }
  for (std::size_t i = 1; i < regions.size(); ++i) {
    text += (i == 1 ? "; " : ", ") + regions[i].row->variant;
  }
  return text;
}

double tflops_of(const Problem& p, double microseconds) {
  const double operations =
      2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  return microseconds > 0 ? operations / microseconds * 1e-6 : 0;
}

std::string short_number(double microseconds) {
  return microseconds == 0 ? "-" : fmt::format("{:.1f}", microseconds);
}

}  // namespace

std::vector<Reasons> reasons_for(const std::vector<Problem>& problems, const PlanContext& context) {
  std::vector<Reasons> all;
  for (const Problem& problem : problems) {
    const Problem whole = with_default_ld(problem);
    all.push_back({whole, gemm::candidates(whole, context)});
  }
  return all;
}

Table why_table(const std::vector<Reasons>& reasons, const PlanContext& context) {
  Table table{{"m", "n", "k", "layout", "taken", "entry", "schedule", "launch", "turn", "start",
               "multiply", "store", "memory", "add", "edges", "us", "TFLOP/s"},
              {}};
  for (const Reasons& reason : reasons) {
    const Problem& p = reason.problem;
    for (const gemm::Candidate& candidate : reason.candidates) {
      const catalog::Prediction& cost = candidate.prediction;
      const bool taken = &candidate == &reason.candidates.front();
      table.rows.push_back(
          {std::to_string(p.m), std::to_string(p.n), std::to_string(p.k), layout_of(p),
           taken ? "yes" : "", candidate.row->entry, schedule_text(candidate, p, context),
           short_number(cost.launch), short_number(cost.turn), short_number(cost.start),
           short_number(cost.multiply), short_number(cost.store), short_number(cost.memory),
           short_number(cost.add), short_number(cost.edges), short_number(cost.total()),
           fmt::format("{:.1f}", tflops_of(p, cost.total()))});
    }
  }
  return table;
}

lab::Json why_json(const std::vector<Reasons>& reasons, const PlanContext& context) {
  lab::Json all = lab::Json::array();
  for (const Reasons& reason : reasons) {
    const Problem& p = reason.problem;
    lab::Json candidates = lab::Json::array();
    for (const gemm::Candidate& candidate : reason.candidates) {
      const catalog::Prediction& cost = candidate.prediction;
      candidates.push_back({{"kernel", candidate.choice.kernel->name},
                            {"config", candidate.choice.variant},
                            {"entry", candidate.row->entry},
                            {"schedule", schedule_text(candidate, p, context)},
                            {"predicted_us",
                             {{"launch", cost.launch},
                              {"turn", cost.turn},
                              {"start", cost.start},
                              {"multiply", cost.multiply},
                              {"store", cost.store},
                              {"memory", cost.memory},
                              {"add", cost.add},
                              {"edges", cost.edges},
                              {"total", cost.total()}}}});
    }
    all.push_back({{"m", p.m},
                   {"n", p.n},
                   {"k", p.k},
                   {"layout", layout_of(p)},
                   {"candidates", std::move(candidates)}});
  }
  return {{"schema", "tessera.why/1"}, {"tag", "model"}, {"problems", std::move(all)}};
}

}  // namespace tessera::cli
