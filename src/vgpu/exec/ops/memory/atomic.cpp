// atom and red: read, compute and write in one step that CTAs on other host threads cannot split.
// The lanes of a warp run in order.
#include <mutex>

#include "vgpu/exec/ops/float.h"
#include "vgpu/exec/ops/integer.h"
#include "vgpu/exec/ops/memory/access.h"
#include "vgpu/exec/ops/tables.h"
#include "vgpu/program/small_float.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {
namespace {

// Replaces the cell by f(cell) and returns its old value.
template <class T, class F>
T update(T* cell, F f) {
  T before, after;
  __atomic_load(cell, &before, __ATOMIC_SEQ_CST);
  do {
    after = f(before);
  } while (
      !__atomic_compare_exchange(cell, &before, &after, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
  return before;
}

template <int bytes>
std::byte* cell_of(Shape shape, const Access& access, int lane) {
  if (shape == Shape::kScattered) return access.lane[lane];
  const int half = lane / kHalf;
  return access.base[half] + (access.steps[half] ? lane % kHalf * bytes : 0);
}

bool is_shared(const Lanes& lanes, const std::byte* cell) {
  for (u32 rank = 0; rank < lanes.cluster->ctas; ++rank) {
    if (u64(cell - lanes.cluster->shared[rank]) < lanes.shared_bytes) return true;
  }
  return false;
}

// WHY a mutex: the atomic and its report to the observer must be one step. Otherwise the observer
// could see atomics of CTAs on different host threads in another order than memory.
std::mutex observed;

// d = cell; cell = f(cell, b[, c], whether the cell is in shared memory).
template <class T, class F>
void atomic_lanes(const Op* first, const Op* last, Lanes& lanes, F f) {
  for (; first != last; ++first) {
    std::unique_lock<std::mutex> one_step;
    if (lanes.observer) one_step = std::unique_lock(observed);
    Access access;
    const Shape shape =
        resolve<AccessKind::kAtomic, sizeof(T)>(lanes, *first, first->operand[1], access);
    alignas(64) T values[kLanes];
    for (u32 left = lanes.mask; left != 0; left &= left - 1) {
      const int lane = first_lane(left);
      std::byte* cell = cell_of<sizeof(T)>(shape, access, lane);
      const bool shared = is_shared(lanes, cell);
      values[lane] = update(reinterpret_cast<T*>(cell),
                            [&](T before) { return f(*first, lane, before, shared); });
    }
    blend(lanes_of<T>(lanes, first->operand[0]), values, lanes.mask);
  }
}

template <class T, auto f>
void atomic(const Op* first, const Op* last, Lanes& lanes) {
  atomic_lanes<T>(first, last, lanes, [&](const Op& op, int lane, T before, bool) {
    return f(before, lanes_of<T>(lanes, op.operand[2])[lane]);
  });
}

template <class T>
void compare_and_swap(const Op* first, const Op* last, Lanes& lanes) {
  atomic_lanes<T>(first, last, lanes, [&](const Op& op, int lane, T before, bool) {
    const T expected = lanes_of<T>(lanes, op.operand[2])[lane];
    return before == expected ? lanes_of<T>(lanes, op.operand[3])[lane] : before;
  });
}

// HW: a float addition in global memory flushes subnormals, one in shared memory does not (PTX ISA,
// atom).
void add_f32(const Op* first, const Op* last, Lanes& lanes) {
  using Bits = u32;
  atomic_lanes<Bits>(first, last, lanes, [&](const Op& op, int lane, Bits before, bool shared) {
    const float a = __builtin_bit_cast(float, before);
    const float b = lanes_of<float>(lanes, op.operand[2])[lane];
    const float sum = shared ? Add32<kDefault>::eval(a, b) : Add32<kFtz>::eval(a, b);
    return __builtin_bit_cast(Bits, sum);
  });
}
// Sums of FP16 or BF16, single or in pairs, rounded once even if double cannot hold the sum.
template <class Half>
u16 add_half(u16 a, u16 b) {
  return Half::narrow(fused_odd(Half::widen(a), 1.0, Half::widen(b)));
}
template <class Half>
u32 add_pair(u32 a, u32 b) {
  return u32(add_half<Half>(u16(a >> 16), u16(b >> 16))) << 16 | add_half<Half>(u16(a), u16(b));
}
u64 add_f64(u64 a, u64 b) {
  return __builtin_bit_cast(
      u64, Add64<kDefault>::eval(__builtin_bit_cast(double, a), __builtin_bit_cast(double, b)));
}

template <class T>
T exchange(T, T b) {
  return b;
}
template <class T>
T and_bits(T a, T b) {
  return a & b;
}
template <class T>
T or_bits(T a, T b) {
  return a | b;
}
template <class T>
T xor_bits(T a, T b) {
  return a ^ b;
}
u32 increment(u32 a, u32 b) { return a >= b ? 0 : a + 1; }
u32 decrement(u32 a, u32 b) { return a == 0 || a > b ? b : a - 1; }

template <class T>
constexpr Signature kTwo = {1, 3, {scalar_of<T>(), Scalar::k64, scalar_of<T>()}};
template <class T>
constexpr Signature kThree = {1, 4, {scalar_of<T>(), Scalar::k64, scalar_of<T>(), scalar_of<T>()}};

template <class T, auto f>
constexpr Operation atomic_row(const char* name) {
  return {name, kDefault, atomic<T, f>, kTwo<T>};
}
template <class T>
constexpr Operation cas_row(const char* name) {
  return {name, kDefault, compare_and_swap<T>, kThree<T>};
}

constexpr Rows<35> kRows = {{
    atomic_row<u32, add<u32>>("atom.add.u32"),
    atomic_row<u32, add<u32>>("atom.add.s32"),
    atomic_row<u64, add<u64>>("atom.add.u64"),
    atomic_row<u64, add<u64>>("atom.add.s64"),
    {"atom.add.f32", kDefault, add_f32, {1, 3, {Scalar::k32, Scalar::k64, Scalar::kF32}}},
    {"atom.add.f64",
     kDefault,
     atomic<u64, add_f64>,
     {1, 3, {Scalar::k64, Scalar::k64, Scalar::kF64}}},
    atomic_row<u16, add_half<F16>>("atom.add.f16"),
    atomic_row<u16, add_half<Bf16>>("atom.add.bf16"),
    atomic_row<u32, add_pair<F16>>("atom.add.f16x2"),
    atomic_row<u32, add_pair<Bf16>>("atom.add.bf16x2"),
    atomic_row<u32, increment>("atom.inc.u32"),
    atomic_row<u32, decrement>("atom.dec.u32"),
    atomic_row<u32, min<u32>>("atom.min.u32"),
    atomic_row<s32, min<s32>>("atom.min.s32"),
    atomic_row<u64, min<u64>>("atom.min.u64"),
    atomic_row<s64, min<s64>>("atom.min.s64"),
    atomic_row<u32, max<u32>>("atom.max.u32"),
    atomic_row<s32, max<s32>>("atom.max.s32"),
    atomic_row<u64, max<u64>>("atom.max.u64"),
    atomic_row<s64, max<s64>>("atom.max.s64"),
    atomic_row<u32, and_bits<u32>>("atom.and.b32"),
    atomic_row<u64, and_bits<u64>>("atom.and.b64"),
    atomic_row<u32, or_bits<u32>>("atom.or.b32"),
    atomic_row<u64, or_bits<u64>>("atom.or.b64"),
    atomic_row<u32, xor_bits<u32>>("atom.xor.b32"),
    atomic_row<u64, xor_bits<u64>>("atom.xor.b64"),
    atomic_row<u32, exchange<u32>>("atom.exch.b32"),
    atomic_row<u64, exchange<u64>>("atom.exch.b64"),
    atomic_row<u32, exchange<u32>>("atom.exch.u32"),
    atomic_row<u64, exchange<u64>>("atom.exch.u64"),
    cas_row<u16>("atom.cas.b16"),
    cas_row<u32>("atom.cas.b32"),
    cas_row<u64>("atom.cas.b64"),
    cas_row<u32>("atom.cas.u32"),
    cas_row<u64>("atom.cas.u64"),
}};

}  // namespace

const OperationTable kAtomicTable = table(kRows);

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
