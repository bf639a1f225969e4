#include "lab/suite/suite_file.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

namespace tessera::lab {
namespace {

constexpr std::chrono::seconds kBetweenWrites{3};

// Returns the value with five significant digits; measurements of a cell scatter by more than that.
double shortened(double value) {
  return std::strtod(fmt::format("{:.5g}", value).c_str(), nullptr);
}

Json to_json(const Summary& s) {
  return {{"median", shortened(s.median)},
          {"p5", shortened(s.p5)},
          {"p95", shortened(s.p95)},
          {"n", s.n}};
}

// Adds the figures of one protocol.
void add_times(Json& json, const CellResult& result) {
  const CellTime& t = result.time;
  json["time_ms"] = to_json(t.ours);
  if (t.vendor) {
    json["vendor"] = {{"name", t.vendor_name}, {"time_ms", to_json(*t.vendor)}};
    json["ratio_to_vendor"] = shortened(*t.ratio());
  }
  if (!t.without_limit) return;
  json["without_limit"] = {{"kernel", result.kernel_without_limit},
                           {"workspace_bytes", result.workspace_without_limit},
                           {"time_ms", to_json(*t.without_limit)}};
  if (t.vendor) {
    json["without_limit"]["ratio_to_vendor"] =
        shortened(t.vendor->median / t.without_limit->median);
  }
}

constexpr const char* kTimes[] = {"time_ms", "vendor", "ratio_to_vendor", "without_limit"};

// Returns the value with four significant digits, and zero as a bare 0: a sweep has thousands of
// numbers.
Json brief(double value) {
  const double rounded = std::strtod(fmt::format("{:.4g}", value).c_str(), nullptr);
  return rounded == 0 ? Json(0) : Json(rounded);
}

Json brief(std::initializer_list<double> values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(brief(value));
  return list;
}

// Writes the fields that kSweptColumns lists.
Json to_json(const SweptConfig& config) {
  const gemm::Cost& c = config.expected;
  Json row = {config.kernel, config.decision, config.workspace_bytes,
              brief({c.launch, c.repack, c.start, c.multiply, c.store, c.memory, c.add, c.remainder,
                     c.finish})};
  const Summary& ms = config.ms;
  row.push_back(config.reason.empty() ? brief({ms.median, ms.p5, ms.p95}) : Json(config.reason));
  return row;
}

}  // namespace

Json to_json(const DrawnCell& cell) {
  Json json = {
      {"cell", cell.number}, {"class", name_of(cell.kind)}, {"stride", name_of(cell.stride)}};
  if (!cell.from.empty()) json["from"] = cell.from;
  if (cell.tokens > 0) json["tokens"] = cell.tokens;
  if (cell.in_place) json["in_place"] = true;
  json["problem"] = to_json(cell.problem);
  return json;
}

Json to_json(const DrawnCell& cell, const CellResult& result, const std::string& protocol) {
  Json json = to_json(cell);
  if (!result.kernel.empty()) {
    json["kernel"] = result.kernel;
    json["workspace_bytes"] = result.workspace_bytes;
    json["predicted_us"] = shortened(result.predicted_us);
  }
  if (!result.reason.empty()) {
    json["reason"] = result.reason;
    return json;
  }
  json["verified"] = "sampled";
  json["max_error_ratio"] = shortened(result.max_error_ratio);
  json["protocol"] = protocol;
  add_times(json, result);
  return json;
}

void set_full(Json& cell, const CellResult& result) {
  if (!result.reason.empty()) {
    cell["reason"] = result.reason;
    return;
  }
  Json quick = Json::object();
  for (const char* const key : kTimes) {
    if (!cell.contains(key)) continue;
    quick[key] = cell[key];
    cell.erase(key);
  }
  cell["protocol"] = "full";
  add_times(cell, result);
  // WHY quick figures are kept: next to the full ones, they show how good the quick protocol is.
  Json kept = {{"time_ms", quick["time_ms"]["median"]}};
  if (quick.contains("vendor")) {
    kept["vendor_ms"] = quick["vendor"]["time_ms"]["median"];
    kept["ratio_to_vendor"] = quick["ratio_to_vendor"];
  }
  cell["quick"] = kept;
}

Json to_json(const DrawnCell& cell, const SweptCell& swept) {
  Json json = to_json(cell);
  if (!swept.reason.empty()) json["reason"] = swept.reason;
  if (swept.vendor) {
    json["vendor"] = {{"name", swept.vendor_name},
                      {"ms", brief({swept.vendor->median, swept.vendor->p5, swept.vendor->p95})}};
  }
  json["configs"] = Json::array();
  for (const SweptConfig& config : swept.configs) json["configs"].push_back(to_json(config));
  return json;
}

Json to_json(const DrawnCell& cell, const TwoPlans& found) {
  Json json = to_json(cell);
  if (!found.reason.empty()) {
    json["reason"] = found.reason;
    return json;
  }
  const auto plan = [](const TwoPlans::Planned& one) {
    Json list = {one.kernel, one.decision, one.workspace_bytes};
    if (one.ms.n > 0) list.push_back(brief({one.ms.median, one.ms.p5, one.ms.p95}));
    return list;
  };
  json["plan"] = plan(found.own);
  if (!found.other) return json;
  json["other"] = plan(*found.other);
  json["ratio_to_other"] = shortened(found.other->ms.median / found.own.ms.median);
  return json;
}

std::optional<double> ratio_of(const Json& cell) {
  if (!cell.contains("ratio_to_vendor")) return std::nullopt;
  return cell["ratio_to_vendor"].get<double>();
}

bool is_full(const Json& cell) { return cell.value("protocol", "") == "full"; }

SuiteFile::SuiteFile(std::string path, const Environment& environment, const SuiteName& name)
    : path_(std::move(path)),
      argument_(name.argument),
      schema_(name.schema),
      environment_(to_json(environment)) {
  environment_["suite"] = {
      {"name", name.name}, {"seed", name.seed}, {"cells", name.cells}, {"protocol", name.protocol}};
  resume(name);
}

void SuiteFile::refuse(const std::string& why) const {
  throw StatusError(Status::bad_argument(
      fmt::format("{} is '{}', but {}; give another file", argument_, path_, why)));
}

void SuiteFile::resume(const SuiteName& name) {
  if (path_.empty() || path_ == "-") return;
  std::ifstream file(path_);
  if (!file) return;
  std::ostringstream bytes;
  bytes << file.rdbuf();
  const Json old = Json::parse(bytes.str(), nullptr, false);
  if (old.is_discarded() || !old.is_object() || old.value("schema", "") != name.schema) {
    refuse("it is there and holds no cells of such a suite");
  }
  const Json& before = old.at("environment");
  const Json& suite = before.at("suite");
  if (suite.at("name") != name.name) {
    refuse(fmt::format("it holds cells of the suite {}", suite.at("name").dump()));
  }
  if (suite.at("seed") != name.seed || suite.at("cells") != name.cells) {
    refuse(fmt::format("it holds {} cells of seed {}", suite.at("cells").dump(),
                       suite.at("seed").dump()));
  }
  const std::string was = before.at("device").at("name").get<std::string>();
  const std::string is = environment_.at("device").at("name").get<std::string>();
  if (was != is) refuse(fmt::format("it was measured on {}, and this is {}", was, is));
  if (before.at("commit") != environment_.at("commit")) {
    refuse(fmt::format("it was measured with commit {}", before.at("commit").get<std::string>()));
  }
  environment_ = before;
  for (const Json& cell : old.at("cells")) cells_[cell.at("cell").get<int>()] = cell;
}

const Json* SuiteFile::find(int number) const {
  const auto found = cells_.find(number);
  return found == cells_.end() ? nullptr : &found->second;
}

void SuiteFile::set(int number, Json cell) { cells_[number] = std::move(cell); }

void SuiteFile::keep() {
  if (path_ == "-") return;  // stdout is written once
  const auto now = std::chrono::steady_clock::now();
  if (now - written_ < kBetweenWrites) return;
  write();
  written_ = now;
}

Json SuiteFile::json() const {
  Json cells = Json::array();
  for (const auto& [number, cell] : cells_) cells.push_back(cell);
  return {{"schema", schema_}, {"environment", environment_}, {"cells", cells}};
}

// Returns the file's text, with one line for each cell.
std::string SuiteFile::text() const {
  std::string out = fmt::format("{{\"schema\": {},\n\"environment\": {},\n\"cells\": [",
                                Json(schema_).dump(), environment_.dump());
  const char* between = "\n";
  for (const auto& [number, cell] : cells_) {
    out += between + cell.dump();
    between = ",\n";
  }
  return out + "\n]}\n";
}

void SuiteFile::write() const {
  if (!path_.empty()) write_file(path_, text(), argument_);
}

}  // namespace tessera::lab
