// The shapes at which kernels break: 0 and 1, powers of two and their neighbours, every tail. Three
// shapes have all combinations of order, layout, alpha, beta and leading dimension. Every other
// shape has one case per layout; a seed draws its order, scales, strides and misalignment.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/config.h"
#include "lab/verify/misalign.h"
#include "problem/problem.h"

namespace tessera::lab {

struct LatticeCase {
  Problem problem;
  bool in_place = false;     // D is C
  Misalign misalign;         // elements by which the operands miss a 256-byte boundary
  std::string name() const;  // "65x33x129 TN row lda=68 ... alpha=-1.5 beta=1 in place"
};

std::vector<LatticeCase> lattice(const Types& types, std::uint64_t seed = 1);

// Returns one case per shape, drawn by seed, for a quick check.
std::vector<LatticeCase> short_lattice(const Types& types, std::uint64_t seed = 1);

// Returns batches of small products, strided and by pointers. Some of their operands are shared,
// and strides and addresses are aligned or not. Not every kernel takes a batch of pointers.
std::vector<LatticeCase> batch_lattice(const Types& types, std::uint64_t seed = 1);

// Returns cases at which kernels with a schedule along k break: every depth from 1 to 64 and a few
// longer ones, on outputs around the edges of a block tile, with operands that tensor copies can
// take and operands that they cannot. Everything else is drawn by seed.
std::vector<LatticeCase> depth_lattice(BlockTile block, const Types& types, std::uint64_t seed = 1);

}  // namespace tessera::lab
