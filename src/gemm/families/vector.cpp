// A matrix times a few vectors, in one launch. If the rows of the matrix lie along k,
// products with m or n of up to 16 read the matrix once; other products read it several
// times.
#include <algorithm>
#include <cstddef>

#include "gemm/families/shared/family.h"
#include "kernels/families/simt/vector_config.h"
#include "kernels/families/simt/vector_params.h"

namespace tessera::gemm {
namespace {

constexpr std::int64_t kBlocksPerSm = 2;  // least blocks per SM, if lanes lie along outputs
constexpr int kLeastSegment = 64;         // least bytes of a row for neighbouring lanes
constexpr int kMostAlong = 32;            // lanes of a warp

// How one product is divided among passes over the matrix, warps, lanes and blocks.
struct Shares {
  bool are_rows = false, is_along_k = false;
  bool are_vectors_along_k = false;
  std::int64_t outputs = 0, vectors = 0, passes = 0, blocks = 0;
  int width = 1;  // adjacent elements of the matrix per load
  int warps = 1, lanes = kMostAlong;
};

const vector::Config& vector_config_of(const KernelRow& row) {
  return *static_cast<const vector::Config*>(row.config);
}

int width_of(bool is_along_k, int alignment, std::int64_t ld, int bytes) {
  const auto allows = [&](int access) {
    return alignment % access == 0 && ld % (access / bytes) == 0;
  };
  if (allows(16)) return 16 / bytes;
  if (bytes == 8 || !is_along_k) return 1;
  return allows(8) ? 8 / bytes : bytes == 2 && allows(4) ? 2 : 1;
}

// `given` if it is a power of two from `least` to `most`; else the number that choose() returns.
template <class Choose>
int given_or(int given, int least, int most, Choose&& choose) {
  const bool is_legal = given >= least && given <= most && (given & (given - 1)) == 0;
  return is_legal ? given : choose();
}

// The work of one launch, for the cost model. Warps without rows load nothing.
VectorWork work_of(const KernelRow& row, const Request& request, const Shares& d, int bytes) {
  const vector::Config& config = vector_config_of(row);
  const std::int64_t count = request.products();
  const double rows = static_cast<double>(d.blocks) * config.block.m / d.warps;
  const double working = d.is_along_k ? std::min(1.0, static_cast<double>(d.outputs) / rows) : 1;
  return {.outputs = d.outputs,
          .k = request.product.params.k,
          .vectors = d.vectors * count,
          .passes = d.passes * count,
          .blocks = d.blocks * d.passes * count,
          .access_bytes = d.width * bytes,
          .element_bytes = bytes,
          .at_once = d.is_along_k ? config.vectors() : 1,
          .on_tensor_cores = d.is_along_k && config.by == vector::Arithmetic::kMma,
          .ctas = config.ctas,
          .bytes_ahead = working * config.warps * config.bytes_ahead(d.width)};
}

// Chooses how many warps share a row of a matrix along k: the number with the least time, of those
// that leave no warp without work.
void share_rows(const KernelRow& row, const Request& request, int bytes, Shares& d) {
  const vector::Config& config = vector_config_of(row);
  const Decision given = request.given.value_or(Decision{});
  const std::int64_t at_once =
      static_cast<std::int64_t>(config.block.k) / config.vector() * d.width;
  const auto divide = [&](int warps) {
    d.warps = warps;
    d.blocks = ceil_div(d.outputs, config.warps / warps * config.rows());
    return time_of_blocks(work_of(row, request, d, bytes), request.limits);
  };
  divide(given_or(given.warps, 1, config.warps, [&] {
    int chosen = 1;
    double least = divide(1);
    const auto has_work = [&](int warps) { return at_once * warps / 2 < request.product.params.k; };
    for (int warps = 2; warps <= config.warps && has_work(warps); warps *= 2) {
      const double time = divide(warps);
      if (time <= least) chosen = warps, least = time;
    }
    return chosen;
  }));
}

Shares shares_of(const KernelRow& row, const Request& request, int bytes) {
  const GemmParams& p = request.product.params;
  const Decision given = request.given.value_or(Decision{});
  Shares d;
  d.are_rows = p.m <= p.n;
  d.outputs = d.are_rows ? p.n : p.m;
  d.vectors = d.are_rows ? p.m : p.n;
  d.is_along_k = (d.are_rows ? p.b_row : p.a_col) == 1;
  d.are_vectors_along_k = (d.are_rows ? p.a_col : p.b_row) == 1;
  d.passes = d.is_along_k ? ceil_div(d.vectors, vector_config_of(row).vectors()) : d.vectors;
  const std::int64_t ld =
      d.are_rows ? (d.is_along_k ? p.b_col : p.b_row) : (d.is_along_k ? p.a_row : p.a_col);
  const int alignment = d.are_rows ? request.b_alignment : request.a_alignment;
  const bool is_wide = d.is_along_k || vector_config_of(row).vectors() == 1;
  d.width = is_wide ? width_of(d.is_along_k, alignment, ld, bytes) : 1;
  const std::int64_t width = d.width, all = d.passes * request.products();
  const std::int64_t sms = request.limits.sms;
  if (d.is_along_k) {
    share_rows(row, request, bytes, d);
    return d;
  }
  const int fewest = static_cast<int>(kLeastSegment / (width * bytes));
  d.lanes = given_or(given.lanes, fewest, kMostAlong, [&] {
    int chosen = kMostAlong;
    while (chosen > fewest && ceil_div(d.outputs, chosen * width) * all < kBlocksPerSm * sms) {
      chosen /= 2;
    }
    return chosen;
  });
  d.blocks = ceil_div(d.outputs, d.lanes * width);
  return d;
}

Decision decision_of(const Shares& d, const KernelRow& row, const GemmParams& p) {
  const std::int64_t blocks = d.blocks * d.passes;
  return {
      .warps = d.is_along_k ? d.warps : 0,
      .lanes = d.is_along_k ? 0 : d.lanes,
      .list =
          {{.variant = row.variant, .m = p.m, .n = p.n, .tiles = blocks, .whole_tiles = blocks}},
      .count = 1};
}

// Whether the library may choose this config row: for one vector in any layout; for several vectors
// if both operands lie along k. Of the rows with room for all vectors, only the smallest is chosen.
bool chooses(const Kernel& kernel, const KernelRow& row, const Shares& d) {
  const auto at_once = [](const KernelRow& of) {
    return static_cast<std::int64_t>(vector_config_of(of).vectors());
  };
  if (d.vectors > 1 && !(d.is_along_k && d.are_vectors_along_k)) return false;
  return at_once(row) >= d.vectors && std::ranges::none_of(kernel.rows, [&](const KernelRow& of) {
           return at_once(of) >= d.vectors && at_once(of) < at_once(row);
         });
}

class MatrixTimesVector final : public Family {
 public:
  bool takes(const Batch&) const override { return true; }

  Status offer(const Kernel& kernel, std::string_view variant, const Request& request,
               std::vector<Offer>& offers) const override {
    const int bytes = size_of(kernel.types.a);
    const GemmParams& p = request.product.params;
    return offer_variants(kernel, variant, request, offers, [&](const Variant& one) -> Status {
      const KernelRow& row = row_of_majors(one, request);
      const Shares d = shares_of(row, request, bytes);
      if (!request.options.kernel && !chooses(kernel, row, d)) {
        return Status::unsupported(size_of_d_text(request) + ", but " + kernel.name + "/" +
                                   row.variant + " is chosen where one of them is " +
                                   std::to_string(vector_config_of(row).vectors()) +
                                   " or little less and, where it is not 1, both operands lie "
                                   "along k");
      }
      const std::int64_t count = request.products();
      const __int128 blocks = static_cast<__int128>(d.blocks) * d.passes * count;
      if (blocks > kMaxGrid) {
        return Status::unsupported(size_of_d_text(request) + ", but " + kernel.name +
                                   " would need more than 2^31 - 1 thread blocks");
      }
      offers.push_back({.kernel = &kernel,
                        .row = &row,
                        .cost = cost_of_vectors(work_of(row, request, d, bytes), request.limits),
                        .decision = decision_of(d, row, p)});
      return {};
    });
  }

  std::vector<Step> steps(const Offer& offer, const Request& request) const override {
    const Shares d = shares_of(*offer.row, request, size_of(offer.kernel->types.a));
    vector::Params params{};
    params.gemm = request.product.params;
    params.batch = batch_of(request, 1);
    params.blocks = static_cast<unsigned>(d.blocks);
    params.passes = static_cast<unsigned>(d.passes);
    params.are_rows = d.are_rows ? 1 : 0;
    params.warps_along_k = d.warps;
    params.lanes_along_outputs = d.lanes;
    params.width = d.width;
    // WHY the step may start early: its threads wait for the end of the previous launch
    // before they access memory.
    Step step = step_of(Pass::kMultiply, offer.row->entry,
                        {.grid = d.blocks * d.passes * request.products(),
                         .block = offer.row->threads,
                         .starts_early = true},
                        params);
    patch_product(step, offsetof(vector::Params, gemm), request.product);
    return {step};
  }
};

}  // namespace

const Family& vector_family() {
  static const MatrixTimesVector family;
  return family;
}

}  // namespace tessera::gemm
