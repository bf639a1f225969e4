// tessera sass: the machine code of a kernel, its loops, and their cost. Needs neither
// a GPU nor NVIDIA's tools.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/numbers.h"
#include "cli/command.h"
#include "cli/options/best_code.h"
#include "cli/options/gpu_option.h"
#include "cli/options/parser.h"
#include "cli/options/session.h"
#include "cli/sass_call/sass_assemble.h"
#include "cli/sass_call/sass_input.h"
#include "cli/sass_call/sass_notes.h"
#include "cli/sass_call/sass_optimise.h"
#include "cli/terminal/fitted.h"
#include "cli/terminal/output.h"
#include "sass/report/ptx_beside.h"
#include "sass/report/published_maps.h"
#include "sass/report/report.h"
#include "sass/report/report_json.h"

namespace tessera::cli {
namespace {

struct SassArguments {
  ProblemOptions problem;  // the problem for 'best'
  std::string target, entry, sm, gpu, html, seed, optimise, remap, assemble, out;
  std::vector<std::string> diff;
  bool reorder = false, listing = false, clashes = false, no_run = false;
  bool ptx = false, published = false;
  Output output;
};

constexpr std::size_t kMostReports = 8;  // for a file; more kernels are shown as a table

struct Reported {
  sass::KernelReport report;
  std::vector<sass::Note> notes;
  std::string_view ptx = {};
};

Reported report(const MachineKernel& kernel, const SassArguments& options) {
  Reported result{sass::report_of(kernel.kernel, kernel.sm), {}, kernel.ptx};
  result.notes.push_back({"From", kernel.from});
  if (const sass::Note note = patch_note(kernel); !note.text.empty()) result.notes.push_back(note);
  result.notes.push_back(occupancy_note(kernel, gpu_of(options.gpu)));
  if (!options.no_run) {
    constexpr std::uint64_t kBlocks = 4;  // enough, as all blocks of a grid load in the same way
    const sass::Note note = wavefront_note(kernel, parse_seed(options.seed), kBlocks);
    if (!note.text.empty()) result.notes.push_back(note);
  }
  return result;
}

Table loops_table(const std::vector<Reported>& reported) {
  Table table;
  table.header = {"kernel",  "loop",       "depth",   "instructions", "FFMA",   "share",
                  "ceiling", "with ports", "bubbles", "crowded",      "verdict"};
  for (const Reported& one : reported) {
    const int sm = one.report.sm;
    for (const sass::LoopReport& loop : one.report.loops) {
      table.rows.push_back(
          {one.report.name, fmt::format("{:#x}-{:#x}", loop.begin, loop.end),
           std::to_string(loop.depth), std::to_string(loop.slots()),
           std::to_string(loop.mix[sass::Kind::kFfma]), fmt::format("{:.4f}", loop.ffma_share()),
           fmt::format("{:.4f}", loop.ceiling(sm)), fmt::format("{:.4f}", loop.port_ceiling(sm)),
           fmt::format("{:.2f}", loop.ports.bubbles), fmt::format("{:.2f}", loop.ports.crowded),
           verdict(one.report, loop)});
    }
  }
  return table;
}

// Prints one line per kernel, because a page for each would be too long.
void print_index(const std::vector<MachineKernel>& kernels) {
  Table table;
  table.header = {"sm", "registers", "instructions", "loops", "kernel"};
  for (const MachineKernel& kernel : kernels) {
    table.rows.push_back({std::to_string(kernel.sm), std::to_string(kernel.kernel.registers),
                          std::to_string(kernel.kernel.code.size()),
                          std::to_string(kernel.kernel.loops.size()), kernel.kernel.name});
  }
  fmt::print("{}\n{} kernels; choose with --kernel NAME (a part of it will do) and --sm.\n",
             fitted(table, {{"kernel"}, {"kernel"}}), kernels.size());
}

void write_page(const SassArguments& options, const std::vector<Reported>& reported) {
  if (options.html.empty()) return;
  std::vector<sass::KernelReport> kernels;
  std::vector<std::vector<sass::Note>> notes;
  for (const Reported& one : reported) {
    kernels.push_back(one.report);
    notes.push_back(one.notes);
  }
  lab::write_file(options.html, sass::html_page(kernels, notes), "--html");
}

// The main loop next to its PTX, as text. Throws kBadArgument for a file, whose PTX is unknown, and
// for code without a loop that multiplies.
std::string beside_text(const Reported& one) {
  try {
    return sass::ptx_beside(one.report, one.ptx);
  } catch (const std::invalid_argument& error) {
    throw StatusError(Status::bad_argument(
        fmt::format("--ptx shows the main loop of a kernel of the catalog; {}", error.what())));
  }
}

std::string text_of(const Reported& one, const SassArguments& options) {
  if (options.ptx) return beside_text(one);
  if (options.clashes) return sass::clash_list(one.report, sass::rule_of(one.report.sm));
  return options.listing ? sass::listing(one.report) : sass::render(one.report, one.notes);
}

int sm_of(const SassArguments& options) {
  return options.sm.empty() ? 0 : static_cast<int>(parse_integer("--sm", options.sm, 50, 200));
}

NamedCode named_code(const std::string& target, const SassArguments& options) {
  return named_code(target, options.entry, options.problem, gpu_of(options.gpu));
}

// Prints which kernel the report is about, if the library chose it.
void tell(const NamedCode& code, const SassArguments& options) {
  if (code.is_best() && options.output.prints_text()) fmt::print("{}\n", code.why);
}

int show(const SassArguments& options) {
  const int sm = sm_of(options);
  const NamedCode code = named_code(options.target, options);
  const std::vector<MachineKernel> kernels =
      machine_kernels(code.target, code.entry, sm, gpu_of(options.gpu));
  if (kernels.size() > kMostReports && options.entry.empty() && options.output.prints_text() &&
      options.html.empty() && !options.output.wants_json()) {
    print_index(kernels);
    return kOk;
  }
  std::vector<Reported> reported;
  for (const MachineKernel& kernel : kernels) reported.push_back(report(kernel, options));
  lab::Json object = {{"schema", "tessera.sass/1"}, {"command", command_line()}};
  if (code.is_best()) object["best"] = code.target;
  for (const Reported& one : reported) {
    object["kernels"].push_back(sass::to_json(one.report, one.notes, options.listing));
  }
  write_page(options, reported);
  options.output.write(object, loops_table(reported));
  if (!options.output.prints_text()) return kOk;
  tell(code, options);
  for (const Reported& one : reported) {
    const bool is_first = &one == &reported.front();
    fmt::print("{}{}", is_first ? "" : "\n", text_of(one, options));
  }
  return kOk;
}

// The report on the one kernel that `code` names. WHY change the name of a patched kernel: the rung
// that it was made from has an entry with the same name.
sass::KernelReport one_report(const NamedCode& code, const SassArguments& options) {
  const std::vector<MachineKernel> found =
      machine_kernels(code.target, code.entry, 0, gpu_of(options.gpu));
  if (found.size() == 1) {
    sass::KernelReport report = sass::report_of(found.front().kernel, found.front().sm);
    const bool is_patched = found.front().choice && found.front().choice->kernel->is_patched();
    if (is_patched) report.name = found.front().from + ": " + report.name;
    return report;
  }
  throw StatusError(Status::bad_argument(fmt::format(
      "--diff is '{}', which names {} kernels, but must name one; say which with --kernel",
      code.target, found.size())));
}

int diff(const SassArguments& options) {
  const NamedCode codes[] = {named_code(options.diff[0], options),
                             named_code(options.diff[1], options)};
  const sass::KernelReport before = one_report(codes[0], options);
  const sass::KernelReport after = one_report(codes[1], options);
  lab::Json object = {{"schema", "tessera.sass/1"}, {"command", command_line()}};
  object["before"] = sass::to_json(before, {}, options.listing);
  object["after"] = sass::to_json(after, {}, options.listing);
  options.output.write(object, loops_table({{before, {}}, {after, {}}}));
  for (const NamedCode& code : codes) tell(code, options);
  if (options.output.prints_text()) fmt::print("{}", sass::render_diff(before, after));
  return kOk;
}

int optimise(const SassArguments& options) {
  if (options.out.empty()) {
    throw StatusError(Status::bad_argument(
        "--optimise and --remap need -o, the place of the new cubin; add -o PATH"));
  }
  lab::check_writable(options.out, "--out");
  const bool remaps = !options.remap.empty();
  const NamedCode code = named_code(remaps ? options.remap : options.optimise, options);
  Optimised optimised = optimise_cubin(code.target, code.entry, gpu_of(options.gpu), options.out,
                                       {remaps, !remaps || options.reorder, sm_of(options)});
  if (code.is_best()) optimised.json["best"] = code.target;
  optimised.json["schema"] = "tessera.optimised/1";
  optimised.json["command"] = command_line();
  options.output.write(optimised.json, optimised.loops);
  tell(code, options);
  if (options.output.prints_text()) fmt::print("{}", optimised.text);
  return kOk;
}

int write_listing(const SassArguments& options) {
  lab::check_writable(options.out, "--out");
  const NamedCode code = named_code(options.target, options);
  const std::string text =
      write_assembly(code.target, code.entry, sm_of(options), gpu_of(options.gpu), options.out);
  tell(code, options);
  if (options.output.prints_text()) fmt::print("{}", text);
  return kOk;
}

int assemble(const SassArguments& options) {
  if (options.out.empty()) {
    throw StatusError(
        Status::bad_argument("--assemble needs -o, the place of the cubin; add -o PATH"));
  }
  lab::check_writable(options.out, "--out");
  const AssembledFile assembled = assemble_file(options.assemble, options.out);
  if (options.output.prints_text()) fmt::print("{}", assembled.text);
  return assembled.is_clean ? kOk : kCheckFailed;
}

// Without a target, --kernel names the kernel, as in other commands, and not an entry.
SassArguments with_target(const SassArguments& given) {
  SassArguments options = given;
  const bool has_target = !given.target.empty() || !given.diff.empty() || !given.optimise.empty() ||
                          !given.remap.empty() || !given.assemble.empty();
  if (!has_target) std::swap(options.target, options.entry);
  return options;
}

int sass(const SassArguments& given) {
  const SassArguments options = with_target(given);
  options.output.check({{"--html", options.html}, {"--out", options.out}});
  std::vector<std::string> targets = options.diff;
  targets.insert(targets.end(), {options.target, options.optimise, options.remap});
  require_best(options.problem, targets);
  if (!options.assemble.empty()) return assemble(options);
  if (!options.optimise.empty() || !options.remap.empty()) return optimise(options);
  if (!options.html.empty()) lab::check_writable(options.html, "--html");
  if (!options.diff.empty()) return diff(options);
  if (!options.target.empty() && options.listing && !options.out.empty()) {
    return write_listing(options);
  }
  if (options.published) {
    if (options.output.prints_text()) fmt::print("{}", sass::published_text());
    return kOk;
  }
  if (!options.target.empty()) return show(options);
  throw StatusError(
      Status::bad_argument("KERNEL or FILE is missing, or --diff with two of them, or --optimise "
                           "or --assemble with one; 'tessera sass 12' is a start"));
}

void declare_options(Parser& parser, SassArguments& options) {
  parser.add_option("KERNEL|FILE", options.target,
                    "a kernel of the catalog, 'best' (what the library takes for the problem that "
                    "-m and others name), or a cubin, fatbin, object, library or program");
  parser
      .add_option("--kernel,--entry", options.entry,
                  "a kernel of the file, by its name or a part of it; alone: as KERNEL")
      .type_name("NAME");
  parser.add_option("--sm", options.sm, "only code for this architecture (of a file)")
      .type_name("SM");
  parser.add_flag("--listing", options.listing,
                  "print every instruction with its control field; with -o, write the whole cubin "
                  "as text that --assemble takes");
  parser
      .add_option("--assemble", options.assemble,
                  "make a cubin of the text that --listing -o wrote, and check it for hazards")
      .type_name("TEXT");
  parser.add_flag("--clashes", options.clashes,
                  "list the main loop's FFMAs whose registers share a bank, by the card's rule");
  parser.add_flag("--ptx", options.ptx,
                  "print the main loop of a catalog kernel as PTX and machine code, side by side");
  parser.add_flag(
      "--published", options.published,
      "print register maps and an order of FFMAs that others have published, with their "
      "clashes; names no kernel");
  parser.add_option("--diff", options.diff, "compare two kernels or files")
      .expected(2)
      .type_name("A B");
  parser.add_option("--html", options.html, "write a page with the code coloured by cost")
      .type_name("PATH");
  parser
      .add_option("--optimise", options.optimise,
                  "reorder the FFMAs of a cubin or catalog kernel in place, and prove it equal")
      .type_name("IN");
  parser
      .add_option(
          "--remap", options.remap,
          "give the live ranges of a cubin or catalog kernel other registers, so that FFMAs "
          "find their sources in different banks, and prove it equal")
      .type_name("IN");
  parser.add_flag("--reorder", options.reorder, "with --remap: reorder the FFMAs, too");
  parser
      .add_option("-o,--out", options.out,
                  "where --optimise, --remap and --assemble write the cubin, --listing the text")
      .type_name("OUT");
  parser.add_flag("--no-run", options.no_run, "do not run catalog kernels on the virtual GPU");
  add_type_option(parser, options.problem);
  add_shape_options(parser, options.problem);
  add_gpu_option(parser, options.gpu);
  add_seed_option(parser, options.seed);
  options.output.add_options(parser);
}

}  // namespace

Command sass_command() {
  return {"sass", "the machine code of a kernel: loops, issue slots, register ports",
          "  tessera sass 11\n"
          "  tessera sass 12/compact --listing\n"
          "  tessera sass best -m 4096 --type bf16\n"
          "  tessera sass program --kernel my_kernel --html loop.html\n"
          "  tessera sass --diff 10 11\n"
          "  tessera sass 12 --ptx\n"
          "  tessera sass --published\n"
          "  tessera sass 12 --listing -o 12.sass\n"
          "  tessera sass --assemble 12.sass -o 12.cubin\n"
          "  tessera sass --optimise kernel.cubin -o patched.cubin\n"
          "  tessera sass --remap 12 --reorder -o remapped.cubin",
          [](Parser& parser) {
            auto options = std::make_shared<SassArguments>();
            declare_options(parser, *options);
            return [options] { return sass(*options); };
          }};
}

}  // namespace tessera::cli
