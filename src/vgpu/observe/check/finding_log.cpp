#include "vgpu/observe/check/finding_log.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::vgpu::check {
namespace {

// Returns the CTA where the finding was first seen. With the lowest one, a report does not depend
// on the number of threads.
std::uint64_t first_cta(const Finding& finding) {
  return finding.places.empty() ? 0 : finding.places.front().cta;
}

}  // namespace

std::string capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = char(text[0] - 'a' + 'A');
  return text;
}

const char* name_of(Window window) {
  return window == Window::kShared ? "shared memory" : "global memory";
}

FindingLog::FindingLog(const Kernel& kernel) : kernel_(kernel) {
  using Inlined = std::vector<std::pair<std::string, int>>;
  std::map<std::tuple<std::string, int, Inlined, std::string>, std::uint32_t> known;
  for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) {
    const InstructionInfo& info = kernel.instructions[i];
    const auto first =
        known.try_emplace({info.source_file, info.source_line, info.callers, info.form}, i).first;
    first_like_.push_back(info.source_line > 0 ? first->second : i);
  }
}

Finding* FindingLog::note(const char* name, Severity severity, std::uint32_t later,
                          std::uint32_t earlier, std::uint64_t address, std::uint64_t count) {
  const auto [at, is_new] = findings_.try_emplace(
      {name, static_cast<int>(severity), first_like(later), first_like(earlier)});
  Finding& finding = at->second;
  if (!is_new) {
    finding.count += count;
    return nullptr;
  }
  instructions_[at->first] = {later, earlier};
  finding.check = name;
  finding.severity = severity;
  finding.address = address;
  finding.has_address = true;
  finding.count = count;
  return &finding;
}

void FindingLog::add(Finding finding) {
  const auto line = [&](std::size_t i) {
    return i < finding.places.size() ? static_cast<std::uint32_t>(finding.places[i].ptx_line) : 0;
  };
  const Key key{finding.check + "\n" + finding.message, static_cast<int>(finding.severity), line(0),
                line(1)};
  const std::uint64_t count = finding.count;
  const auto [at, is_new] = findings_.try_emplace(key, std::move(finding));
  if (!is_new) at->second.count += count;
}

FindingPlace FindingLog::place(const Place& place) const {
  FindingPlace to;
  to.what = place.what;
  to.cta = place.cta;
  to.warp = place.warp;
  to.lane = place.lane;
  if (place.instruction < kernel_.instructions.size()) {
    const InstructionInfo& info = kernel_.instructions[place.instruction];
    to.form = info.form;
    to.ptx_line = info.ptx_line;
    to.source_file = info.source_file;
    to.source_line = info.source_line;
    to.callers = info.callers;
  }
  return to;
}

std::string_view FindingLog::form(std::uint32_t instruction) const {
  if (instruction >= kernel_.instructions.size()) return {};
  return kernel_.instructions[instruction].form;
}

std::string FindingLog::line(std::uint32_t instruction) const {
  if (instruction >= kernel_.instructions.size()) return "an unknown line";
  const InstructionInfo& info = kernel_.instructions[instruction];
  return info.source_line > 0 ? fmt::format("line {}", info.source_line)
                              : fmt::format("PTX line {}", info.ptx_line);
}

void FindingLog::note_update(std::uint32_t load, std::uint32_t store, const Change& change) {
  Change& known = updates_.try_emplace({load, store}, change).first->second;
  known.is_lost |= change.is_lost;
}

// WHY loads must be equal and stores only alike: an unrolled loop has copies of an update, and
// `a[i] += a[j]` has two loads in one line.
const FindingLog::Change* FindingLog::change_of(std::uint32_t later, std::uint32_t earlier) const {
  const Change* found = nullptr;
  for (const auto& [one, change] : updates_) {
    if (one.first != later && one.second != later) continue;
    for (const auto& [other, other_change] : updates_) {
      const bool has_earlier = other.first == earlier || other.second == earlier;
      if (!has_earlier || first_like(one.second) != first_like(other.second)) continue;
      const Change& worse = other_change.is_lost ? other_change : change;
      if (!found || worse.is_lost) found = &worse;
    }
  }
  return found;
}

const FindingLog::Change* FindingLog::update_with(std::uint32_t instruction) const {
  const Change* found = nullptr;
  for (const auto& [update, change] : updates_) {
    if (update.first != instruction && update.second != instruction) continue;
    if (!found || change.is_lost) found = &change;
  }
  return found;
}

// Returns the updates of two statements if both accumulate: then each can lose the other's update.
std::optional<FindingLog::Updates> FindingLog::updates_of(std::uint32_t later,
                                                          std::uint32_t earlier) const {
  const Change* one = update_with(later);
  const Change* other = update_with(earlier);
  if (!one || !other || !one->accumulates || !other->accumulates) return std::nullopt;
  return Updates{one, other};
}

void FindingLog::merge(FindingLog&& more) {
  for (const auto& [update, change] : more.updates_) {
    note_update(update.first, update.second, change);
  }
  late_.merge(more.late_);
  never_written_.merge(more.never_written_);
  for (auto& [key, finding] : more.findings_) {
    const auto [at, is_new] = findings_.try_emplace(key, finding);
    if (is_new) instructions_[key] = more.instructions_[key];
    if (is_new) continue;
    const std::uint64_t count = at->second.count + finding.count;
    if (first_cta(finding) < first_cta(at->second)) {
      at->second = std::move(finding);
      instructions_[key] = more.instructions_[key];
    }
    at->second.count = count;
  }
}

// Advises an atomic: no barrier helps if several threads update one word at the same time.
void FindingLog::advise_atomic(Finding& finding, const Key& key) const {
  const bool is_lockstep = finding.check == "lockstep";
  if (finding.check != "race" && !is_lockstep) return;
  const auto [later, earlier] = instructions_.at(key);
  const Change* change = change_of(later, earlier);
  if (!change) return advise_atomics(finding, later, earlier);
  finding.cure.clear();
  finding.cure_at = CureAt::kNowhere;
  const std::string where = line(later);
  finding.hint = fmt::format("make the update of {} an atomic, such as {}", where, change->atomic);
  if (is_lockstep) {
    finding.hint += fmt::format(
        "; where no two lanes update one word at once, __syncwarp() after {} is enough", where);
  }
}

void FindingLog::advise_atomics(Finding& finding, std::uint32_t later,
                                std::uint32_t earlier) const {
  const std::optional<Updates> updates = updates_of(later, earlier);
  if (!updates) return;
  const auto [one, other] = *updates;
  const bool is_lost = one->is_lost || other->is_lost;
  if (finding.check == "lockstep" && !is_lost) return;
  finding.cure.clear();
  finding.cure_at = CureAt::kNowhere;
  finding.hint = fmt::format("make the updates of {} and {} atomics, such as {}", line(earlier),
                             line(later), other->atomic);
  if (one->atomic != other->atomic) finding.hint += " and " + one->atomic;
  if (is_lost) return;
  finding.hint +=
      "; a barrier between the two is enough only where each of them gives every thread a word of "
      "its own";
}

// If the bytes are written, but too late, the change that orders the race fixes this finding.
void FindingLog::share_cure_of_race(Finding& finding, const Key& key) const {
  if (finding.check != "uninitialised-shared-read") return;
  const std::uint32_t load = std::get<2>(key);
  if (never_written_.contains(load)) return;
  for (const auto& [other, race] : findings_) {
    if (race.check != "race" || race.cure_at != CureAt::kBetween) continue;
    if (std::get<2>(other) != load || !late_.contains({load, std::get<3>(other)})) continue;
    finding.hint = race.hint;
    finding.cure = race.cure;
    finding.cure_at = race.cure_at;
    finding.places.push_back(race.places[1]);
    return;
  }
}

// Whether another finding reports the same error. An update that lanes of a warp lose is lost
// between warps, too; and a barrier that is missing between warps is missing between the lanes of
// each.
bool FindingLog::is_told(const Finding& finding, const Key& key) const {
  if (finding.check == "skipped-barrier") {
    return std::any_of(findings_.begin(), findings_.end(), [&](const auto& one) {
      return one.second.check == "barrier" && !one.second.places.empty() &&
             one.second.places[0].ptx_line == finding.places[0].ptx_line;
    });
  }
  const bool may_be_same = finding.check == "race" || finding.check == "lockstep" ||
                           finding.check == "same-value-stores";
  if (!may_be_same) return false;
  const auto [later, earlier] = instructions_.at(key);
  const Change* change = change_of(later, earlier);
  if (change && change->is_lost) return true;
  const std::optional<Updates> updates = updates_of(later, earlier);
  if (updates && updates->later->is_lost && updates->earlier->is_lost) return true;
  if (finding.check != "lockstep") return false;
  return std::any_of(findings_.begin(), findings_.end(), [&](const auto& one) {
    const Finding& race = one.second;
    return race.check == "race" &&
           std::any_of(race.places.begin(), race.places.end(), [&](const FindingPlace& place) {
             return std::any_of(finding.places.begin(), finding.places.end(),
                                [&](const auto& at) { return at.ptx_line == place.ptx_line; });
           });
  });
}

std::vector<Finding> FindingLog::sorted() const {
  std::vector<Finding> findings;
  for (const auto& [key, finding] : findings_) {
    if (is_told(finding, key)) continue;
    findings.push_back(finding);
    advise_atomic(findings.back(), key);
    share_cure_of_race(findings.back(), key);
  }
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    if (a.severity != b.severity) return a.severity < b.severity;
    return a.count > b.count;
  });
  return findings;
}

}  // namespace tessera::vgpu::check
