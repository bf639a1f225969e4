#include "cli/commands/bench_groups.h"

#include <algorithm>
#include <iterator>

#include "base/numbers.h"
#include "cli/options/fields.h"
#include "gemm/plan/plan.h"

namespace tessera::cli {
namespace {

gemm::PlanOptions options_within(std::int64_t bytes, const BenchRequest& request) {
  gemm::PlanOptions options = plan_options_of(request.problem);
  options.workspace_limit = bytes;
  return options;
}

// Whether the kernel's preferred plan needs more than `bytes` of workspace.
bool wants_more_than(std::int64_t bytes, const KernelChoice& choice, const Problem& problem,
                     const BenchRequest& request) {
  gemm::PlanOptions options = options_within(gemm::kAnyWorkspace, request);
  options.kernel = choice;
  try {
    return gemm::plan(problem, {}, request.limits, options).workspace_bytes() > bytes;
  } catch (const StatusError&) {
    return false;  // the kernel's own record will say why
  }
}

KernelChoice best_within(std::int64_t bytes, const Problem& problem, const BenchRequest& request) {
  return best_kernel_for(problem, request.limits, options_within(bytes, request));
}

// The library's choice within the vendor library's workspace. If no plan fits, returns `otherwise`;
// the record of `otherwise` then states the reason.
KernelChoice best_within_vendors(const KernelChoice& otherwise, const Problem& problem,
                                 const BenchRequest& request) {
  try {
    return best_within(lab::kVendorWorkspace, problem, request);
  } catch (const StatusError&) {
    return otherwise;
  }
}

// The candidate with the code of the other build, or with the reason why that build cannot run it.
lab::BenchCandidate in_other_code(lab::BenchCandidate candidate, std::size_t place,
                                  lab::OtherBuild& other) {
  candidate.other_build = true;
  candidate.companion_of = place;
  try {
    candidate.choice = other.with_its_code(candidate.choice);
  } catch (const StatusError& error) {
    if (error.status().code != StatusCode::kUnsupported) throw;
    candidate.unavailable = in_options(error.what());
  }
  return candidate;
}

// Adds the kernel; if its plan needs more than the vendor library's workspace, also the kernel
// within that workspace; and each of these candidates with the code of the other build.
void add_candidates(BenchGroup& group, const KernelChoice& choice, bool is_best,
                    const BenchRequest& request) {
  std::vector<lab::BenchCandidate>& list = group.candidates;
  const std::size_t first = list.size();
  list.push_back({choice, request.workspace.bytes});
  if (request.workspace.and_vendors &&
      wants_more_than(lab::kVendorWorkspace, choice, group.problem, request)) {
    const KernelChoice within =
        is_best ? best_within_vendors(choice, group.problem, request) : choice;
    list.push_back({within, lab::kVendorWorkspace, false, first});
  }
  if (!request.other) return;
  const std::size_t own = list.size();
  for (std::size_t i = first; i < own; ++i) {
    list.push_back(in_other_code(list[i], i, *request.other));
  }
}

// The entries that the kernel's plan launches; empty if the kernel does not take the problem.
std::vector<std::string> planned_entries(const lab::BenchCandidate& candidate,
                                         const Problem& problem, const BenchRequest& request) {
  gemm::PlanOptions options = options_within(candidate.workspace_limit, request);
  options.kernel = candidate.choice;
  std::vector<std::string> entries;
  try {
    for (const auto& planned : gemm::plan(problem, {}, request.limits, options).steps) {
      const std::string& entry = planned.launch.entry;
      if (std::ranges::find(entries, entry) == entries.end()) entries.push_back(entry);
    }
  } catch (const StatusError&) {
    // no entries: the kernel's own record will say why it has no plan
  }
  return entries;
}

// Replaces each candidate by the code that ptxas wrote, followed by the rewritten versions.
void add_rewritten(std::vector<BenchGroup>& groups, const BenchRequest& request) {
  std::vector<lab::RewrittenCode::Wish> wishes;
  std::vector<lab::Rewriting> hows = {lab::Rewriting::kAsCompiled};
  hows.insert(hows.end(), request.rewritings.begin(), request.rewritings.end());
  for (const BenchGroup& group : groups) {
    for (const lab::BenchCandidate& one : group.candidates) {
      const auto entries = planned_entries(one, group.problem, request);
      for (const lab::Rewriting how : hows) wishes.push_back({one.choice, entries, how});
    }
  }
  const std::vector<lab::Rewritten> made = request.rewritten->make(wishes);
  auto next = made.begin();
  for (BenchGroup& group : groups) {
    std::vector<lab::BenchCandidate> list;
    for (const lab::BenchCandidate& one : group.candidates) {
      const std::size_t first = list.size();
      for (const lab::Rewriting how : hows) {
        lab::BenchCandidate& added = list.emplace_back(one);
        added.choice = next->choice;
        added.unavailable = next->unavailable;
        added.rewriting = lab::name_of(how);
        added.by_model = next->by_model;
        if (how != lab::Rewriting::kAsCompiled) added.companion_of = first;
        ++next;
      }
    }
    group.candidates = std::move(list);
  }
}

std::vector<BenchGroup> plain_groups_of(const BenchRequest& request) {
  const ProblemOptions& options = request.problem;
  std::vector<BenchGroup> groups;
  if (options.kernel == kBestKernel) {
    const Types types = types_for_best(options);
    for (const Problem& problem : problems_of(options, types, request.otherwise)) {
      groups.push_back({problem, {}});
      add_candidates(groups.back(), best_within(request.workspace.bytes, problem, request), true,
                     request);
    }
    return groups;
  }
  for (const auto& [types, kernels] : kernels_by_type(options)) {
    for (const Problem& problem : problems_of(options, types, request.otherwise)) {
      groups.push_back({problem, {}});
      for (const KernelChoice& choice : kernels) {
        add_candidates(groups.back(), choice, false, request);
      }
    }
  }
  return groups;
}

}  // namespace

WorkspaceLimit parse_workspace_limit(const std::string& text) {
  if (text.empty()) return {gemm::kAnyWorkspace, true};
  if (text == "none") return {};
  if (text == "vendor") return {lab::kVendorWorkspace};
  return {parse_integer("--workspace-limit", text, 0)};
}

std::vector<lab::Rewriting> parse_rewritings(const std::string& text) {
  using lab::Rewriting;
  constexpr Rewriting kAll[] = {Rewriting::kRemapped, Rewriting::kReordered, Rewriting::kBoth};
  if (text == "all") return {std::begin(kAll), std::end(kAll)};
  std::vector<Rewriting> list;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    const auto found =
        std::ranges::find_if(kAll, [&](Rewriting how) { return lab::name_of(how) == word; });
    if (found == std::end(kAll)) {
      throw StatusError(
          Status::bad_argument("--rewritten is '" + text +
                               "', but must be all, or a list of remapped, reordered, both"));
    }
    list.push_back(*found);
    begin = end + 1;
  }
  return list;
}

std::vector<BenchGroup> groups_of(const BenchRequest& request) {
  std::vector<BenchGroup> groups = plain_groups_of(request);
  if (request.rewritten) add_rewritten(groups, request);
  return groups;
}

}  // namespace tessera::cli
