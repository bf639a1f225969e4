#include "gemm/select.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "catalog/persistent.h"
#include "gemm/tuning/rates.h"

namespace tessera::gemm {
namespace {

constexpr int kThreadsPerMultiprocessor = 2048;  // HW: Volta, Ampere (A100), Hopper
constexpr int kResidentLarge = 2;  // blocks a multiprocessor of the register-tiled kernels

// Blocks of this row that run at the same time on one multiprocessor.
int resident_blocks(const KernelRow& row) {
  const int outputs_a_thread = row.block.m * row.block.n / (row.threads * row.threads_y);
  const int by_threads = kThreadsPerMultiprocessor / (row.threads * row.threads_y);
  return outputs_a_thread >= 16 ? std::min(kResidentLarge, by_threads) : std::min(32, by_threads);
}

}  // namespace

double predicted_milliseconds(const KernelRow& row, double full_tflops, const Problem& problem,
                              int multiprocessors) {
  if (row.resident > 0) {
    const PlanContext context{.multiprocessors = multiprocessors};
    return catalog::predicted_milliseconds(row, problem, context, full_tflops);
  }
  const GemmParams p = canonical_params(problem, {});
  const double tiles = std::ceil(static_cast<double>(p.m) / row.block.m) *
                       std::ceil(static_cast<double>(p.n) / row.block.n);
  const double slots = static_cast<double>(multiprocessors) * resident_blocks(row);
  // A wave takes as long as its tiles take when all slots are full, whoever is idle in it.
  const double flop_a_wave = 2.0 * row.block.m * row.block.n * static_cast<double>(p.k) * slots;
  return std::ceil(tiles / slots) * flop_a_wave / full_tflops * 1e-9;
}

KernelChoice best_kernel(const Problem& problem, int multiprocessors) {
  std::optional<KernelChoice> best;
  double best_time = std::numeric_limits<double>::infinity();
  for (const tuning::Rate& rate : tuning::kH200) {
    const Kernel& kernel = *choose_kernels(rate.kernel).front().kernel;
    if (kernel.type != problem.type) continue;
    const PlanContext context{.multiprocessors = multiprocessors};
    const KernelRow& row = row_for(kernel, rate.variant, problem, {}, context);
    if (!supports(kernel, row, problem).ok()) continue;
    const double time = predicted_milliseconds(row, rate.tflops, problem, multiprocessors);
    if (time < best_time || !best) {
      best = KernelChoice{&kernel, std::string(rate.variant)};
      best_time = time;
    }
  }
  if (!best) {
    throw StatusError(Status::unsupported("no kernel takes m = " + std::to_string(problem.m) +
                                          ", n = " + std::to_string(problem.n) + " in " +
                                          std::string(name_of(problem.type))));
  }
  return *best;
}

}  // namespace tessera::gemm
