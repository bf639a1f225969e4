#include "check/propose/shapes.h"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace tessera::checking {
namespace {

constexpr double kThreads = 2048;  // of the launch that is tried first

bool is_whole_number(const std::string& text) {
  return text.find_first_not_of("0123456789") == std::string::npos;
}

// Blocks and grids of a kernel of which nobody says how it is launched.
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
