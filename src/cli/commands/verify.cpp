// tessera verify: is a kernel right? Exact integers first, then real data under the componentwise
// bound, on the shapes where kernels break.
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
#include "cli/terminal/output.h"
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

// Without a shape: the lattice of the tests, restricted to the layouts and orders asked for.
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

std::vector<lab::LatticeCase> cases_of(const VerifyArguments& options, const Types& types,
                                       std::uint64_t seed) {
  if (!options.problem.gives_shapes()) return lattice_cases(options, types, seed);
  if (options.quick) {
    throw StatusError(
        Status::bad_argument("--quick is given, but cannot be combined with a shape: it shortens "
                             "the lattice of problems "
                             "that verify walks without one"));
  }
  std::vector<lab::LatticeCase> cases;
  const auto misalign = static_cast<int>(
      options.misalign.empty() ? 0 : parse_integer("--misalign", options.misalign, 0, 63));
  for (const Problem& problem : problems_of(options.problem, types, {})) {
    cases.push_back({problem, options.in_place, misalign});
  }
  return cases;
}

// One problem and the kernels that are checked on it: data and reference are made once for all.
struct Group {
  lab::LatticeCase one;
  std::vector<KernelChoice> kernels;
};

// Kernels with a persistent grid walk a lattice of their own, made for their block tile.
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

std::vector<Group> groups_of(const VerifyArguments& options, std::uint64_t seed) {
  std::vector<Group> groups;
  for (const auto& [types, kernels] : kernels_by_type(options.problem)) {
    for (const lab::LatticeCase& one : cases_of(options, types, seed)) {
      groups.push_back({one, kernels});
    }
  }
  if (!options.problem.gives_shapes() && !options.quick) {
    add_depth_groups(kernels_of(options.problem), seed, groups);
  }
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

// On the device, or on the virtual GPU if a GPU that was not asked for cannot load the image.
lab::Record check_one(Devices& devices, const KernelChoice& kernel, const lab::VerifyCase& data) {
  try {
    return lab::verify_record(*devices.device, kernel, data);
  } catch (const StatusError& error) {
    if (!devices.fallback || error.status().code != StatusCode::kUnavailable) throw;
    return lab::verify_record(*devices.fallback, kernel, data);
  }
}

std::vector<lab::Record> run_groups(const std::vector<Group>& groups, Devices& devices,
                                    const VerifyArguments& options, const Parser& parser,
                                    std::uint64_t seed) {
  std::vector<lab::Record> records;
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
        break;  // what was verified before is kept
      }
      record.command =
          repeat_command("verify", kernel, groups[i].one.problem, devices.word_of(record), seed);
      if (verify.in_place) record.command += " --in-place";
      if (verify.misalign > 0) record.command += fmt::format(" --misalign {}", verify.misalign);
      record.command += carried_options(parser, {"--in-place", "--misalign", "--quick"});
      records.push_back(std::move(record));
    }
  }
  return records;
}

// For people: a row a kernel, and every failure with the command that repeats it.
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

void print_finding(const vgpu::Finding& finding) {
  fmt::print("  {}, {} times: {}.\n    {}.\n", finding.check, finding.count, finding.message,
             finding.hint);
  for (const vgpu::FindingPlace& place : finding.places) {
    const std::string source =
        place.source_line > 0 ? fmt::format("{}:{}, ", place.source_file, place.source_line) : "";
    fmt::print("    {}PTX line {}: {}: {}\n", source, place.ptx_line, place.form, place.what);
  }
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
  fmt::print("{}", render(table, Format::kText));
  std::set<std::string> said;  // of kernels that did not run themselves
  for (const lab::Record& record : records) {
    const bool by_proof = record.verified && record.verified->starts_with("as ");
    if (by_proof && said.insert(record.kernel).second) {
      fmt::print("{}: {}.\n", record.kernel, *record.verified);
    }
  }
  for (const lab::Record& record : records) {
    if (record.verified != "failed") continue;
    fmt::print("\nFAILED {}: {}\n  {}\n", record.kernel, record.reason, record.command);
    for (const vgpu::Finding& finding : record.findings) print_finding(finding);
  }
}

int verify(const VerifyArguments& options, const Parser& parser) {
  options.output.check({{"--shapes", options.problem.shapes}});
  const std::uint64_t seed = parse_seed(options.seed);
  const std::vector<Group> groups = groups_of(options, seed);
  verify_options_of(options, seed);
  Devices devices = open_devices(options.device);

  const std::vector<lab::Record> records = run_groups(groups, devices, options, parser, seed);

  options.output.write(
      lab::to_json(environment_of(devices, {nullptr, "none: not asked for"}, seed), records),
      with_commands(lab::verify_table(records), records));
  if (options.output.prints_text()) print_text(records);
  const bool failed = std::any_of(records.begin(), records.end(), [](const lab::Record& record) {
    return record.verified == "failed";
  });
  if (failed) return kCheckFailed;
  return interrupted() ? kInterrupted : kOk;
}

void declare_options(Parser& parser, VerifyArguments& options) {
  add_kernel_options(parser, options.problem);
  add_shape_options(parser, options.problem);
  add_batch_options(parser, options.problem);
  add_scale_options(parser, options.problem);
  parser.add_option("--fill", options.fill, "uniform (default), normal, integers, same-sign, zeros")
      .type_name("FILL");
  parser.add_option("--nans", options.nans, "NaNs placed in A and in B (default 0)").type_name("N");
  parser.add_flag("--in-place", options.in_place, "D is C");
  parser
      .add_option("--misalign", options.misalign,
                  "offset of the operands from a 256-byte boundary, in elements (default 0)")
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
