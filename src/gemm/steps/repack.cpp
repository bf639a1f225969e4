#include "gemm/steps/repack.h"

#include <cstddef>

#include "gemm/choose_stream_k.h"
#include "kernels/passes/params.h"

namespace tessera::gemm {
namespace {

using passes::Repack;
using passes::RepackParams;

// A repacked operand: (k, outer), rows of whole lines.
long long repacked_ld(long long outer) {
  return schedule::pieces(outer, passes::kRepackedRow) * passes::kRepackedRow;
}
std::int64_t repacked_bytes(bool is_needed, long long outer, long long k) {
  constexpr int kFloat = sizeof(float);
  return is_needed ? with_workspace_alignment(repacked_ld(outer) * k * kFloat) : 0;
}

Repack repack_of(long long outer, long long k, long long from_outer, long long from_k) {
  const passes::RepackTile tile = passes::repack_tile_of(from_k);
  return {nullptr,
          nullptr,
          outer,
          k,
          from_outer,
          from_k,
          repacked_ld(outer),
          schedule::pieces(outer, tile.outer) * schedule::pieces(k, tile.depth)};
}

void set_repacked(GemmParams& p, Needs needs) {
  if (needs.a) p.a_row = 1, p.a_col = repacked_ld(p.m);
  if (needs.b) p.b_row = repacked_ld(p.n), p.b_col = 1;
}

}  // namespace

Repacked Repacked::at(std::int64_t begin, Needs needs, const GemmParams& p) {
  Repacked repacked{.needs = needs, .a = begin};
  repacked.b = repacked.a + repacked_bytes(needs.a, p.m, p.k);
  repacked.end = repacked.b + repacked_bytes(needs.b, p.n, p.k);
  return repacked;
}

PlannedLaunch repack_launch(const std::string& entry, const Repacked& repacked, Product& product) {
  GemmParams& p = product.params;
  RepackParams repacks{};
  std::vector<AddressPatch> addresses;
  const auto patch = [&](std::size_t at, Place& place, std::int64_t to) {
    addresses.push_back({at + offsetof(Repack, from), place});
    place = {Slot::kWorkspace, to};
    addresses.push_back({at + offsetof(Repack, to), place});
  };
  if (repacked.needs.a) {
    repacks.a = repack_of(p.m, p.k, p.a_row, p.a_col);
    patch(offsetof(RepackParams, a), product.a, repacked.a);
  }
  if (repacked.needs.b) {
    repacks.b = repack_of(p.n, p.k, p.b_col, p.b_row);
    patch(offsetof(RepackParams, b), product.b, repacked.b);
  }
  set_repacked(p, repacked.needs);
  PlannedLaunch launch = launch_of(
      entry, {.grid = repacks.a.tiles + repacks.b.tiles, .block = passes::kRepackThreads}, repacks);
  launch.addresses = std::move(addresses);
  return launch;
}

Request request_after(Request request, Needs needs) {
  set_repacked(request.product.params, needs);
  if (needs.a) request.majors.a = Major::kM, request.a_alignment = kMostAlignment;
  if (needs.b) request.majors.b = Major::kN, request.b_alignment = kMostAlignment;
  return request;
}

}  // namespace tessera::gemm
