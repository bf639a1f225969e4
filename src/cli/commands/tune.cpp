// tessera tune: measures the library's possible plans for a user's calls on this GPU, and stores
// the fastest plans in an overlay. Later processes read the overlay before they use the cost model.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "base/interrupt.h"
#include "base/numbers.h"
#include "base/progress.h"
#include "cli/command.h"
#include "cli/options/parser.h"
#include "cli/options/session.h"
#include "cli/terminal/fitted.h"
#include "cli/terminal/output.h"
#include "gemm/overlay/overlay_file.h"
#include "lab/tune/tuner.h"

namespace tessera::cli {
namespace {

struct TuneArguments {
  ProblemOptions problem;
  DeviceOptions device;
  Output output;
  std::string from, forget, seed, within, workspace_limit;
  bool list = false;
};

// The words before the text of a call, in a line of the library's log.
constexpr std::string_view kCall = "; call ";

// The calls in a log of the library, each once. Lines without a call are skipped.
std::vector<gemm::CallToPlan> calls_of_log(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    throw StatusError(
        Status::bad_argument(fmt::format("--from is '{}', but must be a file to read", path)));
  }
  std::vector<gemm::CallToPlan> calls;
  std::set<std::string> keys;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    const std::size_t place = line.rfind(kCall);
    if (place == std::string::npos) continue;
    try {
      calls.push_back(gemm::call_of(line.substr(place + kCall.size())));
    } catch (const StatusError& error) {
      throw StatusError(Status::bad_argument(fmt::format(
          "--from is '{}', but line {} must hold a call: {}", path, number, error.what())));
    }
    if (!keys.insert(gemm::key_of(calls.back())).second) calls.pop_back();
  }
  if (!calls.empty()) return calls;
  throw StatusError(Status::bad_argument(fmt::format(
      "--from is '{}', but has no line with '{}'; tessera_set_log() writes them", path, kCall)));
}

std::vector<gemm::CallToPlan> calls_of(const TuneArguments& given) {
  if (!given.from.empty()) {
    if (given.problem.gives_shapes() || !given.workspace_limit.empty()) {
      throw StatusError(Status::bad_argument(
          fmt::format("--from is '{}', but cannot be combined with shapes or --workspace-limit, "
                      "which its calls have; leave either out",
                      given.from)));
    }
    return calls_of_log(given.from);
  }
  if (!given.problem.gives_shapes()) {
    throw StatusError(
        Status::bad_argument("-m is '', but tune needs shapes: give -m, --shapes FILE or --from "
                             "LOG"));
  }
  const std::int64_t limit = given.workspace_limit.empty()
                                 ? gemm::kAnyWorkspace
                                 : parse_integer("--workspace-limit", given.workspace_limit);
  std::vector<gemm::CallToPlan> calls;
  for (const Problem& problem :
       problems_of(given.problem, types_for_best(given.problem), kGpuShape)) {
    calls.push_back({problem, {}, limit});
  }
  return calls;
}

std::string gain(const gemm::OverlayEntry& entry) {
  return fmt::format("{:.3f}", entry.by_model_us / entry.us);
}

// A table of the measurements, with one row per call.
Table table_of(const std::vector<lab::TunedCall>& calls) {
  Table table{{"call", "plan", "us", "x model's choice", "plans timed", "reason"}, {}};
  for (const lab::TunedCall& call : calls) {
    if (!call.reason.empty()) {
      table.rows.push_back({call.key, "", "", "", "", call.reason});
      continue;
    }
    const gemm::OverlayEntry entry = call.entry();
    const auto timed = std::ranges::count_if(
        call.plans, [](const lab::MeasuredPlan& plan) { return plan.ms.n > 0; });
    table.rows.push_back({call.key, entry.plan, fmt::format("{:.2f}", entry.us), gain(entry),
                          std::to_string(timed), ""});
  }
  return table;
}

lab::Json to_json(const gemm::OverlayOrigin& here, const std::string& path,
                  const std::vector<lab::TunedCall>& calls) {
  lab::Json list = lab::Json::array();
  for (const lab::TunedCall& call : calls) {
    lab::Json plans = lab::Json::array();
    for (const lab::MeasuredPlan& plan : call.plans) {
      lab::Json row = {{"plan", plan.plan},
                       {"decision", plan.decision},
                       {"expected_us", plan.expected_us},
                       {"reason", plan.reason}};
      if (plan.ms.n > 0) {
        row["time_ms"] = {
            {"median", plan.ms.median}, {"p5", plan.ms.p5}, {"p95", plan.ms.p95}, {"n", plan.ms.n}};
      }
      plans.push_back(std::move(row));
    }
    lab::Json one = {{"call", call.key}, {"reason", call.reason}, {"plans", std::move(plans)}};
    if (call.reason.empty()) one["taken"] = call.entry().plan;
    list.push_back(std::move(one));
  }
  return {{"schema", "tessera.tune/1"}, {"gpu", here.gpu}, {"driver", here.driver},
          {"library", here.library},    {"overlay", path}, {"calls", std::move(list)}};
}

const Fit kTuneFit{{"plan", "us", "x model's choice", "call", "plans timed", "reason"},
                   {"call", "reason", "plan"}};

int tune(const TuneArguments& given) {
  const std::vector<gemm::CallToPlan> calls = calls_of(given);
  const double within = given.within.empty() ? 1.5 : parse_real("--within", given.within);
  if (!(within >= 1)) {
    throw StatusError(Status::bad_argument(
        fmt::format("--within is '{}', but must be at least 1", given.within)));
  }
  Devices devices = open_devices(given.device);
  if (!devices.is_cuda()) {
    throw StatusError(Status::unavailable(
        "tune measures, but there is no GPU here: " +
        (devices.note.empty() ? std::string("the virtual one has no clock") : devices.note)));
  }
  const DeviceInfo& info = devices.device->info();
  const std::string path = gemm::overlay_path(info.name);
  if (path.empty()) {
    throw StatusError(Status::unavailable(
        "there is no place for an overlay: TESSERA_TUNING is off, or neither XDG_CACHE_HOME nor "
        "HOME is set"));
  }
  const gemm::OverlayOrigin here{info.name, info.driver, gemm::library_version()};
  lab::DeviceTimer timer(*devices.device);
  lab::Tuner tuner(*devices.device, timer,
                   {.seed = parse_seed(given.seed), .within = within, .stop = interrupted});
  std::vector<lab::TunedCall> done;
  {
    Progress bar(static_cast<std::int64_t>(calls.size()));
    const lab::TuneAll all{
        here, path, interrupted, [&](std::size_t number, const gemm::CallToPlan& next) {
          const Problem& p = next.problem;
          bar.show(static_cast<std::int64_t>(number),
                   fmt::format("{}, {} x {} x {}", name_of(p.types), p.m, p.n, p.k));
        }};
    done = all.run(tuner, calls);
  }
  const Table table = table_of(done);
  given.output.write(to_json(here, path, done), table);
  if (given.output.prints_text()) {
    fmt::print("{}\n{} of {} calls, kept in {}\n", fitted(table, kTuneFit), done.size(),
               calls.size(), path);
  }
  if (interrupted()) return kInterrupted;
  const auto wrong = [](const lab::TunedCall& call) {
    return std::ranges::any_of(call.plans, [](const lab::MeasuredPlan& plan) {
      return plan.reason.find("sampled entries") != std::string::npos;
    });
  };
  return std::ranges::any_of(done, wrong) ? kCheckFailed : kOk;
}

// Lists the overlays of all GPUs. Overlays of other GPUs and versions of the library are marked.
int list(const TuneArguments& given) {
  Table table{{"gpu", "library", "call", "plan", "us", "x model's choice"}, {}};
  lab::Json files = lab::Json::array();
  std::string notes;
  for (const std::string& path : gemm::overlay_paths()) {
    const gemm::Overlay overlay = gemm::read_overlay(path);
    if (!overlay.ignored.empty()) notes += "Ignored: " + overlay.ignored + "\n";
    lab::Json entries = lab::Json::array();
    for (const auto& [key, entry] : overlay.entries) {
      table.rows.push_back({overlay.origin.gpu, overlay.origin.library, key, entry.plan,
                            fmt::format("{:.2f}", entry.us), gain(entry)});
      entries.push_back({{"call", key},
                         {"plan", entry.plan},
                         {"us", entry.us},
                         {"by_model_us", entry.by_model_us}});
    }
    files.push_back({{"path", path},
                     {"gpu", overlay.origin.gpu},
                     {"driver", overlay.origin.driver},
                     {"library", overlay.origin.library},
                     {"ignored", overlay.ignored},
                     {"entries", std::move(entries)}});
  }
  given.output.write({{"schema", "tessera.tuned/1"}, {"overlays", std::move(files)}}, table);
  if (given.output.prints_text()) {
    fmt::print("{}{}", notes,
               table.rows.empty()
                   ? "Nothing is tuned here.\n"
                   : fitted(table, {{"plan", "us", "x model's choice", "call", "gpu", "library"},
                                    {"call", "plan"}}));
  }
  return kOk;
}

// Whether `words` is "all", or the entry's key has all of the words.
bool is_meant(const std::string& key, const std::string& words) {
  if (words == "all") return true;
  const std::vector<std::string> has = split(key, ' ');
  return std::ranges::all_of(split(words, ' '), [&](const std::string& word) {
    return word.empty() || std::ranges::find(has, word) != has.end();
  });
}

int forget(const TuneArguments& given) {
  int removed = 0;
  for (const std::string& path : gemm::overlay_paths()) {
    gemm::Overlay overlay = gemm::read_overlay(path);
    const bool is_broken = !overlay.ignored.empty();
    const auto count = std::erase_if(
        overlay.entries, [&](const auto& entry) { return is_meant(entry.first, given.forget); });
    if (count == 0 && !(is_broken && given.forget == "all")) continue;
    removed += static_cast<int>(count);
    overlay.entries.empty() ? gemm::remove_overlay(path) : gemm::write_overlay(overlay);
  }
  if (given.output.prints_text()) {
    fmt::print("{} {} removed\n", removed, removed == 1 ? "entry" : "entries");
  }
  given.output.write({{"schema", "tessera.forgotten/1"}, {"removed", removed}},
                     {{"removed"}, {{std::to_string(removed)}}});
  return kOk;
}

int run_tune(const TuneArguments& given, const Parser& parser) {
  given.output.check({{"--shapes", given.problem.shapes}, {"--from", given.from}});
  if (!given.list && given.forget.empty()) return tune(given);
  const std::string own = given.list ? "--list" : "--forget";
  for (const GivenOption& option : parser.given()) {
    if (option.name == own || option.name == "--json" || option.name == "--csv" ||
        option.name == "--md") {
      continue;
    }
    throw StatusError(Status::bad_argument(fmt::format(
        "{} is given, but cannot be combined with {}; leave one of them out", option.name, own)));
  }
  return given.list ? list(given) : forget(given);
}

void declare_options(Parser& parser, TuneArguments& given) {
  add_type_option(parser, given.problem);
  add_shape_options(parser, given.problem);
  add_batch_options(parser, given.problem);
  add_scale_options(parser, given.problem);
  parser
      .add_option("--from", given.from,
                  "the calls in a file that a log callback of the library wrote "
                  "(tessera_set_log), instead of shapes")
      .type_name("LOG");
  parser
      .add_option("--workspace-limit", given.workspace_limit,
                  "workspace that the calls give, in bytes (default: any)")
      .type_name("BYTES");
  parser
      .add_option("--within", given.within,
                  "times plans that the model expects within this factor of its choice (default "
                  "1.5)")
      .type_name("X");
  parser.add_flag("--list", given.list, "print what is tuned, and measure nothing");
  parser
      .add_option("--forget", given.forget,
                  "remove entries: 'all', or words of their calls, as 'type=f32 m=300'")
      .type_name("WORDS");
  add_device_options(parser, given.device);
  add_seed_option(parser, given.seed);
  given.output.add_options(parser);
}

}  // namespace

Command tune_command() {
  return {"tune", "measure plans for your shapes and keep the fastest on this GPU",
          "  tessera tune -m 4096 -n 4096 -k 11008 --type bf16 --layout TN\n"
          "  tessera tune --shapes sizes.txt --type f32 --workspace-limit 33554432\n"
          "  tessera tune --from calls.log --json tuned.json\n"
          "  tessera tune --list\n"
          "  tessera tune --forget 'type=f32 m=300'",
          [](Parser& parser) {
            auto given = std::make_shared<TuneArguments>();
            declare_options(parser, *given);
            return [given, parser] { return run_tune(*given, parser); };
          }};
}

}  // namespace tessera::cli
