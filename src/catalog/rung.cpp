#include "catalog/rung.h"

#include <limits>

namespace tessera::catalog {
namespace {

std::int64_t blocks_along(std::int64_t extent, int block) {
  return extent / block + (extent % block != 0);
}

Launch multiply(const KernelRow& row, const GemmParams& params) {
  return {.entry = row.entry,
          .shape = {.grid = grid_blocks(row, params),
                    .block = row.threads,
                    .block_y = row.threads_y,
                    .shared_bytes = row.shared_bytes},
          .params = bytes_of(params)};
}

constexpr int kPackThreads = 256;

// One packing launch: a thread an element of the padded matrix.
Launch pack(std::string entry, const PackParams& params, std::int64_t padded_elements) {
  const std::int64_t blocks = (padded_elements + kPackThreads - 1) / kPackThreads;
  return {.entry = std::move(entry),
          .shape = {.grid = std::min(blocks, kMaxGrid), .block = kPackThreads, .shared_bytes = 0},
          .params = bytes_of(params)};
}

__int128 padded(std::int64_t rows, int block_rows, std::int64_t cols, int block_cols) {
  return static_cast<__int128>(blocks_along(rows, block_rows)) * block_rows *
         blocks_along(cols, block_cols) * block_cols;
}

}  // namespace

std::string entry_name(std::string_view kernel, std::string_view variant, Sides sides) {
  std::string name = std::string(kernel) + "__" + std::string(variant);
  if (sides.a == Contiguous::kStrided) return name;
  name += sides.a == Contiguous::kK ? "_ak" : "_am";
  name += sides.b == Contiguous::kN ? "_bn" : "_bk";
  return name;
}

std::string name_space_of(const std::string& rung) {
  return "tessera::" + rung.substr(rung.find_first_not_of("0123456789_"));
}

std::int64_t grid_blocks(const KernelRow& row, const GemmParams& p) {
  const __int128 blocks =
      static_cast<__int128>(blocks_along(p.m, row.block.m)) * blocks_along(p.n, row.block.n);
  return blocks > kMaxGrid ? kMaxGrid + 1 : static_cast<std::int64_t>(blocks);
}

std::int64_t no_workspace(const Kernel&, const KernelRow&, const Problem&, const PlanContext&) {
  return 0;
}

Plan plan_one_launch(const Kernel&, const KernelRow& row, const Problem& problem,
                     const Operands& operands, const PlanContext&) {
  const GemmParams params = canonical_params(problem, operands);
  if (params.m == 0 || params.n == 0) return {};
  return {{multiply(row, params)}};
}

std::int64_t packed_workspace(const Kernel&, const KernelRow& row, const Problem& problem,
                              const PlanContext&) {
  const GemmParams p = canonical_params(problem, {});
  const __int128 elements =
      padded(p.m, row.block.m, p.k, row.block.k) + padded(p.k, row.block.k, p.n, row.block.n);
  // WHY: padding makes thin matrices larger, up to a block's edge times what the caller holds.
  if (elements > std::numeric_limits<std::int64_t>::max() / size_of(problem.type)) {
    throw StatusError(Status::unsupported(
        "k is " + std::to_string(p.k) +
        ", but the packed copies of A and B must fit a signed 64-bit number of bytes"));
  }
  return static_cast<std::int64_t>(elements) * size_of(problem.type);
}

Plan plan_packed(const Kernel& kernel, const KernelRow& row, const Problem& problem,
                 const Operands& operands, const PlanContext& context) {
  GemmParams p = canonical_params(problem, operands);
  if (p.m == 0 || p.n == 0) return {};
  if (p.k == 0) return {{multiply(row, p)}};  // nothing is read, so nothing is packed

  const std::int64_t elements =
      packed_workspace(kernel, row, problem, context) / size_of(problem.type);
  const auto a_elements = static_cast<std::int64_t>(padded(p.m, row.block.m, p.k, row.block.k));
  const std::int64_t b_elements = elements - a_elements;
  void* const packed_a = reinterpret_cast<void*>(context.workspace);
  void* const packed_b =
      reinterpret_cast<void*>(context.workspace + a_elements * size_of(problem.type));
  const PackParams a{p.a, packed_a, p.m, p.k, p.a_row, p.a_col};
  const PackParams b{p.b, packed_b, p.k, p.n, p.b_row, p.b_col};
  p.a = packed_a;
  p.b = packed_b;
  return {{pack(row.entry + "__pack_a", a, a_elements), pack(row.entry + "__pack_b", b, b_elements),
           multiply(row, p)}};
}

}  // namespace tessera::catalog
