#include "cli/options/repeat.h"

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/options/options.h"
#include "cli/options/parser.h"

namespace tessera::cli {
namespace {

// Options whose values a record states: kernel, problem, device, mode, seeds and workspace.
const std::set<std::string> kSaidByTheRecord = {
    "--kernel",  "-m",         "-n",         "-k",         "--shapes",     "--layout",
    "--order",   "--lda",      "--ldb",      "--ldc",      "--ldd",        "--alpha",
    "--beta",    "--device",   "--mode",     "--seed",     "--order-seed", "--workspace-limit",
    "--batch",   "--stride-a", "--stride-b", "--stride-c", "--stride-d",   "--pointers",
    "--epilogue"};
const std::set<std::string> kOutputs = {"--json", "--csv", "--md"};

// The option for a leading dimension or stride; empty if the value is the default one.
std::string ld_flag(const char* flag, std::int64_t given, std::int64_t smallest) {
  return given == smallest ? "" : fmt::format(" {} {}", flag, given);
}

std::string batch_flags(const Problem& problem) {
  const Batch& batch = problem.batch;
  if (batch.kind == BatchKind::kNone) return "";
  std::string text = fmt::format(" --batch {}", batch.count);
  if (batch.kind == BatchKind::kPointers) {
    return text + fmt::format(" --pointers {}", batch.alignment);
  }
  const Batch dense = dense_batch(problem, batch.count);
  text += ld_flag("--stride-a", batch.stride_a, dense.stride_a);
  text += ld_flag("--stride-b", batch.stride_b, dense.stride_b);
  text += ld_flag("--stride-c", batch.stride_c, dense.stride_c);
  return text + ld_flag("--stride-d", batch.stride_d, dense.stride_d);
}

}  // namespace

std::string repeat_command(const std::string& command, const KernelChoice& choice,
                           const Problem& problem, std::string_view device, std::uint64_t seed) {
  Problem smallest = problem;
  smallest.lda = smallest.ldb = smallest.ldc = smallest.ldd = 0;
  smallest = with_default_ld(smallest);
  std::string text = fmt::format("tessera {} --device {} --kernel {} -m {} -n {} -k {}", command,
                                 device, name_of(choice), problem.m, problem.n, problem.k);
  text += fmt::format(" --layout {} --order {}", layout_of(problem), name_of(problem.order));
  text += ld_flag("--lda", problem.lda, smallest.lda) + ld_flag("--ldb", problem.ldb, smallest.ldb);
  text += ld_flag("--ldc", problem.ldc, smallest.ldc) + ld_flag("--ldd", problem.ldd, smallest.ldd);
  if (problem.alpha != 1) text += fmt::format(" --alpha {}", problem.alpha);
  if (problem.beta != 0) text += fmt::format(" --beta {}", problem.beta);
  if (!problem.epilogue.is_identity()) {
    text += fmt::format(" --epilogue {}", name_of(problem.epilogue));
  }
  return text + batch_flags(problem) + fmt::format(" --seed {}", seed);
}

std::string carried_options(const Parser& command, const std::set<std::string>& said) {
  std::string text;
  for (const GivenOption& option : command.given()) {
    const bool is_said = kSaidByTheRecord.contains(option.name) || said.contains(option.name);
    if (is_said || kOutputs.contains(option.name)) continue;
    text += " " + option.name;
    for (const std::string& value : option.values) text += " " + quoted(value);
  }
  return text;
}

}  // namespace tessera::cli
