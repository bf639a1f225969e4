#include "lab/counts.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>

namespace tessera::lab {
namespace {

using Parts = std::vector<std::string_view>;

Parts split(std::string_view form) {
  Parts parts;
  for (std::size_t begin = 0; begin <= form.size();) {
    // WHY: a space may carry its scope, "shared::cta"; colons do not split.
    const std::size_t end = std::min(form.find('.', begin), form.size());
    parts.push_back(form.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool has(const Parts& parts, std::string_view word) {
  return std::find(parts.begin(), parts.end(), word) != parts.end();
}

int number_after(std::string_view text, std::size_t skip) {
  int value = 0;
  if (text.size() > skip) std::from_chars(text.data() + skip, text.data() + text.size(), value);
  return value;
}

// Bytes of the element type that ends a form: "f32", "b64", "u8", "pred".
int type_bytes(std::string_view type) { return number_after(type, 1) / 8; }

FormSpace space_of(const Parts& parts) {
  for (std::string_view part : parts) {
    if (part == "global") return FormSpace::kGlobal;
    if (part.substr(0, 6) == "shared") return FormSpace::kShared;
    if (part == "param" || part == "local" || part == "const") return FormSpace::kOther;
  }
  return FormSpace::kNone;
}

int vector_length(const Parts& parts) {
  for (std::string_view part : parts) {
    if (part == "v2") return 2;
    if (part == "v4") return 4;
    if (part == "v8") return 8;
  }
  return 1;
}

// FP64 fragments have each element in one lane, once: m8n8k4 means 1 of A, 1 of B, 2 of C a lane.
int fragment_bytes(const Parts& parts) {
  if (!has(parts, "m8n8k4") || parts.back() != "f64") return 0;
  return has(parts, "c") || has(parts, "d") ? 16 : 8;
}

FormClass access(FormKind kind, const Parts& parts, int bytes) {
  return {kind, space_of(parts), bytes};
}

Accesses* accesses_of(CountSummary& sum, const FormClass& form) {
  if (form.kind != FormKind::kLoad && form.kind != FormKind::kStore) return nullptr;
  const bool load = form.kind == FormKind::kLoad;
  if (form.space == FormSpace::kGlobal) return load ? &sum.global_loads : &sum.global_stores;
  if (form.space == FormSpace::kShared) return load ? &sum.shared_loads : &sum.shared_stores;
  return form.space == FormSpace::kNone ? &sum.other_accesses : nullptr;
}

}  // namespace

Count& Count::operator+=(const Count& other) {
  warp += other.warp;
  thread += other.thread;
  return *this;
}

FormClass classify(std::string_view form) {
  const Parts parts = split(form);
  const std::string_view name = parts.front();
  if (name == "fma") return {FormKind::kFma, FormSpace::kNone, 0};
  if (name == "bar" || name == "barrier") return {FormKind::kBarrier, FormSpace::kNone, 0};
  if (name == "ld" || name == "ldu") {
    return access(FormKind::kLoad, parts, vector_length(parts) * type_bytes(parts.back()));
  }
  if (name == "st") {
    return access(FormKind::kStore, parts, vector_length(parts) * type_bytes(parts.back()));
  }
  if (name == "wmma" && has(parts, "load")) {
    return access(FormKind::kLoad, parts, fragment_bytes(parts));
  }
  if (name == "wmma" && has(parts, "store")) {
    return access(FormKind::kStore, parts, fragment_bytes(parts));
  }
  if (name == "wmma" || name == "mma" || name == "wgmma") {
    const bool multiplies = name == "mma" || has(parts, "mma") || has(parts, "mma_async");
    return {multiplies ? FormKind::kMatrix : FormKind::kOther, FormSpace::kNone, 0};
  }
  return {};
}

double CountSummary::fma_per_shared_load() const {
  std::uint64_t loads = 0;
  for (const auto& [bytes, count] : shared_loads) loads += count.thread;
  return loads == 0 ? 0 : static_cast<double>(fma.thread) / static_cast<double>(loads);
}

CountSummary summarize(const std::vector<LaunchCounts>& launches) {
  CountSummary sum;
  std::set<std::string> approximate;
  for (const LaunchCounts& launch : launches) {
    ++sum.launches;
    sum.host_seconds += launch.host_seconds;
    sum.total += {launch.warp_instructions, launch.lane_instructions};
    approximate.insert(launch.approximate_forms.begin(), launch.approximate_forms.end());
    for (const InstructionCount& row : launch.instructions) {
      const Count count{row.warp, row.thread};
      const FormClass form = classify(row.form);
      if (form.kind == FormKind::kFma) sum.fma += count;
      if (form.kind == FormKind::kMatrix) sum.matrix += count;
      if (form.kind == FormKind::kBarrier) sum.barrier += count;
      if (Accesses* accesses = accesses_of(sum, form)) (*accesses)[form.bytes] += count;
    }
  }
  sum.approximate_forms.assign(approximate.begin(), approximate.end());
  return sum;
}

}  // namespace tessera::lab
