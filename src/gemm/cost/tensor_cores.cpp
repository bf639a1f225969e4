#include <algorithm>
#include <cmath>

#include "gemm/cost/cost.h"

namespace tessera::gemm {
namespace {

// The parts of the cost of a product, in microseconds.
class TensorCorePrice {
 public:
  TensorCorePrice(const TensorCoreWork& work, const GemmParams& p, const DeviceLimits& limits)
      : work_(work),
        p_(p),
        costs_(limits.costs->coefficients.wgmma),
        memory_bytes_(limits.costs->coefficients.memory_bytes),
        l2_(limits.costs->gpu->l2_kib * 1024.0),
        sms_(limits.sms),
        ctas_(static_cast<double>(limits.sms) * work.per_sm),
        waves_(std::ceil(tiles() / ctas_)),
        multiply_(multiply()) {}

  double multiplying() const { return multiply_; }

  // The microseconds of device memory for operands and D, and for operands that waves read again
  // because L2 does not hold them.
  double memory() const {
    const double bytes = operands() + read_again() + costs_.write * outputs() * d_requests();
    const double flight = active() / sms_ * std::min<double>(work_.stages, k_tiles()) *
                          (least_side(work_.block.m, p_.m) + least_side(work_.block.n, p_.n)) *
                          work_.block.k * bytes_of_operand();
    const double missing = costs_.flight_bytes / std::max(flight, 1.0);
    return bytes / memory_bytes_ * std::sqrt(1 + missing * missing) *
           (work_.per_sm > 1 ? costs_.short_ring_memory : 1);
  }

  // The microseconds that the fetches of tensor maps add to a batch of listed matrices.
  double fetching_maps() const {
    return work_.is_listed ? std::ceil(tiles() / sms_) * costs_.listed_tile : 0;
  }

  double beside() const {
    const double shorter = std::min(multiply_, memory());
    return costs_.overlap * shorter / work_.per_sm +
           (work_.per_sm > 1 ? costs_.short_ring * operands() / memory_bytes_ : 0);
  }

  double storing() const {
    const double outputs = static_cast<double>(work_.block.m) * work_.block.n;
    if (!work_.copies_d) {
      const double rows = work_.hides_store ? costs_.rows_store_beside : costs_.rows_store;
      return waves_ * outputs / (128 * 128) * (rows + (adds_c() ? costs_.rows_store_c : 0));
    }
    const double tile_bytes = outputs * size_of(work_.types->d);
    const double least = (costs_.tile + costs_.tile_store * tile_bytes / 2048) *
                         (work_.hides_store ? costs_.tile_of_pair : 1) *
                         (work_.per_sm > 1 ? costs_.short_ring_tile : 1);
    const double waits =
        work_.per_sm > 1 && work_.products > 1 ? waves_ * costs_.short_ring_wait : 0;
    const double shown = work_.hides_store
                             ? costs_.store + waves_ * costs_.pair_store_more * tile_bytes / 16384
                             : waves_ * (costs_.store + costs_.store_more * tile_bytes / 16384);
    return std::max(shown, waves_ * least - multiply_) + waits;
  }

  double adding_c() const {
    if (!adds_c()) return 0;
    if (matrices_of_outputs(p_) == 1) return waves_ * costs_.c_wait;
    const double bytes = static_cast<double>(p_.m) * static_cast<double>(p_.n) * products() *
                         size_of(work_.types->d);
    return waves_ * costs_.c_wait +
           bytes /
               (work_.hides_store && bytes > l2_ ? costs_.large_c_of_pair_bytes : costs_.c_bytes);
  }

  double adding_parts() const {
    const double partial = static_cast<double>(p_.m) * static_cast<double>(p_.n) *
                           static_cast<double>(work_.parts) * sizeof(float);
    return work_.parts > 0 ? costs_.add + partial / costs_.reduced_bytes : 0;
  }

 private:
  double tiles() const { return static_cast<double>(work_.tiles); }
  double products() const { return static_cast<double>(work_.products); }
  double k_tiles() const { return static_cast<double>(work_.k_tiles); }
  double active() const { return std::min(tiles(), ctas_); }
  int bytes_of_operand() const { return size_of(work_.types->a); }
  bool adds_c() const { return p_.beta != 0 && work_.parts == 0; }
  static double least_side(int block, long long extent) {
    return static_cast<double>(std::min<long long>(block, extent));
  }

  double operands() const {
    return (static_cast<double>(p_.m) + static_cast<double>(p_.n)) * static_cast<double>(p_.k) *
           bytes_of_operand() * products();
  }
  double outputs() const {
    return static_cast<double>(p_.m) * static_cast<double>(p_.n) * size_of(work_.types->d) *
           matrices_of_outputs(p_) * products();
  }
  double d_requests() const {
    return work_.copies_d && work_.d_row_bytes == 16 ? costs_.d_rows_of_16 : 1;
  }

  // Bytes that waves read again from device memory. The tiles of a wave form about a square of D,
  // of at most kRows rows of tiles, and read the rows of A and columns of B of this square. Each
  // part of k reads different parts of A and B.
  double read_again() const {
    constexpr double kRows = 8;
    const double parts = static_cast<double>(std::max<std::int64_t>(1, work_.parts));
    const double rows = std::min(kRows, static_cast<double>(work_.tiles_m));
    const double columns = std::ceil(std::max(1.0, active() / parts) / rows);
    const double of_wave = (rows * work_.block.m + columns * work_.block.n) *
                           static_cast<double>(p_.k) * bytes_of_operand();
    const double more = std::max(0.0, std::max(tiles() / ctas_, 1.0) * of_wave - operands());
    const double held = costs_.l2_held / std::max(operands(), 1.0);
    return work_.products > 1 ? 0 : costs_.read_again * more / (1 + held * held * held);
  }

  // Bytes of an operand's part of a k tile, weighted by the requests that they need. Sharers save
  // requests of short rows alone: at others they gain nothing (results/variants/h200_pairs.json).
  double requested(const CopiedOperand& operand, int rows, double across) const {
    const double by_rows = operand.row_bytes <= 16   ? costs_.rows_of_16
                           : operand.row_bytes == 32 ? costs_.rows_of_32
                           : operand.row_bytes == 64 ? costs_.rows_of_64
                                                     : 1;
    return static_cast<double>(rows) * work_.block.k * bytes_of_operand() *
           std::max(by_rows / operand.sharers, 1.0) * (operand.is_along_k ? 1 : across);
  }

  // TRIED: the copy engine's time for rows of which k leaves less than 128 bytes (an H200 takes
  // about 27 cycles for 48 bytes, 13 for 64; results/tensor/h200_short_rows.txt) as a bound of
  // multiply(). The mean error fell a little, the regret of held-out cells did not.
  //
  // The microseconds of one k tile of all CTAs of an SM: the longest of the times of
  // tensor cores, L2, the SM's loads and the ring's latency, and a little more if two of
  // them take about the same time.
  double k_tile() const {
    const double rate = (work_.rate > 0 ? work_.rate : costs_.unknown_rate) *
                        (!work_.a.is_from_registers  ? 1
                         : work_.is_of_one_warpgroup ? costs_.registers_alone
                                                     : costs_.registers);  // TFLOP/s
    const double products =
        2.0 * work_.block.m * work_.block.n * work_.block.k / (rate * 1e6 / ctas_);
    const double bytes = requested(work_.a, work_.block.m, costs_.a_across_k) +
                         requested(work_.b, work_.block.n, costs_.b_across_k);
    const double of_sm = std::min<double>(work_.per_sm, std::ceil(tiles() / sms_));
    double sum = 1;
    for (const double other : {bytes * active() / costs_.l2_bytes, bytes * of_sm / costs_.sm_bytes,
                               costs_.k_tile + costs_.latency / work_.stages}) {
      const double share = other / products;
      sum += share * share * share * share;
    }
    return products * std::sqrt(std::sqrt(sum));
  }

  double multiply() const {
    const double whole = std::floor(tiles() / ctas_), rest = tiles() / ctas_ - whole;
    const double last = rest > 0 ? costs_.last_wave + (1 - costs_.last_wave) * rest : 0;
    const double waves = whole > 0 ? whole + last : 1;
    const double cool = waves * k_tiles() * k_tile();
    return cool * (1 + costs_.heat * cool / (cool + costs_.heat_time));
  }

  const TensorCoreWork& work_;
  const GemmParams& p_;
  const TensorCoreCosts& costs_;
  double memory_bytes_, l2_, sms_, ctas_;
  double waves_, multiply_;
};

double repacking_of_tensor_cores(const TensorCoreWork& work, const DeviceLimits& limits) {
  const TensorCoreCosts& costs = limits.costs->coefficients.wgmma;
  const double bytes = static_cast<double>(work.repacked_bytes);
  const bool many = work.hides_store && bytes > costs.many_repacked_bytes &&
                    size_of(work.types->a) == sizeof(float);
  return cost_of_repacking(work.repacked_bytes, limits) +
         (many ? bytes / costs.of_many_repacked : 0);
}

}  // namespace

Cost cost_of_tensor_cores(const TensorCoreWork& work, const GemmParams& p,
                          const DeviceLimits& limits) {
  const TensorCoreCosts& costs = limits.costs->coefficients.wgmma;
  const TensorCorePrice price(work, p, limits);
  return {.launch = costs.launch,
          .repack = repacking_of_tensor_cores(work, limits),
          .start = costs.start + price.beside() + price.fetching_maps(),
          .multiply = price.multiplying(),
          .store = price.storing() + price.adding_c(),
          .memory = price.memory(),
          .add = price.adding_parts()};
}

}  // namespace tessera::gemm
