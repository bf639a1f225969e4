// Arithmetic rounded towards zero, down or up: the functions of float.h in another rounding mode of
// the host. This file is compiled with -frounding-math, and the lanes run in a separate function,
// so that no operation can be moved across a change of the mode.
#include "vgpu/exec/ops/float.h"

#include "vgpu/exec/ops/tables.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {
namespace {

constexpr u32 kRoundingBits = 3u << 13;  // the rounding control bits of the host's MXCSR

constexpr u32 host_rounding(Options options) {
  return (options & kRm ? 1u : options & kRp ? 2u : options & kRz ? 3u : 0u) << 13;
}

template <auto f>
struct Directed {
  [[gnu::noinline]] static void run_lanes(const Op* first, const Op* last, Lanes& lanes) {
    Lifted<f>::run(first, last, lanes);
  }
  template <Options options>
  static void run(const Op* first, const Op* last, Lanes& lanes) {
    const u32 before = _mm_getcsr();
    _mm_setcsr((before & ~kRoundingBits) | host_rounding(options));
    run_lanes(first, last, lanes);
    _mm_setcsr(before);
  }
};

template <auto f, Options options>
constexpr Operation directed_row(const char* name) {
  return {name, options, Directed<f>::template run<options>, Lifted<f>::kSignature};
}

template <template <Options> class F, Options more>
constexpr Rows<3> three(const char* name) {
  return {{directed_row<F<kRz | more>::eval, kRz | more>(name),
           directed_row<F<kRm | more>::eval, kRm | more>(name),
           directed_row<F<kRp | more>::eval, kRp | more>(name)}};
}
template <template <Options> class F>
constexpr auto single(const char* name) {
  return three<F, kDefault>(name) + three<F, kFtz>(name) + three<F, kSat>(name) +
         three<F, kFtz | kSat>(name);
}
template <template <Options> class F>
constexpr auto twice(const char* name) {
  return three<F, kDefault>(name);
}

constexpr auto kRows = single<Add32>("add.f32") + single<Sub32>("sub.f32") +
                       single<Mul32>("mul.f32") + single<Fma32>("fma.f32") +
                       single<Fma32>("mad.f32") + single<Div32>("div.f32") +
                       single<Rcp32>("rcp.f32") + single<Sqrt32>("sqrt.f32") +
                       twice<Add64>("add.f64") + twice<Sub64>("sub.f64") + twice<Mul64>("mul.f64") +
                       twice<Fma64>("fma.f64") + twice<Fma64>("mad.f64") + twice<Div64>("div.f64") +
                       twice<Rcp64>("rcp.f64") + twice<Sqrt64>("sqrt.f64");

}  // namespace

const OperationTable kDirectedTable = table(kRows);

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
