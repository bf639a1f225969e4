#include "cli/check_call/call.h"

#include <fmt/format.h>

#include <set>

#include "base/numbers.h"
#include "check/bind.h"
#include "check/compile/one_kernel.h"
#include "cli/options/launch_shape.h"
#include "cli/options/session.h"

namespace tessera::cli {
using namespace checking;  // the code of check

namespace {

void require_new_name(std::set<std::string>& names, const std::string& name) {
  if (names.insert(name).second) return;
  throw StatusError(
      Status::bad_argument(fmt::format("the name '{}' is given twice; give each array and "
                                       "each variable a name of its own",
                                       name)));
}

HostArray array_of_pointers(const std::string& name, const PointersArgument& pointers) {
  HostArray array;
  array.name = name;
  array.type = ElementType::kU64;
  array.shape = {static_cast<std::int64_t>(pointers.to.size())};
  array.bytes.resize(8 * pointers.to.size());
  return array;
}

// Makes the arrays that are arguments, and the arrays of --array and --set.
std::vector<HostArray> make_arrays(const CheckArguments& options,
                                   const std::vector<Argument>& arguments) {
  const std::uint64_t seed = parse_seed(options.seed);
  std::vector<HostArray> arrays;
  std::set<std::string> names;
  const auto add = [&](const Argument& argument) {
    require_new_name(names, argument.name);
    if (const auto* array = std::get_if<ArrayArgument>(&argument.value)) {
      arrays.push_back(make_array(argument.name, *array, seed));
    } else if (const auto* pointers = std::get_if<PointersArgument>(&argument.value)) {
      arrays.push_back(array_of_pointers(argument.name, *pointers));
    }
  };
  for (const Argument& argument : arguments) add(argument);
  for (const std::string& text : options.arrays) {
    const Argument argument = parse_argument("--array", text);
    if (!std::holds_alternative<ArrayArgument>(argument.value) &&
        !std::holds_alternative<PointersArgument>(argument.value)) {
      throw StatusError(Status::bad_argument(
          fmt::format("--array is '{}', but must be an array, "
                      "NAME=TYPE[EXTENT,...]:FILL or NAME=FILE.npy; numbers are given by --arg",
                      text)));
    }
    add(argument);
  }
  for (const std::string& text : options.variables) add(parse_argument("--set", text));
  return arrays;
}

std::vector<Expectation> read_expectations(const CheckArguments& options,
                                           const std::vector<HostArray>& arrays) {
  std::vector<Expectation> expectations;
  for (const std::string& text : options.expectations) {
    const NamedFile file = parse_named_file("--expect", text);
    const HostArray& array = array_named(arrays, file.name, "--expect");
    HostArray values = read_array(file.path, "--expect");
    values.name = file.name;
    if (lab::npy_descr(values.type) == lab::npy_descr(array.type))
      values.type = array.type;  // for bf16, which files hold as 16-bit integers
    require_comparable(array, values, fmt::format("--expect ({})", file.path));
    expectations.push_back({std::move(values), file.path});
  }
  return expectations;
}

void keep_pointers(const std::vector<Argument>& arguments, CheckPlan& plan) {
  for (const Argument& argument : arguments) {
    if (std::holds_alternative<PointersArgument>(argument.value)) plan.pointers.push_back(argument);
  }
}

}  // namespace

std::vector<Argument> parse_arguments(const CheckArguments& options) {
  std::vector<Argument> arguments;
  for (const std::string& text : options.arguments) {
    arguments.push_back(parse_argument("--arg", text));
  }
  return arguments;
}

std::vector<std::string> nvcc_arguments_of(const CheckArguments& options) {
  std::vector<std::string> words = options.nvcc_arguments;
  for (const std::string& define : options.defines) words.push_back("-D" + define);
  for (const std::string& include : options.includes) words.push_back("-I" + include);
  if (!options.standard.empty()) words.push_back("-std=" + options.standard);
  return words;
}

std::string problem_of(const CheckArguments& options, const vgpu::KernelSignature& kernel,
                       const std::vector<Argument>& arguments) {
  if (options.grid.empty()) return "--grid is not given; it says how many blocks are launched";
  if (options.block.empty()) return "--block is not given; it says how many threads a block has";
  return misfit(kernel, arguments);
}

const HostArray& array_named(const std::vector<HostArray>& arrays, const std::string& name,
                             const std::string& option) {
  std::string names;
  for (const HostArray& array : arrays) {
    if (array.name == name) return array;
    names += (names.empty() ? "" : ", ") + array.name;
  }
  throw StatusError(Status::bad_argument(fmt::format(
      "{} names the array '{}', but the arrays are: {}; add it with --array, or name one of them",
      option, name, names.empty() ? "none" : names)));
}

CheckPlan plan_of(const CheckArguments& options, Code code, const vgpu::KernelSignature& kernel,
                  std::vector<Argument> arguments) {
  CheckPlan plan;
  plan.code = std::move(code);
  plan.code.ptx = with_one_kernel(plan.code.ptx, kernel.name);
  plan.kernel = kernel;
  plan.shape = parse_shape({options.grid, options.block, options.cluster, options.shared});
  plan.arrays = make_arrays(options, arguments);
  for (const Argument& argument : arguments) {
    for (const std::string& name : arrays_named_by(argument)) {
      array_named(plan.arrays, name, fmt::format("--arg {}", argument.name));
    }
  }
  for (const std::string& text : options.variables) {
    plan.variables.push_back(parse_argument("--set", text));
    for (const std::string& name : arrays_named_by(plan.variables.back())) {
      array_named(plan.arrays, name, "--set");
    }
  }
  keep_pointers(arguments, plan);
  for (const std::string& text : options.arrays) {
    const Argument argument = parse_argument("--array", text);
    for (const std::string& name : arrays_named_by(argument)) {
      array_named(plan.arrays, name, fmt::format("--array {}", argument.name));
    }
    keep_pointers({argument}, plan);
  }
  plan.arguments = std::move(arguments);
  plan.expectations = read_expectations(options, plan.arrays);
  if (!options.tolerance.empty()) {
    plan.tolerance = parse_real("--tolerance", options.tolerance);
    if (!(plan.tolerance >= 0)) {
      throw StatusError(Status::bad_argument(
          fmt::format("--tolerance is '{}', but must be 0 or more", options.tolerance)));
    }
  }
  if (!options.seeds.empty()) {
    plan.warp_orders = 1 + static_cast<int>(parse_integer("--seeds", options.seeds, 0, 1000));
  }
  if (!options.seconds.empty()) {
    plan.seconds = static_cast<double>(parse_integer("--seconds", options.seconds, 1, 1000000));
  }
  for (const std::string& name : options.earlier) {
    plan.earlier.push_back(array_named(plan.arrays, name, "--earlier").name);
  }
  plan.strict_ptx = options.strict_ptx;
  plan.host_threads = host_threads_of({.threads = options.threads});
  return plan;
}

ProposalRequest request_of(const CheckArguments& options, const Code& code,
                           const std::vector<Argument>& arguments) {
  ProposalRequest request;
  request.command = fmt::format("{} {}", options.command(), options.file);
  for (const std::string& word : nvcc_arguments_of(options)) {
    const bool short_form = word.starts_with("-D") || word.starts_with("-I");
    request.command += short_form ? " " + word : " --nvcc-arg " + word;
  }
  request.code = code;
  request.read = {options.includes, options.defines};
  for (const std::string& text : options.variables) request.command += " --set '" + text + "'";
  request.given = {
      options.grid, options.block, options.cluster, options.shared, {}, options.arrays, {}};
  for (const Argument& argument : arguments) {
    request.given.arguments.push_back(argument.name + "=" + argument.text);
  }
  request.plan_of = [&options, &code, one = Code{}, of = std::string{}](
                        const vgpu::KernelSignature& kernel, const CallWords& call) mutable {
    if (of != kernel.name) one = {code.path, with_one_kernel(code.ptx, kernel.name)};
    of = kernel.name;
    CheckArguments typed = options;
    typed.grid = call.grid;
    typed.block = call.block;
    typed.cluster = call.cluster;
    typed.shared = call.shared;
    typed.arguments = call.arguments;
    typed.arrays = call.arrays;
    typed.expectations.clear();
    typed.earlier.clear();
    std::vector<Argument> typed_arguments = parse_arguments(typed);
    if (const std::string problem = problem_of(typed, kernel, typed_arguments); !problem.empty()) {
      throw StatusError(Status::bad_argument(problem));
    }
    return plan_of(typed, one, kernel, std::move(typed_arguments));
  };
  return request;
}

}  // namespace tessera::cli
