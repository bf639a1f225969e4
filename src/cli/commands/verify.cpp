// tessera verify: checks whether a kernel is right, on the shapes where kernels break. Exact
// integers come first, then real data under the componentwise bound.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "base/interrupt.h"
#include "base/numbers.h"
#include "base/progress.h"
#include "cli/command.h"
#include "cli/options/parser.h"
#include "cli/options/session.h"
#include "cli/terminal/fitted.h"
#include "cli/terminal/output.h"
#include "cli/terminal/verify_failures.h"
#include "lab/verify/lattice.h"
#include "lab/verify/stop.h"

namespace tessera::cli {
namespace {

struct VerifyArguments {
  ProblemOptions problem;
  DeviceOptions device;
  Output output;
  std::string fill = "uniform", nans, misalign, seed;
  bool in_place = false, quick = false, checks = false;
};

// The problems of a call without a shape: the lattice of shapes, in the given layouts and orders.
std::vector<lab::LatticeCase> lattice_cases(const VerifyArguments& options, const Types& types,
                                            std::uint64_t seed) {
  const auto& p = options.problem;
  for (const auto& [name, text] : {std::pair{"--alpha", &p.alpha},
                                   {"--beta", &p.beta},
                                   {"--lda", &p.lda},
                                   {"--ldb", &p.ldb},
                                   {"--ldc", &p.ldc},
                                   {"--ldd", &p.ldd},
                                   {"--batch", &p.batch},
                                   {"--pointers", &p.pointers},
                                   {"--misalign", &options.misalign}}) {
    if (text->empty()) continue;
    throw StatusError(Status::bad_argument(
        fmt::format("{} is '{}', but needs a shape (-m or --shapes): without one, verify walks its "
                    "own lattice of problems",
                    name, *text)));
  }
  if (options.in_place) {
    throw StatusError(Status::bad_argument(
        "--in-place is given, but needs a shape (-m or --shapes): without one, verify "
        "walks its own lattice of problems, some of them in place"));
  }
  std::vector<lab::LatticeCase> cases =
      options.quick ? lab::short_lattice(types, seed) : lab::lattice(types, seed);
  if (!options.quick) {
    const std::vector<lab::LatticeCase> batches = lab::batch_lattice(types, seed);
    cases.insert(cases.end(), batches.begin(), batches.end());
  }
  const std::vector<std::string> layouts =
      p.layout.empty() ? std::vector<std::string>{"NN", "NT", "TN", "TT"} : layouts_of(p);
  const std::vector<Order> orders =
      p.order.empty() ? std::vector{Order::kColumnMajor, Order::kRowMajor} : orders_of(p);
  std::erase_if(cases, [&](const lab::LatticeCase& one) {
    return std::find(layouts.begin(), layouts.end(), layout_of(one.problem)) == layouts.end() ||
           std::find(orders.begin(), orders.end(), one.problem.order) == orders.end();
  });
  return cases;
}

// Reads "3" for all operands, or "0,1,0,3" for A, B, C and D.
lab::Misalign misalign_of(const VerifyArguments& options) {
  if (options.misalign.empty()) return {};
  std::vector<int> numbers;
  for (std::size_t at = 0; at <= options.misalign.size();) {
    const std::size_t comma = std::min(options.misalign.find(',', at), options.misalign.size());
    numbers.push_back(static_cast<int>(
        parse_integer("--misalign", options.misalign.substr(at, comma - at), 0, 63)));
    at = comma + 1;
  }
  if (numbers.size() == 1) return numbers.front();
  if (numbers.size() == 4) return {numbers[0], numbers[1], numbers[2], numbers[3]};
  throw StatusError(Status::bad_argument(fmt::format(
      "--misalign is '{}', but must be one number, or four for A, B, C and D", options.misalign)));
}

std::vector<lab::LatticeCase> cases_of(const VerifyArguments& options, const Types& types,
                                       std::uint64_t seed) {
  if (!options.problem.gives_shapes()) return lattice_cases(options, types, seed);
  if (options.quick) {
    throw StatusError(
        Status::bad_argument("--quick is given, but cannot be combined with a shape: it shortens "
                             "the lattice of problems that verify walks without one; leave either "
                             "out"));
  }
  std::vector<lab::LatticeCase> cases;
  const lab::Misalign misalign = misalign_of(options);
  for (const Problem& problem : problems_of(options.problem, types, {})) {
    cases.push_back({problem, options.in_place, misalign});
  }
  return cases;
}

// A problem and the kernels to check on it. Data and reference are made once for all kernels.
struct Group {
  lab::LatticeCase one;
  std::vector<KernelChoice> kernels;
};

// Adds a lattice for each kernel with a persistent grid, made for the kernel's block tile.
void add_depth_groups(const std::vector<KernelChoice>& kernels, std::uint64_t seed,
                      std::vector<Group>& groups) {
  for (const KernelChoice& choice : kernels) {
    const KernelRow& row = rows_of(*choice.kernel, choice.variant).front();
    if (row.ctas_per_sm == 0) continue;
    for (const auto& one : lab::depth_lattice(row.block, choice.kernel->types, seed)) {
      groups.push_back({one, {choice}});
    }
  }
}

// Each problem as a group with the kernel that the library chooses for it.
std::vector<Group> groups_of_best(const VerifyArguments& options, std::uint64_t seed,
                                  const gemm::DeviceLimits& limits) {
  std::vector<Group> groups;
  for (const lab::LatticeCase& one : cases_of(options, types_for_best(options.problem), seed)) {
    groups.push_back({one, {best_kernel_for(one.problem, limits)}});
  }
  return groups;
}

std::vector<Group> named_groups_of(const VerifyArguments& options, std::uint64_t seed) {
  std::vector<Group> groups;
  for (const auto& [types, kernels] : kernels_by_type(options.problem)) {
    for (const lab::LatticeCase& one : cases_of(options, types, seed)) {
      groups.push_back({one, kernels});
    }
  }
  if (!options.problem.gives_shapes() && !options.quick) {
    add_depth_groups(kernels_of(options.problem), seed, groups);
  }
  return groups;
}

std::vector<Group> groups_of(const VerifyArguments& options, std::uint64_t seed,
                             const gemm::DeviceLimits& limits) {
  std::vector<Group> groups = options.problem.kernel == kBestKernel
                                  ? groups_of_best(options, seed, limits)
                                  : named_groups_of(options, seed);
  if (options.problem.epilogue.empty()) return groups;
  for (Group& group : groups) {
    group.one.problem.epilogue = parse_epilogue(options.problem.epilogue);
  }
  return groups;
}

lab::VerifyOptions verify_options_of(const VerifyArguments& options, std::uint64_t seed) {
  lab::VerifyOptions verify;
  verify.seed = seed;
  verify.stop = interrupted;
  verify.fill = lab::parse_fill(options.fill);
  verify.checks = options.checks;
  verify.plan = plan_options_of(options.problem);
  if (!options.nans.empty()) {
    verify.nans = static_cast<int>(parse_integer("--nans", options.nans, 0, 1000000));
  }
  return verify;
}

// Verifies on the device, or on the virtual GPU if the device cannot load the
// image and was not asked for.
lab::Record check_one(Devices& devices, const KernelChoice& kernel, const lab::VerifyCase& data) {
  try {
    return lab::verify_record(*devices.device, kernel, data);
  } catch (const StatusError& error) {
    if (!devices.fallback || error.status().code != StatusCode::kUnavailable) throw;
    return lab::verify_record(*devices.fallback, kernel, data);
  }
}

std::vector<VerifiedCase> run_groups(const std::vector<Group>& groups, Devices& devices,
                                     const VerifyArguments& options, const Parser& parser,
                                     std::uint64_t seed) {
  std::vector<VerifiedCase> cases;
  Progress bar(static_cast<std::int64_t>(groups.size()));
  lab::VerifyOptions verify = verify_options_of(options, seed);
  for (std::size_t i = 0; i < groups.size() && !interrupted(); ++i) {
    verify.in_place = groups[i].one.in_place;
    verify.misalign = groups[i].one.misalign;
    const lab::VerifyCase data(groups[i].one.problem, verify);
    for (const KernelChoice& kernel : groups[i].kernels) {
      if (interrupted()) break;
      bar.show(i, fmt::format("{} {}", kernel.kernel->name, groups[i].one.name()));
      lab::Record record;
      try {
        record = check_one(devices, kernel, data);
      } catch (const lab::Stopped&) {
        break;  // earlier results are kept
      }
      record.command =
          repeat_command("verify", kernel, groups[i].one.problem, devices.word_of(record), seed);
      if (verify.in_place) record.command += " --in-place";
      if (verify.misalign.any()) record.command += " --misalign " + text_of(verify.misalign);
      record.command += carried_options(parser, {"--in-place", "--misalign", "--quick"});
      cases.push_back({groups[i].one, std::move(record)});
    }
  }
  return cases;
}

// The results of one kernel on one device, for people.
struct Tally {
  std::string kernel, config, device;
  int problems = 0, failed = 0, sampled = 0, skipped = 0;
  double worst = 0;
};

std::vector<Tally> tally(const std::vector<lab::Record>& records) {
  std::vector<Tally> tallies;
  for (const lab::Record& record : records) {
    auto at = std::find_if(tallies.begin(), tallies.end(), [&](const Tally& t) {
      return t.kernel == record.kernel && t.config == record.config && t.device == record.device;
    });
    if (at == tallies.end()) {
      at = tallies.insert(tallies.end(), {record.kernel, record.config, record.device});
    }
    ++at->problems;
    at->failed += record.verified == "failed";
    at->sampled += record.verified == "sampled";
    at->skipped += !record.verified;
    at->worst = std::max(at->worst, record.max_error_ratio.value_or(0));
  }
  return tallies;
}

// A function that repeats a case under checks. WHY a new virtual GPU: the case may
// have failed on a real GPU.
Recheck recheck_with(const VerifyArguments& options, std::uint64_t seed) {
  return [&options, seed](const VerifiedCase& failed) {
    lab::VerifyOptions verify = verify_options_of(options, seed);
    verify.in_place = failed.one.in_place;
    verify.misalign = failed.one.misalign;
    verify.checks = true;
    const KernelChoice choice =
        choose_kernels(failed.record.kernel + "/" + failed.record.config).front();
    const auto device = open_virtual(options.device);
    return lab::verify(*device, choice, failed.one.problem, verify).findings;
  };
}

void print_text(const std::vector<lab::Record>& records) {
  Table table{
      {"kernel", "config", "device", "problems", "failed", "sampled", "skipped", "error/bound"},
      {}};
  for (const Tally& t : tally(records)) {
    table.rows.push_back({t.kernel, t.config, t.device, std::to_string(t.problems),
                          std::to_string(t.failed), std::to_string(t.sampled),
                          std::to_string(t.skipped), fmt::format("{:.3f}", t.worst)});
  }
  fmt::print("{}", fitted(table, {{"failed", "problems", "config"}, {}}));
  std::set<std::string> said;  // kernels whose message was printed
  for (const lab::Record& record : records) {
    const bool by_proof = record.verified && record.verified->starts_with("as ");
    if (by_proof && said.insert(record.kernel).second) {
      fmt::print("{}: {}.\n", record.kernel, *record.verified);
    }
  }
}

int verify(const VerifyArguments& options, const Parser& parser) {
  options.output.check({{"--shapes", options.problem.shapes}});
  const std::uint64_t seed = parse_seed(options.seed);
  verify_options_of(options, seed);
  // WHY: refuses bad arguments before a device is opened
  if (options.problem.kernel != kBestKernel) named_groups_of(options, seed);
  Devices devices = open_devices(options.device);
  const std::vector<Group> groups =
      groups_of(options, seed, gemm::limits_of(devices.device->info()));

  const std::vector<VerifiedCase> cases = run_groups(groups, devices, options, parser, seed);
  std::vector<lab::Record> records;
  for (const VerifiedCase& each : cases) records.push_back(each.record);

  options.output.write(
      lab::to_json(environment_of(devices, {nullptr, "none: not asked for"}, seed), records),
      with_commands(lab::verify_table(records), records));
  if (options.output.prints_text()) {
    print_text(records);
    fmt::print("{}", failures_text(cases, recheck_with(options, seed)));
  }
  if (std::ranges::any_of(cases, &VerifiedCase::failed)) return kCheckFailed;
  return interrupted() ? kInterrupted : kOk;
}

void declare_options(Parser& parser, VerifyArguments& options) {
  add_kernel_options(parser, options.problem);
  add_shape_options(parser, options.problem);
  add_batch_options(parser, options.problem);
  add_scale_options(parser, options.problem);
  parser
      .add_option("--fill", options.fill,
                  "uniform (default), normal, integers, same-sign, spread, zeros")
      .type_name("FILL");
  parser.add_option("--nans", options.nans, "NaNs placed in A and in B (default 0)").type_name("N");
  parser.add_flag("--in-place", options.in_place, "D is C");
  parser
      .add_option(
          "--misalign", options.misalign,
          "offset of the operands from a 256-byte boundary, in elements; four numbers: of A, "
          "B, C, D (default 0)")
      .type_name("N");
  parser.add_flag("--quick", options.quick, "one problem per shape instead of the whole lattice");
  parser.add_flag("--checks", options.checks,
                  "also look for races, missing waits and unwritten memory (virtual GPU)");
  add_device_options(parser, options.device);
  add_multiprocessors_option(parser, options.device);
  add_plan_options(parser, options.problem);
  add_seed_option(parser, options.seed);
  options.output.add_options(parser);
}

}  // namespace

Command verify_command() {
  return {"verify", "check kernels against a reference; without a shape: the lattice of the tests",
          "  tessera verify --kernel 07\n"
          "  tessera verify --kernel all --quick --device virtual --json -\n"
          "  tessera verify --kernel 12/all -m 100,129 -n 65 -k 0:40:8 --layout all --beta -1.5",
          [](Parser& parser) {
            auto options = std::make_shared<VerifyArguments>();
            declare_options(parser, *options);
            return [options, parser] { return verify(*options, parser); };
          }};
}

}  // namespace tessera::cli
