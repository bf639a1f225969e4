// The table of arithmetic on FP16, BF16 and pairs of them.
#include "vgpu/program/small_float.h"

#include "vgpu/exec/ops/lift.h"
#include "vgpu/exec/ops/names.h"
#include "vgpu/exec/ops/tables.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {
namespace {

// .sat clamps to [0, 1], and NaN becomes +0. .relu turns negative numbers into +0 and keeps NaN.
template <class H, Options o>
u16 finished(double x) {
  const u16 r = H::narrow(x);
  if (H::is_nan(r)) return o & kSat ? 0 : H::kNan;
  if (o & (kSat | kRelu) && r & 0x8000) return 0;
  if (o & kSat && r > H::kOne) return H::kOne;
  return r;
}

template <class H, Options o>
u16 fma(u16 a, u16 b, u16 c) {
  return finished<H, o>(fused_odd(H::widen(a), H::widen(b), H::widen(c)));
}
template <class H, Options o>
u16 add(u16 a, u16 b) {
  return finished<H, o>(fused_odd(H::widen(a), 1.0, H::widen(b)));
}
template <class H, Options o>
u16 sub(u16 a, u16 b) {
  return finished<H, o>(fused_odd(H::widen(a), 1.0, -H::widen(b)));
}
template <class H, Options o>
u16 mul(u16 a, u16 b) {
  return finished<H, o>(H::widen(a) * H::widen(b));
}

// Returns integers with the order of the numbers. -0 is less than +0.
inline s32 ordered(u16 x) { return x & 0x8000 ? -s32(x & 0x7fff) - 1 : s32(x); }

template <class H, Options o>
u16 min(u16 a, u16 b) {
  if (H::is_nan(a) || H::is_nan(b)) {
    if (o & kNanOption || (H::is_nan(a) && H::is_nan(b))) return H::kNan;
    return H::is_nan(a) ? b : a;
  }
  return ordered(b) < ordered(a) ? b : a;
}
template <class H, Options o>
u16 max(u16 a, u16 b) {
  if (H::is_nan(a) || H::is_nan(b)) return min<H, o>(a, b);
  return ordered(a) < ordered(b) ? b : a;
}
template <class H, Options o>
u16 neg(u16 a) {
  return a ^ 0x8000;
}
template <class H, Options o>
u16 abs(u16 a) {
  return a & 0x7fff;
}

// ---- pairs ------------------------------------------------------------------------------------

template <auto f>
u32 pair1(u32 a) {
  return u32(f(u16(a >> 16))) << 16 | f(u16(a));
}
template <auto f>
u32 pair2(u32 a, u32 b) {
  return u32(f(u16(a >> 16), u16(b >> 16))) << 16 | f(u16(a), u16(b));
}
template <auto f>
u32 pair3(u32 a, u32 b, u32 c) {
  return u32(f(u16(a >> 16), u16(b >> 16), u16(c >> 16))) << 16 | f(u16(a), u16(b), u16(c));
}

template <class H, Options o>
constexpr Rows<8> arithmetic(const char* const (&names)[8]) {
  return {{row<add<H, o>>(names[0], o), row<sub<H, o>>(names[1], o), row<mul<H, o>>(names[2], o),
           row<fma<H, o>>(names[3], o), row<pair2<add<H, o>>>(names[4], o),
           row<pair2<sub<H, o>>>(names[5], o), row<pair2<mul<H, o>>>(names[6], o),
           row<pair3<fma<H, o>>>(names[7], o)}};
}
template <class H, Options o>
constexpr Rows<4> extremes(const char* const (&names)[4]) {
  return {{row<min<H, o>>(names[0], o), row<max<H, o>>(names[1], o),
           row<pair2<min<H, o>>>(names[2], o), row<pair2<max<H, o>>>(names[3], o)}};
}
template <class H>
constexpr Rows<4> signs(const char* const (&names)[4]) {
  return {{row<neg<H, kDefault>>(names[0]), row<abs<H, kDefault>>(names[1]),
           row<pair1<neg<H, kDefault>>>(names[2]), row<pair1<abs<H, kDefault>>>(names[3])}};
}
template <class H>
constexpr auto all(const char* const (&sums)[8], const char* const (&orders)[4],
                   const char* const (&units)[4]) {
  return arithmetic<H, kDefault>(sums) + arithmetic<H, kSat>(sums) + arithmetic<H, kRelu>(sums) +
         extremes<H, kDefault>(orders) + extremes<H, kNanOption>(orders) + signs<H>(units);
}

// ---- comparison -------------------------------------------------------------------------------

enum class Order { kLess, kEqual, kGreater, kUnordered };

template <class H>
Order order(u16 a, u16 b) {
  const double x = H::widen(a), y = H::widen(b);
  return x < y    ? Order::kLess
         : x == y ? Order::kEqual
         : x > y  ? Order::kGreater
                  : Order::kUnordered;
}
template <class H, bool less, bool equal, bool greater, bool unordered>
bool compare(u16 a, u16 b) {
  switch (order<H>(a, b)) {
    case Order::kLess:
      return less;
    case Order::kEqual:
      return equal;
    case Order::kGreater:
      return greater;
    case Order::kUnordered:
      return unordered;
  }
  return false;
}

// set returns 1.0 or 0 in the format of the half.
template <class H, bool less, bool equal, bool greater, bool unordered>
u16 one_if(u16 a, u16 b) {
  return compare<H, less, equal, greater, unordered>(a, b) ? H::kOne : 0;
}
template <class H, Piece type, bool less, bool equal, bool greater, bool unordered, Piece name>
constexpr Rows<2> set() {
  constexpr auto kOne = one_if<H, less, equal, greater, unordered>;
  return {{row<kOne>(join<"set.", name, ".", type, ".", type>()),
           row<pair2<kOne>>(join<"set.", name, ".", type, "x2.", type, "x2">())}};
}
template <class H, Piece type>
constexpr auto sets() {
  return set<H, type, false, true, false, false, "eq">() +
         set<H, type, true, false, true, false, "ne">() +
         set<H, type, true, false, false, false, "lt">() +
         set<H, type, true, true, false, false, "le">() +
         set<H, type, false, false, true, false, "gt">() +
         set<H, type, false, true, true, false, "ge">() +
         set<H, type, false, true, false, true, "equ">() +
         set<H, type, true, false, true, true, "neu">() +
         set<H, type, true, false, false, true, "ltu">() +
         set<H, type, true, true, false, true, "leu">() +
         set<H, type, false, false, true, true, "gtu">() +
         set<H, type, false, true, true, true, "geu">() +
         set<H, type, true, true, true, false, "num">() +
         set<H, type, false, false, false, true, "nan">();
}

template <class H>
constexpr Rows<14> compares(const char* const (&names)[14]) {
  return {{row<compare<H, false, true, false, false>>(names[0]),
           row<compare<H, true, false, true, false>>(names[1]),
           row<compare<H, true, false, false, false>>(names[2]),
           row<compare<H, true, true, false, false>>(names[3]),
           row<compare<H, false, false, true, false>>(names[4]),
           row<compare<H, false, true, true, false>>(names[5]),
           row<compare<H, false, true, false, true>>(names[6]),
           row<compare<H, true, false, true, true>>(names[7]),
           row<compare<H, true, false, false, true>>(names[8]),
           row<compare<H, true, true, false, true>>(names[9]),
           row<compare<H, false, false, true, true>>(names[10]),
           row<compare<H, false, true, true, true>>(names[11]),
           row<compare<H, true, true, true, false>>(names[12]),
           row<compare<H, false, false, false, true>>(names[13])}};
}

template <class H>
u16 tanh(u16 a) {
  return finished<H, kDefault>(__builtin_tanh(H::widen(a)));
}
template <class H>
u32 tanh_pair(u32 a) {
  return u32(tanh<H>(u16(a >> 16))) << 16 | tanh<H>(u16(a));
}
constexpr Rows<4> kApproximate = {{
    row<tanh<F16>>("tanh.f16", kApprox),
    row<tanh<Bf16>>("tanh.bf16", kApprox),
    row<tanh_pair<F16>>("tanh.f16x2", kApprox),
    row<tanh_pair<Bf16>>("tanh.bf16x2", kApprox),
}};

constexpr auto kRows =
    all<F16>({"add.f16", "sub.f16", "mul.f16", "fma.f16", "add.f16x2", "sub.f16x2", "mul.f16x2",
              "fma.f16x2"},
             {"min.f16", "max.f16", "min.f16x2", "max.f16x2"},
             {"neg.f16", "abs.f16", "neg.f16x2", "abs.f16x2"}) +
    all<Bf16>({"add.bf16", "sub.bf16", "mul.bf16", "fma.bf16", "add.bf16x2", "sub.bf16x2",
               "mul.bf16x2", "fma.bf16x2"},
              {"min.bf16", "max.bf16", "min.bf16x2", "max.bf16x2"},
              {"neg.bf16", "abs.bf16", "neg.bf16x2", "abs.bf16x2"}) +
    compares<F16>({"setp.eq.f16", "setp.ne.f16", "setp.lt.f16", "setp.le.f16", "setp.gt.f16",
                   "setp.ge.f16", "setp.equ.f16", "setp.neu.f16", "setp.ltu.f16", "setp.leu.f16",
                   "setp.gtu.f16", "setp.geu.f16", "setp.num.f16", "setp.nan.f16"}) +
    compares<Bf16>({"setp.eq.bf16", "setp.ne.bf16", "setp.lt.bf16", "setp.le.bf16", "setp.gt.bf16",
                    "setp.ge.bf16", "setp.equ.bf16", "setp.neu.bf16", "setp.ltu.bf16",
                    "setp.leu.bf16", "setp.gtu.bf16", "setp.geu.bf16", "setp.num.bf16",
                    "setp.nan.bf16"}) +
    sets<F16, "f16">() + sets<Bf16, "bf16">() + kApproximate;

}  // namespace

const OperationTable kHalfTable = table(kRows);

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
