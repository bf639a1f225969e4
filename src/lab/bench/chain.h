// Runs a chain of products as applications do: D = alpha A B + C, then D takes A's place, R times.
// Or with an addition before each product: X += B in place, D = alpha A X, D takes A's place. The
// time of packing and of the addition counts for every link. All matrices are square; alpha is the
// power of two that keeps the products at the size of A.
#pragma once

#include "lab/bench/bench.h"

namespace tessera::lab {

inline constexpr std::string_view kChainSchema = "tessera.chain/1";  // schema of a file of chains
// X grows with each addition, and so do the products: longer chains leave the range of a double.
inline constexpr int kLongestAddingChain = 100;

struct ChainOptions {
  int length = 10;          // R
  bool add_before = false;  // X += B ahead of each product; FP64
  std::uint64_t seed = 1;
  Vendor* vendor = nullptr;
  int repeats = 5;
  double idle_ms = 250;
  std::function<bool()> stop = {};  // asked between products; true ends the chain with Stopped
};

struct ChainResult {
  std::string kernel, config;
  Problem problem;
  int length = 0;
  bool add_before = false;
  bool sampled = false;  // a sample of each product's entries was checked, not every one
  bool correct = false;
  double max_error_ratio = 0;
  std::string reason;                        // names the first product that is wrong
  std::optional<Summary> own_ms, vendor_ms;  // times of the whole chain; null on the virtual GPU
  std::string vendor;                        // the vendor's candidate
  double host_seconds = 0;                   // virtual GPU only
  std::string command;                       // the command that repeats the run
};

// `problem` gives the size (m == n == k), type, order and layout.
ChainResult run_chain(Device& device, const KernelChoice& kernel, const Problem& problem,
                      const ChainOptions& options = {});
Json to_json(const ChainResult& result);

}  // namespace tessera::lab
