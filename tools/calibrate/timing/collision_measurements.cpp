// Kernels for a profiler: two kinds of access side by side, and global stores by pattern. A row
// says what one launch asks for; tools/calibrate/ncu_counts --collisions profiles them, and
// results/calibration/h200_collisions.json keeps what the profiler counted.
#include "tools/calibrate/kernels/collisions.h"
#include "tools/calibrate/timing/images.h"
#include "tools/calibrate/timing/measurements.h"
#include "tools/calibrate/timing/patterns.h"

namespace tessera::calibration {
namespace {

constexpr int kUnroll = 16;  // tools/calibrate/kernels/timed.h
constexpr int kIterations = 64;
constexpr long long kWarpBytes = 4 * 4096;

struct RoleFacts {
  const char* name;
  int wavefronts;  // of shared memory, a request
  bool stores_globally = false;
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
      return {"STG.32", 0, true};
    case kStoreGlobal128:
      return {"STG.128", 0, true};
    case kStoreGlobal32Slowly:
      return {"STG.32 slowly", 0, true};
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
  if (role == kNothing) return {{"access", known.name}};
  return {{"access", known.name},
          {"requests", requests},
          {"shared_wavefronts", known.wavefronts * requests},
          {"stored_sectors", known.stores_globally ? sectors_of(pattern) * requests : 0}};
}

// Warps whose index has a bit of the mask take the second role. HW: warp w runs in quarter w % 4 of
// its SM (sub-core), so mask 1 gives quarters of their own to the roles, and mask 4 mixes them.
struct Warps {
  const char* name;
  int count, mask;
  int second() const {
    int number = 0;
    for (int w = 0; w < count; ++w) number += (w & mask) != 0;
    return number;
  }
};
constexpr Warps kOne = {"one warp", 1, 0};
constexpr Warps kApart = {"other quarters", 16, 1};
constexpr Warps kMixed = {"the same quarters", 16, 4};
constexpr Warps kAmongMany = {"one warp among 32", 32, 31};

Json row(Bench& bench, int first, int second, const Warps& warps, const Pattern& pattern,
         int ctas = 1) {
  const Work work{.image = &collisions_image(),
                  .entry = "collide",
                  .pattern = pattern,
                  .warps = warps.count,
                  .ctas = ctas,
                  .iterations = bench.has_clock() ? kIterations : 1,
                  .warp_stride = kWarpBytes,
                  .first = first,
                  .second = second,
                  .mask = warps.mask};
  const auto time = bench.milliseconds(work, 1);
  const int others = warps.second();
  return {{"pattern", pattern.name},
          {"ctas", ctas},
          {"warps", warps.name},
          {"first", demand(first, ctas * (warps.count - others), work.iterations, pattern)},
          {"second", demand(second, ctas * others, work.iterations, pattern)},
          {"milliseconds", time ? Json(*time) : Json(nullptr)}};
}

}  // namespace

Json measure_collisions(Bench& bench) {
  Json rows = Json::array();
  const Pattern line = spread("neighbours", 4);
  for (int partner : {kNothing, kLoadShared32, kLoadL1By128, kLoadL2By32, kLoadL2By128,
                      kStoreGlobal32, kCopyIn32, kCopyIn128}) {
    rows.push_back(row(bench, kStoreShared32, partner, kApart, line));
    for (const Warps& warps : {kMixed, kAmongMany}) {
      for (int role : {kStoreShared32, kStoreShared128, kLoadShared64Pairs, kLoadShared128}) {
        rows.push_back(row(bench, role, partner, warps, line));
      }
    }
  }
  for (int role : {kCopyIn32, kCopyIn128}) {
    for (int partner : {kNothing, kLoadShared32, kCopyIn32}) {
      rows.push_back(row(bench, role, partner, kMixed, line));
    }
  }
  const int sms = bench.device().info().sms;
  for (const Pattern& pattern : {line, spread("a sector a lane", 32),
                                 spread("two lanes a line", 64), spread("a line a lane", 128)}) {
    rows.push_back(row(bench, kStoreGlobal32, kNothing, kOne, pattern));
    rows.push_back(row(bench, kStoreGlobal32Slowly, kNothing, kOne, pattern));
    rows.push_back(row(bench, kStoreGlobal32, kStoreGlobal32, kApart, pattern));
    rows.push_back(row(bench, kStoreGlobal32, kLoadL2By128, kApart, pattern));
    if (sms > 0) rows.push_back(row(bench, kStoreGlobal32, kStoreGlobal32, kApart, pattern, sms));
  }
  return rows;
}

}  // namespace tessera::calibration
