// Kernels for a profiler: two kinds of access side by side, and global stores by pattern. A row
// says what one launch asks for; tools/ncu_counts --collisions profiles them, and
// results/h200_collisions keeps what the profiler counted.
#include "tests/calibration/collisions.h"
#include "tools/calibrate/images.h"
#include "tools/calibrate/measurements.h"
#include "tools/calibrate/patterns.h"

namespace tessera::calibration {
namespace {

constexpr int kUnroll = 16;  // tests/calibration/timed.h
constexpr int kIterations = 64;
constexpr long long kWarpBytes = 4 * 4096;

struct RoleFacts {
  const char* name;
  int wavefronts;  // of shared memory, a request
};

RoleFacts facts(int role) {
  switch (role) {
    case kStoreShared32:
      return {"STS.32", 1};
    case kStoreShared128:
      return {"STS.128", 4};
    case kLoadShared32:
      return {"LDS.32", 1};
    case kLoadShared64Pairs:
      return {"LDS.64 in pairs", 1};
    case kLoadShared128:
      return {"LDS.128", 4};
    case kLoadL1By32:
      return {"LDG.32 from L1", 0};
    case kLoadL1By128:
      return {"LDG.128 from L1", 0};
    case kLoadL2By32:
      return {"LDG.32 from L2", 0};
    case kLoadL2By128:
      return {"LDG.128 from L2", 0};
    case kStoreGlobal32:
      return {"STG.32", 0};
    case kStoreGlobal128:
      return {"STG.128", 0};
    case kStoreGlobal32Slowly:
      return {"STG.32 slowly", 0};
    default:
      return {"nothing", 0};
  }
}

Pattern spread(const char* name, unsigned step) {
  Pattern pattern{name};
  for (unsigned lane = 0; lane < 32; ++lane) pattern.offset[lane] = lane * step;
  return pattern;
}

// What all warps of one role ask for in one launch.
Json demand(int role, int warps, int iterations, const Pattern& pattern) {
  const long long requests = static_cast<long long>(warps) * iterations * kUnroll;
  const RoleFacts known = facts(role);
  const bool stores_globally =
      role == kStoreGlobal32 || role == kStoreGlobal128 || role == kStoreGlobal32Slowly;
  return {{"access", known.name},
          {"requests", requests},
          {"shared_wavefronts", known.wavefronts * requests},
          {"stored_sectors", stores_globally ? sectors_of(pattern) * requests : 0}};
}

Json row(Bench& bench, int even, int odd, const Pattern& pattern = {}, int warps = 16,
         int ctas = 1) {
  const Work work{.image = &collisions_image(),
                  .entry = "collide",
                  .pattern = pattern,
                  .warps = warps,
                  .ctas = ctas,
                  .iterations = bench.has_clock() ? kIterations : 1,
                  .warp_stride = kWarpBytes,
                  .even = even,
                  .odd = odd};
  const auto time = bench.milliseconds(work, 1);
  return {{"pattern", pattern.name},
          {"ctas", ctas},
          {"warps", warps},
          {"even", demand(even, ctas * ((warps + 1) / 2), work.iterations, pattern)},
          {"odd", demand(odd, ctas * (warps / 2), work.iterations, pattern)},
          {"milliseconds", time ? Json(*time) : Json(nullptr)}};
}

}  // namespace

Json measure_collisions(Bench& bench) {
  Json rows = Json::array();
  const Pattern line = spread("neighbours", 4);
  for (int partner :
       {kNothing, kStoreShared32, kStoreShared128, kLoadShared32, kLoadShared64Pairs,
        kLoadShared128, kLoadL1By32, kLoadL1By128, kLoadL2By32, kLoadL2By128, kStoreGlobal32}) {
    for (int role :
         {kStoreShared32, kStoreShared128, kLoadShared32, kLoadShared64Pairs, kLoadShared128}) {
      rows.push_back(row(bench, role, partner, line));
    }
  }
  const int sms = bench.device().info().multiprocessors;
  for (const Pattern& pattern : {line, spread("a sector a lane", 32),
                                 spread("two lanes a line", 64), spread("a line a lane", 128)}) {
    rows.push_back(row(bench, kStoreGlobal32, kNothing, pattern, 1));
    rows.push_back(row(bench, kStoreGlobal32Slowly, kNothing, pattern, 1));
    rows.push_back(row(bench, kStoreGlobal32, kStoreGlobal32, pattern));
    rows.push_back(row(bench, kStoreGlobal32, kLoadL2By128, pattern));
    if (sms > 0) rows.push_back(row(bench, kStoreGlobal32, kStoreGlobal32, pattern, 16, sms));
  }
  for (const Pattern& pattern : {spread("neighbours", 16), spread("a sector a lane", 32)}) {
    rows.push_back(row(bench, kStoreGlobal128, kNothing, pattern, 1));
    rows.push_back(row(bench, kStoreGlobal128, kStoreGlobal128, pattern));
  }
  return rows;
}

}  // namespace tessera::calibration
