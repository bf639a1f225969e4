// tessera bench: verifies kernels and the vendor's library, and times them in turn
// on the same problems. On the virtual GPU there is no time to measure: rows have
// counts and the host's seconds.
#include <fmt/format.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/interrupt.h"
#include "base/numbers.h"
#include "base/progress.h"
#include "cli/command.h"
#include "cli/commands/bench_chain.h"
#include "cli/commands/bench_groups.h"
#include "cli/commands/bench_suite.h"
#include "cli/commands/why.h"
#include "cli/options/gpu_option.h"
#include "cli/options/parser.h"
#include "cli/options/session.h"
#include "cli/terminal/fitted.h"
#include "cli/terminal/live_table.h"
#include "cli/terminal/output.h"
#include "gemm/overlay/overlay_file.h"
#include "gemm/plan/plan.h"

namespace tessera::cli {
namespace {

struct BenchArguments {
  ProblemOptions problem;
  DeviceOptions device;
  Output output;
  std::string mode = "both", fill = "uniform", rounds, seed, order_seed, chain, gpu;
  std::string workspace_limit, against, rewritten;
  SuiteArguments suite;
  bool add_before = false, skip_verification = false, energy = false, why = false;
};

std::vector<lab::Mode> modes_of(const std::string& text) {
  if (text == "both") return {lab::Mode::kBurst, lab::Mode::kSustained};
  if (text == lab::name_of(lab::Mode::kBurst)) return {lab::Mode::kBurst};
  if (text == lab::name_of(lab::Mode::kSustained)) return {lab::Mode::kSustained};
  throw StatusError(Status::bad_argument(
      fmt::format("--mode is '{}', but must be burst, sustained or both", text)));
}

// --seed seeds the data and the order of measurements; --order-seed seeds the order alone. Without
// both options, the order is drawn at random.
std::uint64_t order_seed_of(const BenchArguments& options) {
  if (!options.order_seed.empty()) {
    return static_cast<std::uint64_t>(parse_integer("--order-seed", options.order_seed, 0));
  }
  return options.seed.empty() ? lab::drawn_seed() : parse_seed(options.seed);
}

lab::BenchOptions bench_options_of(const BenchArguments& options) {
  lab::BenchOptions bench;
  bench.verify.seed = parse_seed(options.seed);
  bench.verify.predict_for = &gpu_of(options.gpu);
  bench.verify.fill = lab::parse_fill(options.fill);
  bench.check_results = !options.skip_verification;
  bench.modes = modes_of(options.mode);
  bench.energy = options.energy;
  bench.verify.plan = plan_options_of(options.problem);
  bench.measure.seed = order_seed_of(options);
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

// The command that measures this record again, together with the other records of its group.
std::string command_of(const lab::Record& record, const BenchGroup& group, const Devices& devices,
                       const BenchArguments& options, const Parser& parser) {
  for (const lab::BenchCandidate& one : group.candidates) {
    const KernelChoice& choice = one.choice;
    if (choice.kernel->name != record.kernel || choice.variant != record.config) continue;
    std::string text = repeat_command("bench", choice, group.problem, devices.word_of(record),
                                      parse_seed(options.seed));
    if (record.order_seed) text += fmt::format(" --order-seed {}", *record.order_seed);
    if (record.mode) text += fmt::format(" --mode {}", lab::name_of(*record.mode));
    if (record.workspace_limit) {
      text += fmt::format(" --workspace-limit {}", *record.workspace_limit);
    } else if (!options.workspace_limit.empty()) {
      text += " --workspace-limit " + options.workspace_limit;
    }
    return text + carried_options(parser);
  }
  return "";
}

using Keep = std::function<void(const std::vector<lab::Record>&)>;

// Runs the measurements. After each record, calls keep() with all records so far, so that an hour's
// work survives the loss of the machine.
std::vector<lab::Record> run_groups(const std::vector<BenchGroup>& groups, Devices& devices,
                                    const BenchArguments& options, lab::BenchOptions bench,
                                    const Parser& parser, const Keep& keep) {
  std::vector<lab::Record> records;
  Progress bar(static_cast<std::int64_t>(groups.size()));
  bench.fallback = devices.fallback.get();
  for (std::size_t i = 0; i < groups.size() && !interrupted(); ++i) {
    bench.progress = [&](const std::string& words) { bar.show(i, words); };
    bench.on_record = [&](const lab::Record& record) {
      records.push_back(record);
      records.back().command = command_of(record, groups[i], devices, options, parser);
      keep(records);
    };
    lab::bench(*devices.device, groups[i].candidates, groups[i].problem, bench);
  }
  return records;
}

// Refuses options that a chain sets itself, because given values would be ignored.
void refuse_beside_chain(const BenchArguments& options) {
  const auto given = [](const std::string& text, const char* otherwise) {
    return text == otherwise ? std::string() : text;
  };
  const ProblemOptions& p = options.problem;
  for (const auto& [name, text] : {std::pair{"--mode", given(options.mode, "both")},
                                   {"--fill", given(options.fill, "uniform")},
                                   {"--order-seed", options.order_seed},
                                   {"--workspace-limit", options.workspace_limit},
                                   {"--against", options.against},
                                   {"--rewritten", options.rewritten},
                                   {"--alpha", p.alpha},
                                   {"--beta", p.beta},
                                   {"--epilogue", p.epilogue},
                                   {"--lda", p.lda},
                                   {"--ldb", p.ldb},
                                   {"--ldc", p.ldc},
                                   {"--ldd", p.ldd},
                                   {"--batch", p.batch}}) {
    if (text.empty()) continue;
    throw StatusError(Status::bad_argument(fmt::format(
        "{} is '{}', but cannot be combined with --chain; leave one of them out", name, text)));
  }
  if (!options.skip_verification) return;
  throw StatusError(
      Status::bad_argument("--no-verify is given, but cannot be combined with "
                           "--chain; leave one of them out"));
}

const Fit kWhyFit{{"us", "entry", "n", "k", "taken", "layout", "TFLOP/s", "schedule"},
                  {"entry", "schedule"}};

// bench --why: shows what the cost model expects; runs nothing.
int say_why(const BenchArguments& options) {
  const std::string& kernel = options.problem.kernel;
  if (kernel != kBestKernel && kernel != ProblemOptions{}.kernel) {
    throw StatusError(Status::bad_argument(
        fmt::format("--kernel is '{}', but --why compares all that 'best' could take; "
                    "leave --kernel out",
                    kernel)));
  }
  const Devices devices = open_devices(options.device);
  gemm::PlanOptions how = plan_options_of(options.problem);
  how.workspace_limit = parse_workspace_limit(options.workspace_limit).bytes;
  const gemm::DeviceLimits limits = gemm::tuned_limits_of(devices.device->info());
  std::vector<gemm::Plan> plans;
  for (const Problem& problem :
       problems_of(options.problem, types_for_best(options.problem), kGpuShape)) {
    plans.push_back(gemm::plan(problem, {}, limits, how));
  }
  const Table table = why_table(plans);
  options.output.write(why_json(plans), table);
  if (options.output.prints_text()) {
    fmt::print("{}\n\n{}",
               wrapped(fmt::format("What the model expects, in microseconds, by the costs of an {} "
                                   "(nothing ran):",
                                   limits.costs->gpu->name),
                       terminal_width()),
               fitted(table, kWhyFit));
    for (const std::string& line : tuned_lines(plans)) {
      fmt::print("{}\n", wrapped(line, terminal_width()));
    }
  }
  return kOk;
}

int chain(const BenchArguments& options, const Parser& parser) {
  if (options.chain.empty()) {
    throw StatusError(
        Status::bad_argument("--add-before is given, but needs --chain; add --chain N"));
  }
  refuse_beside_chain(options);
  return bench_chain({options.problem, options.device, options.output, options.chain,
                      options.rounds, options.seed, options.add_before},
                     parser);
}

// The order in which columns get space: first those that tell rows apart or show their speed, then
// details of the measurement.
const Fit kBenchFit{{"m x n x k", "config", "verified", "build", "ms", "TFLOP/s", "x vendor",
                     "x other build", "x as compiled", "reason", "model ms", "mode", "layout",
                     "type", "error/bound", "5-95 %", "vendor ms", "device"},
                    {"reason", "verified"}};

int bench(const BenchArguments& options, const Parser& parser) {
  options.output.check({{"--shapes", options.problem.shapes}});
  if (is_timed_suite(options.problem.shapes)) {
    return bench_suite(
        {options.problem.shapes, options.suite, options.device, options.output, options.seed},
        parser);
  }
  require_drawn_suite(options.suite);
  if (options.why) return say_why(options);
  if (!options.chain.empty() || options.add_before) return chain(options, parser);
  lab::BenchOptions settings = bench_options_of(options);
  WorkspaceLimit workspace = parse_workspace_limit(options.workspace_limit);
  std::optional<lab::OtherBuild> other;
  if (!options.against.empty()) other.emplace(options.against, "--against");
  lab::RewrittenCode code;
  const std::vector<lab::Rewriting> rewritings = parse_rewritings(options.rewritten);
  if (!rewritings.empty() && other) {
    throw StatusError(
        Status::bad_argument("--rewritten cannot be combined with --against; "
                             "run bench twice, once with each"));
  }
  // WHY: refuses a bad name before a device is opened
  if (options.problem.kernel != kBestKernel) kernels_of(options.problem);
  Devices devices = open_devices(options.device);
  count_memory(devices);
  workspace.and_vendors = workspace.and_vendors && devices.is_cuda() && rewritings.empty();
  const std::vector<BenchGroup> groups =
      groups_of({options.problem, devices.is_cuda() ? kGpuShape : kVirtualShape,
                 gemm::tuned_limits_of(devices.device->info()), workspace,
                 other ? &*other : nullptr, rewritings, rewritings.empty() ? nullptr : &code});
  const Baseline baseline = load_baseline(options.device, devices);
  settings.vendor = baseline.vendor.get();

  lab::Environment environment = environment_of(devices, baseline, settings.verify.seed);
  if (other) environment.other_commit = other->commit();
  const auto keep = [&](const std::vector<lab::Record>& records) {
    options.output.files_only().write(lab::to_json(environment, records),
                                      with_commands(lab::bench_table(records), records));
  };
  const std::vector<lab::Record> records =
      run_groups(groups, devices, options, settings, parser, keep);

  const Table table = lab::bench_table(records);
  options.output.write(lab::to_json(environment, records), with_commands(table, records));
  if (options.output.prints_text()) {
    if (!devices.note.empty()) fmt::print("On the virtual GPU: {}.\n\n", devices.note);
    fmt::print("{}{}", fitted(table, kBenchFit), again_line(records));
  }
  if (any_failed(records)) return kCheckFailed;
  return interrupted() ? kInterrupted : kOk;
}

void declare_options(Parser& parser, BenchArguments& options) {
  add_kernel_options(parser, options.problem);
  add_shape_options(parser, options.problem);
  add_batch_options(parser, options.problem);
  add_scale_options(parser, options.problem);
  parser.add_option("--mode", options.mode, "burst, sustained or both (default); on a GPU only")
      .type_name("MODE");
  parser
      .add_option("--fill", options.fill, "uniform (default), normal, integers, same-sign, spread")
      .type_name("FILL");
  parser
      .add_option("--rounds", options.rounds,
                  "rounds of all candidates in random order (default 5)")
      .type_name("N");
  parser
      .add_option("--chain", options.chain,
                  "a chain of R products, each D the next A: ours and the vendor's")
      .type_name("R");
  parser.add_flag("--add-before", options.add_before,
                  "with --chain: X += B, then D = A X, D the next A (FP64; the addition is timed)");
  parser.add_flag("--why", options.why,
                  "run nothing: print the predicted cost of each kernel that 'best' could choose");
  parser.add_flag("--no-verify", options.skip_verification, "time without checking results");
  add_plan_options(parser, options.problem);
  parser
      .add_option("--workspace-limit", options.workspace_limit,
                  "workspace of our plans: BYTES, 'vendor' (64 MiB, as the vendor's library has) "
                  "or 'none' (default: none and, where that is more than 64 MiB, vendor, too)")
      .type_name("BYTES");
  parser
      .add_option("--against", options.against,
                  "another build's tessera.images, or the folder of its images (build/images): its "
                  "code in turn with this build's, both by this build's plans. Where the kernels' "
                  "parameters differ that "
                  "gives garbage, so leave verification on")
      .type_name("PATH");
  parser
      .add_option("--rewritten", options.rewritten,
                  "all, or a list of remapped (registers), reordered (FFMAs) and both: the machine "
                  "code rewritten, proved equal, and timed in turn with the code as ptxas wrote it")
      .type_name("HOW");
  parser.add_flag(
      "--energy", options.energy,
      "joules per TFLOP, ours and the vendor's: runs each for seconds (GPU, sustained)");
  add_suite_options(parser, options.suite);
  add_device_options(parser, options.device);
  add_gpu_option(parser, options.gpu);
  add_vendor_option(parser, options.device);
  parser
      .add_option("--seed", options.seed,
                  "seed of the data (default 1) and, if given, of the order")
      .type_name("S");
  parser
      .add_option("--order-seed", options.order_seed,
                  "seed of the order of the candidates in each round (default: drawn)")
      .type_name("S");
  options.output.add_options(parser);
}

}  // namespace

Command bench_command() {
  return {"bench", "time kernels in turn with the vendor's library (virtual GPU: counts)",
          "  tessera bench --kernel 12 -m 4096\n"
          "  tessera bench --kernel '0*' -m 1024:8192:x2 --mode burst --json results.json\n"
          "  tessera bench --device virtual --kernel all -m 512 -n 128 -k 256 --json -\n"
          "  tessera bench --kernel best --suite fp32 --json results.json\n"
          "  tessera bench --suite drawn --seed 7 --cells 100 --minutes 5 --json drawn.json\n"
          "  tessera bench --why -m 128 -n 128 -k 262144 --layout all\n"
          "  tessera bench --kernel simt_f32 -m 8192 --mode sustained --energy\n"
          "  tessera bench --kernel simt_f32 -m 4096 --layout all --against "
          "../old/build/tessera.images\n"
          "  tessera bench --kernel 12 -m 4096 --rewritten all\n"
          "  tessera bench --kernel 20,21,22,23,24 -m 2048 --chain 10 --add-before",
          [](Parser& parser) {
            auto options = std::make_shared<BenchArguments>();
            declare_options(parser, *options);
            return [options, parser] { return bench(*options, parser); };
          }};
}

}  // namespace tessera::cli
