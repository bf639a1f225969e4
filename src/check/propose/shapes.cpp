#include "check/propose/shapes.h"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace tessera::checking {
namespace {

constexpr double kThreads = 2048;  // threads that the first launch to try should have

bool is_whole_number(const std::string& text) {
  return text.find_first_not_of("0123456789") == std::string::npos;
}

// Returns usual blocks and grids for a kernel without a known launch.
std::vector<Dims> blocks_of_dimensions(const KernelFacts& kernel) {
  const int threads = std::max(kernel.signature.required_threads, kernel.signature.max_threads);
  if (kernel.uses_z && !kernel.grids_z) return {{8, 8, 4}, {4, 4, 4}, {32, 4, 2}};
  if (kernel.uses_y) {
    if (threads == 1024) return {{32, 32, 1}, {16, 16, 1}};
    return {{16, 16, 1}, {32, 32, 1}, {32, 8, 1}, {8, 8, 1}, {32, 4, 1}};
  }
  std::vector<Dims> blocks = {{256, 1, 1}, {128, 1, 1}, {32, 1, 1}, {64, 1, 1}, {1024, 1, 1}};
  for (const std::string& argument : words_of_kernel(kernel.signature.name).template_arguments) {
    if (argument.empty() || argument.size() > 4 || !is_whole_number(argument)) continue;
    const std::int64_t size = std::stoll(argument);  // "template <int kThreads>", mostly
    if (size >= 32 && size <= 1024 && size % 32 == 0) blocks.insert(blocks.begin(), {size, 1, 1});
  }
  if (threads > 0) blocks.insert(blocks.begin(), Dims{threads, 1, 1});
  return blocks;
}

}  // namespace

std::int64_t product(const Dims& dims) { return dims[0] * dims[1] * dims[2]; }

double threads_of(const Candidate& candidate) {
  return static_cast<double>(product(candidate.grid) * product(candidate.block));
}

// HW: limits: CUDA C++ Programming Guide, technical specifications; shared memory: an H200's.
std::string refusal_of(const Candidate& candidate, const vgpu::KernelSignature& kernel) {
  constexpr std::int64_t kMostShared = 227 << 10, kMostRows = 65535, kMostDeep = 64;
  const std::int64_t threads = product(candidate.block);
  const int most = kernel.max_threads, exactly = kernel.required_threads;
  const auto too_many = [](std::int64_t has, std::int64_t limit, const std::string& of) {
    return "it has " + std::to_string(has) + of + ", and at most " + std::to_string(limit) +
           " are possible";
  };
  if (threads > 1024) return too_many(threads, 1024, " threads in a block");
  if (candidate.block[2] > kMostDeep) {
    return too_many(candidate.block[2], kMostDeep, " threads along z in a block");
  }
  if (exactly > 0 ? threads != exactly : most > 0 && threads > most) {
    return "it has " + std::to_string(threads) +
           " threads in a block, and the kernel is compiled for " +
           (exactly > 0 ? "" : "at most ") + std::to_string(exactly > 0 ? exactly : most);
  }
  for (const std::size_t i : {1, 2}) {
    if (candidate.grid[i] <= kMostRows) continue;
    return too_many(candidate.grid[i], kMostRows, i == 1 ? " blocks along y" : " blocks along z");
  }
  if (candidate.shared > kMostShared) {
    return too_many(candidate.shared, kMostShared, " bytes of dynamic shared memory");
  }
  return "";
}

std::vector<Candidate> refused_of(std::vector<Candidate> candidates) {
  std::erase_if(candidates, [](const Candidate& one) { return one.refused.empty(); });
  return candidates;
}

double distance(const Candidate& candidate) {
  return std::abs(std::log2(threads_of(candidate) / kThreads));
}

std::vector<Dims> usual_blocks(const KernelFacts& kernel) {
  if (kernel.block) return {*kernel.block};
  std::vector<Dims> blocks = blocks_of_dimensions(kernel);
  const int most = kernel.signature.max_threads, exactly = kernel.signature.required_threads;
  std::erase_if(blocks, [&](const Dims& block) {
    return (most > 0 && product(block) > most) || (exactly > 0 && product(block) != exactly);
  });
  if (blocks.empty()) blocks.push_back({std::max({most, exactly, 1}), 1, 1});
  return blocks;
}

std::vector<Dims> usual_grids(const KernelFacts& kernel) {
  if (kernel.grid) return {*kernel.grid};
  if (kernel.grids_z) return {{2, 2, 2}, {1, 1, 1}};
  if (kernel.grids_y) return {{2, 2, 1}, {1, 1, 1}};
  return {{4, 1, 1}, {1, 1, 1}};
}

std::int64_t value_for(const std::string& name, std::int64_t value) {
  std::string lower;
  for (const char c : name) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* word : {"thread", "block_size", "blocksize", "blockdim", "tpb"}) {
    if (lower.find(word) != lower.npos) return 128;
  }
  return value;
}

}  // namespace tessera::checking
