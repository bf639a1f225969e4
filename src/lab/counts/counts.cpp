#include "lab/counts/counts.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>

namespace tessera::lab {
namespace {

constexpr double kLanes = 32;  // lanes per warp

using Parts = std::vector<std::string_view>;

Parts split(std::string_view form) {
  Parts parts;
  for (std::size_t begin = 0; begin <= form.size();) {
    // WHY colons do not split: a state space may contain its scope, "shared::cta".
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

// Returns the bytes of the element type that ends a form: "f32", "b64", "u8", "pred".
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

// Returns the bytes of an FP64 fragment per lane. Each element is in one lane only: m8n8k4 has 1
// element of A, 1 of B and 2 of C per lane.
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

std::uint64_t flop_of(const InstructionCount& row, const FormClass& form) {
  if (form.kind == FormKind::kMatrix) return row.warp * matrix_flop(row.form);
  if (form.kind != FormKind::kFma) return 0;
  const bool is_packed = row.form.ends_with("x2");
  return row.thread * (is_packed ? 4 : 2);
}

void add_memory(vgpu::LaunchMemory& to, const vgpu::LaunchMemory& more, bool is_first) {
  to.counted = more.counted && (is_first || to.counted);
  to.loads += more.loads;
  to.stores += more.stores;
  to.atomics += more.atomics;
  to.copies_in += more.copies_in;
  to.copies_out += more.copies_out;
  to.copies_reduce += more.copies_reduce;
  to.footprint.known = more.footprint.known && (is_first || to.footprint.known);
  to.footprint.estimated = more.footprint.estimated || to.footprint.estimated;
  to.footprint.read_sectors += more.footprint.read_sectors;
  to.footprint.written_sectors += more.footprint.written_sectors;
}

using Lines = std::map<std::pair<std::string, int>, LineCounts>;

void add_line(Lines& lines, const InstructionCount& row) {
  if (row.source_line == 0) return;
  LineCounts& line = lines[{row.source_file, row.source_line}];
  line.file = row.source_file;
  line.line = row.source_line;
  line.total += {row.warp, row.thread};
  line.memory += row.memory;
}

std::vector<LineCounts> by_cost(const Lines& lines) {
  std::vector<LineCounts> sorted;
  for (const auto& [place, line] : lines) sorted.push_back(line);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const LineCounts& a, const LineCounts& b) { return a.cost() > b.cost(); });
  return sorted;
}

void add_row(CountSummary& sum, const InstructionCount& row) {
  const Count count{row.warp, row.thread};
  const FormClass form = classify(row.form);
  if (form.kind == FormKind::kFma) sum.fma += count;
  if (form.kind == FormKind::kMatrix) sum.matrix += count;
  if (form.kind == FormKind::kBarrier) sum.barrier += count;
  if (Accesses* accesses = accesses_of(sum, form)) (*accesses)[form.bytes] += count;
  sum.mix[class_of(row.form)] += count;
  sum.flop += flop_of(row, form);
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
  // "bar.warp.sync" is __syncwarp: only the lanes of a warp wait, not the whole block.
  const bool is_of_warp = parts.size() > 1 && parts[1] == "warp";
  if ((name == "bar" && !is_of_warp) || name == "barrier") {
    return {FormKind::kBarrier, FormSpace::kNone, 0};
  }
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

std::uint64_t matrix_flop(std::string_view form) {
  std::uint64_t product = 2;
  for (std::string_view part : split(form)) {
    if (part.size() < 6 || part[0] != 'm' || part.find('n') == part.npos) continue;
    const std::size_t n = part.find('n'), k = part.find('k');
    if (k == part.npos || n > k) continue;
    for (std::size_t at : {std::size_t{0}, n, k}) {
      product *= static_cast<std::uint64_t>(number_after(part.substr(at), 1));
    }
    return form.starts_with("wgmma") ? product / 4 : product;
  }
  return 0;
}

double CountSummary::fma_per_shared_load() const {
  std::uint64_t loads = memory.loads.shared.lanes;  // through generic addresses, too
  if (!memory.counted) {
    for (const auto& [bytes, count] : shared_loads) loads += count.thread;
  }
  return loads == 0 ? 0 : useful_fmas() * kLanes / static_cast<double>(loads);
}

double CountSummary::useful_fmas() const {
  if (matrix.warp > 0 || fma.warp == 0) return 0;
  return static_cast<double>(useful_flop) / 2 / kLanes;
}

std::uint64_t LineCounts::cost() const {
  const auto beyond = [](std::uint64_t wavefronts, std::uint64_t requests) {
    return wavefronts > requests ? wavefronts - requests : 0;
  };
  return total.warp + beyond(memory.shared.pair.wavefronts, memory.shared.requests) +
         beyond(memory.global.data_wavefronts, memory.global.requests) +
         beyond(memory.local.data_wavefronts, memory.local.requests);
}

FlopPerByte CountSummary::flop_per_byte() const {
  const auto per = [&](std::uint64_t bytes) {
    return bytes == 0 ? 0 : static_cast<double>(useful_flop) / static_cast<double>(bytes);
  };
  const vgpu::GlobalCounts global = memory.global();
  return {per(global.requested_bytes), per(global.sector_bytes()),
          memory.footprint.known ? per(memory.footprint.bytes()) : 0};
}

CountSummary summarize(const std::vector<LaunchCounts>& launches, const Problem& problem) {
  CountSummary sum = summarize(launches);
  sum.useful_flop =
      static_cast<std::uint64_t>(2 * problem.m * problem.n * problem.k * problem.batch.count);
  return sum;
}

CountSummary summarize(const std::vector<LaunchCounts>& launches) {
  CountSummary sum;
  std::set<std::string> approximate;
  Lines lines;
  std::uint64_t most = 0;
  for (const LaunchCounts& launch : launches) {
    add_memory(sum.memory, launch.memory, sum.launches == 0);
    ++sum.launches;
    sum.host_seconds += launch.host_seconds;
    sum.total += {launch.warp_instructions, launch.lane_instructions};
    sum.clusters += launch.sample.clusters;
    sum.ran += launch.sample.ran;
    if (launch.warp_instructions >= most) sum.resources = launch.resources;
    most = std::max(most, launch.warp_instructions);
    approximate.insert(launch.approximate_forms.begin(), launch.approximate_forms.end());
    for (const InstructionCount& row : launch.instructions) {
      add_row(sum, row);
      add_line(lines, row);
    }
  }
  sum.useful_flop = sum.flop;
  sum.lines = by_cost(lines);
  sum.approximate_forms.assign(approximate.begin(), approximate.end());
  return sum;
}

}  // namespace tessera::lab
