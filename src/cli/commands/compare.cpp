// tessera compare: two kernels side by side, usually a rung and the rung before it: the differences
// in source, compiled code, counts and time.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/options/card_kernel.h"
#include "cli/options/gpu_option.h"
#include "cli/options/parser.h"
#include "cli/options/session.h"
#include "cli/terminal/output.h"
#include "device/virtual/virtual_device.h"
#include "lab/draw/picture.h"
#include "lab/explain/step.h"

namespace tessera::cli {
namespace {

struct CompareArguments {
  std::string before, after;
  ProblemOptions problem;
  DeviceOptions device;
  Output output;
  std::string gpu, seed, svg;
  bool no_diff = false;
};

KernelChoice one_kernel(const char* argument, const std::string& text,
                        const CompareArguments& options, const arch::Gpu& gpu) {
  ProblemOptions named = options.problem;
  named.kernel = text;
  named.kernel_argument = argument;
  const std::vector<KernelChoice> kernels =
      kernels_of(named, kVirtualShape, limits_of(gpu), "compare");
  if (kernels.size() == 1) return kernels.front();
  throw StatusError(Status::bad_argument(fmt::format(
      "{} is '{}', which names {} kernels, but must name one; 'tessera list' shows names "
      "and variants",
      argument, text, kernels.size())));
}

// The rows of all three tables in one table, for files.
Table all_rows(const lab::Step& step) {
  Table table = step.counts;
  table.header.front() = "what";
  table.header.emplace_back("from");
  for (auto& row : table.rows) row.emplace_back("counts on the virtual GPU");
  for (auto row : step.code.rows) {
    row.emplace_back("cubin");
    table.rows.push_back(row);
  }
  table.rows.insert(table.rows.end(), step.times.rows.begin(), step.times.rows.end());
  return table;
}

// compare BEFORE AFTER --svg PATH: draws both kernels side by side instead of writing text.
int draw(const CompareArguments& options, const KernelChoice& before, const KernelChoice& after) {
  const auto picture = [&](const KernelChoice& kernel) {
    const Problem problem =
        one_problem_of(options.problem, kernel.kernel->types, kVirtualShape, "compare --svg");
    return lab::draw(kernel, problem, parse_seed(options.seed));
  };
  const std::string svg = lab::picture_svg(picture(before), picture(after));
  lab::write_file(options.svg, svg, "--svg");
  return kOk;
}

int compare(const CompareArguments& options) {
  options.output.check({{"--svg", options.svg}, {"--shapes", options.problem.shapes}});
  const std::uint64_t seed = parse_seed(options.seed);
  const arch::Gpu& gpu = gpu_of(options.gpu);
  const KernelChoice before = one_kernel("BEFORE", options.before, options, gpu);
  const KernelChoice after = one_kernel("AFTER", options.after, options, gpu);
  if (!options.svg.empty()) return draw(options, before, after);
  VirtualDeviceOptions settings;
  settings.host_threads = host_threads_of(options.device);
  const std::unique_ptr<Device> device = make_virtual_device(settings);
  CardKernels card(gpu);
  const auto run = [&](const KernelChoice& choice) {
    const KernelChoice kernel = card.on_card(choice);
    const Problem problem =
        one_problem_of(options.problem, kernel.kernel->types, kVirtualShape, "compare");
    return lab::count_run(*device, kernel, problem, seed, lab::sample_for(kernel, problem));
  };
  lab::Step step = lab::compare_step(run(before), run(after), gpu, lab::SourceTree());
  if (options.no_diff) {
    step.files.clear();
    step.source_note.clear();
  }

  lab::Json object = lab::to_json(step);
  object["schema"] = "tessera.compare/1";
  object["command"] = command_line();
  options.output.write(object, all_rows(step));
  if (options.output.prints_text()) {
    fmt::print("{}", render(step, isatty(STDOUT_FILENO) == 1));
  }
  return kOk;
}

void declare_options(Parser& parser, CompareArguments& options) {
  parser
      .add_option("BEFORE", options.before,
                  "name or number of a kernel, or 'best'; add /VARIANT for a variant")
      .required();
  parser.add_option("AFTER", options.after, "the kernel to compare it with").required();
  add_type_option(parser, options.problem);
  add_shape_options(parser, options.problem);
  add_scale_options(parser, options.problem);
  add_gpu_option(parser, options.gpu);
  parser.add_flag("--no-diff", options.no_diff, "leave out the source diff");
  parser
      .add_option("--svg", options.svg,
                  "draw both instead: tiles, sectors and banks of one warp (- is stdout)")
      .type_name("PATH");
  add_threads_option(parser, options.device);
  add_seed_option(parser, options.seed);
  options.output.add_options(parser);
}

}  // namespace

Command compare_command() {
  return {"compare", "what one step changed: source, cubin, counts, time",
          "  tessera compare 05 06\n"
          "  tessera compare 12 12/staged --no-diff\n"
          "  tessera compare 03 05 -m 1024 --md step.md\n"
          "  tessera compare 03 05 --svg step.svg",
          [](Parser& parser) {
            auto options = std::make_shared<CompareArguments>();
            declare_options(parser, *options);
            return [options] { return compare(*options); };
          }};
}

}  // namespace tessera::cli
