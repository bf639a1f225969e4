#include "gemm/host/side.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <mutex>
#include <tuple>
#include <vector>

#include "base/elements.h"
#include "gemm/host/cpu.h"

namespace tessera::gemm::host {
namespace {

double bytes_of(double rows, double cols, ElementType type) { return rows * cols * size_of(type); }

// The bytes of one product: A and B, C if it is read, and D.
double bytes_of(const Problem& p) {
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n),
             k = static_cast<double>(reads_ab(p) ? p.k : 0);
  return bytes_of(m, k, p.types.a) + bytes_of(k, n, p.types.b) + bytes_of(m, n, p.types.d) +
         (reads_c(p) ? bytes_of(m, n, p.types.c) : 0);
}

double flop_of(const Problem& p) {
  return 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) *
         static_cast<double>(reads_ab(p) ? p.k : 0);
}
double flop_of_cube(double size) { return 2 * size * size * size; }

// HW: one H100, 16 cores of a Xeon, PCIe 5 x16 (results/host_operands/). kGpuCall: microseconds for
// launches and waits of a call. kGpuBytes: bytes per microsecond through pinned buffers.
constexpr double kGpuCall = 22.5, kGpuBytes = 10.8e3;
// FLOP per microsecond of a small product on the GPU. Large products go to the GPU in any case.
constexpr double kGpuRate = 10e6;

double gpu_us(const Problem& p) {
  return kGpuCall +
         static_cast<double>(p.batch.count) * (bytes_of(p) / kGpuBytes + flop_of(p) / kGpuRate);
}

constexpr double kCpuBytes = 40e3;  // bytes per microsecond; HW: 16 cores of a Xeon
// Outputs per thread of OpenBLAS, which does not split k among threads.
constexpr double kOutputsPerThread = 64 * 64;

// Microseconds of a cube with this many FLOP: a power law between two measured cubes, proportional
// to FLOP beyond the largest one.
double us_of_cube(double flop, const CpuRates& rates) {
  constexpr auto& sizes = CpuRates::kSizes;
  if (flop <= flop_of_cube(sizes.front())) return rates.us.front();
  std::size_t above = 1;
  while (above + 1 < sizes.size() && flop > flop_of_cube(sizes[above])) ++above;
  const double x = flop / flop_of_cube(sizes[above]);
  if (x > 1) return rates.us[above] * x;
  const double steps = std::log(flop_of_cube(sizes[above]) / flop_of_cube(sizes[above - 1]));
  return rates.us[above] * std::pow(x, std::log(rates.us[above] / rates.us[above - 1]) / steps);
}

double cpu_us(const Problem& p, const CpuRates& rates) {
  const double flop = flop_of(p);
  const double of_one_thread = flop * rates.us[1] / flop_of_cube(CpuRates::kSizes[1]);
  const double outputs = static_cast<double>(p.m) * static_cast<double>(p.n);
  const double us = std::max({us_of_cube(flop, rates), bytes_of(p) / kCpuBytes,
                              of_one_thread / std::max(1.0, outputs / kOutputsPerThread)});
  return us * static_cast<double>(p.batch.count);
}

// WHY the median: the fastest call of a CPU is faster than most calls.
double microseconds_of(const Problem& problem, const Operands& at) {
  std::array<double, 5> us;
  multiply_on_cpu(problem, at);
  for (double& one : us) {
    const auto begin = std::chrono::steady_clock::now();
    multiply_on_cpu(problem, at);
    one =
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
  }
  std::nth_element(us.begin(), us.begin() + us.size() / 2, us.end());
  return us[us.size() / 2];
}

CpuRates measured_now(const Problem& like) {
  const std::int64_t largest = CpuRates::kSizes.back();
  std::vector<std::vector<std::byte>> memory;
  const auto matrix = [&](ElementType type) {
    auto& bytes = memory.emplace_back(static_cast<std::size_t>(largest * largest * size_of(type)));
    for (std::int64_t i = 0; i < largest * largest; ++i) {
      store_element(type, static_cast<double>(i % 7 - 3), bytes.data() + i * size_of(type));
    }
    return reinterpret_cast<std::uint64_t>(bytes.data());
  };
  memory.reserve(6);
  const Types& t = like.types;
  const Operands at{matrix(t.a), matrix(t.b),           matrix(t.c),
                    matrix(t.d), matrix(scale_type(t)), matrix(bias_type(t))};
  CpuRates rates;
  for (std::size_t i = 0; i < rates.us.size(); ++i) {
    const std::int64_t size = CpuRates::kSizes[i];
    Problem cube{.m = size, .n = size, .k = size, .types = t};
    cube.epilogue = like.epilogue;
    rates.us[i] = microseconds_of(with_default_ld(cube), at);
  }
  return rates;
}

}  // namespace

CpuRates measured_cpu_rates(const Problem& like) {
  using Key = std::tuple<ElementType, ElementType, ElementType, ComputeType, bool, Activation>;
  struct Known {
    Key key;
    CpuRates rates;
  };
  static std::mutex mutex;
  static auto& all = *new std::vector<Known>;
  const Types& t = like.types;
  const Epilogue& epilogue = like.epilogue;
  const Key key{t.a, t.b, t.d, t.compute, !epilogue.is_identity(), epilogue.activation};
  const std::lock_guard lock(mutex);
  for (const Known& known : all) {
    if (known.key == key) return known.rates;
  }
  return all.emplace_back(Known{key, measured_now(like)}).rates;
}

Sides predicted_sides(const Problem& problem, const CpuRates& cpu) {
  return {cpu_us(problem, cpu), gpu_us(problem)};
}

// WHY not measure: for products this small, no CPU takes as long as a call of the GPU.
constexpr double kFewFlop = 2.0 * 16 * 16 * 16, kFewBytes = 16 << 10;

Sides predicted_sides(const Problem& problem) {
  if (problem.batch.count <= 1 && flop_of(problem) <= kFewFlop && bytes_of(problem) <= kFewBytes) {
    return {1, gpu_us(problem)};
  }
  return predicted_sides(problem, measured_cpu_rates(problem));
}

}  // namespace tessera::gemm::host
