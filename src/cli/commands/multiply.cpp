// tessera multiply A.npy B.npy -o D.npy: multiplies a user's own matrices with
// any kernel of the catalog.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>

#include "base/interrupt.h"
#include "base/numbers.h"
#include "base/progress.h"
#include "cli/command.h"
#include "cli/files/file_product.h"
#include "cli/options/parser.h"
#include "cli/options/session.h"
#include "cli/terminal/output.h"
#include "gemm/rewrites/widen.h"

namespace tessera::cli {
namespace {

struct MultiplyArguments {
  bool names_kernel() const { return !kernel.empty() && kernel != kBestKernel; }
  std::string a, b, c, output, kernel, type, alpha, beta;
  DeviceOptions device;
  Output report;
};

// Refuses an output that is the file of A or B, which are still being read;
// the file of C is allowed.
void check_output(const MultiplyArguments& options) {
  for (const auto& [name, path] : {std::pair{"A", options.a}, std::pair{"B", options.b}}) {
    std::error_code error;
    if (!std::filesystem::equivalent(options.output, path, error)) continue;
    throw StatusError(Status::bad_argument(fmt::format(
        "-o is '{}', but must not be the file of {}; choose another", options.output, name)));
  }
  if (options.output == "-") {
    throw StatusError(Status::bad_argument("-o is '-', but must be the path of a file"));
  }
  lab::check_writable(options.output, "-o");
}

std::string names_of(const std::vector<KernelChoice>& kernels) {
  constexpr std::size_t kShown = 8;
  std::string names;
  for (const KernelChoice& one : std::span(kernels).first(std::min(kShown, kernels.size()))) {
    names += (names.empty() ? "" : ", ") + one.kernel->name + "/" + one.variant;
  }
  return names + (kernels.size() > kShown ? ", ..." : "");
}

// The one kernel that --kernel names. For a kernel of the library without a variant, the model
// chooses among all variants. Throws kBadArgument unless the kernel computes the types.
KernelChoice named_kernel(const std::string& name, const Types& types) {
  const std::vector<KernelChoice> kernels = choose_kernels(name);
  if (kernels.size() != 1) {
    throw StatusError(Status::bad_argument(
        fmt::format("--kernel is '{}', which names {} kernels, but must name one; choose one of "
                    "{}, or a name without a variant: then the fastest by model is taken",
                    name, kernels.size(), names_of(kernels))));
  }
  KernelChoice choice = kernels.front();
  if (choice.kernel->types != types) {
    throw StatusError(Status::bad_argument(fmt::format(
        "--kernel is '{}', which computes {}, but must compute {} as A and B hold; leave --kernel "
        "out, or round A and B by --type {}",
        name, name_of(choice.kernel->types), name_of(types), name_of(choice.kernel->types))));
  }
  if (name.find('/') == name.npos && !is_rung(*choice.kernel)) choice.variant.clear();
  return choice;
}

// Options with the kernel that the user named; else default options, for the library's choice.
gemm::PlanOptions plan_options_for(const MultiplyArguments& options, const Problem& problem) {
  if (!options.names_kernel()) return {};
  return {.kernel = named_kernel(options.kernel, problem.types)};
}

// The value of --beta; without the option 1 with a C, and 0 without a C.
double beta_of(const MultiplyArguments& options) {
  if (options.beta.empty()) return options.c.empty() ? 0.0 : 1.0;
  const double beta = parse_real("--beta", options.beta);
  if (beta != 0 && options.c.empty()) {
    throw StatusError(Status::bad_argument(fmt::format(
        "--beta is '{}', but must be 0 without a matrix C; give one with --c", options.beta)));
  }
  return beta;
}

struct Outcome {
  ProductResult result;
  ElementType values;  // type to which the numbers of D are rounded
  std::string by, where;
};

// Computes on the GPU if there is one. Without a GPU: on the virtual GPU if the user named a
// kernel, type or device, else with the host's BLAS.
Outcome compute(const MultiplyArguments& options, const FileProduct& product) {
  const ElementType values = problem_of(product).types.d;
  if (options.device.device == "cpu") return {multiply_on_host(product), values, "", "cpu"};
  const Devices devices = open_devices(options.device);
  const bool asked =
      !options.device.device.empty() || !options.kernel.empty() || !options.type.empty();
  if (!devices.is_cuda() && !asked) return {multiply_on_host(product), values, "", "cpu"};
  ProductResult result =
      multiply_on_device(product, *devices.device, plan_options_for(options, problem_of(product)));
  const std::string by =
      result.kernel.kernel ? result.kernel.kernel->name + "/" + result.kernel.variant : "";
  return {std::move(result), values, by, devices.device->info().name};
}

// Makes all checks that are possible before the files are read.
void check_options(const MultiplyArguments& options) {
  options.report.check(
      {{"A", options.a}, {"B", options.b}, {"--c", options.c}, {"-o", options.output}});
  host_threads_of(options.device);
  check_output(options);
  if (!options.type.empty() && options.device.device == "cpu") {
    throw StatusError(Status::bad_argument(fmt::format(
        "--type is '{}', but must not be given with --device cpu, which multiplies what the "
        "files hold; leave --device out",
        options.type)));
  }
  if (options.kernel.empty()) return;
  if (options.names_kernel()) choose_kernels(options.kernel);
  if (options.device.device != "cpu") return;
  throw StatusError(Status::bad_argument(fmt::format(
      "--kernel is '{}', but must not be given with --device cpu, which runs no kernel; "
      "leave --device out",
      options.kernel)));
}

lab::Json summary_of(const MultiplyArguments& options, const Outcome& outcome, double seconds) {
  const NpyHeader& d = outcome.result.d.header();
  return {{"schema", lab::kSchema},
          {"output", options.output},
          {"rows", d.rows},
          {"cols", d.cols},
          {"type", name_of(d.type)},
          {"values", name_of(outcome.values)},
          {"fortran_order", d.fortran_order},
          {"device", outcome.where},
          {"kernel", outcome.by.empty() ? lab::Json() : lab::Json(outcome.by)},
          {"why", outcome.result.why.empty() ? lab::Json() : lab::Json(outcome.result.why)},
          {"code", outcome.result.code},
          {"seconds", seconds}};
}

Table table_of(const MultiplyArguments& options, const Outcome& outcome, double seconds) {
  const NpyHeader& d = outcome.result.d.header();
  return {
      {"output", "rows", "cols", "type", "values", "device", "kernel", "why", "code", "seconds"},
      {{options.output, std::to_string(d.rows), std::to_string(d.cols),
        std::string(name_of(d.type)), std::string(name_of(outcome.values)), outcome.where,
        outcome.by, outcome.result.why, outcome.result.code, fmt::format("{:.3f}", seconds)}}};
}

// A note if D's numbers are rounded to another type than the file's; else empty.
std::string rounding_text(const MultiplyArguments& options, const Outcome& outcome,
                          const Types& types) {
  const ElementType file = outcome.result.d.header().type;
  if (outcome.values == file) return "";
  std::string text =
      fmt::format("Its numbers are rounded to {} (--type {}), in a file of {} as A's",
                  name_of(outcome.values), options.type, name_of(file));
  const Types unrounded{types.a, types.b, file, file, types.compute};
  if (gemm::check_multiplied(unrounded).ok()) {
    text += fmt::format("; '--type {}' rounds A and B alone", name_of(unrounded));
  }
  return text + ".\n";
}

void say(const MultiplyArguments& options, const Outcome& outcome, double seconds) {
  const NpyHeader& d = outcome.result.d.header();
  const std::string& code = outcome.result.code;  // empty if there was nothing to compute
  const std::string& why = outcome.result.why;
  const std::string by = outcome.by + (why.empty() ? "" : fmt::format(" ({})", why)) +
                         (outcome.by.empty() || code.empty() ? "" : ", ") + code;
  fmt::print("{}: {} x {} {}, computed by {} on {} in {:.3f} s\n", options.output, d.rows, d.cols,
             name_of(d.type), by, outcome.where, seconds);
}

int multiply(const MultiplyArguments& options) {
  check_options(options);
  const double alpha = options.alpha.empty() ? 1.0 : parse_real("--alpha", options.alpha);
  const double beta = beta_of(options);
  std::optional<Types> types;
  if (!options.type.empty()) types = parse_types("--type", options.type);
  const NpyFile a = NpyFile::read(options.a, "A");
  const NpyFile b = NpyFile::read(options.b, "B");
  std::optional<NpyFile> c;
  if (!options.c.empty()) c = NpyFile::read(options.c, "C");

  Progress bar(a.header().rows);
  const auto show = [&](std::int64_t done, std::int64_t) { bar.show(done, "rows"); };
  const FileProduct product{a, b, c ? &*c : nullptr, alpha, beta, types, show, interrupted};
  const Types multiplied = problem_of(product).types;  // throws if the files do not fit together
  if (options.names_kernel()) named_kernel(options.kernel, multiplied);
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome = compute(options, product);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  bar.wipe();
  if (!outcome.result.complete) {
    fmt::print(stderr, "tessera multiply: interrupted; {} is not written\n", options.output);
    return kInterrupted;
  }
  lab::write_file(options.output, outcome.result.d.bytes(), "-o");
  options.report.write(summary_of(options, outcome, seconds), table_of(options, outcome, seconds));
  if (options.report.prints_text()) {
    say(options, outcome, seconds);
    fmt::print("{}", rounding_text(options, outcome, multiplied));
  }
  return kOk;
}

}  // namespace

Command multiply_command() {
  return {
      "multiply", "multiply NumPy files: D = alpha A B + beta C",
      "  tessera multiply a.npy b.npy -o d.npy\n"
      "  tessera multiply a.npy b.npy -o d.npy --kernel 07_vector_access --device virtual\n"
      "  tessera multiply a.npy b.npy --c c.npy --alpha 2 --beta -1 -o d.npy\n"
      "  tessera multiply a.npy b.npy -o d.npy --type bf16 --device virtual",
      [](Parser& parser) {
        auto options = std::make_shared<MultiplyArguments>();
        parser.add_option("A", options->a, "m x k matrix of float16, float32 or float64")
            .required()
            .type_name("FILE");
        parser.add_option("B", options->b, "k x n matrix of the same type")
            .required()
            .type_name("FILE");
        parser.add_option("-o,--output", options->output, "file to write D to")
            .required()
            .type_name("FILE");
        parser.add_option("--c", options->c, "m x n matrix C of the same type").type_name("FILE");
        parser.add_option("--alpha", options->alpha, "factor of A B (default 1)").type_name("X");
        parser.add_option("--beta", options->beta, "factor of C (default 1 with --c, else 0)")
            .type_name("X");
        parser
            .add_option("--kernel", options->kernel,
                        "kernel, or /VARIANT of one: of a name alone, the variant that is fastest "
                        "by model (default: best, what the library takes)")
            .type_name("K");
        parser
            .add_option(
                "--type", options->type,
                "what the numbers are rounded to and multiplied as: bf16, tf32, ... "
                "(default: as the files hold them). The file of D keeps A's type: NumPy has "
                "no bf16, so bf16 writes float32 that hold numbers of bf16; "
                "bf16,bf16,f32,f32,f32 rounds A and B alone")
            .type_name("T");
        add_device_options(parser, options->device);
        parser.get_option("--device")
            .description(
                "cuda, virtual or cpu (default: cuda; without a GPU the host's BLAS, and "
                "virtual with --kernel or --type)");
        options->report.add_options(parser);
        return [options] { return multiply(*options); };
      }};
}

}  // namespace tessera::cli
