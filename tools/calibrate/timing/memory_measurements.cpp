// What reaches beyond an SM's shared memory: requests to L1, past it, latencies and streams.
#include <algorithm>
#include <cstdint>

#include "tools/calibrate/timing/images.h"
#include "tools/calibrate/timing/measurements.h"
#include "tools/calibrate/timing/patterns.h"

namespace tessera::calibration {
namespace {

constexpr int kUnroll = 16;              // tools/calibrate/kernels/timed.h
constexpr int kLoads = 4;                // tools/calibrate/kernels/global_memory.cu
constexpr long long kWarpBytes = 16384;  // what a warp's requests of one iteration lie in
constexpr std::size_t kMebibyte = std::size_t{1} << 20;

struct Placement {
  const char* name;
  int warps;
  bool whole_gpu;
  bool own_bytes;  // each warp its own; else all warps of the GPU the same
};
constexpr Placement kOneSm = {"one SM, all warps alike", 8, false, false};
constexpr Placement kOneSmOwn = {"one SM, a warp its own", 16, false, true};
constexpr Placement kAllSms = {"all SMs, a warp its own", 16, true, true};

Json request_row(Bench& bench, const std::string& entry, unsigned bits, const Pattern& pattern,
                 const Placement& placement) {
  const int sms = std::max(1, bench.device().info().sms);
  const long long own = placement.own_bytes ? kWarpBytes : 0;
  const Work work{.image = &global_memory_image(),
                  .entry = entry + (bits ? "_" + std::to_string(bits) : ""),
                  .pattern = pattern,
                  .warps = placement.warps,
                  .ctas = placement.whole_gpu ? sms : 1,
                  .cta_stride = own * placement.warps,
                  .warp_stride = own};
  const auto cycles = bench.cycles(work);
  return {{"entry", work.entry},
          {"bits", bits},
          {"pattern", pattern.name},
          {"offsets", pattern.offset},
          {"lines", lines_of(pattern)},
          {"sectors", sectors_of(pattern)},
          {"where", placement.name},
          {"warps", work.warps},
          {"cycles", cycles ? Json(*cycles / (kLoads * work.warps)) : Json(nullptr)}};
}

// A list in which each place names another, a long way off; it visits all places.
std::vector<std::uint32_t> list_over(std::size_t bytes, std::size_t step) {
  const std::size_t places = bytes / step;
  const std::size_t jump = places > 64 ? (places / 2 + places / 8) | 1 : 1;  // prime to 2^n
  std::vector<std::uint32_t> list(bytes / 4);
  for (std::size_t i = 0; i < places; ++i) {
    list[i * step / 4] = static_cast<std::uint32_t>((i + jump) % places * step);
  }
  return list;
}

// Larger lists than L2 holds are entered at another place each time, so that nothing is cached.
Json latency_row(Bench& bench, const std::string& entry, std::size_t bytes) {
  constexpr std::size_t step = 128;
  const bool is_cached = bytes < 256 * kMebibyte;
  const std::vector<std::uint32_t> list = list_over(bytes, step);
  bench.copy_in(list.data(), bytes);
  const int visits = static_cast<int>(std::min<std::size_t>(bytes / step, 1 << 14));
  Work work{.image = &global_memory_image(), .entry = entry};
  work.iterations = bench.has_clock() ? std::max(64, visits / kUnroll) : 1;
  work.bytes = static_cast<long long>(bytes);
  work.threads = 1;
  work.shift = is_cached ? 0 : static_cast<long long>(step) * 100003;
  const auto cycles = bench.cycles(work);
  return {{"entry", entry},
          {"bytes", bytes},
          {"latency", cycles ? Json(*cycles / kUnroll) : Json(nullptr)}};
}

Json stream_row(Bench& bench, const std::string& entry, std::size_t bytes, int iterations) {
  const int sms = std::max(1, bench.device().info().sms);
  const Work work{.image = &global_memory_image(),
                  .entry = entry,
                  .warps = 32,
                  .ctas = 2 * sms,
                  .iterations = iterations,
                  .bytes = static_cast<long long>(bytes)};
  const auto time = bench.milliseconds(work, 1);
  const double moved = static_cast<double>(bytes) * iterations;
  return {{"entry", entry},
          {"bytes", bytes},
          {"iterations", iterations},
          {"gb_per_s", time ? Json(moved / (*time * 1e6)) : Json(nullptr)}};
}

}  // namespace

// WHY: a profiler saves and restores all of it at each pass, and collisions are for profilers.
std::size_t bytes_needed(const Device& device, const std::string& group) {
  const bool streams = device.info().kind == DeviceKind::kCuda && group != "collisions";
  return (streams ? 2048 : 64) * kMebibyte;
}

Json measure_global_memory(Bench& bench) {
  Json rows = Json::array();
  for (unsigned bits : {32U, 64U, 128U}) {
    for (const Pattern& pattern : global_patterns(bits / 8)) {
      for (const Placement& placement : {kOneSm, kOneSmOwn}) {
        rows.push_back(request_row(bench, "global_load", bits, pattern, placement));
      }
      if (pattern.name.starts_with("random")) continue;
      for (const Placement& placement : {kOneSmOwn, kAllSms}) {
        rows.push_back(request_row(bench, "l2_load", bits, pattern, placement));
        rows.push_back(request_row(bench, "global_store", bits, pattern, placement));
      }
    }
  }
  for (const Pattern& pattern : global_patterns(4)) {
    if (pattern.name.starts_with("random")) continue;
    rows.push_back(request_row(bench, "global_atomic_add", 0, pattern, kAllSms));
  }
  return rows;
}

Json measure_latency(Bench& bench) {
  Json rows = Json::array();
  std::vector<std::size_t> sizes = {16 << 10, 64 << 10, 128 << 10, 192 << 10, kMebibyte};
  if (bench.has_clock()) {
    for (std::size_t mebibytes : {4, 16, 1024}) sizes.push_back(mebibytes * kMebibyte);
  }
  for (std::size_t bytes : sizes) {
    if (bytes < kMebibyte) rows.push_back(latency_row(bench, "global_chase", bytes));
    rows.push_back(latency_row(bench, "l2_chase", bytes));
  }
  bench.clear(sizes.back());
  return rows;
}

Json measure_streams(Bench& bench) {
  Json rows = Json::array();
  for (const char* entry : {"stream_read", "stream_write", "stream_copy"}) {
    if (!bench.has_clock()) {
      rows.push_back(stream_row(bench, entry, kMebibyte, 1));
      continue;
    }
    for (std::size_t mebibytes : {4, 8, 16, 24, 32, 48}) {
      rows.push_back(stream_row(bench, entry, mebibytes * kMebibyte, 64));
    }
    for (std::size_t mebibytes : {512, 2048}) {
      rows.push_back(stream_row(bench, entry, mebibytes * kMebibyte, 1));
    }
  }
  return rows;
}

}  // namespace tessera::calibration
