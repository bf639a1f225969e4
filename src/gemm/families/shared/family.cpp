#include "gemm/families/shared/family.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "gemm/vectors.h"

namespace tessera::gemm {

// Declares the functions of all families: the build writes one line per file in gemm/families/.
#define TESSERA_FAMILY(name) const Family& name##_family();
#include "gemm_families.inc"
#undef TESSERA_FAMILY

namespace {

// The majors follow from the layout, not from strides: a thin matrix may have two strides of 1.
Majors majors_of(const Problem& p) {
  const bool a_along_k = (p.order == Order::kRowMajor) == (p.op_a == Op::kNone);
  const bool b_along_n = (p.order == Order::kRowMajor) == (p.op_b == Op::kNone);
  return {a_along_k ? Major::kK : Major::kM, b_along_n ? Major::kN : Major::kK};
}

// The request for a product in its own order: the operands are not exchanged.
Request request_as_it_is(const Subproblem& whole, const DeviceLimits& limits,
                         const PlanOptions& options, int first_temp) {
  using enum OperandId;
  const Alignment alignment = alignment_in_batch(whole);
  return {.whole = whole,
          .product = {params_of(whole.problem), whole[kA], whole[kB], whole[kC], whole[kD]},
          .a_alignment = alignment.a,
          .b_alignment = alignment.b,
          .d_alignment = alignment.d,
          .majors = majors_of(whole.problem),
          .first_temp = first_temp,
          .limits = limits,
          .options = options};
}

}  // namespace

Request request_of(const Subproblem& product, const DeviceLimits& limits,
                   const PlanOptions& options, int first_temp) {
  Request request = request_as_it_is(row_major(product), limits, options, first_temp);
  request.is_exchanged = product.problem.order == Order::kColumnMajor;
  return request;
}

Request exchanged(const Request& request) {
  Request other = request_as_it_is(exchanged(request.whole), request.limits, request.options,
                                   request.first_temp);
  other.is_exchanged = !request.is_exchanged;
  other.given = request.given;
  return other;
}

std::string layout_text(const Request& request) {
  return layout_of(request.is_exchanged ? tessera::exchanged(request.problem())
                                        : request.problem());
}

std::string size_of_d_text(const Request& request) {
  const Problem& p = request.problem();
  return "m is " + std::to_string(request.is_exchanged ? p.n : p.m) + " and n is " +
         std::to_string(request.is_exchanged ? p.m : p.n);
}

std::string sizes_text(const Request& request) {
  const Problem& p = request.problem();
  return "m is " + std::to_string(request.is_exchanged ? p.n : p.m) + ", n is " +
         std::to_string(request.is_exchanged ? p.m : p.n) + " and k is " + std::to_string(p.k);
}

const Family& family_of(const Kernel& kernel) {
#define TESSERA_FAMILY(name) \
  if (kernel.family == #name) return name##_family();
#include "gemm_families.inc"
#undef TESSERA_FAMILY
  throw StatusError(Status::unsupported("kernel " + kernel.name + " is of the family '" +
                                        kernel.family + "', which the library does not have"));
}

std::vector<Variant> variants_with_rates(const Kernel& kernel, const DeviceLimits& limits) {
  std::vector<Variant> variants;
  const std::span<const KernelRow> rows = kernel.rows;
  const std::span<const Rate> rates = limits.costs->rates_of(kernel.name);
  variants.reserve(rows.size());
  for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    while (end < rows.size() && rows[end].variant == rows[begin].variant) ++end;
    variants.push_back({rows.subspan(begin, end - begin), rate_of(rates, rows[begin].variant)});
  }
  return variants;
}

const KernelRow& row_of_majors(const Variant& variant, const Request& request) {
  const auto fits = [&](const KernelRow& row) {
    return row.majors.a == Major::kStrided ||
           (row.majors.a == request.majors.a && row.majors.b == request.majors.b);
  };
  const auto row = std::find_if(variant.rows.begin(), variant.rows.end(), fits);
  if (row != variant.rows.end()) return *row;
  throw StatusError(Status::unsupported("variant " + std::string(variant.name()) +
                                        " has no config for operands of this layout"));
}

std::int64_t tiles_of(const KernelRow& row, const GemmParams& p, std::int64_t products) {
  if (products == 0) return 0;
  const std::int64_t rows = ceil_div(p.m, row.block.m), columns = ceil_div(p.n, row.block.n);
  std::int64_t of_product = 0, tiles = 0;
  const bool too_many = __builtin_mul_overflow(rows, columns, &of_product) ||
                        __builtin_mul_overflow(of_product, products, &tiles) || tiles > kMaxGrid;
  return too_many ? kMaxGrid + 1 : tiles;
}

bool operands_allow_vectors(const Request& request) {
  const GemmParams& p = request.product.params;
  const auto allows = [](int alignment, long long by_outer, long long by_k, ElementType type) {
    return alignment % 16 == 0 && are_whole_vectors(std::max(by_outer, by_k), size_of(type));
  };
  const Types& types = request.problem().types;
  return allows(request.a_alignment, p.a_row, p.a_col, types.a) &&
         allows(request.b_alignment, p.b_row, p.b_col, types.b);
}

schedule::Raster square_raster(int tiles_m, int tiles_n, OutputTile tile, int sms) {
  const double wide = std::sqrt(static_cast<double>(sms) * tile.n / tile.m);
  const auto group = std::max<std::int64_t>(std::llround(wide), 1);
  const std::int64_t rows = std::max(tiles_m, 1), groups = ceil_div(rows, group);
  return {tiles_m, tiles_n, static_cast<int>(ceil_div(rows, groups)), 1};
}

Step multiply_by_tiles(const KernelRow& row, const Product& product) {
  Step step = step_of(Pass::kMultiply, row.entry,
                      {.grid = tiles_of(row, product.params),
                       .block = row.threads,
                       .block_y = row.threads_y,
                       .shared_bytes = row.shared_bytes},
                      product.params);
  patch_product(step, 0, product);
  return step;
}

Status check_grid(const Kernel& kernel, const KernelRow& row, const Request& request) {
  if (tiles_of(row, request.product.params) <= kMaxGrid) return {};
  return Status::unsupported(size_of_d_text(request) + ", but " + kernel.name +
                             " would need more than 2^31 - 1 thread blocks");
}

Status too_many_tiles(const Kernel& kernel, const Request& request, std::string_view also) {
  return Status::unsupported(sizes_text(request) + ", but " + kernel.name +
                             " counts at most 2^30 tiles, and " + std::string(also));
}

Status no_fp64_tensor_cores(const Kernel& kernel, const Request& request) {
  return Status::unsupported("kernel is " + kernel.name + ", but an sm_" +
                             std::to_string(request.limits.sm) + " has no FP64 tensor cores");
}

}  // namespace tessera::gemm
