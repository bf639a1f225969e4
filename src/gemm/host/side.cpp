#include "gemm/host/side.h"

#include <algorithm>

namespace tessera::gemm::host {
namespace {

double bytes_of(double rows, double cols, ElementType type) { return rows * cols * size_of(type); }

// Of one product: what is read, and D.
double bytes_of(const Problem& p) {
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n),
             k = static_cast<double>(p.alpha != 0 ? p.k : 0);
  return bytes_of(m, k, p.types.a) + bytes_of(k, n, p.types.b) + bytes_of(m, n, p.types.d) +
         (p.beta != 0 ? bytes_of(m, n, p.types.c) : 0);
}

double flop_of(const Problem& p) {
  return 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) *
         static_cast<double>(p.alpha != 0 ? p.k : 0);
}

// HW: OpenBLAS 0.3 on Xeons of 2.0 to 2.7 GHz with AVX-512. FLOP per microsecond and core.
constexpr double kCpuRate32 = 60e3, kCpuRate64 = 30e3, kCpuRateConverted = 3e3;
constexpr double kCpuCall = 0.3, kCpuThreads = 8;  // microseconds; to start and end threads
constexpr double kOneThread = 2.0 * 64 * 64 * 64;  // FLOP that OpenBLAS gives to one thread
constexpr double kCpuBytes = 15e3;                 // bytes per microsecond

double cpu_us(const Problem& p, int threads) {
  const double flop = flop_of(p);
  const ElementType sum = facts_of(p.types.compute).sum;
  const bool is_converted =
      p.types.a != sum || p.types.b != sum || p.types.d != sum || !p.epilogue.is_identity();
  double rate = is_converted ? kCpuRateConverted : size_of(sum) == 8 ? kCpuRate64 : kCpuRate32;
  double us = kCpuCall;
  if (!is_converted && flop > kOneThread && threads > 1) {
    rate *= threads;
    us += kCpuThreads;
  }
  us += std::max(flop / rate, bytes_of(p) / kCpuBytes);
  return us * static_cast<double>(p.batch.count);
}

// HW: an H100 behind PCIe 5 x16. Copies, launch and waits of a call; bytes per microsecond through
// pinned buffers, of small and of large copies.
constexpr double kGpuCall = 30, kBus = 12e3, kGpuRate = 20e6;

double gpu_us(const Problem& p, const DeviceLimits&) {
  const auto products = static_cast<double>(p.batch.count);
  return kGpuCall + products * (bytes_of(p) / kBus + flop_of(p) / kGpuRate);
}

}  // namespace

Sides predicted_sides(const Problem& problem, const DeviceLimits& gpu, int threads) {
  return {cpu_us(problem, threads), gpu_us(problem, gpu)};
}

}  // namespace tessera::gemm::host
