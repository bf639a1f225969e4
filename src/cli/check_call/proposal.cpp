#include "cli/check_call/proposal.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "base/interrupt.h"
#include "check/bind.h"
#include "cli/command.h"

namespace tessera::cli {
using namespace checking;

namespace {

constexpr std::size_t kMostKernels = 8, kMostLaunches = 4;
constexpr double kSecondsOfKernels = 30;  // then the other kernels are only named

// The source that the PTX was made of; a .ptx file names it.
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

std::string quoted(const std::string& text) {
  return text.find_first_of("[]()<>,*& ") == text.npos ? text : "'" + text + "'";
}

std::string line_of_call(const ProposalRequest& request, const std::string& kernel,
                         const CallWords& call) {
  std::string line = request.command + " --kernel " + quoted(kernel) + " --grid " + call.grid +
                     " --block " + call.block;
  if (!call.shared.empty()) line += " --shared " + call.shared;
  for (const std::string& array : call.arrays) line += " --array '" + array + "'";
  for (const std::string& argument : call.arguments) line += " --arg '" + argument + "'";
  return line;
}

std::string place_of(const LaunchSite& site) {
  return fmt::format("{}, {}:{}", site.text(), site.file, site.line);
}

// "from add<<<(n + 255) / 256, 256>>>, add.cu:12, with n = 1024 instead of 1048576"
std::string origin_of(const Candidate& candidate) {
  if (candidate.site == nullptr) return "no launch of it is in the source; a usual shape";
  std::string text = "from " + place_of(*candidate.site);
  for (std::size_t i = 0; i < candidate.changed.size(); ++i) {
    const Changed& one = candidate.changed[i];
    text += fmt::format("{}{} = {} instead of {}", i == 0 ? ", with " : ", ", one.name, one.to,
                        one.from);
  }
  return text;
}

std::string findings_of(const Proposal& proposal) {
  std::vector<std::string> names;
  for (const std::string& name : proposal.found) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  if (names.empty()) return "nothing is found";
  return fmt::format("found: {}", fmt::join(names, ", "));
}

void show_other_launches(const HostSource& source, const std::string& kernel,
                         const Candidate& taken) {
  std::size_t shown = 0;
  for (const LaunchSite& site : source.launches()) {
    if (site.kernel != kernel || &site == taken.site || shown == kMostLaunches) continue;
    fmt::print(stderr, "{}  {}\n", shown++ == 0 ? "\nOther launches of it:\n" : "", place_of(site));
  }
}

Proposed proposed_for(const ProposalRequest& request, const HostSource& source,
                      const vgpu::KernelSignature& kernel) {
  KernelFacts facts = facts_of(kernel, request.code.ptx, source);
  facts.grid = dims_of_text(request.given.grid);
  facts.block = dims_of_text(request.given.block);
  return propose(source, facts, request.given,
                 [&](const CallWords& call) { return request.plan_of(kernel, call); });
}

void show_call(const ProposalRequest& request, const std::string& name, const Proposal& proposal) {
  fmt::print(stderr, "  {}\n", line_of_call(request, name, proposal.call));
}

std::string ending_of(const Proposed& proposed) {
  return fmt::format("{} {} tried, and none came to its end (the first: {})", proposed.tried,
                     proposed.tried == 1 ? "call was" : "calls were",
                     proposed.first.empty()        ? "nothing is stored"
                     : proposed.first == "stopped" ? "it took too long"
                                                   : proposed.first);
}

}  // namespace

void show_proposal(const ProposalRequest& request,
                   const std::vector<vgpu::KernelSignature>& kernels,
                   const vgpu::KernelSignature& kernel) {
  const std::string name = short_kernel_name(kernels, kernel);
  const HostSource source(source_of(request.code), request.read);
  const Proposed proposed = proposed_for(request, source, kernel);
  if (proposed.call) {
    fmt::print(stderr, "\nThis call runs, and {} ({}):\n", findings_of(*proposed.call),
               origin_of(proposed.call->from));
    show_call(request, name, *proposed.call);
    show_other_launches(source, words_of_kernel(kernel.name).name, proposed.call->from);
    return;
  }
  if (proposed.tried > 0) fmt::print(stderr, "\n{}.\n", ending_of(proposed));
  std::vector<Argument> arguments;
  for (const std::string& text : request.given.arguments) {
    arguments.push_back(parse_argument("--arg", text));
  }
  fmt::print(stderr, "\nFor example:\n  {} --kernel '{}' --grid {} --block {} {}\n",
             request.command, name, request.given.grid.empty() ? "16" : request.given.grid,
             request.given.block.empty() ? std::to_string(std::max(kernel.required_threads, 128))
                                         : request.given.block,
             example_arguments(kernel, arguments));
}

void show_proposals(const ProposalRequest& request,
                    const std::vector<vgpu::KernelSignature>& kernels) {
  const auto begin = std::chrono::steady_clock::now();
  const HostSource source(source_of(request.code), request.read);
  std::size_t shown = 0;
  for (const vgpu::KernelSignature& kernel : kernels) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    if (shown == kMostKernels || passed.count() > kSecondsOfKernels || interrupted()) {
      fmt::print(stderr, "\nFor the other {} kernels: give --kernel NAME.\n",
                 kernels.size() - shown);
      return;
    }
    ++shown;
    const std::string name = short_kernel_name(kernels, kernel);
    const Proposed proposed = proposed_for(request, source, kernel);
    if (!proposed.call) {
      fmt::print(stderr, "\n{}: {}.\n", name, ending_of(proposed));
      continue;
    }
    fmt::print(stderr, "\n{}: this call runs, and {} ({}):\n", name, findings_of(*proposed.call),
               origin_of(proposed.call->from));
    show_call(request, name, *proposed.call);
  }
}

}  // namespace tessera::cli
