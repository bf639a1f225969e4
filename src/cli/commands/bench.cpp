// tessera bench: kernels and the vendor's library on the same problems, verified, timed in turn.
// On the virtual GPU there is no time to measure: rows hold counts and the host's seconds.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>

#include "base/interrupt.h"
#include "base/numbers.h"
#include "base/progress.h"
#include "cli/command.h"
#include "cli/commands/why.h"
#include "cli/options/gpu_option.h"
#include "cli/options/session.h"
#include "cli/terminal/output.h"
#include "gemm/plan.h"
#include "lab/timing/chain.h"
#include "lab/verify/stop.h"

namespace tessera::cli {
namespace {

constexpr Shape kVirtualShape = {512, 128, 256};
constexpr Shape kGpuShape = {4096, 4096, 4096};

constexpr const char* kBestKernel = "best";  // whichever the library would take for each problem

struct Options {
  ProblemOptions problem;
  DeviceOptions device;
  Output output;
  std::string mode = "both", fill = "uniform", rounds, seed, chain, gpu;
  bool skip_verification = false, energy = false, why = false;
};

std::vector<lab::Mode> modes_of(const std::string& text) {
  if (text == "both") return {lab::Mode::kBurst, lab::Mode::kSustained};
  if (text == lab::name_of(lab::Mode::kBurst)) return {lab::Mode::kBurst};
  if (text == lab::name_of(lab::Mode::kSustained)) return {lab::Mode::kSustained};
  throw StatusError(Status::bad_argument(
      fmt::format("--mode is '{}', but must be burst, sustained or both", text)));
}

lab::BenchOptions bench_options_of(const Options& options) {
  lab::BenchOptions bench;
  bench.verify.seed = parse_seed(options.seed);
  bench.verify.predict_for = &gpu_of(options.gpu);
  bench.verify.fill = lab::parse_fill(options.fill);
  bench.check_results = !options.skip_verification;
  bench.modes = modes_of(options.mode);
  bench.energy = options.energy;
  bench.verify.plan = plan_options_of(options.problem);
  bench.measure.seed = bench.verify.seed;
  if (!options.rounds.empty()) {
    bench.measure.rounds = static_cast<int>(parse_integer("--rounds", options.rounds, 1, 1000));
  }
  bench.stop = interrupted;
  return bench;
}

bool any_failed(const std::vector<lab::Record>& records) {
  for (const lab::Record& record : records) {
    if (record.verified == "failed") return true;
  }
  return false;
}

Types types_for_best(const ProblemOptions& options) {
  return options.type.empty() ? kF32Types : parse_types("--type", options.type);
}

// One piece of work: the kernels of one type on one problem.
struct Group {
  Problem problem;
  std::vector<KernelChoice> kernels;
};

// WHY: all groups are made before the first runs, so that a bad argument costs nobody an hour.
std::vector<Group> groups_of(const ProblemOptions& options, const Shape& otherwise,
                             const DeviceInfo& device) {
  std::vector<Group> groups;
  if (options.kernel == kBestKernel) {
    const Types types = types_for_best(options);
    for (const Problem& problem : problems_of(options, types, otherwise)) {
      const gemm::Plan plan =
          gemm::plan(problem, {}, gemm::limits_of(device), plan_options_of(options));
      groups.push_back({problem, {{&plan.kernel(), plan.row().variant}}});
    }
    return groups;
  }
  const std::vector<KernelChoice> kernels = kernels_of(options);
  for (const Types& types : types_of(kernels)) {
    for (const Problem& problem : problems_of(options, types, otherwise)) {
      groups.push_back({problem, kernels_of_type(kernels, types)});
    }
  }
  return groups;
}

// The command of each record, found by the kernel's name and variant.
void add_commands(std::vector<lab::Record>& records, const Group& group, const Devices& devices,
                  const Options& options, std::uint64_t seed) {
  for (lab::Record& record : records) {
    for (const KernelChoice& choice : group.kernels) {
      if (choice.kernel->name != record.kernel || choice.variant != record.config) continue;
      const bool ran_there = record.device == devices.device->info().name;
      const bool on_cuda = ran_there && devices.is_cuda();
      record.command =
          repeat_command("bench", choice, group.problem, on_cuda ? "cuda" : "virtual", seed);
      if (record.mode) record.command += fmt::format(" --mode {}", lab::name_of(*record.mode));
      if (options.fill != "uniform") record.command += " --fill " + options.fill;
      record.command += plan_flags_of(options.problem);
    }
  }
}

// `keep` is given all records so far after each group: an hour's work outlives a machine that is
// taken away.
std::vector<lab::Record> run_groups(
    const std::vector<Group>& groups, Devices& devices, const Options& options,
    lab::BenchOptions bench, const std::function<void(const std::vector<lab::Record>&)>& keep) {
  std::vector<lab::Record> records;
  Progress bar(static_cast<std::int64_t>(groups.size()));
  bench.fallback = devices.fallback.get();
  for (std::size_t i = 0; i < groups.size() && !interrupted(); ++i) {
    const Group& group = groups[i];
    bench.progress = [&](const std::string& words) { bar.show(i, words); };
    std::vector<lab::Record> rows =
        lab::bench(*devices.device, group.kernels, group.problem, bench);
    add_commands(rows, group, devices, options, bench.verify.seed);
    records.insert(records.end(), rows.begin(), rows.end());
    keep(records);
  }
  return records;
}

Table chain_table(const std::vector<lab::ChainResult>& results) {
  Table table{{"kernel", "config", "size", "chain", "correct", "error/bound", "own ms", "vendor ms",
               "host s"},
              {}};
  const auto median = [](const std::optional<lab::Summary>& summary) {
    return summary ? fmt::format("{:.3f}", summary->median) : std::string("-");
  };
  for (const lab::ChainResult& r : results) {
    table.rows.push_back({r.kernel, r.config, std::to_string(r.size), std::to_string(r.length),
                          r.correct ? "yes" : "NO", fmt::format("{:.3f}", r.max_error_ratio),
                          median(r.own_ms), median(r.vendor_ms),
                          r.own_ms ? "-" : fmt::format("{:.3f}", r.host_seconds)});
  }
  return table;
}

// A chain sets these itself: one that is given would be ignored.
void refuse_beside_chain(const Options& options) {
  const auto given = [](const std::string& text, const char* otherwise) {
    return text == otherwise ? std::string() : text;
  };
  const ProblemOptions& p = options.problem;
  for (const auto& [name, text] : {std::pair{"--mode", given(options.mode, "both")},
                                   {"--fill", given(options.fill, "uniform")},
                                   {"--rounds", options.rounds},
                                   {"--alpha", p.alpha},
                                   {"--beta", p.beta},
                                   {"--lda", p.lda},
                                   {"--ldb", p.ldb},
                                   {"--ldc", p.ldc},
                                   {"--ldd", p.ldd}}) {
    if (text.empty()) continue;
    throw StatusError(Status::bad_argument(
        fmt::format("{} is '{}', but must not stand beside --chain", name, text)));
  }
  if (!options.skip_verification) return;
  throw StatusError(
      Status::bad_argument("--no-verify is given, but must not stand beside --chain"));
}

// D = A B + C, D in the place of the next A, R times: bench --chain R.
int bench_chain(const Options& options) {
  refuse_beside_chain(options);
  lab::ChainOptions chain;
  chain.length = static_cast<int>(parse_integer("--chain", options.chain, 1, 1000000));
  chain.seed = parse_seed(options.seed);
  chain.stop = interrupted;
  Devices devices = open_devices(options.device);
  const std::vector<Group> groups =
      groups_of(options.problem, devices.is_cuda() ? Shape{2048, 2048, 2048} : Shape{64, 64, 64},
                devices.device->info());
  for (const Group& group : groups) {
    const Problem& p = group.problem;
    if (p.m == p.n && p.n == p.k) continue;
    throw StatusError(Status::bad_argument(fmt::format(
        "--chain needs square matrices, but -m is {}, -n is {} and -k is {}", p.m, p.n, p.k)));
  }
  const Baseline baseline = load_baseline(options.device, devices);
  chain.vendor = baseline.vendor.get();
  std::vector<lab::ChainResult> results;
  lab::Json object = {{"schema", lab::kSchema},
                      {"environment", lab::to_json(environment_of(devices, baseline, chain.seed))},
                      {"chains", lab::Json::array()}};
  bool correct = true;
  for (const Group& group : groups) {
    for (const KernelChoice& kernel : group.kernels) {
      if (interrupted()) break;
      try {
        results.push_back(lab::run_chain(*devices.device, kernel, group.problem, chain));
      } catch (const lab::Stopped&) {
        break;  // the chains before this one are kept
      }
      object["chains"].push_back(lab::to_json(results.back()));
      correct = correct && results.back().correct;
    }
  }
  const Table table = chain_table(results);
  options.output.write(object, table);
  if (options.output.prints_text()) fmt::print("{}", render(table, Format::kText));
  if (interrupted()) return kInterrupted;
  return correct ? kOk : kCheckFailed;
}

// bench --why: the model alone.
int say_why(const Options& options) {
  const std::string& kernel = options.problem.kernel;
  if (kernel != kBestKernel && kernel != ProblemOptions{}.kernel) {
    throw StatusError(Status::bad_argument(
        fmt::format("--kernel is '{}', but --why compares all that 'best' could take", kernel)));
  }
  const Devices devices = open_devices(options.device);
  std::vector<gemm::Plan> plans;
  for (const Problem& problem :
       problems_of(options.problem, types_for_best(options.problem), kGpuShape)) {
    plans.push_back(gemm::plan(problem, {}, gemm::limits_of(devices.device->info()),
                               plan_options_of(options.problem)));
  }
  const Table table = why_table(plans);
  options.output.write(why_json(plans), table);
  if (options.output.prints_text()) {
    fmt::print("What the model expects, in microseconds of an H200's clock (nothing ran):\n\n{}",
               render(table, Format::kText));
  }
  return kOk;
}

int bench(const Options& options) {
  options.output.check({{"--shapes", options.problem.shapes}});
  if (options.why) return say_why(options);
  if (!options.chain.empty()) return bench_chain(options);
  lab::BenchOptions settings = bench_options_of(options);
  // WHY: refuses a bad name before a device is opened
  if (options.problem.kernel != kBestKernel) kernels_of(options.problem);
  Devices devices = open_devices(options.device);
  count_memory(devices);
  const std::vector<Group> groups = groups_of(
      options.problem, devices.is_cuda() ? kGpuShape : kVirtualShape, devices.device->info());
  const Baseline baseline = load_baseline(options.device, devices);
  settings.vendor = baseline.vendor.get();

  const lab::Environment environment = environment_of(devices, baseline, settings.verify.seed);
  const auto keep = [&](const std::vector<lab::Record>& records) {
    options.output.files_only().write(lab::to_json(environment, records),
                                      with_commands(lab::bench_table(records), records));
  };
  const std::vector<lab::Record> records = run_groups(groups, devices, options, settings, keep);

  const Table table = lab::bench_table(records);
  options.output.write(lab::to_json(environment, records), with_commands(table, records));
  if (options.output.prints_text()) {
    if (!devices.note.empty()) fmt::print("On the virtual GPU: {}.\n\n", devices.note);
    fmt::print("{}{}", render(table, Format::kText), again_line(records));
  }
  if (any_failed(records)) return kCheckFailed;
  return interrupted() ? kInterrupted : kOk;
}

void declare_options(CLI::App& app, Options& options) {
  add_kernel_options(app, options.problem);
  add_shape_options(app, options.problem);
  add_scale_options(app, options.problem);
  app.add_option("--mode", options.mode, "burst, sustained or both (default); on a GPU only")
      ->type_name("MODE");
  app.add_option("--fill", options.fill, "uniform (default), normal, integers, same-sign")
      ->type_name("FILL");
  app.add_option("--rounds", options.rounds, "rounds of all candidates in random order (default 5)")
      ->type_name("N");
  app.add_option("--chain", options.chain,
                 "R products in a row, D feeding the next: own and vendor")
      ->type_name("R");
  app.add_flag("--why", options.why,
               "run nothing: what the model expects of each kernel that 'best' could take");
  app.add_flag("--no-verify", options.skip_verification, "time only");
  add_plan_options(app, options.problem);
  app.add_flag("--energy", options.energy,
               "joules a TFLOP, own and vendor: runs each for seconds (GPU, sustained)");
  add_device_options(app, options.device);
  add_gpu_option(app, options.gpu);
  add_vendor_option(app, options.device);
  add_seed_option(app, options.seed);
  options.output.add_options(app);
}

}  // namespace

Command bench_command() {
  return {"bench", "time kernels in turn with the vendor's library (virtual GPU: counts)",
          "  tessera bench --kernel 12 -m 4096\n"
          "  tessera bench --kernel '0*' -m 1024:8192:x2 --mode burst --json results.json\n"
          "  tessera bench --device virtual --kernel all -m 512 -n 128 -k 256 --json -\n"
          "  tessera bench --kernel best --suite fp32 --json results.json\n"
          "  tessera bench --why -m 128 -n 128 -k 262144 --layout all\n"
          "  tessera bench --kernel simt_f32 -m 8192 --mode sustained --energy\n"
          "  tessera bench --kernel 21,22,23,24 -m 2048 --chain 10",
          [](CLI::App& app) {
            auto options = std::make_shared<Options>();
            declare_options(app, *options);
            return [options] { return bench(*options); };
          }};
}

}  // namespace tessera::cli
