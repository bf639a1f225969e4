#include "check/runs/guesses.h"

#include <algorithm>
#include <set>

namespace tessera::checking {
namespace {

constexpr int kMostLines = 400;  // from the read to the compare-and-swap

// "ld.global.u32", "%r53", "[%rd3]" of a line of PTX; without braces and predicates.
std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words(1);
  bool in_address = false;
  for (const char c : line.substr(0, line.find("//"))) {
    in_address |= c == '[';
    const bool ends = !in_address && (c == ' ' || c == '\t' || c == ',' || c == ';');
    if (c == ']') in_address = false;
    if (!ends) {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  if (!words.empty() && words[0].starts_with("@")) words.erase(words.begin());
  return words;
}

// Whether what this line reads is what a compare-and-swap of the same word expects.
bool is_guess(const std::string& ptx, int line) {
  const std::vector<std::string> read = words_of(line_of(ptx, line));
  if (read.size() != 3) return false;
  std::set<std::string> same = {read[1]}, addresses = {read[2]};
  for (int next = line + 1; next < line + kMostLines; ++next) {
    const std::string text = line_of(ptx, next);
    if (text.starts_with("}")) return false;
    const std::vector<std::string> words = words_of(text);
    if (words.size() == 3 && words[0].starts_with("mov.")) {
      if (same.count(words[2]) != 0) same.insert(words[1]);
      // The address of a variable, which the read names itself.
      if (addresses.count("[" + words[2] + "]") != 0) addresses.insert("[" + words[1] + "]");
    }
    const bool is_swap = words.size() == 5 && words[0].starts_with("atom.") &&
                         words[0].find(".cas.") != std::string::npos;
    if (is_swap && addresses.count(words[2]) != 0 && same.count(words[3]) != 0) return true;
  }
  return false;
}

bool is_atomic(const vgpu::FindingPlace& place) {
  return place.form.starts_with("atom.") || place.form.starts_with("red.");
}

}  // namespace

void note_guesses(const CheckPlan& plan, CheckResult& result) {
  if (plan.strict_ptx) return;
  for (SeenFinding& seen : result.findings) {
    vgpu::Finding& finding = seen.finding;
    const bool may_be = finding.check == "race" || finding.check == "lockstep";
    if (!may_be || is_note(seen) || finding.places.size() != 2) continue;
    const bool reads_later = is_atomic(finding.places[1]);
    const vgpu::FindingPlace& read = finding.places[reads_later ? 0 : 1];
    if (!is_atomic(finding.places[reads_later ? 1 : 0]) || !read.form.starts_with("ld.")) continue;
    if (!is_guess(plan.code.ptx, read.ptx_line)) continue;
    finding.severity = vgpu::Severity::kNote;
    finding.message +=
        "; the compare-and-swap behind the read tests what it got, so that an old "
        "value costs one more round";
    finding.hint =
        "nothing: the CUDA C++ Programming Guide does so, and PTX asks for an atomic "
        "read (--strict-ptx makes this an error)";
    finding.cure.clear();
    finding.cure_at = vgpu::CureAt::kNowhere;
  }
}

}  // namespace tessera::checking
