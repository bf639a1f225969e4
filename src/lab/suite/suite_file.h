// The file of a drawn suite: {schema, environment, cells}, one line per cell, so that an
// interrupted run continues where it ended. Medians and ranges only: at most a kilobyte per cell.
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

// The columns for each config of a swept cell; if it has no times, their place holds a reason.
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
// The figures that count are at the top: those of the full protocol, where there is one, with the
// quick ones under "quick".
Json to_json(const DrawnCell& cell, const CellResult& result, const std::string& protocol);
void set_full(Json& cell, const CellResult& result);
Json to_json(const DrawnCell& cell, const SweptCell& swept);
// Speed of the plan over that of the other plan, where these are two.
Json to_json(const DrawnCell& cell, const TwoPlans& found);

// The ratio in a cell's JSON; nullopt if there is none.
std::optional<double> ratio_of(const Json& cell);
bool is_full(const Json& cell);

class SuiteFile {
 public:
  // Reads what `path` holds already, if it is there. Throws kBadArgument, naming the argument, for
  // a file that is no suite, or of another seed, number of cells, commit or GPU. An empty path: no
  // file.
  SuiteFile(std::string path, const Environment& environment, const SuiteName& name);

  const Json* find(int number) const;
  void set(int number, Json cell);
  // The file, if the last write was a few seconds ago.
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
