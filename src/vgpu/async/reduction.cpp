#include "vgpu/async/reduction.h"

#include <cstring>

#include "vgpu/program/small_float.h"

namespace tessera::vgpu {
namespace {

using namespace TESSERA_VGPU_ISA;

template <class T, auto f>
void combine(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  for (std::uint64_t at = 0; at < bytes; at += sizeof(T)) {
    T* cell = reinterpret_cast<T*>(to + at);
    T more, before, after;
    std::memcpy(&more, from + at, sizeof more);
    __atomic_load(cell, &before, __ATOMIC_SEQ_CST);
    do {
      after = f(before, more);
    } while (!__atomic_compare_exchange(cell, &before, &after, true, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST));
  }
}

template <class T>
T add(T a, T b) {
  return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) +
                        static_cast<std::make_unsigned_t<T>>(b));
}
template <class T>
T smaller(T a, T b) {
  return b < a ? b : a;
}
template <class T>
T larger(T a, T b) {
  return a < b ? b : a;
}
template <class T>
T both(T a, T b) {
  return a & b;
}
template <class T>
T any(T a, T b) {
  return a | b;
}
template <class T>
T different(T a, T b) {
  return a ^ b;
}
template <class T>
T increment(T a, T b) {
  return a >= b ? 0 : static_cast<T>(a + 1);
}
template <class T>
T decrement(T a, T b) {
  return a == 0 || a > b ? b : static_cast<T>(a - 1);
}

template <class Half>
u16 add_half(u16 a, u16 b) {
  return Half::narrow(fused_odd(Half::widen(a), 1.0, Half::widen(b)));
}
// If one operand is NaN, returns the other. +0 is larger than -0.
template <class Half, bool take_larger>
u16 select_half(u16 a, u16 b) {
  if (Half::is_nan(a)) return Half::is_nan(b) ? u16(Half::kNan) : b;
  if (Half::is_nan(b)) return a;
  const double x = Half::widen(a), y = Half::widen(b);
  const bool a_first = x == y ? (a & 0x8000) != 0 : x < y;
  return a_first == take_larger ? b : a;
}
std::uint32_t add_f32(std::uint32_t a, std::uint32_t b) {
  const float sum = __builtin_bit_cast(float, a) + __builtin_bit_cast(float, b);
  return sum != sum ? 0x7fffffffu : __builtin_bit_cast(std::uint32_t, sum);
}
std::uint64_t add_f64(std::uint64_t a, std::uint64_t b) {
  const double sum = __builtin_bit_cast(double, a) + __builtin_bit_cast(double, b);
  return __builtin_bit_cast(std::uint64_t, sum);
}

template <class T>
Reduce find_integer(Reduction reduction) {
  using Unsigned = std::make_unsigned_t<T>;
  switch (reduction) {
    case Reduction::kAdd:
      return combine<T, add<T>>;
    case Reduction::kMin:
      return combine<T, smaller<T>>;
    case Reduction::kMax:
      return combine<T, larger<T>>;
    case Reduction::kAnd:
      return combine<T, both<T>>;
    case Reduction::kOr:
      return combine<T, any<T>>;
    case Reduction::kXor:
      return combine<T, different<T>>;
    case Reduction::kInc:
      return std::is_same_v<T, Unsigned> ? combine<T, increment<T>> : nullptr;
    case Reduction::kDec:
      return std::is_same_v<T, Unsigned> ? combine<T, decrement<T>> : nullptr;
    default:
      return nullptr;
  }
}

template <class Half>
Reduce find_half(Reduction reduction) {
  if (reduction == Reduction::kAdd) return combine<u16, add_half<Half>>;
  if (reduction == Reduction::kMin) return combine<u16, select_half<Half, false>>;
  if (reduction == Reduction::kMax) return combine<u16, select_half<Half, true>>;
  return nullptr;
}

}  // namespace

Reduce find_reduce(Reduction reduction, CopyElement element) {
  switch (element) {
    case CopyElement::kU32:
      return find_integer<std::uint32_t>(reduction);
    case CopyElement::kS32:
      return find_integer<std::int32_t>(reduction);
    case CopyElement::kU64:
      return find_integer<std::uint64_t>(reduction);
    case CopyElement::kS64:
      return find_integer<std::int64_t>(reduction);
    case CopyElement::kF16:
      return find_half<F16>(reduction);
    case CopyElement::kBf16:
      return find_half<Bf16>(reduction);
    case CopyElement::kF32:
      return reduction == Reduction::kAdd ? combine<std::uint32_t, add_f32> : nullptr;
    case CopyElement::kF64:
      return reduction == Reduction::kAdd ? combine<std::uint64_t, add_f64> : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace tessera::vgpu
