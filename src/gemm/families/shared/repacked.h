// A step before an FP32 product that copies A into rows along m, or B into rows along n.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "gemm/families/shared/family.h"
#include "gemm/steps/repack.h"

namespace tessera::gemm {

inline constexpr int kFloat = sizeof(float);

// The request after the operands in `needs` were repacked, but with the addresses of the originals.
inline Request request_after_repack(Request request, Needs needs) {
  GemmParams& p = request.product.params;
  if (needs.a) {
    p.a_row = 1, p.a_col = repacked_ld(p.m, kFloat);
    request.majors.a = Major::kM, request.a_alignment = kMostAlignment;
  }
  if (needs.b) {
    p.b_row = repacked_ld(p.n, kFloat), p.b_col = 1;
    request.majors.b = Major::kN, request.b_alignment = kMostAlignment;
  }
  return request;
}

// The step that repacks the operands in `needs` into temps. Changes the request to the copies.
inline Step repack_operands(const std::string& entry, Needs needs, int temp_a, int temp_b,
                            Request& request) {
  const GemmParams p = request.product.params;
  std::optional<RepackedOperand> a, b;
  if (needs.a) {
    a = {p.m, p.k, p.a_row, p.a_col, request.product.a, request.temp(temp_a)};
    request.product.a = a->to;
  }
  if (needs.b) {
    b = {p.n, p.k, p.b_col, p.b_row, request.product.b, request.temp(temp_b)};
    request.product.b = b->to;
  }
  request = request_after_repack(std::move(request), needs);
  return repack_step(entry, kFloat, a, b);
}

}  // namespace tessera::gemm
