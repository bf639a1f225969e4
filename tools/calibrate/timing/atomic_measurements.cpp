// Atomics: what a request costs by type and by how many lanes want one address; what the whole GPU
// does on addresses that all of its warps want; latencies, histograms and streams of updates.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "tools/calibrate/timing/images.h"
#include "tools/calibrate/timing/measurements.h"

namespace tessera::calibration {
namespace {

constexpr int kUnroll = 16;  // tools/calibrate/kernels/timed.h
constexpr int kAtomics = 4;  // tools/calibrate/kernels/atomics.cu
constexpr int kRegion = 4096;
constexpr int kSharedStep = 256;
constexpr long long kWarpBytes = 16384;
constexpr unsigned kNobody = ~0U;  // the offset of a lane that takes no part
constexpr int kLonger = 3;
constexpr std::size_t kMebibyte = std::size_t{1} << 20;

const std::vector<std::string> kSharedUpdates = {
    "red_add_u32",   "red_add_u64",  "red_add_f32",  "red_add_f64",  "red_max_u32",
    "red_max_u64",   "atom_add_u32", "atom_add_u64", "atom_add_f32", "atom_add_f64",
    "atom_exch_u32", "atom_cas_u32", "atom_cas_u64"};
const std::vector<std::string> kGlobalUpdates = {
    "red_add_u32",  "red_add_u64",   "red_add_f32",  "red_add_f64",  "red_add_f16x2",
    "red_max_u32",  "red_max_u64",   "atom_add_u32", "atom_add_u64", "atom_add_f32",
    "atom_add_f64", "atom_exch_u32", "atom_cas_u32", "atom_cas_u64"};

unsigned bytes_of(const std::string& update) { return update.ends_with("64") ? 8 : 4; }

template <class Word>
Pattern crowd(std::string name, unsigned bytes, int lanes, Word word) {
  Pattern made{std::move(name), {}};
  for (int lane = 0; lane < 32; ++lane) {
    made.offset[lane] = lane < lanes ? static_cast<unsigned>(word(lane)) * bytes : kNobody;
  }
  return made;
}

Pattern apart(unsigned bytes, int stride) {
  return crowd(fmt::format("stride {}", stride), bytes, 32,
               [=](int lane) { return lane * stride; });
}
Pattern sharing(unsigned bytes, int most) {
  return crowd(fmt::format("{} lanes an address", most), bytes, 32,
               [=](int lane) { return lane / most; });
}
Pattern one_shared(unsigned bytes, int most) {
  return crowd(fmt::format("{} lanes at one address, the others apart", most), bytes, 32,
               [=](int lane) { return lane < most ? 0 : lane; });
}
Pattern alone(unsigned bytes, int lanes) {
  return crowd(fmt::format("{} lanes alone, one address", lanes), bytes, lanes,
               [](int) { return 0; });
}
Pattern alone_apart(unsigned bytes, int lanes) {
  return crowd(fmt::format("{} lanes alone, apart", lanes), bytes, lanes,
               [](int lane) { return lane; });
}

std::vector<Pattern> crowds(unsigned bytes) {
  std::vector<Pattern> all;
  for (unsigned stride : {1U, 2U, 8U, 128 / bytes}) {
    all.push_back(apart(bytes, static_cast<int>(stride)));
  }
  for (int most : {2, 4, 8, 16, 32}) all.push_back(sharing(bytes, most));
  for (int most : {2, 4, 8, 16}) all.push_back(one_shared(bytes, most));
  for (int lanes : {1, 2, 8, 16}) all.push_back(alone(bytes, lanes));
  for (int lanes : {2, 8, 16}) all.push_back(alone_apart(bytes, lanes));
  return all;
}

struct Placement {
  const char* name;
  int warps;
  bool whole_gpu;
  bool own_bytes;  // each warp its own; else all warps the same
};
constexpr Placement kOneWarp = {"one warp", 1, false, false};
constexpr Placement kOneSm = {"one SM, all warps alike", 8, false, false};
constexpr Placement kOneSmOwn = {"one SM, a warp its own", 8, false, true};
constexpr Placement kAllSms = {"all SMs, a warp its own", 16, true, true};

// Without a clock a few CTAs show as much as all.
int sms_of(Bench& bench) {
  const int sms = std::max(1, bench.device().info().sms);
  return bench.has_clock() ? sms : std::min(sms, 4);
}

Json row_of(const Work& work, const char* where) {
  std::map<unsigned, int> lanes_at;
  std::set<unsigned> sectors;
  int lanes = 0, most = 0;
  for (unsigned offset : work.pattern.offset) {
    if (offset == kNobody) continue;
    ++lanes;
    most = std::max(most, ++lanes_at[offset]);
    sectors.insert(offset / 32);
  }
  return {{"entry", work.entry},  {"pattern", work.pattern.name},
          {"lanes", lanes},       {"addresses", lanes_at.size()},
          {"lanes_at_one", most}, {"sectors", sectors.size()},
          {"where", where},       {"ctas", work.ctas},
          {"warps", work.warps}};
}

Json shared_row(Bench& bench, const std::string& update, const Pattern& pattern,
                const Placement& placement) {
  const Work work{.image = &atomics_image(),
                  .entry = "shared_" + update,
                  .pattern = pattern,
                  .warps = placement.warps,
                  .iterations = 16,
                  .warp_stride = placement.own_bytes ? 4096 : 0,
                  .step = placement.own_bytes ? kSharedStep : 0};
  const auto cycles = bench.cycles(work);
  Json row = row_of(work, placement.name);
  row["cycles"] = cycles ? Json(*cycles / (kUnroll * work.warps)) : Json(nullptr);
  return row;
}

Json global_row(Bench& bench, const std::string& update, const Pattern& pattern,
                const Placement& placement) {
  const long long own = placement.own_bytes ? kWarpBytes : 0;
  const Work work{.image = &atomics_image(),
                  .entry = "global_" + update,
                  .pattern = pattern,
                  .warps = placement.warps,
                  .ctas = placement.whole_gpu ? sms_of(bench) : 1,
                  .iterations = 16,
                  .cta_stride = own * placement.warps,
                  .warp_stride = own,
                  .step = placement.own_bytes ? kRegion : 0};
  const auto cycles = bench.cycles(work);
  Json row = row_of(work, placement.name);
  row["cycles"] = cycles ? Json(*cycles / (kAtomics * work.warps)) : Json(nullptr);
  return row;
}

// Nanoseconds between two requests of the whole GPU, of the device's own clock.
Json nanoseconds(Bench& bench, Work work, int requests_an_iteration) {
  const auto shorter = bench.milliseconds(work, 1);
  if (!shorter) return nullptr;
  const int before = work.iterations;
  work.iterations *= kLonger;
  const double more = *bench.milliseconds(work, 1) - *shorter;
  const double requests = static_cast<double>(work.iterations - before) * requests_an_iteration *
                          work.warps * work.ctas;
  return more * 1e6 / requests;
}

// All warps of `ctas` want the addresses of one pattern.
Json hot_row(Bench& bench, const std::string& update, const Pattern& pattern, int ctas) {
  const Work work{.image = &atomics_image(),
                  .entry = "global_" + update,
                  .pattern = pattern,
                  .warps = 16,
                  .ctas = ctas,
                  .iterations = bench.has_clock() ? 16 : 1};
  Json row = row_of(work, "the grid, all warps alike");
  row["nanoseconds"] = nanoseconds(bench, work, kAtomics);
  return row;
}

Json chase_row(Bench& bench, const std::string& entry) {
  Work work{.image = &atomics_image(), .entry = entry, .warps = 1};
  work.threads = 1;
  const auto cycles = bench.cycles(work);
  return {{"entry", entry}, {"latency", cycles ? Json(*cycles / kUnroll) : Json(nullptr)}};
}

// Sixteen warps per CTA: one CTA for shared memory, one per SM for global memory.
Json sixteen_warps(Bench& bench, const std::string& entry, int mask) {
  const bool is_shared = entry.starts_with("shared");
  const int ctas = is_shared ? 1 : sms_of(bench), iterations = bench.has_clock() ? 32 : 1;
  const Work work{.image = &atomics_image(),
                  .entry = entry,
                  .warps = 16,
                  .ctas = ctas,
                  .iterations = iterations,
                  .mask = mask};
  Json row = {{"entry", entry}, {"ctas", work.ctas}, {"warps", work.warps}};
  if (is_shared) {
    const auto cycles = bench.cycles(work);
    row["cycles"] = cycles ? Json(*cycles / (kAtomics * work.warps)) : Json(nullptr);
  } else {
    row["nanoseconds"] = nanoseconds(bench, work, kAtomics);
  }
  return row;
}

Json histogram_row(Bench& bench, const std::string& entry, int bins) {
  Json row = sixteen_warps(bench, entry, bins - 1);
  row["bins"] = bins;
  return row;
}

Json stream_row(Bench& bench, const std::string& entry, std::size_t bytes, int iterations) {
  const int ctas = 2 * sms_of(bench);
  const Work work{.image = &atomics_image(),
                  .entry = entry,
                  .warps = 32,
                  .ctas = ctas,
                  .iterations = iterations,
                  .bytes = static_cast<long long>(bytes)};
  const auto time = bench.milliseconds(work, 1);
  const double updates = static_cast<double>(bytes) / 4 * iterations;
  return {{"entry", entry},
          {"bytes", bytes},
          {"iterations", iterations},
          {"updates_per_ns", time ? Json(updates / (*time * 1e6)) : Json(nullptr)}};
}

Json clock_row(Bench& bench) {
  const Work spin{.image = &control_image(), .entry = "spin", .warps = 1, .iterations = 100000};
  if (!bench.has_clock()) return {{"entry", "spin"}, {"ghz", nullptr}};
  const auto clock = bench.cycles_and_milliseconds(spin);
  return {{"entry", "spin"}, {"ghz", clock->first / (clock->second * 1e6)}};
}

void add_shared(Bench& bench, Json& rows) {
  for (const std::string& update : kSharedUpdates) {
    const unsigned bytes = bytes_of(update);
    for (const Pattern& pattern : crowds(bytes)) {
      rows.push_back(shared_row(bench, update, pattern, kOneSmOwn));
      rows.push_back(shared_row(bench, update, pattern, kOneSm));
    }
    for (const Pattern& pattern : {apart(bytes, 1), sharing(bytes, 8), sharing(bytes, 32)}) {
      rows.push_back(shared_row(bench, update, pattern, kOneWarp));
    }
  }
}

void add_global(Bench& bench, Json& rows) {
  for (const std::string& update : kGlobalUpdates) {
    const unsigned bytes = bytes_of(update);
    for (const Pattern& pattern : crowds(bytes)) {
      rows.push_back(global_row(bench, update, pattern, kOneSmOwn));
      rows.push_back(global_row(bench, update, pattern, kAllSms));
    }
    rows.push_back(global_row(bench, update, apart(bytes, 1), kOneWarp));
    rows.push_back(global_row(bench, update, sharing(bytes, 32), kOneWarp));
  }
}

void add_hot(Bench& bench, Json& rows) {
  const int sms = sms_of(bench);
  for (const std::string& update : kGlobalUpdates) {
    const unsigned bytes = bytes_of(update);
    const Pattern wanted[] = {alone(bytes, 1),
                              alone(bytes, 2),
                              sharing(bytes, 32),
                              sharing(bytes, 8),
                              apart(bytes, 1),
                              apart(bytes, 8),
                              apart(bytes, static_cast<int>(128 / bytes))};
    for (const Pattern& pattern : wanted) rows.push_back(hot_row(bench, update, pattern, sms));
    for (int ctas : {1, 8, 32}) {
      rows.push_back(hot_row(bench, update, alone(bytes, 1), ctas));
      rows.push_back(hot_row(bench, update, sharing(bytes, 32), ctas));
    }
  }
}

}  // namespace

// Latencies first: their chains need words that are 0.
Json measure_atomics(Bench& bench) {
  Json rows = Json::array();
  bench.clear(kMebibyte);
  rows.push_back(clock_row(bench));
  for (const char* space : {"shared", "global"}) {
    for (const char* type : {"u32", "u64", "f32"}) {
      rows.push_back(chase_row(bench, fmt::format("{}_chase_{}", space, type)));
    }
  }
  add_shared(bench, rows);
  add_global(bench, rows);
  add_hot(bench, rows);
  for (const char* type : {"u32", "f32"}) {
    for (int bins : {1, 4, 16, 32, 64, 256, 1024, 4096}) {
      rows.push_back(histogram_row(bench, fmt::format("shared_histogram_{}", type), bins));
    }
    for (int bins : {1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 1 << 20}) {
      rows.push_back(histogram_row(bench, fmt::format("global_histogram_{}", type), bins));
    }
  }
  for (const char* entry :
       {"shared_counter_red_u32", "shared_counter_atom_u32", "global_counter_red_u32",
        "global_counter_atom_u32", "global_counter_red_f32"}) {
    rows.push_back(sixteen_warps(bench, entry, 0));
  }
  for (const char* entry : {"stream_red_u32", "stream_red_f32"}) {
    if (!bench.has_clock()) {
      rows.push_back(stream_row(bench, entry, kMebibyte, 1));
      continue;
    }
    for (std::size_t mebibytes : {4, 16, 32}) {
      rows.push_back(stream_row(bench, entry, mebibytes * kMebibyte, 16));
    }
    for (std::size_t mebibytes : {512, 1024}) {
      rows.push_back(stream_row(bench, entry, mebibytes * kMebibyte, 1));
    }
  }
  return rows;
}

}  // namespace tessera::calibration
