#include "lab/record/measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/renamed.h"
#include "lab/data/fill.h"
#include "lab/json/json_number.h"

namespace tessera::lab {
namespace {

namespace fs = std::filesystem;

Json read_json(const fs::path& path) {
  std::ifstream stream(path);
  const Json object = Json::parse(read_with_current_names(stream), nullptr, false);
  if (!object.is_discarded()) return object;
  throw StatusError(Status::bad_argument(
      fmt::format("results file '{}' must be JSON, but is not", path.filename().string())));
}

Measured row_of(const Json& run, const std::string& file) {
  const Json& problem = run.at("problem");
  Measured row;
  row.file = file;
  row.device = run.at("device");
  row.kernel = run.at("kernel");
  row.config = run.at("config");
  row.type = name_of(types_of(problem.at("type")));
  row.layout = problem.at("layout");
  row.order = problem.at("order");
  row.mode = run.at("mode");
  row.m = problem.at("m");
  row.n = problem.at("n");
  row.k = problem.at("k");
  row.alpha = number_of(problem.at("alpha"));
  row.beta = number_of(problem.at("beta"));
  row.ms = run.at("time_ms").at("median");
  row.tflops = run.at("tflops");
  const Json& ratio = run.at("ratio_to_vendor");
  row.ratio_to_vendor = ratio.is_null() ? 0 : ratio.get<double>();
  return row;
}

// Whether the row is a usual run: this build's code, unlimited workspace, operands that are not
// packed, and usual data. Old files have fewer fields.
bool is_own_figure(const Json& run) {
  const auto is_given = [&](const char* key) {
    return run.contains(key) && !run.at(key).is_null();
  };
  return run.value("build", "this") == "this" && !is_given("workspace_limit") &&
         !is_given("packed") && !(is_given("fill") && run.at("fill") == name_of(Fill::kSpread));
}

void add_timed(const Json& object, const std::string& file, std::vector<Measured>& rows) {
  for (const Json& run : object.at("runs")) {
    const bool is_timed = run.contains("tflops") && !run.at("tflops").is_null();
    if (is_timed && is_own_figure(run)) rows.push_back(row_of(run, file));
  }
}

}  // namespace

std::vector<Measured> measured_in(const std::string& path, const std::string& option) {
  std::ifstream stream(path);
  const Json object = Json::parse(read_with_current_names(stream), nullptr, false);
  std::vector<Measured> rows;
  try {
    if (object.at("schema") != kSchema) throw std::invalid_argument("another schema");
    add_timed(object, path, rows);
  } catch (const std::exception&) {  // no object, or not with these keys
    throw StatusError(Status::bad_argument(
        fmt::format("{} is '{}', but must be a file that bench --json wrote", option, path)));
  }
  return rows;
}

std::vector<Measured> measured_runs(const std::string& root) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(root) / "results", error)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<Measured> rows;
  for (const fs::path& path : files) {
    const Json object = read_json(path);
    if (!object.is_object() || object.value("schema", "") != kSchema) continue;
    add_timed(object, fs::relative(path, root).string(), rows);
  }
  return rows;
}

}  // namespace tessera::lab
