// Lists launches of a kernel to try: the launches that its source makes, with smaller values if
// they are large, or usual shapes if the source has no launch.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "check/propose/guess.h"

namespace tessera::checking {

using Dims = std::array<std::int64_t, 3>;

// A variable of the program whose value is replaced or, if no variable makes the grid smaller, the
// grid itself.
struct Changed {
  std::string name, from, to;
  bool is_grid = false;
};

struct Candidate {
  Dims grid = {1, 1, 1}, block = {1, 1, 1};
  std::optional<Dims> cluster;
  std::int64_t shared = 0;
  std::vector<std::optional<HostValue>> numbers;   // by parameter; set for numbers only
  std::vector<std::optional<Allocated>> elements;  // by parameter; allocations of the program
  // For each struct parameter: the values that the program assigns to its fields.
  std::vector<std::map<std::string, std::optional<HostValue>>> fields;
  std::vector<Changed> changed;
  std::map<std::string, std::int64_t> assumed;  // assumed values of undefined names
  // Launches that differ only in how often values were halved form a chain; level 0 has no
  // halvings. -1: the launch belongs to no chain.
  int chain = -1, level = 0;
  bool keeps_multiples = true;  // each halved value is a multiple of gcd(own value, 256)
  bool is_step = false;         // tried only after a smaller launch of its chain
  bool tells_grid = false, tells_block = false;  // known from the launch or the user
  bool tells_shared = true;
  bool states_shared = false;  // the launch states the amount, or that it is 0
  bool is_certain = false;     // no condition around the launch may prevent the launch
  // For grid, block and shared memory: the text of the launch, and why that text has no value.
  std::array<std::string, 3> untold;
  const LaunchSite* site = nullptr;  // null: no launch is known
  std::string refused;               // why no GPU starts the program's own launch
};

// The known facts about the kernel itself.
struct KernelFacts {
  const vgpu::KernelSignature& signature;
  std::vector<ParameterGuess> parameters;
  bool uses_y = false, uses_z = false;    // uses of the thread or block index
  bool grids_y = false, grids_z = false;  // uses of the block index
  bool has_dynamic_shared = false;
  std::optional<Dims> grid, block;  // if the user gives them
  std::size_t arguments = 0;        // number of arguments that the user gives
  int texture_rank = 0;             // 0: the kernel reads no texture
  ElementType texel = ElementType::kF32;
  bool stores = true;  // the kernel's own code has stores to global memory
};
// Returns the dims of "4,2"; nullopt for other text.
std::optional<Dims> dims_of_text(const std::string& text);
KernelFacts facts_of(const vgpu::KernelSignature& kernel, const std::string& ptx,
                     const HostSource& source);

// Returns the candidates, the best first.
std::vector<Candidate> candidates_of(const HostSource& source, const KernelFacts& kernel);

// "4" and "2,2"
std::string dims_text(const Dims& dims);

}  // namespace tessera::checking
