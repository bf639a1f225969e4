// Writes a better order of the FFMAs of a compiled kernel, or better registers, into the cubin
// itself. Length and sections stay; only instructions of .text change. The new code is not trusted:
// the patched bytes are read again and must pass every proof, or there is no result.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "sass/model/ports.h"
#include "sass/model/values.h"
#include "sass/rewrite/remap_kernel.h"
#include "sass/rewrite/reorder.h"

namespace tessera::sass {

struct PatchOptions {
  std::string kernel;     // its name, or a part of several names; "": all kernels
  int least_moving = 16;  // regions with fewer FFMAs that may move are left unchanged
  bool remaps = false;    // registers, by live ranges; before the order changes
  bool reorders = true;   // FFMAs
  ReorderOptions reorder;
  RemapOptions remap;
};

// The costs, by the port model, of a loop with FFMAs that has no inner loop with FFMAs.
struct LoopChange {
  std::size_t begin = 0, end = 0;  // bytes
  std::size_t instructions = 0;
  PortUse before, after;
};

struct KernelPatch {
  std::string name;
  std::string left_alone;               // why the kernel was left unchanged; "" if it was examined
  std::size_t moved = 0;                // instructions that have a new place
  std::size_t regions = 0;              // stretches with a new order
  std::size_t ranges = 0, renamed = 0;  // live ranges; ranges with another register
  Equality equality;                    // comparison of the kernel before and after
  std::vector<LoopChange> loops;

  bool is_changed() const { return moved > 0 || renamed > 0; }
};

struct PatchResult {
  int sm = 0;
  std::vector<std::byte> cubin;
  std::vector<KernelPatch> kernels;
};

// Returns the patched cubin. Throws std::runtime_error with a sentence if the file is not a cubin
// of CUDA 13 for sm_75 to sm_90, if it has no kernel of that name, if that kernel has a hazard
// before the change (the sentence says where and why), or if a proof fails. Other kernels that
// cannot be patched are left unchanged, and the result says why.
PatchResult optimise(std::span<const std::byte> cubin, const PatchOptions& options = {});

// Returns the proof as text for people.
std::string proof_text(const PatchResult& result);

}  // namespace tessera::sass
