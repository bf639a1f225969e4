// What the cost model says of configs that a sweep has timed, with coefficients that come from
// stdin: fit_costs.py asks it again and again. The model is the library's own, so that what is
// fitted is what plans are made with.
//
// price_plans GPU FILE...   files of `tessera bench --suite drawn --sweep`, on such a GPU
//   First prints a line "NAME VALUE" for each coefficient and rate of the GPU's table, "rows", and
//   for each timed config: file, cell, kernel/variant, measured microseconds. Then obeys lines:
//   set NAME VALUE   of a coefficient ("wgmma.start") or a rate ("wgmma_bf16/128x256x64_s4_coop")
//   price            for each row microseconds, and 1 where the plan is the one that was timed
#include <fmt/format.h>

#include <deque>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gemm/plan/plan.h"
#include "lab/suite/draw.h"
#include "lab/suite/goals.h"
#include "lab/tune/tunable_table.h"

namespace tessera {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kWorkspace = std::int64_t{64} << 20;  // as the suite has

struct Row {
  std::string kernel, decision;
  std::int64_t workspace;
  double us = 0;
};

struct Cell {
  Problem problem;
  gemm::DeviceLimits limits;
  std::vector<Row> rows;
};

std::vector<Cell> cells_of(const std::string& path) {
  std::ifstream stream(path);
  const Json file = Json::parse(stream);
  const Json& environment = file.at("environment");
  const Json& device = environment.at("device");
  const Json& suite = environment.at("suite");
  const auto drawn =
      suite.at("name") == "goals"
          ? lab::goal_suite()
          : lab::draw_suite(suite.at("seed").get<std::uint64_t>(), suite.at("cells").get<int>());
  std::vector<Cell> cells;
  for (const Json& stored : file.at("cells")) {
    Cell& cell = cells.emplace_back();
    cell.problem = drawn.at(stored.at("cell").get<std::size_t>()).problem;
    cell.limits = {.sm = device.at("sm"),
                   .sms = device.at("multiprocessors"),
                   .l2_bytes = device.at("l2_bytes")};
    for (const Json& row : stored.at("configs")) {
      if (!row.at(4).is_array()) continue;
      cell.rows.push_back({row.at(0), row.at(1), row.at(2), 1000 * row.at(4).at(0).get<double>()});
      fmt::print("{} {} {} {}\n", path, stored.at("cell").get<int>(), cell.rows.back().kernel,
                 cell.rows.back().us);
    }
  }
  return cells;
}

// Older files do not say which operands a kernel on CUDA cores repacks.
std::string without_repacked(const std::string& decision) {
  const std::size_t begin = decision.find(" repacked");
  const std::size_t semicolon = begin == std::string::npos ? begin : decision.rfind("; ", begin);
  return decision.substr(0, semicolon) +
         (begin == std::string::npos ? "" : decision.substr(begin + std::strlen(" repacked")));
}

// As the sweep takes them: of offers of one name the cheapest.
void price(const Cell& cell, const gemm::CostTable& table) {
  gemm::DeviceLimits limits = cell.limits;
  limits.costs = &table;
  std::vector<gemm::Candidate> offers;
  try {
    offers = gemm::plan(cell.problem, {}, limits, {.workspace_limit = kWorkspace}).offers;
  } catch (const StatusError&) {  // without that much workspace
  }
  for (const Row& row : cell.rows) {
    const auto is_it = [&](const gemm::Candidate& offer) {
      return fmt::format("{}/{}", offer.kernel->name, offer.row->variant) == row.kernel;
    };
    const auto offer = std::find_if(offers.begin(), offers.end(), is_it);
    if (offer == offers.end()) {
      fmt::print("0 0\n");
      continue;
    }
    const bool same = without_repacked(offer->decision_text()) == without_repacked(row.decision) &&
                      offer->workspace_bytes() == row.workspace;
    fmt::print("{} {}\n", offer->cost.total(), same ? 1 : 0);
  }
}

int run(int argc, char** argv) {
  if (argc < 3) throw std::runtime_error("price_plans GPU FILE...");
  lab::TunableTable tunable(gemm::costs_for(argv[1]));
  for (const std::string& name : tunable.names()) fmt::print("{} {}\n", name, tunable.value(name));
  fmt::print("rows\n");
  std::vector<Cell> cells;
  for (int i = 2; i < argc; ++i) {
    for (Cell& cell : cells_of(argv[i])) cells.push_back(std::move(cell));
  }
  fmt::print("end\n");
  std::fflush(stdout);
  std::string word, name;
  double value = 0;
  while (std::cin >> word) {
    if (word == "set" && std::cin >> name >> value) {
      tunable.set(name, value);
    } else if (word == "price") {
      for (const Cell& cell : cells) price(cell, tunable.table());
      std::fflush(stdout);
    } else {
      throw std::runtime_error("not understood: " + word);
    }
  }
  return 0;
}

}  // namespace
}  // namespace tessera

int main(int argc, char** argv) {
  try {
    return tessera::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "price_plans: {}\n", error.what());
    return 1;
  }
}
