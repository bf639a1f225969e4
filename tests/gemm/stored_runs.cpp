#include "tests/gemm/stored_runs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "base/renamed.h"
#include "lab/json/json_number.h"
#include "lab/record/record.h"

namespace tessera {
namespace {

using lab::Json;

Problem problem_of(const Json& stored) {
  Problem p{.m = stored.at("m"), .n = stored.at("n"), .k = stored.at("k")};
  p.types = lab::types_of(stored.at("type"));
  p.order = parse_order(stored.at("order").get<std::string>());
  set_layout(p, stored.at("layout").get<std::string>());
  p.lda = stored.at("lda"), p.ldb = stored.at("ldb");
  p.ldc = stored.at("ldc"), p.ldd = stored.at("ldd");
  p.alpha = lab::number_of(stored.at("alpha")), p.beta = lab::number_of(stored.at("beta"));
  if (stored.contains("batch")) {
    const Json& batch = stored.at("batch");
    p.batch = {BatchKind::kStrided,  batch.at("count"),    batch.at("stride_a"),
               batch.at("stride_b"), batch.at("stride_c"), batch.at("stride_d")};
  }
  if (stored.contains("epilogue")) {
    p.epilogue = parse_epilogue(stored.at("epilogue").get<std::string>());
  }
  return p;
}

// Whether a run used the code of its own commit and a kernel that the library still has.
bool is_wanted(const Json& run) {
  if (run.value("build", "this") != "this" || !run.contains("time_ms")) return false;
  if (run.at("time_ms").is_null() || run.at("mode") != "burst") return false;
  if (run.value("fill", Json()) == "spread") return false;  // plans do not depend on data
  for (const Kernel& kernel : all_kernels()) {
    if (kernel.name != run.at("kernel").get<std::string>()) continue;
    return kernel.source.starts_with("kernels/") &&
           std::any_of(kernel.rows.begin(), kernel.rows.end(), [&](const KernelRow& row) {
             return row.variant == run.at("config").get<std::string>();
           });
  }
  return false;
}

// Older builds called the option --cut.
gemm::Policy split_of(const Json& command) {
  const std::string words = command.is_string() ? command.get<std::string>() : "";
  return std::regex_search(words, std::regex("--(split|cut) never")) ? gemm::Policy::kNever
                                                                     : gemm::Policy::kModel;
}

void add_runs(const std::filesystem::path& path, std::vector<StoredRun>& runs) {
  std::ifstream stream(path);
  const Json file = Json::parse(read_with_current_names(stream), nullptr, false);
  if (!file.is_object() || file.value("schema", "") != lab::kSchema) return;
  for (const Json& run : file.at("runs")) {
    if (!is_wanted(run)) continue;
    const Json& device = file.at("environment").at("device");
    StoredRun found{.file = path.string(), .kernel = run.at("kernel"), .variant = run.at("config")};
    found.problem = problem_of(run.at("problem"));
    const Json limit = run.value("workspace_limit", Json());
    if (!limit.is_null()) found.workspace_limit = limit.get<std::int64_t>();
    const std::string packed = run.value("packed", Json()).is_string() ? run.at("packed") : "";
    found.packed = {packed.starts_with("a"), packed.ends_with("b")};
    found.split = split_of(run.value("command", Json()));
    found.device = {device.at("sm"), device.at("multiprocessors"), device.at("l2_bytes"),
                    &gemm::costs_for(device.at("name").get<std::string>())};
    found.microseconds = 1000 * run.at("time_ms").at("median").get<double>();
    runs.push_back(found);
  }
}

}  // namespace

std::vector<StoredRun> stored_runs(const std::string& name) {
  const std::string whole = "results/" + name;
  const std::regex pattern(std::regex_replace(std::regex_replace(whole, std::regex("[.]"), "[.]"),
                                              std::regex("[*]"), ".*"));
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("results")) {
    if (std::regex_match(entry.path().string(), pattern)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<StoredRun> runs;
  for (const std::filesystem::path& file : files) add_runs(file, runs);
  EXPECT_FALSE(runs.empty()) << whole;
  return runs;
}

std::string problem_text_of(const StoredRun& run) {
  const Problem& p = run.problem;
  const std::string batch = p.batch.count > 1 ? fmt::format("{} of ", p.batch.count) : "";
  const std::string epilogue =
      p.epilogue.is_identity() ? "" : fmt::format(" {}", name_of(p.epilogue));
  const std::string limit =
      run.workspace_limit ? fmt::format(" within {} MiB", *run.workspace_limit >> 20) : "";
  const std::string packed = run.packed.any() ? " with packed " + run.packed.text() : "";
  return fmt::format("{}{}x{}x{} {} {}{}{}{}{}", batch, p.m, p.n, p.k, name_of(p.types),
                     layout_of(p), p.beta != 0 ? " + C" : "", epilogue, packed, limit);
}

std::string text_of(const StoredRun& run) {
  return fmt::format("{} by {}/{} ({})", problem_text_of(run), run.kernel, run.variant, run.file);
}

}  // namespace tessera
