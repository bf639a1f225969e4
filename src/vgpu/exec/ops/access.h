// From 32 addresses to host memory. Checks bounds and alignment of every active lane, and tells the
// two shapes that make up nearly all accesses of matrix kernels: every lane the same address, and
// neighbouring lanes neighbouring addresses.
#pragma once

#include "vgpu/exec/faults.h"
#include "vgpu/exec/ops/flags.h"
#include "vgpu/exec/ops/lift.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {

enum class Shape { kUniform, kUnit, kScattered };

struct Access {
  std::byte* base = nullptr;            // kUniform, kUnit: of lane 0
  alignas(64) std::byte* lane[kLanes];  // kScattered; inactive lanes repeat an active one
};

inline int first_lane(u32 mask) { return __builtin_ctz(mask); }

// The addresses of all lanes; those of inactive lanes repeat the first active one.
template <class T>
inline void effective(const Lanes& lanes, const Op& op, u32 offset, u64* to) {
  const T* registers = lanes_of<T>(lanes, offset);
  const u64 more = u64(op.immediate);
  for (int l = 0; l < kLanes; ++l) to[l] = u64(registers[l]) + more;
  if (lanes.mask == kAllLanes) return;
  const u64 stand_in = to[first_lane(lanes.mask)];
  for (int l = 0; l < kLanes; ++l) to[l] = lanes.mask >> l & 1 ? to[l] : stand_in;
}

inline bool holds(const MemoryBlock& block, u64 address, u64 bytes) {
  return address - block.base <= block.bytes && bytes <= block.bytes - (address - block.base);
}

template <int bytes>
void check_alignment(const Lanes& lanes, const Op& op, const u64* address, Window window) {
  u64 bits = 0;
  for (int l = 0; l < kLanes; ++l) bits |= address[l];
  if ((bits & (bytes - 1)) == 0) return;
  for (int l = 0; l < kLanes; ++l) {
    if (address[l] & (bytes - 1)) fault_misaligned(lanes, op, {window, address[l], bytes, l});
  }
}

// A memory of which every lane sees [first, first + size), lane l at host + l * stride.
struct Plain {
  Window window;
  std::byte* host;
  u64 first, size, stride;
};

// Fills access.lane if the memory holds every access; else leaves it alone.
template <int bytes>
bool place_lanes(const Plain& memory, const u64* address, Access& access) {
  if (memory.size < bytes) return false;
  const u64 limit = memory.size - bytes;
  u64 furthest = 0;
  for (int l = 0; l < kLanes; ++l) {
    const u64 distance = address[l] - memory.first;
    furthest = furthest > distance ? furthest : distance;
  }
  if (furthest > limit) return false;
  for (int l = 0; l < kLanes; ++l) {
    access.lane[l] = memory.host + (address[l] - memory.first) + u64(l) * memory.stride;
  }
  return true;
}

template <int bytes>
void scatter_global(Lanes& lanes, const Op& op, const u64* address, Access& access) {
  check_alignment<bytes>(lanes, op, address, Window::kGlobal);
  const MemoryBlock* block = lanes.blocks[op.instruction];
  const Plain memory = {Window::kGlobal, block->host, block->base, block->bytes, 0};
  if (place_lanes<bytes>(memory, address, access)) return;
  for (int l = 0; l < kLanes; ++l) {
    if (!holds(*block, address[l], bytes)) {
      block = find_block(lanes, op, address[l], bytes);
      if (!block) fault_out_of_bounds(lanes, op, {Window::kGlobal, address[l], bytes, l});
    }
    access.lane[l] = block->host + (address[l] - block->base);
  }
}

template <int bytes>
void scatter_plain(Lanes& lanes, const Op& op, const u64* address, const Plain& memory,
                   Access& access) {
  check_alignment<bytes>(lanes, op, address, memory.window);
  if (place_lanes<bytes>(memory, address, access)) return;
  for (int l = 0; l < kLanes; ++l) {
    if (memory.size < bytes || address[l] - memory.first > memory.size - bytes) {
      fault_out_of_bounds(lanes, op, {memory.window, address[l], bytes, l});
    }
  }
}

inline Plain shared_memory(const Lanes& lanes) {
  return {Window::kShared, lanes.shared, kSharedBase, lanes.shared_bytes, 0};
}
inline Plain local_memory(const Lanes& lanes) {
  return {Window::kLocal, lanes.local, kLocalBase, lanes.local_bytes, lanes.local_stride};
}
inline Plain param_memory(const Lanes& lanes, u64 address) {
  if (address < kCallParamBase) {
    return {Window::kParam, const_cast<std::byte*>(lanes.params), 0, lanes.param_bytes, 0};
  }
  return {Window::kParam, lanes.call_params, kCallParamBase, lanes.call_param_bytes,
          lanes.call_param_bytes};
}

inline Window window_of(u64 generic) {
  if (generic - kSharedWindow < kWindowBytes) return Window::kShared;
  if (generic - kLocalWindow < kWindowBytes) return Window::kLocal;
  if (generic - kParamWindow < kWindowBytes) return Window::kParam;
  return Window::kGlobal;
}

template <int bytes>
void scatter_in(Lanes& lanes, const Op& op, Window window, u64* address, Access& access) {
  switch (window) {
    case Window::kShared:
      return scatter_plain<bytes>(lanes, op, address, shared_memory(lanes), access);
    case Window::kLocal:
      return scatter_plain<bytes>(lanes, op, address, local_memory(lanes), access);
    case Window::kParam:
      return scatter_plain<bytes>(lanes, op, address, param_memory(lanes, address[0]), access);
    default:
      return scatter_global<bytes>(lanes, op, address, access);
  }
}

// Lanes that point into different memories are served memory by memory.
template <int bytes>
void scatter_generic(Lanes& lanes, const Op& op, const u64* generic, Access& access) {
  const u32 all = lanes.mask;
  u32 left = all;
  while (left != 0) {
    const Window window = window_of(generic[first_lane(left)]);
    u32 here = 0;
    for (int l = 0; l < kLanes; ++l) here |= u32(window_of(generic[l]) == window) << l;
    here &= left;
    alignas(64) u64 address[kLanes];
    const u64 base = window_base(window), stand_in = generic[first_lane(here)];
    for (int l = 0; l < kLanes; ++l) address[l] = (here >> l & 1 ? generic[l] : stand_in) - base;
    Access part;
    scatter_in<bytes>(lanes, op, window, address, part);
    for (int l = 0; l < kLanes; ++l) {
      if (here >> l & 1 || left == all) access.lane[l] = part.lane[l];
    }
    left &= ~here;
  }
}

// All lanes active and global: the shapes, without writing 32 addresses down.
template <int bytes>
inline Shape resolve_global(Lanes& lanes, const Op& op, u32 offset, Access& access) {
  const u64* registers = lanes_of<u64>(lanes, offset);
  u64 uniform = 0, unit = 0;
  for (int l = 0; l < kLanes; ++l) {
    const u64 distance = registers[l] - registers[0];
    uniform |= distance;
    unit |= distance ^ u64(l * bytes);
  }
  const u64 address = registers[0] + u64(op.immediate);
  const MemoryBlock& block = *lanes.blocks[op.instruction];
  access.base = block.host + (address - block.base);
  if ((address & (bytes - 1)) != 0) return Shape::kScattered;
  if (uniform == 0 && holds(block, address, bytes)) return Shape::kUniform;
  if (unit == 0 && holds(block, address, bytes * kLanes)) return Shape::kUnit;
  return Shape::kScattered;
}

template <int bytes>
inline Shape resolve_shared(Lanes& lanes, const Op& op, u32 offset, Access& access) {
  const u32* registers = lanes_of<u32>(lanes, offset);
  u32 uniform = 0, unit = 0;
  for (int l = 0; l < kLanes; ++l) {
    const u32 distance = registers[l] - registers[0];
    uniform |= distance;
    unit |= distance ^ u32(l * bytes);
  }
  const u64 address = u64(registers[0]) + u64(op.immediate) - kSharedBase;
  access.base = lanes.shared + address;
  if ((address & (bytes - 1)) != 0 || address > lanes.shared_bytes) return Shape::kScattered;
  if (uniform == 0 && address + bytes <= lanes.shared_bytes) return Shape::kUniform;
  if (unit == 0 && address + bytes * kLanes <= lanes.shared_bytes) return Shape::kUnit;
  return Shape::kScattered;
}

// The address of operand `offset` for an access of `bytes` a lane.
template <int bytes>
inline Shape resolve(Lanes& lanes, const Op& op, u32 offset, Access& access) {
  const Window window = Window(op.flags & kWindowMask);
  const bool wide = op.flags & kAddress64;
  if (lanes.mask == kAllLanes) {
    if (window == Window::kGlobal && wide) {
      const Shape shape = resolve_global<bytes>(lanes, op, offset, access);
      if (shape != Shape::kScattered) return shape;
    } else if (window == Window::kShared && !wide) {
      const Shape shape = resolve_shared<bytes>(lanes, op, offset, access);
      if (shape != Shape::kScattered) return shape;
    }
  }
  alignas(64) u64 address[kLanes];
  if (wide) {
    effective<u64>(lanes, op, offset, address);
  } else {
    effective<u32>(lanes, op, offset, address);
  }
  if (window == Window::kGeneric) {
    scatter_generic<bytes>(lanes, op, address, access);
  } else {
    scatter_in<bytes>(lanes, op, window, address, access);
  }
  return Shape::kScattered;
}

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
