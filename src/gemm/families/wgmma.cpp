// The kernels on Hopper's tensor cores: a persistent grid of tiles, all operands by tensor copies.
// The steps of a plan:
//
//   repack      operands that tensor copies, or wgmma, do not take as they are
//   maps        of matrices at listed addresses: a tensor map for each
//   multiply    every tile of D or, if k is split, of a matrix of partial sums for each part of k
//   reduce      if k is split: adds the partial sums
#include <algorithm>
#include <numeric>
#include <optional>

#include "gemm/families/shared/wgmma_launches.h"
#include "gemm/vectors.h"
#include "kernels/types/multiplied.h"

namespace tessera::gemm {
namespace {

using wgmma::Config;

constexpr std::int64_t kMostTiles = std::int64_t{1} << 30;

bool can_be_copied(const Request& request) {
  return request.d_alignment % 16 == 0 &&
         are_whole_vectors(request.product.params.d_row, size_of(request.problem().types.d));
}

// The offers of one kernel for one request.
class WgmmaOffers {
 public:
  WgmmaOffers(const Kernel& kernel, const Request& request) : kernel_(kernel), request_(request) {}

  Status add(std::string_view variant, std::vector<Offer>& offers) {
    return offer_variants(kernel_, variant, request_, offers,
                          [&](const Variant& one) { return add_one(one, offers); });
  }

 private:
  // A config row, and the request that the row multiplies: the given request or its transpose.
  struct Form {
    const KernelRow* row;
    bool is_exchanged;
    const Request* request;
  };

  // A type that wgmma reads only along k has a row with both operands along k and, for some
  // variants, a row whose A is along m; all other types have a row for each layout.
  Form form_of(const Variant& variant) {
    const KernelRow& row = variant.rows.back();
    const auto* type = types::find_multiplied(wgmma_config(row).in);
    if (type && type->is_taken_across_k) {
      return {&row_of_majors(variant, request_), false, &request_};
    }
    if (wgmma_config(row).a_along_k()) return {&row, false, &request_};
    if (!other_) other_ = exchanged(request_);
    // WHY exchange: A may lie across k without being repacked. If both operands can stay across k,
    // the larger one becomes A.
    const bool a = stays_across_k(row, request_), b = stays_across_k(row, *other_);
    if (!a && !b) return {&variant.rows.front(), false, &request_};
    const bool larger = b && other_->product.params.m > request_.product.params.m;
    const bool exchange = request_.given ? b && request_.given->is_exchanged : !a || larger;
    if (!exchange && !a) return {&variant.rows.front(), false, &request_};
    return {&row, exchange, exchange ? &*other_ : &request_};
  }
  static bool stays_across_k(const KernelRow& row, const Request& request) {
    return request.majors.a == Major::kM &&
           !operand_of(wgmma_config(row), request, true).must_repack;
  }

  bool is_batch() const { return request_.is_batch(); }
  std::int64_t products() const { return request_.products(); }

  Status add_one(const Variant& variant, std::vector<Offer>& offers) {
    const Form form = form_of(variant);
    const KernelRow& row = *form.row;
    const Config& config = wgmma_config(row);
    const GemmParams& p = form.request->product.params;
    const bool is_partial = size_of(kernel_.types.d) != types::bytes_of(config.out);
    if (std::max({p.m, p.n, p.k}) > kMostTiles ||
        ceil_div(p.m, config.block.m) * ceil_div(p.n, config.block.n) > kMostTiles) {
      return too_many_tiles(kernel_, request_, "2^30 elements along each side");
    }
    const Decision decision = decided(form, is_partial);
    if (is_batch() &&
        (is_partial || !takes_batch(config, *form.request) ||
         products() > kMostTiles / std::max(decision.list[0].tiles, std::int64_t{1}))) {
      return no_batch(row);
    }
    if (is_partial && !request_.options.kernel && request_.options.split == Policy::kNever) {
      return Status::unsupported("k must not be split, but variant " + row.variant + " of " +
                                 kernel_.name + " always splits it");
    }
    if (request_.options.repack == Policy::kNever && decision.repack.any()) {
      return Status::unsupported("operands must not be repacked, but " + kernel_.name +
                                 " loads them by tensor copies: bases and rows at multiples of 16 "
                                 "bytes");
    }
    push(form, variant.tflops, decision, offers);
    return {};
  }

  Status no_batch(const KernelRow& row) const {
    const bool takes_lists = wgmma_config(row).takes_lists();
    return Status::unsupported(
        "batch is " + describe(request_.problem().batch) + ", but variant " + row.variant + " of " +
        kernel_.name + " loads its operands by tensor copies, and does not split k" +
        (is_listed(request_) && !takes_lists ? ", nor does it read addresses from device memory"
                                             : "") +
        (request_.product.params.k == 0 ? ", nor does it take a batch without products along k"
                                        : ""));
  }

  static int power_of_two_in(std::int64_t elements, int bytes) {
    constexpr std::int64_t kMost = 128;
    return static_cast<int>(std::gcd(elements * bytes, kMost));
  }

  // The operand as the config reads it, after repacking if that is necessary.
  static CopiedOperand copied(const Form& form, const Config& config, bool is_a) {
    const LoadedOperand operand = operand_of(config, *form.request, is_a);
    const int bytes = ptx::bits_of(config.in) / 8;
    return {.is_along_k = is_a ? config.a_along_k() : config.b_along_k(),
            .is_from_registers = is_a && config.a_from_registers(),
            .row_bytes = operand.must_repack ? 128 : power_of_two_in(operand.rows.stride, bytes),
            .sharers = is_a ? config.cluster.n : config.cluster.m};
  }

  void push(const Form& form, double tflops, const Decision& decision, std::vector<Offer>& offers) {
    const KernelRow& row = *form.row;
    const Config& config = wgmma_config(row);
    const GemmParams& p = form.request->product.params;
    std::vector<std::int64_t> temps = wgmma_temps(decision, config, *form.request);
    const TensorCoreWork work{
        .block = row.block,
        .per_sm = config.per_sm,
        .rate = tflops,
        .hides_store = config.mode == wgmma::Consumers::kPingPong,
        .copies_d = decision.is_cut || can_be_copied(request_),
        .stages = config.stages,
        .is_of_one_warpgroup = config.mode == wgmma::Consumers::kPingPong || config.consumers == 1,
        .a = copied(form, config, true),
        .b = copied(form, config, false),
        .d_row_bytes = power_of_two_in(request_.product.params.d_row, size_of(kernel_.types.d)),
        .tiles_m = wgmma_tiles(config, p).tiles_m,
        .products = products(),
        .tiles = decision.list[0].tiles * config.ctas() * decision.parts * products(),
        .k_tiles = k_tiles_of_a_part(config, p, decision.parts),
        .parts = decision.is_cut ? decision.parts : 0,
        .repacked_bytes = temps[kRepackedA] + temps[kRepackedB] + temps[kListedMaps],
        .is_listed = is_listed(request_),
        .types = &kernel_.types};
    offers.push_back({.kernel = &kernel_,
                      .row = &row,
                      .cost = cost_of_tensor_cores(work, p, request_.limits),
                      .temps = std::move(temps),
                      .decision = decision});
  }

  Decision decided(const Form& form, bool is_partial) const {
    const KernelRow& row = *form.row;
    const Config& config = wgmma_config(row);
    const GemmParams& p = form.request->product.params;
    const WgmmaTiles tiles = wgmma_tiles(config, p);
    const std::int64_t k_tiles = ceil_div(p.k, config.block.k);
    const bool holds_sums = config.out == facts_of(kernel_.types.compute).sum;
    const bool may_cut = holds_sums && !is_batch() && !row.reduce_entry.empty();
    const std::int64_t asked = may_cut ? parts_of(row, tiles, k_tiles) : 1;
    const std::int64_t of_part = k_tiles_of_a_part(config, p, asked);
    Decision d{.is_exchanged = form.is_exchanged,
               .repack = {operand_of(config, *form.request, true).must_repack,
                          operand_of(config, *form.request, false).must_repack},
               .parts = of_part == 0 ? 0 : ceil_div(k_tiles, of_part),
               .list = {{.variant = row.variant,
                         .m = p.m,
                         .n = p.n,
                         .tiles = tiles.count(),
                         .whole_tiles = tiles.count()}},
               .count = 1};
    d.is_cut = is_partial || d.parts > 1;
    if (!d.is_cut) d.parts = 1;
    return d;
  }

  // The number of parts of k: enough to give every SM work, but no part so short that filling the
  // ring and adding partial sums costs more than the split saves.
  std::int64_t parts_of(const KernelRow& row, const WgmmaTiles& of_d, std::int64_t k_tiles) const {
    const std::int64_t most_rows = kMostTiles / std::max(of_d.rows_per_k_part, std::int64_t{1});
    if (request_.given) return std::clamp(request_.given->parts, std::int64_t{1}, most_rows);
    const Policy policy = request_.options.split;
    if (policy == Policy::kNever || k_tiles < 2) return 1;
    const std::int64_t tiles = std::max(of_d.count(), std::int64_t{1});
    const std::int64_t ctas = request_.limits.sms / wgmma_config(row).ctas();
    const std::int64_t fills = std::max(ctas / tiles, std::int64_t{1});
    const std::int64_t longest = policy == Policy::kAlways ? 1 : kLeastKTilesOfAPart;
    const std::int64_t parts = std::min({fills, k_tiles / longest, most_rows});
    if (policy == Policy::kAlways) return std::max(parts, std::int64_t{2});
    return std::max(parts, std::int64_t{1});
  }

  const Kernel& kernel_;
  const Request& request_;
  std::optional<Request> other_;  // request_ with exchanged operands
};

class Wgmma final : public Family {
 public:
  Status offer(const Kernel& kernel, std::string_view variant, const Request& request,
               std::vector<Offer>& offers) const override {
    return WgmmaOffers(kernel, request).add(variant, offers);
  }
  bool takes(const Batch& batch) const override {
    return batch.kind == BatchKind::kStrided || batch.kind == BatchKind::kPointers;
  }
  std::vector<Step> steps(const Offer& offer, const Request& request) const override {
    return wgmma_steps(offer, request);
  }
};

}  // namespace

const Family& wgmma_family() {
  static const Wgmma family;
  return family;
}

}  // namespace tessera::gemm
