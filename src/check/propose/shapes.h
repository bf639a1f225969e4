// Usual shapes and numbers, for launches whose own are unknown.
#pragma once

#include <string>
#include <vector>

#include "check/propose/candidates.h"

namespace tessera::checking {

std::int64_t product(const Dims& dims);
double threads_of(const Candidate& candidate);

// Why no GPU starts a launch of this shape; empty where one may.
std::string refusal_of(const Candidate& candidate, const vgpu::KernelSignature& kernel);
// Candidates whose launch the program makes, but no GPU can start.
std::vector<Candidate> refused_of(std::vector<Candidate> candidates);

// The distance of the launch from one that takes little time and still has several blocks.
double distance(const Candidate& candidate);
inline constexpr std::int64_t kMostThreads = 1 << 17;  // threads of the first launch that is tried

// For a kernel without a known launch: blocks, the best first. Values that the caller gives stay.
std::vector<Dims> usual_blocks(const KernelFacts& kernel);
std::vector<Dims> usual_grids(const KernelFacts& kernel);

// Dynamic shared memory for a kernel that uses some; and the next size if that is not enough.
inline constexpr std::int64_t kUsualShared = 32768;
inline constexpr std::int64_t kMoreShared[] = {98304, 200 << 10};

// Values for a variable without one, tried in this order.
inline constexpr std::int64_t kUsualValues[] = {64, 1024, 32, 128, 256, 16, 8, 1};
// Names of sizes of blocks get such sizes; others the value.
std::int64_t value_for(const std::string& name, std::int64_t value);

}  // namespace tessera::checking
