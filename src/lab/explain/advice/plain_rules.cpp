// Rules for kernels that multiply no matrices: copies, reductions, histograms, functions of each
// element.
#include <fmt/format.h>

#include <algorithm>

#include "lab/explain/advice/rules.h"

namespace tessera::lab {
namespace {

constexpr double kMostOfTheBound = 0.8;

// Numbers of instructions by purpose, as far as their class shows it.
struct Mix {
  double arithmetic = 0, memory = 0, meetings = 0, indices = 0;
};

Mix count_mix(const Evidence& e) {
  using Class = InstructionClass;
  Mix mix;
  for (const Site& site : e.sites) {
    const auto warp = static_cast<double>(site.warp);
    switch (class_of(site.form)) {
      case Class::kFmaF32:
      case Class::kFmaF64:
      case Class::kFmaHalf:
      case Class::kFloat:
      case Class::kSpecial:
      case Class::kMatrix:
        mix.arithmetic += warp;
        break;
      case Class::kGlobalLoad:
      case Class::kGlobalStore:
      case Class::kSharedLoad:
      case Class::kSharedStore:
      case Class::kOtherAccess:
      case Class::kAtomic:
      case Class::kCopy:
        mix.memory += warp;
        break;
      case Class::kBarrier:
      case Class::kWarp:
        mix.meetings += warp;
        break;
      default:
        mix.indices += warp;
    }
  }
  return mix;
}

bool is_busy(const Evidence& e, Resource resource) {
  return bound_ms(e) > 0 && ms_of(e, resource) >= kMostOfTheBound * bound_ms(e);
}

}  // namespace

std::string mix_of(const Evidence& e) {
  const Mix mix = count_mix(e);
  const double all = std::max(1.0, e.totals.warp_instructions);
  return fmt::format(
      "of the issued instructions {} compute with integers, compare, move or branch, {} access "
      "memory, {} compute with floats",
      whole_percent(mix.indices / all), whole_percent(mix.memory / all),
      whole_percent(mix.arithmetic / all));
}

Found plain_shared_traffic(const Evidence& e) {
  const double share = share_of_wavefronts(e, e.totals.wavefronts.shared);
  if (share < 0.4 || !is_busy(e, Resource::kLoadStore)) return {};
  const Site* site = largest(e.sites, [](const Site& s) { return wavefronts_of(s).shared; });
  return Advice{"shared-traffic", share,
                fmt::format("{} of the load/store unit's wavefronts are accesses to shared memory "
                            "without conflicts; {} alone takes {}.",
                            whole_percent(e.totals.wavefronts.shared / e.totals.wavefronts.sum()),
                            access_at(*site),
                            whole_percent(wavefronts_of(*site).shared / e.totals.wavefronts.sum())),
                "Keep values in registers: let a thread combine several elements first, use "
                "shuffles within a warp, and move 64 or 128 bits at once."};
}

Found plain_no_sharing(const Evidence& e) {
  constexpr double kOften = 4;
  const double moved = e.totals.footprint_bytes;
  if (moved == 0 || e.totals.shared_loads > 0) return {};
  const double times = e.totals.distinct_bytes / moved;
  if (times < kOften || !(is_busy(e, Resource::kLoadStore) || is_named(e, Resource::kL2)))
    return {};
  return Advice{"no-sharing", 0.9,
                fmt::format("warps ask {} times for each byte of global memory that they touch.",
                            number(times)),
                "Keep it in registers, hand it on by shuffles, or stage it in shared memory."};
}

Found plain_barriers(const Evidence& e) {
  constexpr double kRarely = 32;  // instructions
  if (e.totals.barriers == 0) return {};
  const double between = e.totals.warp_instructions / e.totals.barriers;
  const bool matters = waits(e) || is_busy(e, Resource::kIssue) || is_busy(e, Resource::kLoadStore);
  if (between >= kRarely || !matters) return {};
  return Advice{"barriers", waits(e) ? 0.8 : 0.11,
                fmt::format("a warp waits at a barrier every {} instructions.", number(between)),
                "Let a thread take several elements before its block meets, and combine within a "
                "warp by shuffles (__shfl_down_sync, __reduce_add_sync), which need no barrier: "
                "one for the whole block is then enough."};
}

Found plain_issue_overhead(const Evidence& e) {
  if (!is_busy(e, Resource::kIssue)) return {};
  const Mix mix = count_mix(e);
  const double all = std::max(1.0, e.totals.warp_instructions), own = mix.arithmetic / all;
  const bool computes = own >= 0.5;
  return Advice{"issue-overhead",
                (computes ? 0.5 : 1 - own) * ms_of(e, Resource::kIssue) / bound_ms(e),
                mix_of(e) + ".",
                computes ? "Fewer operations help: compute what neighbours share once, and use "
                           "functions of lower precision (__expf, -use_fast_math) where they do."
                         : "Give a thread several elements (an unrolled loop, accesses of 64 or "
                           "128 bits), so that addresses and bounds are computed once for all of "
                           "them, and keep indices in 32 bits."};
}

Found plain_at_the_pipe(const Evidence& e) {
  if (e.resources.empty()) return {};
  const ResourceUse& top = e.resources.front();
  if (top.resource == Resource::kSpecial) {
    return Advice{"arithmetic", 1,
                  fmt::format("the {} would be busy all the time: it serves 16 lanes a clock and "
                              "SM, with reciprocals, roots, exponentials and sines.",
                              top.name),
                  "Compute fewer of them: keep a result instead of computing it again, multiply by "
                  "one reciprocal instead of dividing each time, or use a polynomial for a part."};
  }
  if (!is_arithmetic(top.resource)) return {};
  return Advice{
      "arithmetic", 1,
      fmt::format("the {} would be busy all the time: arithmetic limits this kernel.", top.name),
      "Fewer operations help, or a narrower type."};
}

namespace {

// Returns the advice to move fewer bytes, with a limit of its use: another resource may take nearly
// as long, or requests may touch more sectors than they use.
std::string fewer_bytes_text(const Evidence& e) {
  const bool is_near = e.resources.size() > 1 && is_busy(e, e.resources[1].resource);
  const bool has_unused = scattered_access(e) || scalar_access(e) || misaligned_access(e);
  const std::string text = "lanes ask for what device memory moves, so that ";
  if (!is_near) {
    return text + (has_unused ? "fewer bytes make it faster." : "only fewer bytes make it faster.");
  }
  const ResourceUse& next = e.resources[1];
  return text + fmt::format("fewer bytes make it faster; but {} alone would take {} of that time.",
                            next.name, whole_percent(next.ms / bound_ms(e)));
}

}  // namespace

Found plain_memory_bound(const Evidence& e) {
  if (e.resources.empty() || e.resources.front().resource != Resource::kDram) return {};
  const Found atomics = atomic_contention(e);
  if (uncoalesced_access(e) || (atomics && atomics->weight >= 1)) return {};
  return Advice{std::string(kDeviceMemory), 1, fewer_bytes_text(e),
                "Use a narrower type, or do more with a word while it is there: fuse this kernel "
                "with the one that writes what it reads, or reads what it writes."};
}

}  // namespace tessera::lab
