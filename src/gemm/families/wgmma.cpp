// The kernels on Hopper's tensor cores: a persistent grid of tiles, all operands by tensor copies.
// The launches of a plan:
//
//   repack      operands that tensor copies, or wgmma, do not take as they are
//   multiply    every tile of D or, where k is split, of a matrix of partial sums for each part of
//   k reduce      after it, where k is split: adds the partial sums
#include <algorithm>

#include "gemm/wgmma_launches.h"

namespace tessera::gemm {
namespace {

using wgmma::Config;

constexpr std::int64_t kMostTiles = std::int64_t{1} << 30;

std::int64_t pieces(std::int64_t extent, std::int64_t size) { return (extent + size - 1) / size; }
std::int64_t aligned(std::int64_t bytes) {
  return pieces(bytes, kWorkspaceAlignment) * kWorkspaceAlignment;
}

bool can_be_copied(const Request& request) {
  const int bytes = size_of(request.problem.types.d);
  return request.d_alignment % 16 == 0 && request.product.params.d_row * bytes % 16 == 0;
}

// The offers of one kernel for one request.
class Offers {
 public:
  Offers(const Kernel& kernel, const Request& request) : kernel_(kernel), request_(request) {}

  Status add(std::string_view variant, std::vector<Offer>& offers) {
    Status refused;
    const std::size_t before = offers.size();
    for (const Variant& one : variants_with_rates(kernel_)) {
      if (!variant.empty() && one.name() != variant) continue;
      if (Status status = add_one(one, offers); !status.ok()) refused = std::move(status);
    }
    return offers.size() > before ? Status{} : refused;
  }

 private:
  const GemmParams& params() const { return request_.product.params; }

  // TF32 has one row a variant, both operands along k; all others have a row for each layout.
  const KernelRow& row_of(const Variant& variant) const {
    return variant.rows.size() == 1 ? variant.rows.front() : row_of_majors(variant, request_);
  }

  Status too_large() const {
    return Status::unsupported("m is " + std::to_string(request_.problem.m) + ", n is " +
                               std::to_string(request_.problem.n) + " and k is " +
                               std::to_string(request_.problem.k) + ", but " + kernel_.name +
                               " counts at most 2^30 tiles, and 2^30 elements along each side");
  }

  Status add_one(const Variant& variant, std::vector<Offer>& offers) {
    const KernelRow& row = row_of(variant);
    const Config& config = wgmma_config(row);
    const GemmParams& p = params();
    const bool is_partial = size_of(kernel_.types.d) != epilogue::bytes_of(config.out);
    if (p.beta != 0 && !config.reads_c) {
      return Status::unsupported("beta is not 0, but variant " + row.variant + " of " +
                                 kernel_.name + " does not read C");
    }
    if (std::max({p.m, p.n, p.k}) > kMostTiles ||
        pieces(p.m, config.block.m) * pieces(p.n, config.block.n) > kMostTiles) {
      return too_large();
    }
    if (is_partial && !request_.options.kernel && request_.options.split == Policy::kNever) {
      return Status::unsupported("k must not be split, but variant " + row.variant + " of " +
                                 kernel_.name + " always splits it");
    }
    const WgmmaDecision decision = decided(row, is_partial);
    if (request_.options.repack == Policy::kNever && (decision.repack_a || decision.repack_b)) {
      return Status::unsupported("operands must not be repacked, but " + kernel_.name +
                                 " loads them by tensor copies: bases and rows at multiples of 16 "
                                 "bytes");
    }
    push(row, variant.tflops, decision, offers);
    return {};
  }

  void push(const KernelRow& row, double tflops, const WgmmaDecision& decision,
            std::vector<Offer>& offers) {
    const bool empty = request_.is_empty();
    const TensorCoreWork work{.block = row.block,
                              .rate = tflops,
                              .hides_store = wgmma_config(row).mode == wgmma::Consumers::kPingPong,
                              .copies_d = decision.is_split || can_be_copied(request_),
                              .tiles = decision.tiles() * wgmma_config(row).ctas() * decision.parts,
                              .k_tiles = decision.k_tiles,
                              .parts = decision.is_split ? decision.parts : 0,
                              .repacked_bytes = decision.bytes - decision.a,
                              .types = &kernel_.types};
    offers.push_back(
        {&kernel_, &row, empty ? Cost{} : cost_of_tensor_cores(work, params(), request_.limits),
         empty ? 0 : decision.bytes, 1, std::make_shared<const WgmmaDecision>(decision)});
  }

  WgmmaDecision decided(const KernelRow& row, bool is_partial) const {
    const Config& config = wgmma_config(row);
    const GemmParams& p = params();
    WgmmaDecision d;
    d.tiles_m = pieces(p.m, std::int64_t{config.block.m} * config.cluster.m);
    d.tiles_n = pieces(p.n, std::int64_t{config.block.n} * config.cluster.n);
    d.part_rows = d.tiles_m * config.cluster.m * config.block.m;
    d.partial_ld = d.tiles_n * config.cluster.n * config.block.n;
    const std::int64_t k_tiles = pieces(p.k, config.block.k);
    const std::int64_t parts = config.out == epilogue::Out::kF32 ? parts_of(row, d, k_tiles) : 1;
    d.k_tiles = pieces(k_tiles, std::max(parts, std::int64_t{1}));
    d.parts = d.k_tiles == 0 ? 0 : pieces(k_tiles, d.k_tiles);
    d.is_split = is_partial || d.parts > 1;
    if (!d.is_split) d.parts = 1;
    place(config, d);
    return d;
  }

  // Where in the workspace what lies.
  void place(const Config& config, WgmmaDecision& d) const {
    const int bytes = size_of(kernel_.types.a);
    const auto size = [&](const LoadedOperand& operand) {
      const OperandRows rows = repacked_rows(operand, bytes);
      return operand.must_repack ? aligned(rows.stride * rows.rows * bytes) : 0;
    };
    const LoadedOperand a = operand_of(config, request_, true),
                        b = operand_of(config, request_, false);
    d.repack_a = a.must_repack, d.repack_b = b.must_repack;
    d.a = d.is_split ? aligned(d.parts * d.part_rows * d.partial_ld * sizeof(float)) : 0;
    d.b = d.a + size(a);
    d.bytes = d.b + size(b);
  }

  // In how many parts k is split: so many that all SMs have work, none so short that filling the
  // ring and adding partial sums costs more than it brings.
  std::int64_t parts_of(const KernelRow& row, const WgmmaDecision& d, std::int64_t k_tiles) const {
    const Policy policy = request_.options.split;
    if (policy == Policy::kNever || k_tiles < 2) return 1;
    const std::int64_t tiles = std::max(d.tiles(), std::int64_t{1});
    const std::int64_t ctas = request_.limits.sms / wgmma_config(row).ctas();
    const std::int64_t fills = std::max(ctas / tiles, std::int64_t{1});
    const std::int64_t most_rows = kMostTiles / std::max(d.part_rows, std::int64_t{1});
    const std::int64_t longest = policy == Policy::kAlways ? 1 : kLeastKTilesOfAPart;
    const std::int64_t parts = std::min({fills, k_tiles / longest, most_rows});
    if (policy == Policy::kAlways) return std::max(parts, std::int64_t{2});
    return std::max(parts, std::int64_t{1});
  }

  const Kernel& kernel_;
  const Request& request_;
};

class Wgmma final : public Family {
 public:
  Status offer(const Kernel& kernel, std::string_view variant, const Request& request,
               std::vector<Offer>& offers) const override {
    return Offers(kernel, request).add(variant, offers);
  }
  std::vector<PlannedLaunch> launches(const Offer& offer, const Request& request) const override {
    return wgmma_launches(offer, request);
  }
};

}  // namespace

const Family& wgmma_family() {
  static const Wgmma family;
  return family;
}

}  // namespace tessera::gemm
