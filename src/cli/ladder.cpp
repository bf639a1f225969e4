// tessera ladder: every rung in one table. On any machine each rung runs its real compiled kernel
// on the virtual GPU, is verified and counted; on a GPU it is also timed beside the vendor's
// library.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "arch/gpus.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/live_table.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/session.h"

namespace tessera::cli {
namespace {

// Seconds on two cores for the slowest rung; a GPU takes a square that fills it.
constexpr Shape kVirtualShape = {512, 128, 256};
constexpr Shape kGpuShape = {4096, 4096, 4096};

struct Options {
  ProblemOptions problem;
  DeviceOptions device;
  Output output;
  std::string seed;
};

// What one rung did: on the virtual GPU, and on a real one where there is one.
struct Rung {
  std::vector<lab::Record> records;  // for files: one a device
  lab::Record row;  // for people: the GPU's figures beside the virtual one's counts
};

// The one problem of a rung on one device.
Problem problem_on(const ProblemOptions& options, DataType type, const Shape& otherwise) {
  const std::vector<Problem> problems = problems_of(options, type, otherwise);
  if (problems.size() == 1) return problems.front();
  throw StatusError(Status::bad_argument(fmt::format(
      "-m, -n, -k, --layout and --order name {} problems, but the ladder takes one; 'tessera "
      "bench' takes many",
      problems.size())));
}

lab::Record run_on(Device& device, const KernelChoice& kernel, const Problem& problem,
                   const lab::BenchOptions& settings) {
  std::vector<lab::Record> records = lab::bench(device, {kernel}, problem, settings);
  lab::Record record = std::move(records.at(0));
  const bool is_cuda = device.info().kind == DeviceKind::kCuda;
  record.command =
      repeat_command("bench", kernel, problem, is_cuda ? "cuda" : "virtual", settings.verify.seed);
  return record;
}

// True when the device can load the kernel's image; a GPU that nobody insisted on may not.
bool loads(Device& device, const KernelChoice& kernel) {
  try {
    device.load(image_of(*kernel.kernel));
    return true;
  } catch (const StatusError& error) {
    if (error.status().code != StatusCode::kUnavailable) throw;
    return false;
  }
}

// Without a fallback one device does it all. Beside a GPU the virtual one gives the counts, at its
// own small shape, and stands in where the GPU cannot load the image.
Rung climb(const KernelChoice& kernel, const ProblemOptions& options, Devices& devices,
           const lab::BenchOptions& settings) {
  const DataType type = kernel.kernel->type;
  Rung rung;
  if (!devices.fallback) {
    const Shape& otherwise = devices.is_cuda() ? kGpuShape : kVirtualShape;
    rung.row = run_on(*devices.device, kernel, problem_on(options, type, otherwise), settings);
    rung.records = {rung.row};
    return rung;
  }
  const lab::Record counted =
      run_on(*devices.fallback, kernel, problem_on({}, type, kVirtualShape), settings);
  rung.records = {counted};
  rung.row = counted;
  if (!loads(*devices.device, kernel)) return rung;
  const Problem problem = problem_on(options, type, kGpuShape);
  rung.row = run_on(*devices.device, kernel, problem, settings);
  rung.records.push_back(rung.row);
  rung.row.counts = counted.counts;
  rung.row.host_seconds = counted.host_seconds;
  return rung;
}

// What the device's lanes allow in the record's type; 0 when unknown.
double peak_of(const lab::Record& record) {
  const arch::Gpu* gpu = arch::find_gpu(record.device);
  if (!gpu) return 0;
  if (record.problem.type == DataType::kF32) return gpu->fp32_peak();
  return std::max(gpu->fp64_peak(), gpu->fp64_tensor_peak());
}

// Prints a rung as soon as it is done.
class LadderPrinter {
 public:
  explicit LadderPrinter(bool prints) : prints_(prints) {}

  void print(const lab::Record& row) {
    const lab::Table one = lab::ladder_table({row}, peak_of(row));
    if (table_.header.empty()) start(one);
    std::vector<std::string> cells;
    for (const std::string& column : table_.header) cells.push_back(cell_of(one, column));
    table_.rows.push_back(cells);
    if (prints_) live_->print_row(cells);
  }
  const lab::Table& table() const { return table_; }

 private:
  void start(const lab::Table& first) {
    table_.header = first.header;
    std::vector<std::size_t> widths;
    for (const std::string& cell : first.rows.at(0)) widths.push_back(cell.size());
    for (const Kernel& kernel : all_kernels()) {
      widths.at(0) = std::max(widths.at(0), kernel.name.size());
      widths.at(1) = std::max(widths.at(1), kernel.idea.size());
    }
    live_ = std::make_unique<LiveTable>(first.header, widths);
    if (prints_) live_->print_header();
  }

  static std::string cell_of(const lab::Table& one, const std::string& column) {
    const auto at = std::find(one.header.begin(), one.header.end(), column);
    return at == one.header.end() ? "-" : one.rows.at(0).at(at - one.header.begin());
  }

  bool prints_;
  lab::Table table_;
  std::unique_ptr<LiveTable> live_;
};

std::string size_of_problem(const Problem& problem) {
  return fmt::format("{} x {} x {}", problem.m, problem.n, problem.k);
}

void print_heading(const Options& options, const Devices& devices, const Baseline& baseline) {
  const Shape& otherwise = devices.is_cuda() ? kGpuShape : kVirtualShape;
  const Problem problem = problem_on(options.problem, DataType::kF32, otherwise);
  if (!devices.is_cuda()) {
    fmt::print("{} on the virtual GPU.\n", size_of_problem(problem));
    if (!devices.note.empty()) fmt::print("No GPU is used: {}.\n", devices.note);
  } else {
    fmt::print("{} on {}; vendor: {}.\n", size_of_problem(problem), devices.device->info().name,
               baseline.description);
    if (devices.fallback) {
      fmt::print("Counts and seconds: {} on the virtual GPU, as are rows marked 'virtual'.\n",
                 size_of_problem(problem_on({}, DataType::kF32, kVirtualShape)));
    }
  }
  fmt::print("\n");
}

lab::BenchOptions settings_of(const Options& options, const Baseline& baseline) {
  lab::BenchOptions settings;
  settings.verify.seed = settings.measure.seed = parse_seed(options.seed);
  settings.modes = {lab::Mode::kBurst};
  settings.vendor = baseline.vendor.get();
  settings.stop = interrupted;
  return settings;
}

int ladder(const Options& options) {
  options.output.check();
  parse_seed(options.seed);
  const std::vector<KernelChoice> kernels = kernels_of(options.problem);
  Devices devices = open_devices(options.device);
  problem_on(options.problem, DataType::kF32, kGpuShape);
  const Baseline baseline = load_baseline(options.device, devices);
  const bool prints = options.output.prints_text();
  if (prints) print_heading(options, devices, baseline);

  lab::BenchOptions settings = settings_of(options, baseline);
  LadderPrinter printer(prints);
  std::vector<lab::Record> records;
  Progress bar(static_cast<std::int64_t>(kernels.size()));
  bool failed = false;
  for (std::size_t i = 0; i < kernels.size() && !interrupted(); ++i) {
    bar.show(i, kernels[i].kernel->name);
    const Rung rung = climb(kernels[i], options.problem, devices, settings);
    bar.wipe();
    printer.print(rung.row);
    records.insert(records.end(), rung.records.begin(), rung.records.end());
    for (const lab::Record& record : rung.records) {
      if (record.verified != "failed") continue;
      failed = true;
      fmt::print(stderr, "{} is wrong: {}\n  {}\n", record.kernel, record.reason, record.command);
    }
  }
  lab::Environment environment = environment_of(devices, "ladder", settings.verify.seed);
  environment.vendor = baseline.description;
  options.output.write(lab::to_json(environment, records), printer.table());
  if (failed) return kCheckFailed;
  return interrupted() ? kInterrupted : kOk;
}

}  // namespace

Command ladder_command() {
  return {"ladder", "every rung in one table: verified, counted, and timed on a GPU",
          "  tessera ladder\n"
          "  tessera ladder --device virtual --kernel 01,02,07 -m 256 -n 256 -k 64\n"
          "  tessera ladder --md table.md --json rungs.json",
          [](CLI::App& app) {
            auto options = std::make_shared<Options>();
            add_kernel_options(app, options->problem);
            add_shape_options(app, options->problem);
            add_scale_options(app, options->problem);
            add_device_options(app, options->device);
            add_vendor_option(app, options->device);
            add_seed_option(app, options->seed);
            options->output.add_options(app);
            return [options] { return ladder(*options); };
          }};
}

}  // namespace tessera::cli
