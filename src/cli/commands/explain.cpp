// tessera explain: what limits a kernel, and which of its lines cost most, from
// counts on the virtual GPU.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "arch/gpus.h"
#include "base/interrupt.h"
#include "base/numbers.h"
#include "cli/command.h"
#include "cli/options/card_kernel.h"
#include "cli/options/gpu_option.h"
#include "cli/options/parser.h"
#include "cli/options/session.h"
#include "cli/terminal/output.h"
#include "device/virtual/virtual_device.h"
#include "lab/draw/element.h"
#include "lab/draw/picture.h"
#include "lab/explain/explain.h"

namespace tessera::cli {
namespace {

struct ExplainArguments {
  ProblemOptions problem;
  DeviceOptions device;
  Output output;
  std::string gpu, lines, sample, seed, element, svg;
};

std::uint64_t sample_of(const ExplainArguments& options, const KernelChoice& kernel,
                        const Problem& problem) {
  if (options.sample.empty()) return lab::sample_for(kernel, problem);
  return static_cast<std::uint64_t>(parse_integer("--sample", options.sample, 0, 1 << 30));
}

// The one kernel that --svg and --element need. Throws kBadArgument if the user named several.
KernelChoice only_kernel(const ExplainArguments& options, const char* option) {
  const std::vector<KernelChoice> kernels =
      kernels_of(options.problem, kVirtualShape, limits_of(gpu_of(options.gpu)), "explain");
  if (kernels.size() == 1) return kernels.front();
  throw StatusError(Status::bad_argument(
      fmt::format("KERNEL is '{}', which names {} kernels, but {} takes one; 'tessera "
                  "list' shows names and variants",
                  options.problem.kernel, kernels.size(), option)));
}

// explain KERNEL --element NAME: shows the threads that write and read one word.
int explain_element(const ExplainArguments& options) {
  const lab::ElementName element = lab::parse_element("--element", options.element);
  const KernelChoice kernel = only_kernel(options, "--element");
  const Problem problem =
      one_problem_of(options.problem, kernel.kernel->types, kVirtualShape, "explain --element");
  VirtualDeviceOptions settings;
  settings.host_threads = host_threads_of(options.device);
  const std::unique_ptr<Device> device = make_virtual_device(settings);
  const lab::ElementUse use =
      lab::element_use(*device, kernel, problem, element, lab::SourceTree());
  if (!options.svg.empty()) lab::write_file(options.svg, lab::element_svg(use), "--svg");
  lab::Json object = {{"schema", "tessera.element/1"}, {"command", command_line()}};
  object.update(lab::to_json(use));
  options.output.write(object, lab::element_table(use));
  if (options.output.prints_text() && options.svg != "-") fmt::print("{}", lab::render(use));
  return kOk;
}

// explain KERNEL --svg PATH: draws the kernel instead of writing text.
int draw(const ExplainArguments& options) {
  const KernelChoice kernel = only_kernel(options, "--svg");
  const Problem problem =
      one_problem_of(options.problem, kernel.kernel->types, kVirtualShape, "explain --svg");
  const lab::KernelPicture picture = lab::draw(kernel, problem, parse_seed(options.seed));
  lab::write_file(options.svg, lab::picture_svg(picture), "--svg");
  return kOk;
}

int explain(const ExplainArguments& options) {
  options.output.check({{"--svg", options.svg}, {"--shapes", options.problem.shapes}});
  if (!options.element.empty()) return explain_element(options);
  if (!options.svg.empty()) return draw(options);
  const std::uint64_t seed = parse_seed(options.seed);
  const arch::Gpu& gpu = gpu_of(options.gpu);
  const int lines = options.lines.empty()
                        ? 6
                        : static_cast<int>(parse_integer("--lines", options.lines, 1, 1000));
  VirtualDeviceOptions settings;
  settings.host_threads = host_threads_of(options.device);
  const std::unique_ptr<Device> device = make_virtual_device(settings);
  lab::Json object = {{"schema", "tessera.explain/1"}, {"command", command_line()}};
  Table table;
  CardKernels card(gpu);
  for (const KernelChoice& choice :
       kernels_of(options.problem, kVirtualShape, limits_of(gpu), "explain")) {
    if (interrupted()) break;
    const KernelChoice kernel = card.on_card(choice);
    const Problem problem =
        one_problem_of(options.problem, kernel.kernel->types, kVirtualShape, "explain");
    const std::uint64_t sample = sample_of(options, kernel, problem);
    const lab::Explanation explanation = lab::explain(
        lab::count_run(*device, kernel, problem, seed, sample), gpu, lab::SourceTree());
    object["explained"].push_back(lab::to_json(explanation, lines));
    const Table rows = lab::lines_table(explanation);
    table.header = rows.header;
    table.rows.insert(table.rows.end(), rows.rows.begin(), rows.rows.end());
    if (options.output.prints_text()) {
      const bool is_first = object["explained"].size() == 1;
      fmt::print("{}{}", is_first ? "" : "\n" + std::string(98, '=') + "\n\n",
                 render(explanation, lines));
      std::fflush(stdout);
    }
  }
  options.output.write(object, table);
  return interrupted() ? kInterrupted : kOk;
}

void declare_options(Parser& parser, ExplainArguments& options) {
  options.problem.kernel_argument = "KERNEL";
  parser
      .add_option("KERNEL,--kernel", options.problem.kernel,
                  "name, number, glob, list or 'best'; add /VARIANT for a variant. A FILE.cu or "
                  "FILE.ptx of "
                  "your own takes the arguments of check")
      .required();
  add_type_option(parser, options.problem);
  add_shape_options(parser, options.problem);
  add_scale_options(parser, options.problem);
  add_gpu_option(parser, options.gpu);
  parser.add_option("--lines", options.lines, "source lines to show (default 6)").type_name("N");
  parser
      .add_option("--sample", options.sample,
                  "run about this many thread blocks; 0: all (default: as many as take a second)")
      .type_name("N");
  parser
      .add_option("--element", options.element,
                  "who writes and reads one word, 'tile_a[5][7]' in shared memory or 'A[5][7]'")
      .type_name("NAME");
  parser
      .add_option("--svg", options.svg,
                  "draw it instead: tiles, sectors and banks of one warp (- is stdout)")
      .type_name("PATH");
  add_threads_option(parser, options.device);
  add_seed_option(parser, options.seed);
  options.output.add_options(parser);
}

}  // namespace

Command explain_command() {
  return {"explain", "what limits a kernel, and which line costs most, by count; needs no GPU",
          "  tessera explain 03\n"
          "  tessera explain 12/compact -m 4096 --gpu a100\n"
          "  tessera explain 06 --layout TN --json -\n"
          "  tessera explain 03 --element 'tile_a[5][7]'\n"
          "  tessera explain 05 --svg 05.svg\n"
          "  tessera explain my.cu --grid 4 --block 256 --arg 'x=f32[1024]:uniform'",
          [](Parser& parser) {
            auto options = std::make_shared<ExplainArguments>();
            declare_options(parser, *options);
            return [options] { return explain(*options); };
          }};
}

}  // namespace tessera::cli
