// The file of a drawn suite: {schema, environment, cells}, with one line per cell, so that an
// interrupted run continues where it ended. It has medians and ranges only: at most a kilobyte per
// cell.
#pragma once

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "lab/json/json.h"
#include "lab/record/record.h"
#include "lab/suite/cell_bench.h"

namespace tessera::lab {

inline constexpr std::string_view kSuiteSchema = "tessera.suite/1";
inline constexpr std::string_view kSweepSchema = "tessera.sweep/1";
inline constexpr std::string_view kTwoTablesSchema = "tessera.two_tables/1";
inline constexpr std::string_view kTwoTypesSchema = "tessera.two_types/1";

// The columns for each config of a swept cell. If a config has no times, a reason is in their
// place.
inline constexpr std::string_view kSweptColumns =
    "kernel, decision, workspace bytes, expected us [launch, repack, start, multiply, store, "
    "memory, add, remainder, finish], ms [median, p5, p95]";

// The fields in which two runs must agree to be one measurement.
struct SuiteName {
  std::string schema;
  std::string name;  // "drawn"
  std::uint64_t seed = 1;
  int cells = 0;
  std::string protocol;  // one sentence
  std::string argument;  // the argument that names the file, for messages
};

Json to_json(const DrawnCell& cell);
// The top level has the figures that count: those of the full protocol if it has timed the cell,
// with the quick protocol's under "quick"; else those of the quick protocol.
Json to_json(const DrawnCell& cell, const CellResult& result, const std::string& protocol);
void set_full(Json& cell, const CellResult& result);
Json to_json(const DrawnCell& cell, const SweptCell& swept);
// Includes the speed of `found.own` relative to `found.other`, if the two plans differ.
Json to_json(const DrawnCell& cell, const TwoPlans& found);

// Returns the cell's "ratio_to_vendor"; nullopt if there is none.
std::optional<double> ratio_of(const Json& cell);
bool is_full(const Json& cell);

class SuiteFile {
 public:
  // Reads the cells that `path` already holds, if the file exists. Throws a kBadArgument that names
  // the argument if the file is no suite, or if its seed, number of cells, commit or GPU differs
  // from this run's. An empty path means no file.
  SuiteFile(std::string path, const Environment& environment, const SuiteName& name);

  const Json* find(int number) const;
  void set(int number, Json cell);
  // Writes the file, if the last write was at least a few seconds ago.
  void keep();
  void write() const;
  Json json() const;
  std::size_t size() const { return cells_.size(); }
  const std::map<int, Json>& cells() const { return cells_; }

 private:
  void resume(const SuiteName& name);
  std::string text() const;

  [[noreturn]] void refuse(const std::string& why) const;

  const std::string path_, argument_, schema_;
  Json environment_;
  std::map<int, Json> cells_;
  std::chrono::steady_clock::time_point written_{};
};

}  // namespace tessera::lab
