// tessera roofline: kernels against the limits of a GPU, by counts on the
// virtual GPU and predicted times.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "arch/costs.h"
#include "base/progress.h"
#include "cli/command.h"
#include "cli/options/card_kernel.h"
#include "cli/options/gpu_option.h"
#include "cli/options/parser.h"
#include "cli/options/session.h"
#include "cli/terminal/fitted.h"
#include "cli/terminal/live_table.h"
#include "cli/terminal/output.h"
#include "device/virtual/virtual_device.h"
#include "lab/explain/roofline.h"
#include "lab/model/predict.h"
#include "lab/record/measured.h"

namespace tessera::cli {
namespace {

constexpr std::uint64_t kCtas = 64;  // CTAs that are counted of a large problem

struct RooflineArguments {
  ProblemOptions problem;
  DeviceOptions device;
  Output output;
  std::string gpu, svg, measured, seed;
};

void require_same_gpu(const std::vector<lab::Measured>& runs, const arch::Gpu& gpu) {
  for (const lab::Measured& run : runs) {
    if (run.device.find(gpu.match) != std::string::npos) continue;
    throw StatusError(Status::bad_argument(
        fmt::format("--measured is '{}', which was measured on '{}', but must be of the GPU that "
                    "--gpu names, an {}; name the other GPU, or leave --measured out",
                    run.file, run.device, gpu.match)));
  }
}

// The burst time of a kernel on this problem, in milliseconds; none if it was not measured.
std::optional<double> measured_ms(const std::vector<lab::Measured>& runs,
                                  const lab::RooflinePoint& point, const Problem& problem) {
  for (const lab::Measured& run : runs) {
    const bool same = run.kernel == point.kernel && run.config == point.config &&
                      run.m == problem.m && run.n == problem.n && run.k == problem.k &&
                      run.layout == layout_of(problem) && run.order == name_of(problem.order) &&
                      run.alpha == problem.alpha && run.beta == problem.beta;
    if (same && run.mode == "burst") return run.ms;
  }
  return std::nullopt;
}

Problem the_problem(const ProblemOptions& options, const Types& types) {
  const std::vector<Problem> problems = problems_of(options, types, kGpuShape);
  if (problems.size() == 1) return problems.front();
  throw StatusError(Status::bad_argument(
      fmt::format("-m, -n, -k, --layout and --order name {} problems, but roofline draws one; give "
                  "each one value",
                  problems.size())));
}

lab::Roofline survey(const RooflineArguments& options, const arch::Gpu& gpu) {
  std::vector<lab::Measured> measured;
  if (!options.measured.empty()) measured = lab::measured_in(options.measured, "--measured");
  require_same_gpu(measured, gpu);
  const std::uint64_t seed = parse_seed(options.seed);
  VirtualDeviceOptions settings;
  settings.host_threads = host_threads_of(options.device);
  const std::unique_ptr<Device> device = make_virtual_device(settings);
  const std::vector<KernelChoice> kernels =
      kernels_of(options.problem, kGpuShape, limits_of(gpu), "roofline");
  Progress bar(static_cast<std::int64_t>(kernels.size()));
  std::vector<lab::RooflinePoint> points;
  std::vector<lab::NotDrawn> not_drawn;
  std::string size;
  CardKernels card(gpu);
  for (const KernelChoice& choice : kernels) {
    bar.show(static_cast<std::int64_t>(points.size() + not_drawn.size()), name_of(choice));
    const Problem problem = the_problem(options.problem, choice.kernel->types);
    size = fmt::format("{} x {} x {}", problem.m, problem.n, problem.k);
    try {
      const std::string why = why_not_on(*choice.kernel, gpu);
      if (!why.empty() && kernels.size() > 1) throw StatusError(Status::unsupported(why));
      const KernelChoice kernel = card.on_card(choice);
      const std::uint64_t sample = lab::sample_for(kernel, problem) ? kCtas : 0;
      const lab::CountedRun run = lab::count_run(*device, kernel, problem, seed, sample);
      points.push_back(lab::roofline_point(run, kernel.variant, gpu));
      points.back().measured_ms = measured_ms(measured, points.back(), problem);
    } catch (const StatusError& error) {
      if (error.status().code != StatusCode::kUnsupported || kernels.size() == 1) throw;
      not_drawn.push_back({name_of(choice), error.status().message});
    }
  }
  lab::Roofline roofline = lab::roofline_of(gpu, std::move(points));
  roofline.not_drawn = std::move(not_drawn);
  roofline.size = size;
  roofline.measured = options.measured;
  return roofline;
}

const Fit kRooflineFit{{"config", "predicted ms", "TFLOP/s", "bound (model)", "FLOP/byte requested",
                        "of peak", "measured ms", "footprint", "sector", "counts"},
                       {}};

int roofline(const RooflineArguments& options) {
  options.output.check({{"--svg", options.svg}, {"--shapes", options.problem.shapes}});
  const lab::Roofline result = survey(options, gpu_of(options.gpu));
  if (!options.svg.empty()) lab::write_file(options.svg, lab::roofline_svg(result), "--svg");
  const Table table = lab::roofline_table(result);
  options.output.write(lab::to_json(result), table);
  if (options.output.prints_text() && options.svg != "-") {
    fmt::print("Roofline of NVIDIA {}, {}\n\n", result.gpu.match, result.size);
    for (const lab::BandwidthRoof& roof : result.bandwidths) {
      fmt::print("  {:<20} {:8.0f} GB/s\n", roof.name, roof.gbs);
    }
    for (const lab::ComputeRoof& roof : result.peaks) {
      fmt::print("  {:<20} {:8.1f} TFLOP/s\n", roof.name, roof.tflops);
    }
    const std::size_t width = terminal_width();
    fmt::print("\n{}\n{}\n", fitted(table, kRooflineFit, width),
               wrapped(fmt::format("predicted ms: model ({})", result.model), width));
    for (const lab::NotDrawn& absent : result.not_drawn) {
      fmt::print("{}\n",
                 wrapped(fmt::format("Not drawn: {} ({}).", absent.kernel, absent.why), width, 2));
    }
  }
  return kOk;
}

}  // namespace

Command roofline_command() {
  return {"roofline",
          "kernels against the limits of a GPU: FLOP per byte, predicted time, a drawing",
          "  tessera roofline all\n"
          "  tessera roofline 05,06,12 --gpu a100 -m 2048 --svg roofline.svg\n"
          "  tessera roofline all --measured results/ladder/h200_ladder_4096.json --svg -",
          [](Parser& parser) {
            auto options = std::make_shared<RooflineArguments>();
            options->problem.kernel_argument = "KERNELS";
            parser.add_option("KERNELS,--kernel", options->problem.kernel,
                              "names, numbers, globs, all or 'best'");
            add_type_option(parser, options->problem);
            add_shape_options(parser, options->problem);
            add_gpu_option(parser, options->gpu);
            parser.add_option("--svg", options->svg, "write the drawing (- is stdout)")
                .type_name("FILE");
            parser
                .add_option("--measured", options->measured,
                            "show the times of a file from bench --json")
                .type_name("FILE");
            add_threads_option(parser, options->device);
            add_seed_option(parser, options->seed);
            options->output.add_options(parser);
            return [options] { return roofline(*options); };
          }};
}

}  // namespace tessera::cli
