#include "cli/commands/bench_chain.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/interrupt.h"
#include "base/numbers.h"
#include "cli/command.h"
#include "cli/commands/bench_groups.h"
#include "cli/options/session.h"
#include "cli/terminal/fitted.h"
#include "lab/bench/chain.h"
#include "lab/verify/stop.h"

namespace tessera::cli {
namespace {

Table chain_table(const std::vector<lab::ChainResult>& results) {
  Table table{{"kernel", "config", "size", "chain", "correct", "error/bound", "own ms", "vendor ms",
               "host s"},
              {}};
  const auto median = [](const std::optional<lab::Summary>& summary) {
    return summary ? fmt::format("{:.3f}", summary->median) : std::string("-");
  };
  for (const lab::ChainResult& r : results) {
    table.rows.push_back({r.kernel, r.config, std::to_string(r.problem.m),
                          fmt::format("{}{}", r.length, r.add_before ? ", adds before" : ""),
                          r.correct ? "yes" : "NO", fmt::format("{:.3f}", r.max_error_ratio),
                          median(r.own_ms), median(r.vendor_ms),
                          r.own_ms ? "-" : fmt::format("{:.3f}", r.host_seconds)});
  }
  return table;
}

lab::ChainOptions chain_options(const ChainRequest& request) {
  lab::ChainOptions chain;
  const int longest = request.add_before ? lab::kLongestAddingChain : 1000000;
  chain.length = static_cast<int>(parse_integer("--chain", request.length, 1, longest));
  chain.add_before = request.add_before;
  chain.seed = parse_seed(request.seed);
  if (!request.rounds.empty()) {
    chain.repeats = static_cast<int>(parse_integer("--rounds", request.rounds, 1, 1000));
  }
  chain.stop = interrupted;
  return chain;
}

std::vector<BenchGroup> square_groups(const ChainRequest& request, const Devices& devices) {
  const std::vector<BenchGroup> groups =
      groups_of({request.problem,
                 devices.is_cuda() ? Shape{2048, 2048, 2048} : Shape{64, 64, 64},
                 gemm::limits_of(devices.device->info()),
                 {},
                 nullptr});
  for (const BenchGroup& group : groups) {
    const Problem& p = group.problem;
    if (p.m == p.n && p.n == p.k) continue;
    throw StatusError(Status::bad_argument(fmt::format(
        "--chain needs square matrices, but -m is {}, -n is {} and -k is {}; give -m alone", p.m,
        p.n, p.k)));
  }
  return groups;
}

// The command that repeats this chain. WHY `given`: the problem in the record has the
// alpha and beta of the chain.
std::string command_of(const KernelChoice& choice, const Problem& given, const Devices& devices,
                       std::uint64_t seed, const Parser& parser) {
  return repeat_command("bench", choice, given, word_of(devices.device->info()), seed) +
         carried_options(parser);
}

// The results of finished chains. They are written at once, so Ctrl-C or the loss of the
// machine does not lose them.
class Results {
 public:
  Results(const Output& output, const lab::Environment& environment) : output_(output) {
    object_ = {{"schema", lab::kChainSchema},
               {"environment", lab::to_json(environment)},
               {"chains", lab::Json::array()}};
  }
  void add(lab::ChainResult result) {
    object_["chains"].push_back(lab::to_json(result));
    results_.push_back(std::move(result));
    output_.files_only().write(object_, chain_table(results_));
  }
  bool all_correct() const {
    for (const lab::ChainResult& result : results_) {
      if (!result.correct) return false;
    }
    return true;
  }
  void print() const {
    const Table table = chain_table(results_);
    output_.write(object_, table);
    if (output_.prints_text()) fmt::print("{}", fitted(table, {}));
  }

 private:
  const Output& output_;
  lab::Json object_;
  std::vector<lab::ChainResult> results_;
};

}  // namespace

int bench_chain(const ChainRequest& request, const Parser& parser) {
  lab::ChainOptions chain = chain_options(request);
  Devices devices = open_devices(request.device);
  const std::vector<BenchGroup> groups = square_groups(request, devices);
  const Baseline baseline = load_baseline(request.device, devices);
  chain.vendor = baseline.vendor.get();
  Results results(request.output, environment_of(devices, baseline, chain.seed));
  for (const BenchGroup& group : groups) {
    for (const lab::BenchCandidate& one : group.candidates) {
      if (interrupted()) break;
      try {
        lab::ChainResult result = lab::run_chain(*devices.device, one.choice, group.problem, chain);
        result.command = command_of(one.choice, group.problem, devices, chain.seed, parser);
        results.add(std::move(result));
      } catch (const lab::Stopped&) {
        break;
      }
    }
  }
  results.print();
  if (interrupted()) return kInterrupted;
  return results.all_correct() ? kOk : kCheckFailed;
}

}  // namespace tessera::cli
