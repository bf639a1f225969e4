#include "check/runs/guesses.h"

#include <set>

#include "vgpu/observe/flow/flow.h"

namespace tessera::checking {
namespace {

bool is_atomic(const vgpu::FindingPlace& place) {
  return place.form.starts_with("atom.") || place.form.starts_with("red.");
}

// Returns the PTX line that reads the word which an atomic operation changes; 0 for other findings.
int read_of(const SeenFinding& seen) {
  const vgpu::Finding& finding = seen.finding;
  const bool may_be = finding.check == "race" || finding.check == "lockstep";
  if (!may_be || is_note(seen) || finding.places.size() != 2) return 0;
  const bool reads_later = is_atomic(finding.places[1]);
  const vgpu::FindingPlace& read = finding.places[reads_later ? 0 : 1];
  if (!is_atomic(finding.places[reads_later ? 1 : 0]) || !read.form.starts_with("ld.")) return 0;
  return read.ptx_line;
}

}  // namespace

void note_guesses(const CheckPlan& plan, CheckResult& result) {
  if (plan.strict_ptx) return;
  std::set<int> lines;
  for (const SeenFinding& seen : result.findings) lines.insert(read_of(seen));
  lines.erase(0);
  const std::set<int> guesses = vgpu::guesses_among(plan.code.ptx, lines);
  for (SeenFinding& seen : result.findings) {
    if (guesses.count(read_of(seen)) == 0) continue;
    vgpu::Finding& finding = seen.finding;
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
