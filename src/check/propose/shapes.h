// Usual shapes and numbers, for launches whose own shapes and numbers are unknown.
#pragma once

#include <string>
#include <vector>

#include "check/propose/candidates.h"

namespace tessera::checking {

std::int64_t product(const Dims& dims);
double threads_of(const Candidate& candidate);

// Returns why no GPU starts a launch of this shape; "" if a GPU may start the launch.
std::string refusal_of(const Candidate& candidate, const vgpu::KernelSignature& kernel);
// Returns the candidates that the program launches but no GPU can start.
std::vector<Candidate> refused_of(std::vector<Candidate> candidates);

// Returns how far the launch is from an ideal: short, but with several blocks.
double distance(const Candidate& candidate);
inline constexpr std::int64_t kMostThreads = 1 << 17;  // most threads of the first launch to try

// Return shapes for a kernel without a known launch, the best first. Values that the caller gives
// are kept.
std::vector<Dims> usual_blocks(const KernelFacts& kernel);
std::vector<Dims> usual_grids(const KernelFacts& kernel);

// Dynamic shared memory for a kernel that uses it, and the sizes to try next if that is not enough.
inline constexpr std::int64_t kUsualShared = 32768;
inline constexpr std::int64_t kMoreShared[] = {98304, 200 << 10};

// Values to try, in this order, for a variable whose value is unknown.
inline constexpr std::int64_t kUsualValues[] = {64, 1024, 32, 128, 256, 16, 8, 1};
// Returns `value`, or a usual block size if the name means a block size.
std::int64_t value_for(const std::string& name, std::int64_t value);

}  // namespace tessera::checking
