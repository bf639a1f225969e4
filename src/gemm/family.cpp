#include "gemm/family.h"

#include <algorithm>
#include <utility>

#include "gemm/vectors.h"

namespace tessera::gemm {

// One line a file in gemm/families/, written by the build.
#define TESSERA_FAMILY(name) const Family& name##_family();
#include "gemm_families.inc"
#undef TESSERA_FAMILY

schedule::Batch batch_of(const Problem& problem, std::int64_t tiles_m) {
  const Batch& batch = problem.batch;
  schedule::Batch out = schedule::no_batch(static_cast<int>(tiles_m));
  if (batch.kind == BatchKind::kNone) return out;
  out.count = static_cast<int>(batch.count);
  out.pointers = batch.kind == BatchKind::kPointers ? 1 : 0;
  if (out.pointers) return out;
  const Types& types = problem.types;
  // WHY: unsigned. The stride of matrices that are not read may be any number.
  const auto bytes = [](std::int64_t stride, ElementType type) {
    const auto size = static_cast<std::uint64_t>(size_of(type));
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(stride) * size);
  };
  out.a = bytes(batch.stride_a, types.a);
  out.b = bytes(batch.stride_b, types.b);
  out.c = bytes(batch.stride_c, types.c);
  out.d = bytes(batch.stride_d, types.d);
  // A column-major problem is the row-major one with its operands exchanged.
  if (problem.order == Order::kColumnMajor) std::swap(out.a, out.b);
  return out;
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
  for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    while (end < rows.size() && rows[end].variant == rows[begin].variant) ++end;
    variants.push_back({rows.subspan(begin, end - begin),
                        limits.costs->rate_of(kernel.name, rows[begin].variant)});
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

std::int64_t tiles_along(std::int64_t extent, int block) {
  return extent / block + (extent % block != 0);
}

std::int64_t tiles_of(const KernelRow& row, const GemmParams& p, std::int64_t products) {
  if (products == 0) return 0;
  const std::int64_t rows = tiles_along(p.m, row.block.m), columns = tiles_along(p.n, row.block.n);
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
  const Types& types = request.problem.types;
  return allows(request.a_alignment, p.a_row, p.a_col, types.a) &&
         allows(request.b_alignment, p.b_row, p.b_col, types.b);
}

PlannedLaunch multiply_by_tiles(const KernelRow& row, const Product& product) {
  PlannedLaunch launch = launch_of(row.entry,
                                   {.grid = tiles_of(row, product.params),
                                    .block = row.threads,
                                    .block_y = row.threads_y,
                                    .shared_bytes = row.shared_bytes},
                                   product.params);
  patch_product(launch, 0, product);
  return launch;
}

Status check_grid(const Kernel& kernel, const KernelRow& row, const Request& request) {
  if (tiles_of(row, request.product.params) <= kMaxGrid) return {};
  return Status::unsupported("m is " + std::to_string(request.problem.m) + " and n is " +
                             std::to_string(request.problem.n) + ", but " + kernel.name +
                             " would need more than 2^31 - 1 thread blocks");
}

}  // namespace tessera::gemm
