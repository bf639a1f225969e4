// The table of comparisons (setp, set, testp) and of selections (selp, slct).
#include "vgpu/exec/ops/float.h"
#include "vgpu/exec/ops/tables.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {
namespace {

enum class Compare { kEq, kNe, kLt, kLe, kGt, kGe };

template <Compare c, class T>
bool compare(T a, T b) {
  switch (c) {
    case Compare::kEq:
      return a == b;
    case Compare::kNe:
      return a != b;
    case Compare::kLt:
      return a < b;
    case Compare::kLe:
      return a <= b;
    case Compare::kGt:
      return a > b;
    case Compare::kGe:
      return a >= b;
  }
  return false;
}

// Ordered comparisons, including !=, are false if an operand is NaN. Unordered ones are true.
template <Compare c, class T>
bool ordered(T a, T b) {
  return compare<c, T>(a, b) && a == a && b == b;
}
template <Compare c, class T>
bool unordered(T a, T b) {
  return compare<c, T>(a, b) || a != a || b != b;
}
template <Compare c>
bool ordered_ftz(float a, float b) {
  return ordered<c, float>(flushed(a), flushed(b));
}
template <Compare c>
bool unordered_ftz(float a, float b) {
  return unordered<c, float>(flushed(a), flushed(b));
}
template <class T>
bool both_numbers(T a, T b) {
  return a == a && b == b;
}
template <class T>
bool any_nan(T a, T b) {
  return a != a || b != b;
}

template <Compare c>
constexpr Rows<9> integers(const char* const (&names)[9]) {
  return {{row<compare<c, u16>>(names[0]), row<compare<c, s16>>(names[1]),
           row<compare<c, u16>>(names[2]), row<compare<c, u32>>(names[3]),
           row<compare<c, s32>>(names[4]), row<compare<c, u32>>(names[5]),
           row<compare<c, u64>>(names[6]), row<compare<c, s64>>(names[7]),
           row<compare<c, u64>>(names[8])}};
}

constexpr auto kIntegers = integers<Compare::kEq>({"setp.eq.u16", "setp.eq.s16", "setp.eq.b16",
                                                   "setp.eq.u32", "setp.eq.s32", "setp.eq.b32",
                                                   "setp.eq.u64", "setp.eq.s64", "setp.eq.b64"}) +
                           integers<Compare::kNe>({"setp.ne.u16", "setp.ne.s16", "setp.ne.b16",
                                                   "setp.ne.u32", "setp.ne.s32", "setp.ne.b32",
                                                   "setp.ne.u64", "setp.ne.s64", "setp.ne.b64"}) +
                           integers<Compare::kLt>({"setp.lt.u16", "setp.lt.s16", "setp.lo.u16",
                                                   "setp.lt.u32", "setp.lt.s32", "setp.lo.u32",
                                                   "setp.lt.u64", "setp.lt.s64", "setp.lo.u64"}) +
                           integers<Compare::kLe>({"setp.le.u16", "setp.le.s16", "setp.ls.u16",
                                                   "setp.le.u32", "setp.le.s32", "setp.ls.u32",
                                                   "setp.le.u64", "setp.le.s64", "setp.ls.u64"}) +
                           integers<Compare::kGt>({"setp.gt.u16", "setp.gt.s16", "setp.hi.u16",
                                                   "setp.gt.u32", "setp.gt.s32", "setp.hi.u32",
                                                   "setp.gt.u64", "setp.gt.s64", "setp.hi.u64"}) +
                           integers<Compare::kGe>({"setp.ge.u16", "setp.ge.s16", "setp.hs.u16",
                                                   "setp.ge.u32", "setp.ge.s32", "setp.hs.u32",
                                                   "setp.ge.u64", "setp.ge.s64", "setp.hs.u64"});

template <Compare c>
constexpr Rows<6> floats(const char* f32, const char* f32u, const char* f64, const char* f64u) {
  return {{row<ordered<c, float>>(f32), row<ordered_ftz<c>>(f32, kFtz),
           row<unordered<c, float>>(f32u), row<unordered_ftz<c>>(f32u, kFtz),
           row<ordered<c, double>>(f64), row<unordered<c, double>>(f64u)}};
}

constexpr auto kFloats =
    floats<Compare::kEq>("setp.eq.f32", "setp.equ.f32", "setp.eq.f64", "setp.equ.f64") +
    floats<Compare::kNe>("setp.ne.f32", "setp.neu.f32", "setp.ne.f64", "setp.neu.f64") +
    floats<Compare::kLt>("setp.lt.f32", "setp.ltu.f32", "setp.lt.f64", "setp.ltu.f64") +
    floats<Compare::kLe>("setp.le.f32", "setp.leu.f32", "setp.le.f64", "setp.leu.f64") +
    floats<Compare::kGt>("setp.gt.f32", "setp.gtu.f32", "setp.gt.f64", "setp.gtu.f64") +
    floats<Compare::kGe>("setp.ge.f32", "setp.geu.f32", "setp.ge.f64", "setp.geu.f64");

constexpr Rows<6> kNans = {{
    row<both_numbers<float>>("setp.num.f32"),
    row<both_numbers<float>>("setp.num.f32", kFtz),
    row<any_nan<float>>("setp.nan.f32"),
    row<any_nan<float>>("setp.nan.f32", kFtz),
    row<both_numbers<double>>("setp.num.f64"),
    row<any_nan<double>>("setp.nan.f64"),
}};

// ---- testp ------------------------------------------------------------------------------------

template <class T>
bool is_infinite(T a) {
  return a == a && a - a != a - a;
}
template <class T>
bool is_number(T a) {
  return a == a;
}
template <class T>
bool is_nan(T a) {
  return a != a;
}
template <class T>
bool is_finite(T a) {
  return is_number(a) && !is_infinite(a);
}
template <class T>
T magnitude(T a) {
  return a < 0 ? -a : a;
}
constexpr float smallest_normal(float) { return 0x1p-126f; }
constexpr double smallest_normal(double) { return 0x1p-1022; }
template <class T>
bool is_subnormal(T a) {
  return a != 0 && magnitude(a) < smallest_normal(T());
}
// HW: measured on an H200: zero counts as normal, as the manual says (PTX ISA, testp).
template <class T>
bool is_normal(T a) {
  return is_finite(a) && !is_subnormal(a);
}

constexpr Rows<12> kTests = {{
    row<is_finite<float>>("testp.finite.f32"),
    row<is_infinite<float>>("testp.infinite.f32"),
    row<is_number<float>>("testp.number.f32"),
    row<is_nan<float>>("testp.notanumber.f32"),
    row<is_normal<float>>("testp.normal.f32"),
    row<is_subnormal<float>>("testp.subnormal.f32"),
    row<is_finite<double>>("testp.finite.f64"),
    row<is_infinite<double>>("testp.infinite.f64"),
    row<is_number<double>>("testp.number.f64"),
    row<is_nan<double>>("testp.notanumber.f64"),
    row<is_normal<double>>("testp.normal.f64"),
    row<is_subnormal<double>>("testp.subnormal.f64"),
}};

// ---- picking ----------------------------------------------------------------------------------

template <class T>
T selp(T a, T b, bool c) {
  return c ? a : b;
}
template <class T>
T slct_s32(T a, T b, s32 c) {
  return c >= 0 ? a : b;
}
template <class T>
T slct_f32(T a, T b, float c) {
  return c >= 0 ? a : b;
}
// The results of set: all ones or 0 for an integer type, 1.0 or 0.0 for a float.
u32 ones32(bool p) { return p ? 0xffffffffu : 0; }
float one_f32(bool p) { return p ? 1.0f : 0.0f; }
bool selp_pred(bool a, bool b, bool c) { return c ? a : b; }

constexpr Rows<30> kPicks = {{
    row<selp<u16>>("selp.b16"),
    row<selp<u16>>("selp.u16"),
    row<selp<u16>>("selp.s16"),
    row<selp<u32>>("selp.b32"),
    row<selp<u32>>("selp.u32"),
    row<selp<u32>>("selp.s32"),
    row<selp<u64>>("selp.b64"),
    row<selp<u64>>("selp.u64"),
    row<selp<u64>>("selp.s64"),
    row<selp<float>>("selp.f32"),
    row<selp<double>>("selp.f64"),
    row<selp_pred>("selp.pred"),
    row<slct_s32<u16>>("slct.b16.s32"),
    row<slct_s32<u32>>("slct.b32.s32"),
    row<slct_s32<u32>>("slct.u32.s32"),
    row<slct_s32<u32>>("slct.s32.s32"),
    row<slct_s32<u64>>("slct.b64.s32"),
    row<slct_s32<u64>>("slct.u64.s32"),
    row<slct_s32<u64>>("slct.s64.s32"),
    row<slct_s32<float>>("slct.f32.s32"),
    row<slct_s32<double>>("slct.f64.s32"),
    row<slct_f32<u32>>("slct.b32.f32"),
    row<slct_f32<u32>>("slct.u32.f32"),
    row<slct_f32<u32>>("slct.s32.f32"),
    row<slct_f32<u64>>("slct.b64.f32"),
    row<slct_f32<float>>("slct.f32.f32"),
    row<slct_f32<float>>("slct.f32.f32", kFtz),
    row<slct_f32<double>>("slct.f64.f32"),
    row<ones32>("set.b32"),
    row<one_f32>("set.f32"),
}};

constexpr auto kRows = kIntegers + kFloats + kNans + kTests + kPicks;

}  // namespace

const OperationTable kCompareTable = table(kRows);

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
