#include "cli/commands/why.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "gemm/plan/tuned.h"
#include "lab/data/batch_memory.h"
#include "lab/record/record.h"

namespace tessera::cli {
namespace {

double tflops_of(const Problem& p, double microseconds) {
  return microseconds > 0 ? lab::flop_of(p) / microseconds * 1e-6 : 0;
}

std::string short_number(double microseconds) {
  return microseconds == 0 ? "-" : fmt::format("{:.1f}", microseconds);
}

}  // namespace

Table why_table(const std::vector<gemm::Plan>& plans) {
  Table table{{"m", "n", "k", "layout", "taken", "entry", "schedule", "launch", "repack", "start",
               "multiply", "store", "memory", "add", "remainder", "finish", "us", "TFLOP/s"},
              {}};
  for (const gemm::Plan& plan : plans) {
    const Problem& p = plan.problem;
    for (const gemm::Candidate& offer : plan.offers) {
      const gemm::Cost& cost = offer.cost;
      const bool taken = &offer == &plan.offers.front();
      table.rows.push_back(
          {std::to_string(p.m), std::to_string(p.n), std::to_string(p.k), layout_of(p),
           taken ? "yes" : "", offer.row->entry,
           offer.decision_text() + (offer.is_for_each() ? ", for each product" : ""),
           short_number(cost.launch), short_number(cost.repack), short_number(cost.start),
           short_number(cost.multiply), short_number(cost.store), short_number(cost.memory),
           short_number(cost.add), short_number(cost.remainder), short_number(cost.finish),
           short_number(cost.total()), fmt::format("{:.1f}", tflops_of(p, cost.total()))});
    }
  }
  return table;
}

std::vector<std::string> tuned_lines(const std::vector<gemm::Plan>& plans) {
  std::vector<std::string> lines;
  for (const gemm::Plan& plan : plans) {
    const std::string text = gemm::tuned_text(plan);
    const Problem& p = plan.problem;
    if (text.empty()) continue;
    lines.push_back(fmt::format("{} x {} x {} {}: {}", p.m, p.n, p.k, layout_of(p), text));
  }
  return lines;
}

namespace {

lab::Json decision_json(const gemm::Decision& d) {
  lab::Json pieces = lab::Json::array();
  for (const gemm::Piece& piece : d.pieces()) {
    pieces.push_back({{"config", piece.variant},
                      {"rows", {piece.m_begin, piece.m_begin + piece.m}},
                      {"columns", {piece.n_begin, piece.n_begin + piece.n}},
                      {"tiles", piece.tiles},
                      {"whole_tiles", piece.whole_tiles},
                      {"runs", piece.runs}});
  }
  return {{"for_each", d.is_for_each},  {"exchanged", d.is_exchanged},
          {"repack_a", d.repack.a},     {"repack_b", d.repack.b},
          {"is_cut", d.is_cut},         {"parts", d.parts},
          {"warps", d.warps},           {"lanes", d.lanes},
          {"pieces", std::move(pieces)}};
}

lab::Json offer_json(const gemm::Candidate& offer) {
  const gemm::Cost& cost = offer.cost;
  return {{"kernel", offer.kernel->name},
          {"config", offer.row->variant},
          {"plan", offer.name()},
          {"decision", decision_json(offer.decision)},
          {"entry", offer.row->entry},
          {"schedule", offer.decision_text() + (offer.is_for_each() ? ", for each product" : "")},
          {"workspace_bytes", offer.workspace_bytes()},
          {"predicted_us",
           {{"launch", cost.launch},
            {"repack", cost.repack},
            {"start", cost.start},
            {"multiply", cost.multiply},
            {"store", cost.store},
            {"memory", cost.memory},
            {"add", cost.add},
            {"remainder", cost.remainder},
            {"finish", cost.finish},
            {"total", cost.total()}}}};
}

}  // namespace

lab::Json why_json(const std::vector<gemm::Plan>& plans) {
  lab::Json all = lab::Json::array();
  for (const gemm::Plan& plan : plans) {
    lab::Json candidates = lab::Json::array();
    for (const gemm::Candidate& offer : plan.offers) candidates.push_back(offer_json(offer));
    all.push_back({{"m", plan.problem.m},
                   {"n", plan.problem.n},
                   {"k", plan.problem.k},
                   {"layout", layout_of(plan.problem)},
                   {"tuned", gemm::tuned_text(plan)},
                   {"candidates", std::move(candidates)}});
  }
  return {{"schema", "tessera.why/1"}, {"tag", "model"}, {"problems", std::move(all)}};
}

}  // namespace tessera::cli
