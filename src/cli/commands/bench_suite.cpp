#include "cli/commands/bench_suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/interrupt.h"
#include "base/numbers.h"
#include "base/progress.h"
#include "cli/command.h"
#include "cli/options/gpu_option.h"
#include "cli/options/session.h"
#include "cli/options/shapes.h"
#include "cli/terminal/fitted.h"
#include "lab/suite/goals.h"
#include "lab/suite/losses.h"
#include "lab/suite/suite_run.h"
#include "lab/tune/tunable_table.h"

namespace tessera::cli {
namespace {

constexpr int kUsualCells = 100;
constexpr const char* kOptions[] = {"--shapes",        "--seed",       "--cells",     "--minutes",
                                    "--sweep",         "--json",       "--both-ways", "--device",
                                    "--within",        "--vendor-lib", "--csv",       "--md",
                                    "--against-costs", "--fp32"};

void refuse_others(const Parser& parser) {
  for (const GivenOption& option : parser.given()) {
    const auto is = [&](const char* name) { return option.name == name; };
    if (std::ranges::any_of(kOptions, is)) continue;
    throw StatusError(Status::bad_argument(
        fmt::format("{} is given, but the drawn suite draws its problems and has its own protocol; "
                    "leave it out",
                    option.name)));
  }
}

// Measures the minutes that the user gave. over() is true after these, and after Ctrl-C.
class Clock {
 public:
  explicit Clock(const std::string& minutes) {
    if (minutes.empty()) return;
    const double given = parse_real("--minutes", minutes);
    if (!(given > 0)) {
      throw StatusError(
          Status::bad_argument(fmt::format("--minutes is '{}', but must be more than 0", minutes)));
    }
    end_ = Steady::now() + std::chrono::duration_cast<Steady::duration>(
                               std::chrono::duration<double, std::ratio<60>>(given));
  }
  bool over() const { return interrupted() || (end_ && Steady::now() >= *end_); }

 private:
  using Steady = std::chrono::steady_clock;
  std::optional<Steady::time_point> end_;
};

// The cell for the progress bar: "batch, f32, 120 x 64 x 64".
std::string words_of(const lab::DrawnCell& cell) {
  const Problem& p = cell.problem;
  return fmt::format("{}, {}, {} x {} x {}", lab::name_of(cell.kind), name_of(p.types), p.m, p.n,
                     p.k);
}

// Progress bars: one for the quick protocol, then one for the full protocol.
class Bars {
 public:
  void show(int done, int all, const lab::DrawnCell& next) {
    if (done == 0) bar_ = std::make_unique<Progress>(all);
    bar_->show(done, words_of(next));
  }

 private:
  std::unique_ptr<Progress> bar_;
};

// The mean ratio of the cells of a class, of a type, or of all cells.
struct Mean {
  double sum = 0, smallest = 1e300;
  int count = 0, slow = 0, very_slow = 0;

  void add(double ratio) {
    sum += std::log(ratio);
    smallest = std::min(smallest, ratio);
    ++count;
    slow += ratio < 0.95 ? 1 : 0;
    very_slow += ratio < 0.85 ? 1 : 0;
  }
};

Table table_of(const lab::SuiteFile& file) {
  std::map<std::string, Mean> means;
  for (const auto& [number, cell] : file.cells()) {
    const std::optional<double> ratio = lab::ratio_of(cell);
    if (!ratio) continue;
    const lab::Json& type = cell.at("problem").at("type");
    for (const std::string& group :
         {std::string("all"), "class " + cell.at("class").get<std::string>(),
          "stride " + cell.at("stride").get<std::string>(),
          "type " + (type.is_string() ? type.get<std::string>() : type.dump())}) {
      means[group].add(*ratio);
    }
  }
  Table table{{"cells of", "cells", "x vendor", "lowest", "below 0.95", "below 0.85"}, {}};
  for (const auto& [group, mean] : means) {
    table.rows.push_back({group, std::to_string(mean.count),
                          fmt::format("{:.3f}", std::exp(mean.sum / mean.count)),
                          fmt::format("{:.2f}", mean.smallest),
                          fmt::format("{:.1f} %", 100.0 * mean.slow / mean.count),
                          fmt::format("{:.1f} %", 100.0 * mean.very_slow / mean.count)});
  }
  return table;
}

int count_wrong(const lab::SuiteFile& file) {
  int wrong = 0;
  for (const auto& [number, cell] : file.cells()) {
    const std::string reason = cell.value("reason", "");
    wrong += reason.find("sampled entries") != std::string::npos ? 1 : 0;
  }
  return wrong;
}

std::string protocol_text(const SuiteArguments& given, double within) {
  if (!given.against_costs.empty()) {
    return fmt::format(
        "two tables of costs: where they plan otherwise, both plans in turn, five rounds of bursts "
        "of 10 ms, idle only above 100 us; the other table is that of {}",
        given.against_costs);
  }
  if (!given.fp32.empty()) {
    return fmt::format(
        "FP32 cells with m n k of 2^31 or more, planned in {} and in f32: where these are other "
        "plans both in turn, five rounds of bursts of 10 ms, idle only above 100 us",
        given.fp32);
  }
  if (given.sweep) {
    return fmt::format(
        "all configs that the model puts within {} of its choice, two rounds of "
        "four calls each, in turn",
        within);
  }
  return fmt::format(
      "quick: the vendor's candidate by three calls each, two rounds, idle only "
      "above 100 us; below {} again by the full protocol",
      lab::kTimedAgainBelow);
}

double within_of(const SuiteArguments& given) {
  if (given.within.empty()) return lab::kSweptWithin;
  const double within = parse_real("--within", given.within);
  if (given.sweep && within >= 1) return within;
  throw StatusError(Status::bad_argument(
      fmt::format("--within is '{}', but must be at least 1, and needs --sweep", given.within)));
}

// The table of costs to compare with; null if the user requested none. `here` is this GPU's name.
std::unique_ptr<lab::TunableTable> table_of(const SuiteArguments& given, const std::string& here) {
  if (given.against_costs.empty()) return nullptr;
  const bool is_file = given.against_costs.ends_with(".inc");
  const std::string name = is_file ? here : gpu_of(given.against_costs).match;
  if (given.sweep || !(is_file || gemm::has_costs(name))) {
    throw StatusError(Status::bad_argument(
        fmt::format("--against-costs is '{}', but must be a GPU with a table of costs (h200) or "
                    "the file of one (.inc), and not beside --sweep",
                    given.against_costs)));
  }
  auto table = std::make_unique<lab::TunableTable>(gemm::costs_for(name));
  if (is_file) table->read(given.against_costs, "--against-costs");
  return table;
}

// The compute type that --fp32 gives; none without the option.
std::optional<ComputeType> fp32_of(const SuiteArguments& given) {
  if (given.fp32.empty()) return std::nullopt;
  if (given.fp32 != facts_of(ComputeType::kF16x3).name) {
    throw StatusError(
        Status::bad_argument(fmt::format("--fp32 is '{}', but must be f16x3", given.fp32)));
  }
  if (!given.sweep && given.against_costs.empty()) return ComputeType::kF16x3;
  throw StatusError(
      Status::bad_argument("--fp32 is given with --sweep or --against-costs, but is a comparison "
                           "of its own; leave them out"));
}

// The cells of these types with at least 2^31 multiply-adds. WHY: in smaller cells every
// library computes in FP32.
std::vector<lab::DrawnCell> large_cells_of(const Types& types, std::vector<lab::DrawnCell> cells) {
  std::erase_if(cells, [&](const lab::DrawnCell& cell) {
    const Problem& p = cell.problem;
    return p.types != types || p.m * p.n * p.k < std::int64_t{1} << 31;
  });
  return cells;
}

std::vector<lab::DrawnCell> all_cells_of(const std::string& suite, const SuiteArguments& given,
                                         std::uint64_t seed) {
  if (suite == kDrawnSuite) {
    return lab::draw_suite(seed, given.cells.empty() ? kUsualCells
                                                     : static_cast<int>(parse_integer(
                                                           "--cells", given.cells, 1, 100000)));
  }
  if (given.cells.empty()) return suite == kGoalSuite ? lab::goal_suite() : lab::loss_suite();
  throw StatusError(Status::bad_argument(fmt::format(
      "--cells is '{}', but the suite {} has its own; leave it out", given.cells, suite)));
}

std::vector<lab::DrawnCell> cells_of(const std::string& suite, const SuiteArguments& given,
                                     std::uint64_t seed) {
  std::vector<lab::DrawnCell> cells = all_cells_of(suite, given, seed);
  return given.fp32.empty() ? cells : large_cells_of(kF32Types, std::move(cells));
}

// The schema of the result file, by kind of comparison.
std::string_view schema_of(const SuiteArguments& given) {
  if (!given.fp32.empty()) return lab::kTwoTypesSchema;
  if (!given.against_costs.empty()) return lab::kTwoTablesSchema;
  return given.sweep ? lab::kSweepSchema : lab::kSuiteSchema;
}

}  // namespace

bool is_timed_suite(const std::string& name) {
  return name == kDrawnSuite || name == kGoalSuite || name == kLossSuite;
}

void add_suite_options(Parser& parser, SuiteArguments& arguments) {
  parser.get_option("--shapes")
      .description(fmt::format(
          "file with a line 'm n k' for each shape, or a suite: {}, or {}: problems that "
          "--seed draws, or {}: what docs/performance.md states goals for, or {}: what lost most "
          "in the first measurements of such problems",
          names_of_suites(), kDrawnSuite, kGoalSuite, kLossSuite));
  parser
      .add_option("--cells", arguments.cells,
                  "with --suite drawn: how many problems are drawn (default 100)")
      .type_name("N");
  parser
      .add_option("--minutes", arguments.minutes,
                  "with --suite drawn: ends after so long; the same command continues where its "
                  "--json file ends")
      .type_name("M");
  parser
      .add_option("--both-ways", arguments.both_ways,
                  "with --suite drawn: the first N cells by the full protocol, too")
      .type_name("N");
  parser.add_flag("--sweep", arguments.sweep,
                  "with --suite drawn: instead of the suite, every config that the model puts "
                  "near its choice");
  parser
      .add_option("--within", arguments.within,
                  "with --sweep: how near, as a factor of the predicted time (default 1.5)")
      .type_name("X");
  parser
      .add_option(
          "--against-costs", arguments.against_costs,
          "with --suite drawn, goals or losses: instead of it, our plan in turn with the "
          "plan by the table of costs of another GPU or of a file, where it is another plan")
      .type_name("TABLE");
  parser
      .add_option("--fp32", arguments.fp32,
                  "with --suite drawn, goals or losses: instead of it, large FP32 problems "
                  "planned in this compute type (f16x3), in turn with our plan for FP32")
      .type_name("TYPE");
}

void require_drawn_suite(const SuiteArguments& arguments) {
  const auto refuse = [](const std::string& what) {
    throw StatusError(Status::bad_argument(what + ", but needs --suite drawn; add it"));
  };
  for (const auto& [name, text] : {std::pair<const char*, std::string>{"--cells", arguments.cells},
                                   {"--minutes", arguments.minutes},
                                   {"--both-ways", arguments.both_ways},
                                   {"--within", arguments.within},
                                   {"--against-costs", arguments.against_costs},
                                   {"--fp32", arguments.fp32}}) {
    if (!text.empty()) refuse(fmt::format("{} is '{}'", name, text));
  }
  if (arguments.sweep) refuse("--sweep is given");
}

int bench_suite(const SuiteRequest& request, const Parser& parser) {
  refuse_others(parser);
  const SuiteArguments& given = request.suite;
  const std::uint64_t seed = parse_seed(request.seed);
  const std::vector<lab::DrawnCell> cells = cells_of(request.name, given, seed);
  const int count = static_cast<int>(cells.size());
  // WHY before a device is opened: wrong arguments are refused even on a machine without a GPU.
  auto other = table_of(given, "");
  const std::optional<ComputeType> fp32 = fp32_of(given);
  const int both_ways =
      given.both_ways.empty()
          ? 0
          : static_cast<int>(parse_integer("--both-ways", given.both_ways, 0, count));
  const double within = within_of(given);
  const Clock clock(given.minutes);
  if (given.sweep && !(request.output.csv.empty() && request.output.markdown.empty())) {
    throw StatusError(Status::bad_argument(
        "--sweep is given, but writes a file by --json alone; leave --csv and --md out"));
  }
  Devices devices = open_devices(request.device);
  if (!devices.is_cuda()) {
    throw StatusError(Status::unavailable(
        fmt::format("--suite is '{}', which is timed, but there is no GPU here: ", request.name) +
        (devices.note.empty() ? std::string("the virtual one has no clock") : devices.note)));
  }
  other = table_of(given, devices.device->info().name);
  const Baseline baseline = load_baseline(request.device, devices);
  lab::SuiteFile file(request.output.json, environment_of(devices, baseline, seed),
                      {std::string(schema_of(given)), request.name, seed, count,
                       protocol_text(given, within), "--json"});
  lab::DeviceTimer timer(*devices.device);
  lab::CellBench bench(*devices.device, timer, other || fp32 ? nullptr : baseline.vendor.get(),
                       {.seed = seed, .stop = [&] { return clock.over(); }});
  {
    Bars bars;
    lab::SuiteRun run(
        bench, cells, file,
        {.both_ways = both_ways,
         .over = [&] { return clock.over(); },
         .progress = [&](int done, int all,
                         const lab::DrawnCell& next) { bars.show(done, all, next); }});
    if (other) {
      run.compare(other->table());
    } else if (fp32) {
      run.compare(*fp32);
    } else {
      given.sweep ? run.sweep(within) : run.time();
    }
  }
  file.write();
  Output tables = request.output;
  tables.json.clear();
  tables.write({}, table_of(file));
  if (request.output.prints_text()) {
    fmt::print("{} of {} cells, seed {}\n\n", file.size(), count, seed);
    if (schema_of(given) == lab::kSuiteSchema) fmt::print("{}", fitted(table_of(file), {}));
  }
  if (count_wrong(file) > 0) return kCheckFailed;
  return interrupted() ? kInterrupted : kOk;
}

}  // namespace tessera::cli
