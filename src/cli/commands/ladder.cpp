// tessera ladder: every rung in one table, without other work that `make run` would have to
// compile. On any machine each rung runs its real compiled kernel on the virtual GPU, is verified
// and counted. On a GPU each rung is also timed, in turn with the vendor's library.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "arch/gpus.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "cli/command.h"
#include "cli/options/parser.h"
#include "cli/options/session.h"
#include "cli/terminal/fitted.h"
#include "cli/terminal/live_table.h"
#include "cli/terminal/output.h"
#include "lab/explain/roofline.h"

namespace tessera::cli {
namespace {

struct LadderArguments {
  ProblemOptions problem;
  DeviceOptions device;
  Output output;
  std::string seed;
};

// The results of one rung: on the virtual GPU and, if there is one, on a real GPU.
struct Rung {
  std::vector<lab::Record> records;  // for files: one record per device
  lab::Record row;                   // for the table: figures of the GPU, counts of the virtual GPU
};

lab::Record run_on(Device& device, const KernelChoice& kernel, const Problem& problem,
                   const lab::BenchOptions& settings) {
  std::vector<lab::Record> records = lab::bench(device, {{kernel}}, problem, settings);
  if (records.empty()) return {};  // interrupted
  lab::Record record = std::move(records.front());
  record.command =
      repeat_command("bench", kernel, problem, word_of(device.info()), settings.verify.seed);
  if (record.order_seed) record.command += fmt::format(" --order-seed {}", *record.order_seed);
  return record;
}

// Whether the device can load the kernel's image. A GPU that the user did not request may fail.
bool loads(Device& device, const KernelChoice& kernel) {
  try {
    device.load(image_of(*kernel.kernel, first_entry_of(kernel)));
    return true;
  } catch (const StatusError& error) {
    if (error.status().code != StatusCode::kUnavailable) throw;
    return false;
  }
}

// Runs one rung. Without a fallback, one device gives all results. With a fallback, the virtual GPU
// gives the counts, for a small shape, and the GPU, if it can load the kernel, all other results.
Rung climb(const KernelChoice& kernel, const ProblemOptions& options, Devices& devices,
           const lab::BenchOptions& settings) {
  const Types& types = kernel.kernel->types;
  Rung rung;
  if (!devices.fallback) {
    const Shape& otherwise = devices.is_cuda() ? kGpuShape : kVirtualShape;
    rung.row = run_on(*devices.device, kernel, one_problem_of(options, types, otherwise, "ladder"),
                      settings);
    rung.records = {rung.row};
    return rung;
  }
  const lab::Record counted = run_on(*devices.fallback, kernel,
                                     one_problem_of({}, types, kVirtualShape, "ladder"), settings);
  rung.records = {counted};
  rung.row = counted;
  if (!loads(*devices.device, kernel)) return rung;
  const Problem problem = one_problem_of(options, types, kGpuShape, "ladder");
  rung.row = run_on(*devices.device, kernel, problem, settings);
  rung.records.push_back(rung.row);
  rung.row.counts = counted.counts;
  rung.row.limited_by = counted.limited_by;
  rung.row.host_seconds = counted.host_seconds;
  return rung;
}

// The peak in TFLOP/s of the unit that the kernel multiplies on: measured if possible, else
// computed from lanes and clock; 0 for an unknown device.
double peak_of(const lab::Record& record) {
  const arch::Gpu* gpu = arch::find_gpu(record.device);
  if (!gpu) return 0;
  const bool on_tensor_cores = record.counts && record.counts->matrix.warp > 0;
  return lab::reachable_peak(*gpu, record.problem.types, on_tensor_cores);
}

vgpu::LaunchMemory one_access() {
  vgpu::LaunchMemory memory;
  memory.counted = true;
  memory.loads.global.requests = memory.loads.global.requested_bytes = 1;
  memory.loads.shared.requests = 1;
  return memory;
}

// The part of "as 15 (PTX); cubin proved equal" that a terminal shows. Files hold the whole text.
std::string short_cell(const std::string& cell) { return cell.substr(0, cell.find(';')); }

// The longest text that a terminal shows for a verification on the virtual GPU.
std::string longest_verified() {
  std::string longest = "sampled";
  for (const Kernel& kernel : all_kernels()) {
    const std::string proof = short_cell(lab::verified_by_proof(kernel));
    if (proof.size() > longest.size()) longest = proof;
  }
  return longest;
}

// A record with all figures that rungs can have on these devices. WHY: columns are chosen
// before the first rung has run.
lab::Record full_record(const Devices& devices, const Problem& problem) {
  constexpr double kLongest = 0.01234;  // four digits; no figure is longer
  lab::Record full;
  full.kernel = all_kernels().front().name;
  full.idea =
      std::ranges::max(all_kernels(), {}, [](const Kernel& k) { return k.idea.size(); }).idea;
  full.problem = problem;
  full.device = devices.device->info().name;
  full.verified = "sampled";
  full.max_error_ratio = 1.0;
  if (!devices.is_cuda() || devices.fallback) {
    full.counts.emplace();
    full.counts->total.thread = full.counts->fma.thread = full.counts->shared_loads[4].thread = 1;
    full.counts->fma.warp = full.counts->flop = full.counts->useful_flop = 1;
    full.counts->memory = one_access();
    full.counts->memory.loads.shared.lanes = 1;
    full.limited_by = "scattered global accesses";
    full.host_seconds = kLongest;
    full.verified = longest_verified();
  }
  if (devices.is_cuda()) {
    full.time_ms = lab::Summary{kLongest, kLongest, kLongest, 1};
    full.tflops = kLongest;
    full.ratio_to_vendor = 1.0;
    full.vendor = lab::VendorTime{"", *full.time_ms};
  }
  return full;
}

// The heading shows the shape, which is the same in all rows.
bool is_shown(const std::string& column) { return column != "m x n x k"; }

// Columns that a narrow terminal may leave out, beginning with the last column of this list.
const std::vector<std::string> kOptional = {
    "of peak",           "x vendor",        "idea",   "FMA:LDS",    "excess/FMA", "device",
    "lane instructions", "sectors/request", "host s", "error/bound"};

// Prints the row of a rung when it is done, and keeps the row for files.
class LadderPrinter {
 public:
  LadderPrinter(const Devices& devices, const Problem& problem, bool prints) : prints_(prints) {
    const lab::Record full = full_record(devices, problem);
    const Table columns = lab::ladder_table({full}, std::max(1.0, peak_of(full)));
    table_.header = columns.header;
    std::vector<LiveColumn> live;
    for (std::size_t i = 0; i < columns.header.size(); ++i) {
      const std::string& cell = columns.rows.at(0).at(i);
      const bool is_number = cell.find_first_not_of("0123456789.%") == std::string::npos;
      if (is_shown(columns.header[i])) live.push_back({columns.header[i], cell.size(), is_number});
    }
    for (const Kernel& kernel : all_kernels()) {
      live.at(0).width = std::max(live.at(0).width, kernel.name.size());
    }
    // WHY last: if a line is too long, it then breaks in the words of the
    // idea, not between figures.
    std::ranges::stable_partition(live, [](const LiveColumn& c) { return c.header != "idea"; });
    left_out_ = fit_to_width(live, terminal_width(), kOptional);
    for (const LiveColumn& column : live) shown_.push_back(column.header);
    live_ = std::make_unique<LiveTable>(std::move(live));
    if (prints_) fmt::print("{}", live_->header());
    std::fflush(stdout);
  }

  void print(const lab::Record& row) {
    const Table one = lab::ladder_table({row}, peak_of(row));
    const auto cell_of = [&one](const std::string& column) -> std::string {
      const auto at = std::ranges::find(one.header, column);
      return at == one.header.end() ? "-" : one.rows.at(0).at(at - one.header.begin());
    };
    std::vector<std::string> cells, shown;
    for (const std::string& column : table_.header) cells.push_back(cell_of(column));
    for (const std::string& column : shown_) shown.push_back(short_cell(cell_of(column)));
    if (prints_) fmt::print("{}", live_->line(shown));
    std::fflush(stdout);
    cells.push_back(row.command);
    table_.rows.push_back(std::move(cells));
  }

  // The columns that do not fit the terminal.
  const std::vector<std::string>& left_out() const { return left_out_; }

  // All rows, each with the command that repeats the row.
  Table table() const {
    Table table = table_;
    table.header.emplace_back("command");
    return table;
  }

 private:
  bool prints_;
  Table table_;
  std::vector<std::string> shown_, left_out_;
  std::unique_ptr<LiveTable> live_;
};

std::string size_of_problem(const Problem& problem) {
  return fmt::format("{} x {} x {}", problem.m, problem.n, problem.k);
}

void print_heading(const Problem& problem, const Devices& devices, const Baseline& baseline) {
  if (!devices.is_cuda()) {
    fmt::print("{} on the virtual GPU.\n", size_of_problem(problem));
    if (!devices.note.empty()) fmt::print("No GPU is used: {}.\n", devices.note);
  } else {
    fmt::print("{} on {}; vendor: {}.\n", size_of_problem(problem), devices.device->info().name,
               baseline.description);
    if (devices.fallback) {
      fmt::print("Counts and seconds: {} on the virtual GPU, as are rows marked 'virtual'.\n",
                 size_of_problem(one_problem_of({}, kF32Types, kVirtualShape, "ladder")));
    }
  }
  fmt::print("\n");
}

// The families that are missing in a table of rungs: "simt, dmma, wgmma", once each. Empty if the
// table has kernels of the library.
std::string families_left_out(const std::vector<KernelChoice>& shown) {
  std::vector<std::string> families;
  for (const KernelChoice& kernel : choose_kernels("library")) {
    const std::string& name = kernel.kernel->name;
    const std::string family = name.substr(0, name.find('_'));
    if (std::ranges::find(families, family) == families.end()) families.push_back(family);
    if (std::ranges::find(shown, kernel.kernel, &KernelChoice::kernel) != shown.end()) return "";
  }
  return fmt::format("{}", fmt::join(families, ", "));
}

void print_end(const std::vector<KernelChoice>& kernels, const std::vector<lab::Record>& records,
               const std::vector<std::string>& left_out) {
  fmt::print("{}", again_line(records));
  fmt::print("{}", left_out_line(left_out, terminal_width()));
  const std::string families = families_left_out(kernels);
  if (families.empty()) return;
  fmt::print(
      "The library's kernels ({}) are not rungs. They show with: tessera ladder --kernel library\n",
      families);
}

lab::BenchOptions settings_of(const LadderArguments& options, const Baseline& baseline) {
  lab::BenchOptions settings;
  settings.verify.seed = parse_seed(options.seed);
  settings.measure.seed = options.seed.empty() ? lab::drawn_seed() : settings.verify.seed;
  settings.modes = {lab::Mode::kBurst};
  settings.vendor = baseline.vendor.get();
  settings.stop = interrupted;
  return settings;
}

int ladder(const LadderArguments& options) {
  options.output.check({{"--shapes", options.problem.shapes}});
  parse_seed(options.seed);
  // WHY: refuses a bad name before a device is opened
  if (options.problem.kernel != kBestKernel) kernels_of(options.problem);
  Devices devices = open_devices(options.device);
  count_memory(devices);
  const Shape& otherwise = devices.is_cuda() ? kGpuShape : kVirtualShape;
  const std::vector<KernelChoice> kernels =
      kernels_of(options.problem, otherwise, gemm::limits_of(devices.device->info()), "ladder");
  const Problem problem =
      one_problem_of(options.problem, kernels.front().kernel->types, otherwise, "ladder");
  const Baseline baseline = load_baseline(options.device, devices);
  const bool prints = options.output.prints_text();
  if (prints) print_heading(problem, devices, baseline);

  lab::BenchOptions settings = settings_of(options, baseline);
  LadderPrinter printer(devices, problem, prints);
  std::vector<lab::Record> records;
  Progress bar(static_cast<std::int64_t>(kernels.size()));
  bool failed = false;
  for (std::size_t i = 0; i < kernels.size() && !interrupted(); ++i) {
    bar.show(i, kernels[i].kernel->name);
    const Rung rung = climb(kernels[i], options.problem, devices, settings);
    bar.wipe();
    if (rung.row.kernel.empty()) break;
    printer.print(rung.row);
    records.insert(records.end(), rung.records.begin(), rung.records.end());
    for (const lab::Record& record : rung.records) {
      if (record.verified != "failed") continue;
      failed = true;
      fmt::print(stderr, "{} is wrong: {}\n  {}\n", record.kernel, record.reason, record.command);
    }
  }
  const lab::Environment environment = environment_of(devices, baseline, settings.verify.seed);
  options.output.write(lab::to_json(environment, records), printer.table());
  if (prints) print_end(kernels, records, printer.left_out());
  if (failed) return kCheckFailed;
  return interrupted() ? kInterrupted : kOk;
}

}  // namespace

Command ladder_command() {
  return {"ladder", "every rung in one table: verified, counted, and timed on a GPU",
          "  tessera ladder\n"
          "  tessera ladder --kernel library\n"
          "  tessera ladder --device virtual --kernel 01,02,07 -m 256 -n 256 -k 64\n"
          "  tessera ladder --md table.md --json rungs.json",
          [](Parser& parser) {
            auto options = std::make_shared<LadderArguments>();
            options->problem.kernel = "rungs";
            add_kernel_options(parser, options->problem);
            add_shape_options(parser, options->problem);
            add_scale_options(parser, options->problem);
            add_device_options(parser, options->device);
            add_vendor_option(parser, options->device);
            add_seed_option(parser, options->seed);
            options->output.add_options(parser);
            return [options] { return ladder(*options); };
          }};
}

}  // namespace tessera::cli
