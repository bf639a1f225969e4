#include "cli/check_call/proposal.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>

#include "base/interrupt.h"
#include "check/bind.h"
#include "check/values.h"
#include "cli/command.h"
#include "cli/options/launch_shape.h"

namespace tessera::cli {
using namespace checking;

namespace {

constexpr std::size_t kMostKernels = 8, kMostLaunches = 4;
constexpr double kSecondsOfKernels = 15;  // later kernels are only named

// The path of the source that the PTX was compiled from; a .ptx file may name its source.
std::string source_of(const Code& code) {
  if (!code.path.ends_with(".ptx")) return code.path;
  for (std::size_t at = 0; (at = code.ptx.find("\t.file\t", at)) != code.ptx.npos; ++at) {
    const std::size_t begin = code.ptx.find('"', at), end = code.ptx.find('"', begin + 1);
    if (end == code.ptx.npos) break;
    const std::string path = code.ptx.substr(begin + 1, end - begin - 1);
    std::error_code error;
    if (path.ends_with(".cu") && std::filesystem::is_regular_file(path, error)) return path;
  }
  return code.path;
}

std::string quoted_name(const std::string& text) {
  return text.find_first_of("[]()<>,*& ") == text.npos ? text : "'" + text + "'";
}

std::string line_of_call(const ProposalRequest& request, const std::string& kernel,
                         const CallWords& call) {
  std::string line = to_paste(request.command) + " --kernel " + quoted_name(kernel) + " --grid " +
                     call.grid + " --block " + call.block;
  if (!call.cluster.empty()) line += " --cluster " + call.cluster;
  if (!call.shared.empty()) line += " --shared " + call.shared;
  for (const std::string& array : call.arrays) line += " --array '" + array + "'";
  for (const std::string& argument : call.arguments) line += " --arg '" + argument + "'";
  return line;
}

std::string place_of(const LaunchSite& site) {
  return fmt::format("{}, {}:{}", site.text(), site.file, site.line);
}

// The origin of a call: "from add<<<(n + 255) / 256, 256>>>, add.cu:12, with n = 1024 instead of
// 1048576; grid 4096 tried as 4: no variable makes it smaller; assumed: m = 64".
std::string origin_of(const HostSource& source, const Proposed& proposed) {
  const Proposal& proposal = *proposed.call;
  const Candidate& from = proposal.from;
  std::string text = proposed.reads_launch
                         ? "no launch of it in the source can be taken as it is; a usual shape"
                         : "no launch of it is in the source; a usual shape";
  if (from.site != nullptr) {
    text = "from " + place_of(*from.site);
    for (const std::string& one : cases_around(source, from.site->at)) text += ", " + one;
  }
  std::vector<std::string> instead, grids;
  for (const Changed& one : from.changed) {
    if (one.is_grid) {
      const bool is_only = from.changed.size() == 1;
      grids.push_back(fmt::format("{} {} tried as {}{}", one.name, one.from, one.to,
                                  is_only ? ": no variable of the program makes it smaller" : ""));
    } else {
      instead.push_back(fmt::format("{} = {} instead of {}", one.name, one.to, one.from));
    }
  }
  if (!instead.empty()) text += fmt::format(", with {}", fmt::join(instead, ", "));
  for (const std::string& grid : grids) text += "; " + grid;
  const std::vector<std::string>& assumed = proposal.call.assumed;
  if (!assumed.empty()) text += fmt::format("; assumed: {}", fmt::join(assumed, ", "));
  for (const std::string& overrun : proposal.overruns) {
    text += "; " + overrun;
    if (!proposal.is_short) text += " with what is halved or assumed";
  }
  return text;
}

// Text about the proposed call: whether it runs, and what the checks find.
std::string findings_of(const Proposal& proposal) {
  std::vector<std::string> names;
  for (const std::string& name : proposal.found) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  std::string found = fmt::format("found: {}", fmt::join(names, ", "));
  if (names.empty()) found = "nothing is found";
  if (proposal.is_fault) return "ends in a fault; " + found;
  if (proposal.is_short) return "reads or writes outside its arrays; " + found;
  return "runs, and " + found;
}

void show_other_launches(const HostSource& source, const std::string& kernel,
                         const Candidate& taken) {
  std::set<std::string> seen;  // a macro may make several that read alike
  if (taken.site != nullptr) seen.insert(place_of(*taken.site));
  std::size_t shown = 0;
  for (const LaunchSite& site : source.launches()) {
    if (site.kernel != kernel || shown == kMostLaunches) continue;
    if (!seen.insert(place_of(site)).second) continue;
    fmt::print(stderr, "{}  {}\n", shown++ == 0 ? "\nOther launches of it:\n" : "", place_of(site));
  }
}

// Whether the given arguments have the names of the kernel's first parameters, in order.
bool are_names_of(const std::vector<ParameterGuess>& parameters,
                  const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size() && i < parameters.size(); ++i) {
    if (arguments[i].substr(0, arguments[i].find('=')) != parameters[i].name) return false;
  }
  return true;
}

Proposed proposed_for(const ProposalRequest& request, const HostSource& source,
                      const vgpu::KernelSignature& kernel) {
  KernelFacts facts = facts_of(kernel, request.code.ptx, source);
  facts.grid = dims_of_text(request.given.grid);
  facts.block = dims_of_text(request.given.block);
  facts.arguments = request.given.arguments.size();
  if (!are_names_of(facts.parameters, request.given.arguments)) {
    for (std::size_t i = facts.arguments; i < facts.parameters.size(); ++i) {
      facts.parameters[i].name = fmt::format("p{}", i);
    }
  }
  return propose(source, facts, request.given,
                 [&](const CallWords& call) { return request.plan_of(kernel, call); });
}

void show_refused(const Proposed& proposed) {
  for (const Candidate& one : proposed.refused) {
    fmt::print(stderr, "\nA GPU refuses the launch {}: {}.\n", place_of(*one.site), one.refused);
  }
}

void show_call(const ProposalRequest& request, const std::string& name, const Proposal& proposal) {
  fmt::print(stderr, "  {}\n", line_of_call(request, name, proposal.call));
}

// Arrays that arguments name but no option defines.
std::vector<std::string> missing_arrays(const std::vector<std::string>& arguments,
                                        const std::vector<std::string>& arrays) {
  std::set<std::string> known;
  std::vector<std::pair<std::string, bool>> named;  // whether the argument is a tensor map
  const auto see = [&](const std::string& option, const std::string& text) {
    const Argument argument = parse_argument(option, text);
    if (std::holds_alternative<ArrayArgument>(argument.value) ||
        std::holds_alternative<PointersArgument>(argument.value)) {
      known.insert(argument.name);
    }
    const bool is_mapped = argument.text.find("tensormap(") != std::string::npos;
    for (const std::string& name : arrays_named_by(argument)) named.emplace_back(name, is_mapped);
  };
  for (const std::string& text : arrays) see("--array", text);
  for (const std::string& text : arguments) see("--arg", text);
  std::vector<std::string> missing;
  for (const auto& [name, is_mapped] : named) {
    if (!known.insert(name).second) continue;
    missing.push_back(name + (is_mapped ? "=bf16[64,64]:uniform" : "=f32[4096]:uniform"));
  }
  return missing;
}

bool is_shape(const CallWords& call) {
  try {
    const LaunchShape shape = parse_shape({call.grid, call.block, call.cluster, call.shared});
    const std::int64_t grid[3] = {shape.grid, shape.grid_y, shape.grid_z};
    for (std::size_t i = 0; i < 3; ++i) {
      if (shape.cluster[i] > 1 && grid[i] % shape.cluster[i] != 0) return false;
    }
    return true;
  } catch (const StatusError&) {
    return false;
  }
}

// A call of the given values and usual values for the rest. It was not tried.
std::string example_of(const ProposalRequest& request, const std::string& name,
                       const vgpu::KernelSignature& kernel,
                       const std::vector<Argument>& arguments) {
  CallWords call = request.given;
  const int most = kernel.max_threads > 0 ? std::min(kernel.max_threads, 128) : 128;
  const std::string block =
      std::to_string(kernel.required_threads > 0 ? kernel.required_threads : most);
  if (call.grid.empty()) call.grid = "16";
  if (call.block.empty()) call.block = block;
  if (!is_shape(call)) {
    call.grid = "16";
    call.block = block;
    call.cluster = call.shared = "";
  }
  std::vector<std::string> names = parameter_names(request.code, request.read, kernel);
  for (std::size_t i = 0; i < arguments.size() && i < names.size(); ++i) {
    if (arguments[i].name != names[i]) names.clear();  // names for all arguments, or for none
  }
  call.arguments = example_arguments(kernel, arguments, names);
  const std::vector<std::string> missing = missing_arrays(call.arguments, call.arrays);
  call.arrays.insert(call.arrays.end(), missing.begin(), missing.end());
  return line_of_call(request, name, call);
}

std::string ending_of(const Proposed& proposed) {
  return fmt::format("{} {} tried, and none came to its end (the first: {})", proposed.tried,
                     proposed.tried == 1 ? "call was" : "calls were",
                     proposed.first.empty()        ? "nothing is stored"
                     : proposed.first == "stopped" ? "it took too long"
                                                   : proposed.first);
}

}  // namespace

std::vector<std::string> parameter_names(const Code& code, const ReadOptions& read,
                                         const vgpu::KernelSignature& kernel) {
  const HostSource source(source_of(code), read);
  const SourceFunction* function = source.kernel(words_of_kernel(kernel.name).name);
  if (function == nullptr || function->parameters.size() != kernel.parameters.size()) return {};
  std::set<std::string> seen;
  std::vector<std::string> names;
  for (const SourceParameter& parameter : function->parameters) {
    if (parameter.name.empty() || !seen.insert(parameter.name).second) return {};
    names.push_back(parameter.name);
  }
  return names;
}

void show_proposal(const ProposalRequest& request,
                   const std::vector<vgpu::KernelSignature>& kernels,
                   const vgpu::KernelSignature& kernel) {
  const std::string name = short_kernel_name(kernels, kernel);
  const HostSource source(source_of(request.code), request.read);
  std::vector<Argument> arguments;
  for (const std::string& text : request.given.arguments) {
    arguments.push_back(parse_argument("--arg", text));
  }
  Proposed proposed;
  proposed.given = misfit_of_given(kernel, arguments);
  if (proposed.given.empty()) proposed = proposed_for(request, source, kernel);
  show_refused(proposed);
  if (proposed.call) {
    fmt::print(stderr, "\nThis call {} ({}):\n", findings_of(*proposed.call),
               origin_of(source, proposed));
    show_call(request, name, *proposed.call);
    show_other_launches(source, words_of_kernel(kernel.name).name, proposed.call->from);
    return;
  }
  if (!proposed.given.empty()) {
    if (proposed.given != request.said) fmt::print(stderr, "\n{}.\n", proposed.given);
  } else if (proposed.tried > 0) {
    fmt::print(stderr, "\n{}.\n", ending_of(proposed));
  }
  fmt::print(stderr, "\nFor example:\n  {}\n", example_of(request, name, kernel, arguments));
}

void show_proposals(const ProposalRequest& request,
                    const std::vector<vgpu::KernelSignature>& kernels,
                    const std::vector<vgpu::KernelSignature>& named) {
  const auto begin = std::chrono::steady_clock::now();
  const HostSource source(source_of(request.code), request.read);
  std::size_t shown = 0;
  for (const vgpu::KernelSignature& kernel : named) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    if (shown == kMostKernels || passed.count() > kSecondsOfKernels || interrupted()) {
      const std::size_t others = named.size() - shown;
      fmt::print(stderr, "\nFor the other {}: give --kernel NAME.\n",
                 others == 1 ? "kernel" : fmt::format("{} kernels", others));
      return;
    }
    ++shown;
    const std::string name = short_kernel_name(kernels, kernel);
    const Proposed proposed = proposed_for(request, source, kernel);
    show_refused(proposed);
    if (!proposed.call) {
      fmt::print(stderr, "\n{}: {}.\n", name, ending_of(proposed));
      continue;
    }
    fmt::print(stderr, "\n{}: this call {} ({}):\n", name, findings_of(*proposed.call),
               origin_of(source, proposed));
    show_call(request, name, *proposed.call);
  }
}

}  // namespace tessera::cli
