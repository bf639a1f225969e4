#include "check/runs/undefined.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/interrupt.h"
#include "check/runs/launching.h"

namespace tessera::checking {
namespace {

using vgpu::UndefinedSource;

constexpr std::size_t kMostPlaces = 4;  // limit of places that a finding names
constexpr std::array kSources = {UndefinedSource::kShuffle, UndefinedSource::kLocal,
                                 UndefinedSource::kRegister};
// Patterns whose sign, size and parity differ, so that maxima, comparisons and selections give
// other results.
constexpr std::array<std::uint32_t, 2> kPatterns = {0x5a5a5a5a, 0xdbdbdbdb};

// Returns the places where undefined values of this kind were read in any of the runs.
using Places = std::vector<vgpu::FindingPlace>;
Places places_of(const CheckResult& result, UndefinedSource source) {
  Places places;
  for (const CheckRun& run : result.runs) {
    for (const vgpu::UndefinedRead& read : run.report.undefined_reads) {
      const auto same = [&](const vgpu::FindingPlace& place) {
        return place.source_line == read.place.source_line && place.callers == read.place.callers &&
               (place.source_line != 0 || place.ptx_line == read.place.ptx_line);
      };
      if (read.source != source || std::any_of(places.begin(), places.end(), same)) continue;
      places.push_back(read.place);
    }
  }
  if (places.size() > kMostPlaces) places.resize(kMostPlaces);
  return places;
}

// Bytes that fill shared memory. 0x5a and 0xdb are arbitrary. The other bytes make words that are
// zero, have all bits set, or are almost the largest numbers of either sign: one of them changes a
// sum, maximum or minimum of unwritten words. Repeated, 0x80 is the least integer and 0x7f the
// largest (0xff without a sign); for f16, 0xfb and 0x7b, for other floats 0xfe and 0x7f.
constexpr std::array<std::uint8_t, 9> kSharedPatterns = {0x5a, 0xdb, 0x00, 0x7f, 0x80,
                                                         0x7b, 0xfb, 0xfe, 0xff};
constexpr const char* kSharedRead = "uninitialised-shared-read";

void fill(vgpu::UndefinedBits& bits, UndefinedSource source, std::uint32_t pattern) {
  if (source == UndefinedSource::kRegister) {
    bits.registers = std::uint64_t{pattern} << 32 | pattern;
  } else if (source == UndefinedSource::kLocal) {
    bits.local = static_cast<std::uint8_t>(pattern);
  } else {
    bits.fills_shuffles = true;
    bits.shuffles = pattern;
  }
}

// Finds an array by name. Arrays of a plan have different names, and every run has all arrays.
std::vector<HostArray>::const_iterator array_named(const std::vector<HostArray>& arrays,
                                                   const std::string& name) {
  return std::find_if(arrays.begin(), arrays.end(),
                      [&](const HostArray& array) { return array.name == name; });
}

// How a run without checks ended, and its results.
struct Outcome {
  std::vector<HostArray> results;
  std::optional<vgpu::Finding> fault;
  bool is_over = true;  // false: the run was stopped from outside
};

// Runs the plan with `bits` in place of undefined values. WHY one host thread: blocks that add to
// one place then add in the same order in every run.
Outcome run_with(const CheckPlan& plan, const vgpu::UndefinedBits& bits) {
  const Watchdog watchdog(plan.seconds / 4);
  vgpu::Observation observation;
  observation.undefined = bits;
  const std::unique_ptr<VirtualDevice> device = device_for(plan, watchdog, observation, 1);
  Outcome outcome;
  const Placed placed = place(plan, *device);
  try {
    launch(plan, placed, *device);
    outcome.results = results_of(plan, placed, *device);
  } catch (const LaunchFault& fault) {
    outcome.fault = fault.finding();
    outcome.is_over = fault.finding().check != "stopped";
  }
  return outcome;
}

// Drops arrays that differ between two runs with the same bits: their differences prove nothing.
void keep_what_repeats(const CheckPlan& plan, Outcome& usual) {
  const Outcome again = run_with(plan, {});
  if (!again.is_over || again.fault) return;
  std::erase_if(usual.results, [&](const HostArray& array) {
    return compare(*array_named(again.results, array.name), array, 0).count != 0;
  });
}

// Returns the difference, "array out in 8 of 32 elements, first [8]: 72 against 1515870810";
// nullopt if the results agree.
std::optional<std::string> difference(const Outcome& usual, const Outcome& other) {
  if (!other.is_over) return std::nullopt;
  if (other.fault) {
    const std::string& message = other.fault->message;
    return fmt::format("with other bits there the kernel ends in: {}",
                       message.substr(0, message.find('\n')));
  }
  for (const HostArray& before : usual.results) {
    const Difference found = compare(*array_named(other.results, before.name), before, 0);
    if (found.count == 0) continue;
    std::string first = found.first;
    first.replace(first.find(", expected "), 11, " against ");
    return fmt::format("with other bits there array {} differs in {} of {} elements, first {}",
                       before.name, found.count, before.elements(), first);
  }
  return std::nullopt;
}

const char* name_of(UndefinedSource source) {
  if (source == UndefinedSource::kShuffle) return "undefined-shuffle";
  return source == UndefinedSource::kLocal ? "uninitialised-local-read"
                                           : "uninitialised-register-read";
}

std::string message_of(UndefinedSource source) {
  if (source == UndefinedSource::kShuffle) {
    return "A shuffle reads lanes that its mask leaves out; what it gets from them is undefined";
  }
  return source == UndefinedSource::kLocal
             ? "A thread reads an array of its own that it has not written"
             : "A register is read that is not written on every way to the read";
}

std::string hint_of(UndefinedSource source) {
  if (source == UndefinedSource::kShuffle) {
    return "name every lane that is read in the mask and let it take part, or do not use what "
           "comes from other lanes";
  }
  return "give it a value on every way that leads there";
}

SeenFinding finding_of(UndefinedSource source, Places places, vgpu::Severity severity,
                       const std::string& effect, const std::string& hint, std::size_t runs) {
  vgpu::Finding finding;
  finding.check = name_of(source);
  finding.severity = severity;
  finding.message = message_of(source) + ": " + effect;
  finding.hint = hint;
  finding.places = std::move(places);
  return {finding, 1, static_cast<int>(runs), "eager, warps by index"};
}

bool has_finding(const CheckResult& result, const char* check) {
  return std::any_of(result.findings.begin(), result.findings.end(),
                     [&](const SeenFinding& seen) { return seen.finding.check == check; });
}

// Returns how the results change if undefined values of these kinds hold other bits; nullopt if the
// results do not change.
std::optional<std::string> effect_of(const CheckPlan& plan, const Outcome& usual,
                                     const std::vector<UndefinedSource>& sources) {
  for (const std::uint32_t pattern : kPatterns) {
    vgpu::UndefinedBits bits;
    for (const UndefinedSource source : sources) fill(bits, source, pattern);
    if (auto effect = difference(usual, run_with(plan, bits))) return effect;
  }
  return std::nullopt;
}

// Returns the kinds of undefined values that were read and that no other finding reports.
std::vector<UndefinedSource> sources_in(const CheckResult& result) {
  std::vector<UndefinedSource> sources;
  for (const UndefinedSource source : kSources) {
    if (has_finding(result, name_of(source)) || places_of(result, source).empty()) continue;
    sources.push_back(source);
  }
  return sources;
}

// Whether the results are the same for any initial contents of shared memory.
bool is_shared_memory_free(const CheckPlan& plan, const Outcome& usual) {
  return std::all_of(kSharedPatterns.begin(), kSharedPatterns.end(), [&](std::uint8_t pattern) {
    vgpu::UndefinedBits bits;
    bits.shared = pattern;
    const Outcome other = run_with(plan, bits);
    return other.is_over && !difference(usual, other);
  });
}

// Whether the array holds a NaN that was computed, which stays a NaN for any input bits. WHY not
// all NaNs: a NaN with all bits set is an unwritten element.
bool has_computed_nan(const HostArray& array) {
  const auto bytes = static_cast<std::size_t>(size_of(array.type));
  for (std::size_t i = 0; i < array.elements(); ++i) {
    if (!is_nan(array, i)) continue;
    const auto first = array.bytes.begin() + static_cast<std::ptrdiff_t>(i * bytes);
    const bool is_fresh = std::all_of(first, first + static_cast<std::ptrdiff_t>(bytes),
                                      [](std::byte one) { return one == std::byte{0xff}; });
    if (!is_fresh) return true;
  }
  return false;
}

// Whether the results can show an effect of undefined values: a computed NaN would hide it.
bool tells_of_changes(const Outcome& usual) {
  return !usual.results.empty() &&
         std::none_of(usual.results.begin(), usual.results.end(), has_computed_nan);
}

// Whether the read happens in every run. WHY: a read that happens only in some orders depends on
// the order of the threads.
bool is_read_in_every_run(const SeenFinding& seen, const CheckResult& result) {
  return seen.finding.check == kSharedRead && seen.runs == static_cast<int>(result.runs.size());
}

// Turns findings into notes if every run reads the word and no result depends on the word.
void note_what_is_thrown_away(CheckResult& result) {
  for (SeenFinding& seen : result.findings) {
    if (!is_read_in_every_run(seen, result)) continue;
    seen.finding.severity = vgpu::Severity::kNote;
    seen.finding.message += ": no array here depends on it";
    seen.finding.hint = "nothing, as long as what is read there is thrown away";
  }
}

}  // namespace

void judge_undefined(const CheckPlan& plan, CheckResult& result) {
  const std::vector<UndefinedSource> sources = sources_in(result);
  const bool reads_shared =
      std::any_of(result.findings.begin(), result.findings.end(),
                  [&](const SeenFinding& seen) { return is_read_in_every_run(seen, result); });
  if ((sources.empty() && !reads_shared) || result.results.empty() || interrupted()) return;
  Outcome usual = run_with(plan, {});
  if (usual.fault) return;
  keep_what_repeats(plan, usual);
  if (reads_shared && tells_of_changes(usual) && is_shared_memory_free(plan, usual)) {
    note_what_is_thrown_away(result);
  }
  for (const UndefinedSource source : sources) {
    const Places places = places_of(result, source);
    const auto effect = effect_of(plan, usual, {source});
    if (effect) {
      result.findings.push_back(finding_of(source, places, vgpu::Severity::kError, *effect,
                                           hint_of(source), result.runs.size()));
    } else if (source == UndefinedSource::kShuffle) {
      result.findings.push_back(finding_of(source, places, vgpu::Severity::kNote,
                                           "no array here depends on it",
                                           "nothing, as long as "
                                           "what comes from these lanes is thrown away",
                                           result.runs.size()));
    }
  }
}

}  // namespace tessera::checking
