// Limits on how much is tried before a call is proposed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::checking {

inline constexpr int kMostTrials = 80, kMostLargeTrials = 3, kMostStopped = 6, kMostRefused = 4,
                     kMostShared = 4;
// The number of other calls to try if a call with assumed numbers has findings.
inline constexpr int kMostFurther = 24;
// Limits in warp instructions. WHY not in seconds: proposals are then the same on every machine,
// however busy it is. Under checks, about ten million warp instructions take a second.
inline constexpr std::uint64_t kMostOfTrial = 16'000'000, kMostOfLargest = 8'000'000,
                               kMostInAll = 40'000'000;
inline constexpr double kLeastCost = 200'000;  // the least cost that shows how costs grow
// Limits in seconds, for work other than instructions, such as reading large PTX anew for each
// trial. kSecondsInAll is processor time.
inline constexpr double kSecondsOfRun = 30, kSecondsInAll = 8;
inline constexpr std::int64_t kMostBytes = 256LL << 20;  // bytes of all arrays together
inline constexpr std::size_t kMostOwn = 4;  // launches tried exactly as the program makes them
inline constexpr int kMostFailed = 2;       // limit of successive failures of larger launches

}  // namespace tessera::checking
