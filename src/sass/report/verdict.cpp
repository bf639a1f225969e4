// Explains the figures of a loop in words.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "sass/report/report.h"
#include "sass/report/report_parts.h"

namespace tessera::sass {
namespace {

// Returns the number of issue slots in which the pipe is still busy with the previous FFMA.
int slots_between_ffmas(const KernelReport& kernel, const LoopReport& loop) {
  return loop.mix[Kind::kFfma] * (cycles_of_ffma(kernel.sm) - 1);
}

std::string issue_fact(const KernelReport& kernel, const LoopReport& loop) {
  const bool is_fp32 = loop.mix[Kind::kFfma] > 0;
  const int count = is_fp32 ? loop.mix[Kind::kFfma] : loop.multiplies();
  std::string text = fmt::format("{} of {} issue slots multiply ({})", count, loop.slots(),
                                 percent(static_cast<double>(count) / loop.slots()));
  if (const double ceiling = loop.ceiling(kernel.sm); ceiling > 0) {
    text += fmt::format(", so at most {} of {} peak", percent(ceiling), is_fp32 ? "FP32" : "FP64");
  }
  if (is_fp32 && cycles_of_ffma(kernel.sm) > 1) {
    text += fmt::format("; an FFMA holds its pipe for {} cycles, so {} slots between are free",
                        cycles_of_ffma(kernel.sm), slots_between_ffmas(kernel, loop));
  }
  const int dummies = loop.mix[Kind::kNothing];
  if (dummies > 0) text += fmt::format("; {} slots do nothing", dummies);
  return text + ".";
}

std::string port_fact(const KernelReport& kernel, const LoopReport& loop) {
  const PortUse& ports = loop.ports;
  std::string text = fmt::format("{} cycles an iteration, {} of them bubbles",
                                 rounded(ports.cycles), rounded(ports.bubbles));
  text += fmt::format(", at most {} of peak; {:.2f} registers read for each FFMA",
                      percent(loop.port_ceiling(kernel.sm)), ports.reads_per_ffma());
  if (ports.crowded > 0 && cycles_of_crowded_ffma(kernel.sm) > 0) {
    text += fmt::format(
        "; {} FFMAs are crowded: two or more of these in one bank, about half a cycle "
        "each on silicon, bubble or not",
        rounded(ports.crowded));
  }
  if (!loop.is_straight)
    text += "; the loop branches, and the model takes all of its code in a row";
  return text + " (model: ports).";
}

std::string bank_fact(const LoopReport& loop) {
  std::string text;
  for (std::size_t i = 0; i < kBankModels.size(); ++i) {
    const BankClashes& clashes = loop.clashes[i];
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", name_of(kBankModels[i]), clashes.clashes);
    if (clashes.hidden > 0) text += fmt::format(" ({} hidden by reuse)", clashes.hidden);
  }
  return text + fmt::format(" of {} FFMAs have sources in one bank.", loop.mix[Kind::kFfma]);
}

std::string reuse_fact(const LoopReport& loop) {
  std::string text = fmt::format("{} flags", loop.reuse_flags);
  if (loop.reuse_faults.empty() && loop.illegal_controls == 0) return text + ", all legal.";
  if (!loop.reuse_faults.empty()) {
    text += fmt::format(", {} of them doubtful, first: {}", loop.reuse_faults.size(),
                        loop.reuse_faults.front().reason);
  }
  if (loop.illegal_controls > 0) {
    text += fmt::format(", {} control fields that the hardware lacks", loop.illegal_controls);
  }
  return text + ".";
}

std::string access_fact(const LoopReport& loop) {
  std::string text;
  for (const Kind kind : {Kind::kGlobalLoad, Kind::kGlobalStore, Kind::kCopy, Kind::kSharedLoad,
                          Kind::kSharedStore}) {
    if (loop.mix[kind] > 0) text += (text.empty() ? "" : ", ") + names_of(loop.mix, kind);
  }
  return text.empty() ? "none." : text + ".";
}

std::string unroll_fact(const LoopReport& loop) {
  std::string text = "no sums found";
  if (loop.sums > 0) {
    text = fmt::format(
        "{} an iteration: {} sums side by side, {} multiplies each (model: chains of "
        "multiply-adds)",
        rounded(loop.unroll()), loop.sums, rounded(loop.unroll()));
  }
  if (loop.counter) {
    text += fmt::format("; {} goes by {} an iteration", loop.counter->name, loop.counter->step);
  }
  return text + ".";
}

// Whether the loop loads so much from global memory per multiply-add that no order of instructions
// helps.
bool waits_for_memory(const LoopReport& loop) {
  constexpr double kFlopPerByte = 2;
  return loop.global_bytes > 0 && loop.flop_per_byte() < kFlopPerByte &&
         loop.mix[Kind::kTensor] == 0;
}

std::string memory_verdict(const LoopReport& loop) {
  const int wide = loop.mix.of("LDG.128") + loop.mix.of("LDGSTS.128");
  const int loads = loop.mix[Kind::kGlobalLoad] + loop.mix.of("LDGSTS");
  return fmt::format(
      "Verdict: do not touch the SASS: {} of the slots multiply, {} of {} global loads are "
      "narrower "
      "than 128 bits, and each byte asked for feeds {:.2g} FLOP; {}a tile in shared memory or "
      "registers {} first.",
      percent(static_cast<double>(loop.multiplies()) / loop.slots()), loads - wide, loads,
      loop.flop_per_byte(), wide == loads ? "" : "wider loads and ",
      wide == loads ? "comes" : "come");
}

std::string shared_verdict(const LoopReport& loop) {
  return fmt::format(
      "Verdict: do not touch the SASS: {} multiplies for {} shared loads keep the load unit busier "
      "than "
      "the multipliers; more outputs a thread come first.",
      loop.multiplies(), loop.mix[Kind::kSharedLoad]);
}

// Returns the share of the cycles that register ports cost: lost cycles and crowded FFMAs.
double lost_to_ports(const KernelReport& kernel, const LoopReport& loop) {
  const double crowded = cycles_of_crowded_ffma(kernel.sm) * loop.ports.crowded;
  return (loop.ports.bubbles + crowded) / std::max(1.0, loop.ports.cycles);
}

// Returns the verdict for a GPU that issues an FFMA in every second slot only: conflicts at the
// register ports then cost little, because the FMA pipe is busy anyway.
std::string half_rate_verdict(const KernelReport& kernel, const LoopReport& loop) {
  const int ffmas = loop.mix[Kind::kFfma], others = loop.slots() - ffmas;
  const int free = slots_between_ffmas(kernel, loop);
  const double lost = lost_to_ports(kernel, loop);
  const std::string ports =
      lost == 0 ? "register ports lose nothing" : "register ports lose " + percent(lost);
  if (others > free) {
    return fmt::format(
        "Verdict: {} instructions that do not multiply exceed the {} free slots between FFMAs: a "
        "ceiling of {}; {} (model). Fewer of them come before another order.",
        others, free, percent(loop.ceiling(kernel.sm)), ports);
  }
  return fmt::format(
      "Verdict: the FFMA pipe can be full: on sm_{} an FFMA holds it for {} cycles, the {} other "
      "instructions fit into the {} slots between, and {} (model). Another order has little to "
      "win: a published one gave about 1 % on a V100.",
      kernel.sm, cycles_of_ffma(kernel.sm), others, free, ports);
}

std::string compute_verdict(const KernelReport& kernel, const LoopReport& loop) {
  const double lost = lost_to_ports(kernel, loop);
  const int overhead = loop.slots() - loop.mix[Kind::kFfma];
  if (loop.mix[Kind::kLocal] > 0) {
    return "Verdict: it spills inside of the loop; fewer registers a thread come before anything "
           "else.";
  }
  if (cycles_of_ffma(kernel.sm) > 1) return half_rate_verdict(kernel, loop);
  if (lost >= 0.02) {
    return fmt::format(
        "Verdict: register ports take {} of the cycles (model{}); another order of the FFMAs, in "
        "the source or by --optimise, can win up to that.",
        percent(lost), kernel.sm == 90 ? "" : ", not measured on sm_" + std::to_string(kernel.sm));
  }
  return fmt::format(
      "Verdict: ports are no obstacle ({} lost, model); what is left are the {} slots that do not "
      "multiply: a ceiling of {}.",
      lost == 0 ? "nothing" : percent(lost), overhead, percent(loop.ceiling(kernel.sm)));
}

}  // namespace

std::vector<Fact> facts_of(const KernelReport& kernel, const LoopReport& loop) {
  std::vector<Fact> facts = {{"Issue", issue_fact(kernel, loop)}};
  if (loop.mix[Kind::kFfma] > 0) {
    facts.push_back({"Ports", port_fact(kernel, loop)});
    facts.push_back({"Banks", bank_fact(loop)});
    facts.push_back({"In place", fmt::format("{} of {} FFMAs write the register that they add to "
                                             "(Rd = Rc).",
                                             loop.in_place, loop.mix[Kind::kFfma])});
  }
  facts.push_back({"Reuse", reuse_fact(loop)});
  facts.push_back({"Stalls", fmt::format("{} cycles by the stall fields.", loop.stalls)});
  facts.push_back({"Accesses", access_fact(loop)});
  facts.push_back({"Unroll", unroll_fact(loop)});
  if (loop.flop_per_byte() > 0) {
    facts.push_back({"Arithmetic", fmt::format("{:.3g} FLOP for each byte of global memory that a "
                                               "thread asks for in the loop.",
                                               loop.flop_per_byte())});
  }
  if (!kernel.lines.empty()) facts.push_back({"Lines", lines_text(kernel, loop)});
  return facts;
}

std::string verdict(const KernelReport& kernel, const LoopReport& loop) {
  constexpr int kBalanced = 4;  // multiplies that a shared load must feed
  if (waits_for_memory(loop)) return memory_verdict(loop);
  const bool feeds =
      loop.mix[Kind::kTensor] > 0 || loop.multiplies() >= kBalanced * loop.mix[Kind::kSharedLoad];
  if (!feeds) return shared_verdict(loop);
  if (loop.mix[Kind::kFfma] > 0) return compute_verdict(kernel, loop);
  return fmt::format(
      "Verdict: {} of {} slots are multiplies on another pipe than FP32; register ports "
      "are not what limits it.",
      loop.multiplies(), loop.slots());
}

}  // namespace tessera::sass
