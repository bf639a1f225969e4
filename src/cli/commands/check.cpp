// tessera check FILE --kernel NAME --grid X --block X --arg ...: runs a user's own kernel on the
// virtual GPU, under all checks and in several legal orders. Reports errors and how to fix them.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/interrupt.h"
#include "base/numbers.h"
#include "base/progress.h"
#include "check/bind.h"
#include "check/report/report.h"
#include "check/runs/cost.h"
#include "check/runs/run.h"
#include "cli/check_call/call.h"
#include "cli/command.h"
#include "cli/options/gpu_option.h"
#include "cli/options/launch_shape.h"
#include "cli/options/parser.h"
#include "cli/options/session.h"
#include "cli/terminal/output.h"

namespace tessera::cli {
using namespace checking;  // the code of check

namespace {

// The files to which --out writes arrays after the run. Checked before the run.
std::vector<NamedFile> parse_outputs(const CheckArguments& options,
                                     const std::vector<HostArray>& arrays) {
  std::vector<NamedFile> outputs;
  for (const std::string& text : options.outputs) {
    const NamedFile file = parse_named_file("--out", text);
    array_named(arrays, file.name, "--out");
    lab::check_writable(file.path, "--out");
    std::error_code error;
    const auto same = [&](const NamedFile& other) { return other.path == file.path; };
    if (file.path == "-" || std::filesystem::equivalent(file.path, options.file, error) ||
        std::any_of(outputs.begin(), outputs.end(), same)) {
      throw StatusError(Status::bad_argument(fmt::format(
          "--out is '{}', but must be a file of its own, and not that of the kernel; name another",
          text)));
    }
    outputs.push_back(file);
  }
  return outputs;
}

void check_reports(const CheckArguments& options) {
  std::vector<NamedPath> files = {{"FILE", options.file}};
  for (const std::string& text : options.outputs) {
    files.push_back({"--out", parse_named_file("--out", text).path});
  }
  for (const std::string& text : options.expectations) {
    files.push_back({"--expect", parse_named_file("--expect", text).path});
  }
  options.report.check(files);
}

void write_outputs(const std::vector<NamedFile>& outputs, const CheckResult& result) {
  for (const NamedFile& output : outputs) {
    if (result.results.empty()) {
      fmt::print(stderr, "tessera check: no run came to its end; {} is not written\n", output.path);
      continue;
    }
    lab::write_file(output.path, npy_file_of(array_named(result.results, output.name, "--out")),
                    "--out");
  }
}

int lines_of(const CheckArguments& options) {
  return options.lines.empty() ? 6
                               : static_cast<int>(parse_integer("--lines", options.lines, 1, 1000));
}

// explain FILE: shows the cost of the kernel, without checks.
int explain_cost(const CheckArguments& options, const CheckPlan& plan) {
  const int lines = lines_of(options);
  const lab::Explanation cost = cost_of(plan, gpu_of(options.gpu));
  lab::Json object = {{"schema", "tessera.cost/1"},
                      {"command", command_line()},
                      {"file", plan.code.path},
                      {"kernel", plain_kernel_name(plan.kernel.name)}};
  object.update(lab::launch_json(cost, lines));
  options.report.write(object, lab::lines_table(cost));
  if (options.report.prints_text()) {
    fmt::print("{}: kernel {}; rates of {}\n\n{}", plan.code.path,
               plain_kernel_name(plan.kernel.name), cost.gpu.name, lab::render_launch(cost, lines));
  }
  return kOk;
}

// False if no run has finished: then the counts are incomplete.
bool can_be_counted(const CheckResult& result) {
  return std::any_of(result.runs.begin(), result.runs.end(),
                     [](const checking::CheckRun& run) { return run.finished; });
}

int report_of(const CheckArguments& options, const CheckPlan& plan, const CheckResult& result) {
  CheckReport report{plan, result, command_line()};
  report.all = options.all;
  report.quiet = options.quiet;
  lab::Json object = json_of(report);
  report.command = to_paste(report.command);
  std::string text = text_of(report);
  if (options.cost && can_be_counted(result)) {
    const lab::Explanation cost = cost_of(plan, gpu_of(options.gpu));
    object["cost"] = lab::launch_json(cost, lines_of(options));
    text += "\n" + lab::render_launch(cost, lines_of(options));
  }
  options.report.write(object, table_of(report));
  if (options.report.prints_text()) fmt::print("{}", text);
  if (result.wrong() != 0) return kCheckFailed;
  return result.stopped ? kInterrupted : kOk;
}

// Says what is wrong with the call, and proposes a correct call.
int refuse(const CheckArguments& options, const Code& code,
           const std::vector<vgpu::KernelSignature>& kernels, const vgpu::KernelSignature& kernel,
           const std::vector<Argument>& arguments, const std::string& problem) {
  fmt::print(stderr, "{}: {}\n", options.command(), problem);
  const std::string table = parameter_table(kernel, arguments);
  if (!table.empty()) fmt::print(stderr, "\n{}", table);
  ProposalRequest request = request_of(options, code, arguments);
  request.said = problem;
  show_proposal(request, kernels, kernel);
  return kBadCall;
}

// Proposes a call for each kernel, if the user named no kernel or several.
int propose_all(const CheckArguments& options, const Code& code,
                const std::vector<vgpu::KernelSignature>& kernels,
                const std::vector<vgpu::KernelSignature>& named) {
  try {
    choose_kernel(kernels, options.kernel, options.file);
  } catch (const StatusError& error) {
    fmt::print(stderr, "{}: {}\n", options.command(), error.status().message);
  }
  show_proposals(request_of(options, code, {}), kernels, named);
  return kBadCall;
}

int check(const CheckArguments& options) {
  check_reports(options);
  std::vector<Argument> arguments = parse_arguments(options);
  Code code = read_code(options.file, nvcc_arguments_of(options));
  const std::vector<vgpu::KernelSignature> kernels = kernels_of(code);
  const std::vector<vgpu::KernelSignature> named =
      options.kernel.empty() ? kernels : kernels_named(kernels, options.kernel);
  if (named.size() > 1) return propose_all(options, code, kernels, named);
  const vgpu::KernelSignature& kernel =
      choose_kernel(kernels, options.kernel, options.file, {options.includes, options.defines});
  std::vector<std::string> names;
  if (options.file.ends_with(".cu") && !arguments.empty()) {
    names = parameter_names(code, {options.includes, options.defines}, kernel);
  }
  arguments = in_order_of(kernel, std::move(arguments), names);
  if (const std::string problem = problem_of(options, kernel, arguments); !problem.empty()) {
    return refuse(options, code, kernels, kernel, arguments, problem);
  }
  const CheckPlan plan = plan_of(options, std::move(code), kernel, std::move(arguments));
  const std::vector<NamedFile> outputs = parse_outputs(options, plan.arrays);
  if (options.only_cost) return explain_cost(options, plan);
  Progress bar(2 * plan.warp_orders);
  const CheckResult result =
      run_check(plan, [&](int done, int) { bar.show(done, "runs of the kernel"); });
  bar.wipe();
  write_outputs(outputs, result);
  return report_of(options, plan, result);
}

constexpr const char* kExamples =
    "  tessera check scale.cu --grid 4 --block 256 --arg x=f32[1024]:uniform --arg n=i32:1024\n"
    "  tessera check gemm.ptx --kernel gemm --grid 8,8 --block 16,16 --arg a=a.npy --arg b=b.npy "
    "\\\n"
    "      --arg 'c=f32[128,128]' --arg n=i32:128 --expect c=want.npy --tolerance 1e-5\n"
    "  tessera check copy.cu --nvcc-arg -DSTAGES=4 --grid 1 --block 128 --shared 49152 \\\n"
    "      --array 'a=f16[64,128]:uniform' --arg 't=tensormap(a, 64x32, 128)' --out a=a.npy\n"
    "  tessera check transpose.cu --cost --gpu a100 --grid 2,2 --block 32,8 --arg ...\n"
    "Values of --arg: TYPE:NUMBER, 'TYPE[EXTENT,...]:FILL', FILE.npy, bytes:HEX,\n"
    "  'struct(ARRAY or TYPE:NUMBER or tensormap(...), ...)', 'pointer(struct(...))',\n"
    "  'tensormap(ARRAY, BOX, SWIZZLE, size=, stride=, step=, offset=, fill=)',\n"
    "  'texture(ARRAY, linear, border|wrap|mirror, normalized, fraction, channels=)',\n"
    "  null, the name of another array, ARRAY+BYTES, 'pointers(ARRAY, ...)'\n"
    "  TYPE i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64\n"
    "  FILL uniform integers zeros ones iota shuffled repeated constant=X uninitialised (default)\n"
    "Exit code: 0 clean, 1 findings, 2 the call is wrong and nothing was run\n";

void add_options(Parser& parser, CheckArguments& options) {
  const auto text = [&](const char* name, std::string& to, const char* help, const char* type) {
    return parser.add_option(name, to, help).type_name(type);
  };
  const auto list = [&](const char* name, std::vector<std::string>& to, const char* help,
                        const char* type) {
    return parser.add_option(name, to, help).type_name(type).one_value_each();
  };
  text("FILE", options.file, "kernel as .ptx, or as .cu for nvcc to compile", "FILE").required();
  text("--kernel", options.kernel, "name of the kernel, in PTX or C++ (default: the only one)",
       "NAME");
  text("--grid", options.grid, "blocks of the launch", "X[,Y,Z]");
  text("--block", options.block, "threads of a block", "X[,Y,Z]");
  text("--cluster", options.cluster, "blocks of a cluster (default: the kernel's)", "X[,Y,Z]");
  text("--shared", options.shared, "bytes of dynamic shared memory (default 0)", "BYTES");
  list("--arg", options.arguments, "an argument, in the kernel's order (values: see below)",
       "NAME=VALUE");
  list("--array", options.arrays, "an array that only tensor maps or structs name", "NAME=VALUE");
  list("--out", options.outputs, "write an array after the run", "NAME=FILE");
  list("--expect", options.expectations, "what an array must hold after the run", "NAME=FILE");
  text("--tolerance", options.tolerance, "of --expect, relative to max(1, |expected|) (default 0)",
       "X");
  list("--nvcc-arg", options.nvcc_arguments, "an argument for nvcc, such as -DN=4 or -arch=sm_80",
       "A");
  list("-D", options.defines, "a macro for nvcc", "NAME[=VALUE]");
  list("-I", options.includes, "a folder of headers for nvcc", "FOLDER");
  text("--std", options.standard, "language for nvcc, such as c++20", "STANDARD");
  list("--set", options.variables,
       "what a __device__ or __constant__ variable holds (values as of --arg)", "NAME=VALUE");
  list("--earlier", options.earlier,
       "an array that the launch ahead writes, which may still run (programmatic dependent launch)",
       "NAME");
  text("--seeds", options.seeds,
       "random warp orders, in addition to the order by index (default 2)", "N");
  add_seed_option(parser, options.seed);
  text("--seconds", options.seconds, "time limit of one run (default 60)", "S");
  text("--threads", options.threads, "host threads (default: all)", "N");
  parser.add_flag("--all", options.all, "show every finding, and all that is printed, in full");
  parser.add_flag("--strict-ptx", options.strict_ptx,
                  "what only silicon promises, and PTX does not, is an error");
  parser.add_flag("--cost", options.cost,
                  "also say what the kernel costs: lines, conflicts, sectors, predicted time");
  parser.add_flag("--only-cost", options.only_cost,
                  "say that alone, without checks; so does 'tessera explain FILE'");
  add_gpu_option(parser, options.gpu);
  text("--lines", options.lines, "source lines that the cost names (default 6)", "N");
  parser.add_flag("--quiet", options.quiet, "do not show what the kernel prints");
  options.report.add_options(parser);
}

}  // namespace

Command check_command() {
  return {"check", "run your own kernel under all checks: what is wrong, where, and what to do",
          kExamples, [](Parser& parser) {
            auto options = std::make_shared<CheckArguments>();
            add_options(parser, *options);
            return [options] { return check(*options); };
          }};
}

}  // namespace tessera::cli
