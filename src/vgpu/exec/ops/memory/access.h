// Translates 32 addresses to host memory. Checks bounds and alignment for each active lane, and
// detects the two patterns of nearly all accesses in matrix kernels: all lanes at one address, and
// neighbouring lanes at adjacent addresses.
#pragma once

#include "vgpu/async/faults.h"
#include "vgpu/exec/ops/lift.h"
#include "vgpu/program/flags.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {

// kHalves: in each half of the warp, all lanes are at one address or at adjacent addresses.
enum class Shape { kHalves, kScattered };

constexpr int kHalf = kLanes / 2;

struct Access {
  std::byte* base[2] = {};              // kHalves: of lanes 0 and 16
  bool steps[2] = {};                   // whether the half's lanes are neighbours or all the same
  alignas(64) std::byte* lane[kLanes];  // kScattered; inactive lanes repeat an active one
};

inline int first_lane(u32 mask) { return __builtin_ctz(mask); }

// Computes the addresses of all lanes. Inactive lanes get the address of the first active lane.
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

// A memory in which each lane sees [first, first + size). Lane l's is at host + l * stride.
struct Plain {
  Window window;
  std::byte* host;
  u64 first, size, stride;
};

inline Plain global_memory(const MemoryBlock& block) {
  return {Window::kGlobal, block.host, block.base, block.bytes, 0};
}

// If the memory holds all accesses, fills access.lane and returns true; else changes nothing.
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
  if (place_lanes<bytes>(global_memory(*block), address, access)) return;
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
    const u64 distance = address[l] - memory.first;
    const bool inside = memory.size >= bytes && distance <= memory.size - bytes;
    access.lane[l] = inside ? memory.host + distance + u64(l) * memory.stride : nullptr;
    if (!inside && memory.window == Window::kShared) {
      access.lane[l] = find_in_cluster(lanes, op, {memory.window, address[l], bytes, l});
    }
    if (!access.lane[l]) fault_out_of_bounds(lanes, op, {memory.window, address[l], bytes, l});
  }
}

inline Plain shared_memory(const Lanes& lanes) {
  return {Window::kShared, lanes.shared, lanes.shared_first, lanes.shared_bytes, 0};
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

// Reports the access of an operation to a memory to the observer.
template <AccessKind kind, int bytes>
inline void tell(const Lanes& lanes, const Op& op, Window window, u32 mask, const u64* address) {
  if (lanes.observer) [[unlikely]] {
    observe_access(lanes, op, kind, window, bytes, mask, address);
  }
}

// Lanes with addresses in different memories are served memory by memory.
template <AccessKind kind, int bytes>
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
    tell<kind, bytes>(lanes, op, window, here, address);
    for (int l = 0; l < kLanes; ++l) {
      if (here >> l & 1 || left == all) access.lane[l] = part.lane[l];
    }
    left &= ~here;
  }
}

// The distances of a vector's lanes from the first lane of their half, if addresses are adjacent.
template <int bytes>
inline __m256i unit_distances(const u64*, int at) {
  return _mm256_setr_epi64x(at * bytes, (at + 1) * bytes, (at + 2) * bytes, (at + 3) * bytes);
}
template <int bytes>
inline __m256i unit_distances(const u32*, int at) {
  return _mm256_setr_epi32(at * bytes, (at + 1) * bytes, (at + 2) * bytes, (at + 3) * bytes,
                           (at + 4) * bytes, (at + 5) * bytes, (at + 6) * bytes, (at + 7) * bytes);
}
inline __m256i distances(const u64* at, u64 first) {
  const __m256i values = _mm256_load_si256(reinterpret_cast<const __m256i*>(at));
  return _mm256_sub_epi64(values, _mm256_set1_epi64x(s64(first)));
}
inline __m256i distances(const u32* at, u32 first) {
  const __m256i values = _mm256_load_si256(reinterpret_cast<const __m256i*>(at));
  return _mm256_sub_epi32(values, _mm256_set1_epi32(s32(first)));
}

// The pattern of a half warp's addresses: 0 if all lanes have one address, 1 if neighbouring lanes
// have adjacent addresses, -1 for all other patterns.
// WHY intrinsics: the result is one bit, but a compiler would reduce over all lanes to find it.
template <int bytes, class T>
inline int step_of(const T* registers) {
  constexpr int kWidth = 32 / sizeof(T);
  __m256i uniform = _mm256_setzero_si256(), unit = _mm256_setzero_si256();
  for (int at = 0; at < kHalf; at += kWidth) {
    const __m256i distance = distances(registers + at, registers[0]);
    uniform = _mm256_or_si256(uniform, distance);
    unit = _mm256_or_si256(unit, _mm256_xor_si256(distance, unit_distances<bytes>(registers, at)));
  }
  if (_mm256_testz_si256(uniform, uniform)) return 0;
  return _mm256_testz_si256(unit, unit) ? 1 : -1;
}

// Resolves an access of all lanes by its pattern, without storing 32 addresses. The memory is
// `size` bytes from address `first` on.
template <int bytes, class T>
inline Shape resolve_halves(const T* registers, u64 immediate, const Plain& memory,
                            Access& access) {
  for (int h = 0; h < 2; ++h) {
    const int step = step_of<bytes>(registers + h * kHalf);
    const u64 offset = u64(registers[h * kHalf]) + immediate - memory.first;
    const u64 span = step == 1 ? u64(bytes) * kHalf : bytes;
    if (step < 0 || span > memory.size || offset > memory.size - span) return Shape::kScattered;
    if ((offset & (bytes - 1)) != 0) return Shape::kScattered;
    access.base[h] = memory.host + offset;
    access.steps[h] = step == 1;
  }
  return Shape::kHalves;
}

// Reports an access that was resolved by halves to the observer.
template <AccessKind kind, int bytes, class T>
inline void tell_halves(const Lanes& lanes, const Op& op, u32 offset, Window window) {
  if (!lanes.observer) [[likely]]
    return;
  alignas(64) u64 address[kLanes];
  effective<T>(lanes, op, offset, address);
  observe_access(lanes, op, kind, window, bytes, lanes.mask, address);
}

// Resolves all other patterns. WHY noinline: the code for the two patterns must stay small where it
// is inlined.
template <AccessKind kind, int bytes>
[[gnu::noinline]] void scatter(Lanes& lanes, const Op& op, u32 offset, Access& access) {
  const Window window = Window(op.flags & kWindowMask);
  alignas(64) u64 address[kLanes];
  if (op.flags & kAddress64) {
    effective<u64>(lanes, op, offset, address);
  } else {
    effective<u32>(lanes, op, offset, address);
  }
  if (window == Window::kGeneric) {
    scatter_generic<kind, bytes>(lanes, op, address, access);
  } else {
    scatter_in<bytes>(lanes, op, window, address, access);
    tell<kind, bytes>(lanes, op, window, lanes.mask, address);
  }
}

// Resolves an access of `bytes` per lane. Operand `offset` holds the addresses.
template <AccessKind kind, int bytes>
inline Shape resolve(Lanes& lanes, const Op& op, u32 offset, Access& access) {
  const Window window = Window(op.flags & kWindowMask);
  const bool wide = op.flags & kAddress64;
  if (lanes.mask == kAllLanes) {
    if (window == Window::kGlobal && wide) {
      const u64* registers = lanes_of<u64>(lanes, offset);
      const Plain memory = global_memory(*lanes.blocks[op.instruction]);
      if (resolve_halves<bytes>(registers, u64(op.immediate), memory, access) == Shape::kHalves) {
        tell_halves<kind, bytes, u64>(lanes, op, offset, window);
        return Shape::kHalves;
      }
    } else if (window == Window::kShared && !wide) {
      const u32* registers = lanes_of<u32>(lanes, offset);
      const Plain memory = shared_memory(lanes);
      if (resolve_halves<bytes>(registers, u64(op.immediate), memory, access) == Shape::kHalves) {
        tell_halves<kind, bytes, u32>(lanes, op, offset, window);
        return Shape::kHalves;
      }
    }
  }
  scatter<kind, bytes>(lanes, op, offset, access);
  return Shape::kScattered;
}

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
