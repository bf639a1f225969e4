#include "gemm/steps/repack.h"

#include <cstddef>

#include "base/divide.h"
#include "kernels/passes/repack_bytes_params.h"

namespace tessera::gemm {
namespace {

using passes::Repack;
using passes::RepackParams;

passes::RepackTile tile_of(const RepackedOperand& operand, int element_bytes) {
  if (element_bytes == 1) return passes::kRepackBytes;
  return element_bytes == 2 ? passes::kRepackHalves : passes::repack_tile_of(operand.from_k);
}

Repack repack_of(const RepackedOperand& operand, int element_bytes) {
  const passes::RepackTile tile = tile_of(operand, element_bytes);
  return {.from = nullptr,
          .to = nullptr,
          .outer = operand.outer,
          .k = operand.k,
          .from_outer = operand.from_outer,
          .from_k = operand.from_k,
          .ld = repacked_ld(operand.outer, element_bytes),
          .tiles = ceil_div(operand.outer, tile.outer) * ceil_div(operand.k, tile.depth)};
}

}  // namespace

long long repacked_ld(long long outer, int element_bytes) {
  if (element_bytes == 1) return round_up(outer, passes::kRepackedBytes);
  return round_up(outer, element_bytes == 2 ? passes::kRepackedHalves : passes::kRepackedRow);
}

std::int64_t repacked_bytes(long long outer, long long k, int element_bytes) {
  return repacked_ld(outer, element_bytes) * k * element_bytes;
}

Step repack_step(const std::string& entry, int element_bytes,
                 const std::optional<RepackedOperand>& a, const std::optional<RepackedOperand>& b) {
  RepackParams params{};
  if (a) params.a = repack_of(*a, element_bytes);
  if (b) params.b = repack_of(*b, element_bytes);
  Step step =
      step_of(Pass::kRepack, entry,
              {.grid = params.a.tiles + params.b.tiles, .block = passes::kRepackThreads}, params);
  const auto patch = [&](std::size_t at, const std::optional<RepackedOperand>& operand) {
    if (!operand) return;
    step.addresses.push_back({at + offsetof(Repack, from), operand->from});
    step.addresses.push_back({at + offsetof(Repack, to), operand->to, Use::kWritten});
  };
  patch(offsetof(RepackParams, a), a);
  patch(offsetof(RepackParams, b), b);
  return step;
}

}  // namespace tessera::gemm
