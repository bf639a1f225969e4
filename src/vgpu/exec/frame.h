// One activation of a function: its registers, the parameter memory for its calls, and its part of
// the lanes' local memory. Lanes that called the function together share a frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include "vgpu/program/program.h"

namespace tessera::vgpu {

struct AlignedDelete {
  void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{64}); }
};
using AlignedBytes = std::unique_ptr<std::byte[], AlignedDelete>;

inline AlignedBytes allocate_aligned(std::size_t bytes) {
  return AlignedBytes(static_cast<std::byte*>(::operator new[](bytes, std::align_val_t{64})));
}

struct Frame {
  const Function* function = nullptr;
  Frame* parent = nullptr;         // null for the entry
  const CallSite* site = nullptr;  // the call that created the frame
  std::uint32_t return_block = 0;
  std::uint32_t lanes = 0;  // those that have not returned
  std::uint32_t depth = 0;
  std::uint32_t local_begin = 0, local_end = 0;  // in the local memory of a lane
  AlignedBytes registers;
  AlignedBytes call_params;

  explicit Frame(const Function& f)
      : function(&f),
        registers(allocate_aligned(f.frame_bytes)),
        call_params(allocate_aligned(std::size_t{f.call_param_bytes} * kLanes)) {
    std::memset(call_params.get(), 0xff, std::size_t{f.call_param_bytes} * kLanes);
    forget();
  }

  // WHY: nothing may depend on old data of the host or of an earlier CTA. After this call,
  // constants and special registers must be filled again.
  void forget() { std::memset(registers.get(), 0xff, function->frame_bytes); }
};

// What the special registers of one warp are computed from.
struct WarpPlace {
  std::uint32_t block[3] = {}, grid[3] = {}, cta[3] = {}, cluster[3] = {1, 1, 1};
  std::uint32_t rank = 0;  // the CTA's rank in its cluster
  bool explicit_cluster = false;
  std::uint32_t warp = 0, warps = 0;
  std::uint32_t shared_bytes = 0, dynamic_shared_bytes = 0;
  std::uint64_t grid_workspace = 0;             // address
  std::uint64_t undefined = ~std::uint64_t{0};  // the content of unwritten registers
};

// fill_constants() fills what is the same in all CTAs of this rank. fill_place() fills what depends
// on the CTA and the warp; it is called for each CTA.
void fill_constants(const Frame& frame, std::uint32_t rank);
void fill_place(const Frame& frame, const WarpPlace& place);

}  // namespace tessera::vgpu
