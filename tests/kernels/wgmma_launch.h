// The launch of one kernel of the wgmma family, for tests: the parameters follow from its config.
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "kernels/families/wgmma/config.h"
#include "kernels/families/wgmma/params.h"
#include "launch/launch.h"

namespace tessera {

struct WgmmaOrder {
  int group = 8;
  bool along_m = true;
  int ctas = 132;
  bool transposed = false;  // rows of A are columns of D
};

// HW: a map of TFLOAT32 rounds floats to nearest on their way (FLOAT32 leaves that to wgmma, which
// truncates).
inline TensorType tensor_type(ptx::MatrixType type) {
  return type == ptx::MatrixType::kBF16  ? TensorType::kBf16
         : type == ptx::MatrixType::kF16 ? TensorType::kF16
                                         : TensorType::kTf32;
}

inline TensorMapDesc wgmma_map(const void* matrix, TensorType type, long long inner,
                               long long outer, long long stride, TensorBox box,
                               TensorPromotion promotion) {
  TensorMapDesc desc;
  desc.type = type;
  const auto address = reinterpret_cast<std::uint64_t>(matrix);
  desc.address = address == 0 ? 256 : address;  // of a matrix without elements
  // Where k is 0 nothing is loaded, but a map must say something.
  desc.sizes = {static_cast<std::uint64_t>(std::max(inner, 1LL)),
                static_cast<std::uint64_t>(std::max(outer, 1LL))};
  desc.strides = {static_cast<std::uint64_t>(stride) * element_bytes(type)};
  desc.box = {static_cast<std::uint32_t>(box.inner), static_cast<std::uint32_t>(box.outer)};
  desc.swizzle = box.swizzle == 128  ? TensorSwizzle::k128B
                 : box.swizzle == 64 ? TensorSwizzle::k64B
                                     : TensorSwizzle::k32B;
  desc.promotion = promotion;
  return desc;
}

inline Launch wgmma_launch(const std::string& entry, const wgmma::Config& c, const GemmParams& p,
                           WgmmaOrder order = {},
                           TensorPromotion promotion = TensorPromotion::k256B) {
  const auto pieces = [](long long of, long long size) {
    return static_cast<int>((of + size - 1) / size);
  };
  wgmma::WgmmaParams params = {};
  params.gemm = p;
  params.raster = {pieces(p.m, c.block.m * c.cluster.m), pieces(p.n, c.block.n * c.cluster.n),
                   order.group, order.along_m};
  params.k_tiles = pieces(p.k, c.block.k);
  GemmParams& d = params.gemm;
  if (order.transposed) std::swap(d.m, d.n);
  params.transposed = order.transposed;
  params.copied_columns = epilogue::whole_columns(d.n, c.out);
  params.rows_per_k_part = std::numeric_limits<int>::max();
  params.products = 1;
  Launch launch;
  launch.entry = entry;
  launch.shape.grid =
      std::max(1, std::min(order.ctas / c.ctas(), params.raster.tiles())) * c.ctas();
  launch.shape.block = c.threads();
  launch.shape.shared_bytes = c.shared_bytes();
  launch.params.resize(sizeof params);
  launch.param_offsets = {0};
  std::memcpy(launch.params.data(), &params, sizeof params);
  const auto add = [&](std::size_t offset, const TensorMapDesc& desc) {
    launch.tensor_maps.push_back({offset, desc});
  };
  const TensorType in = tensor_type(c.in);
  add(offsetof(wgmma::WgmmaParams, a_map),
      c.a_along_k() ? wgmma_map(p.a, in, p.k, p.m, p.a_row, c.a_box(), promotion)
                    : wgmma_map(p.a, in, p.m, p.k, p.a_col, c.a_box(), promotion));
  add(offsetof(wgmma::WgmmaParams, b_map),
      c.b_along_k() ? wgmma_map(p.b, in, p.k, p.n, p.b_col, c.b_box(), promotion)
                    : wgmma_map(p.b, in, p.n, p.k, p.b_row, c.b_box(), promotion));
  if (c.store == wgmma::Store::kTma) {
    add(offsetof(wgmma::WgmmaParams, d_map),
        wgmma_map(p.d, tensor_type_of(c.out), std::max(8, epilogue::whole_columns(d.n, c.out)), d.m,
                  p.d_row, c.d_box(), TensorPromotion::kNone));
  }
  return launch;
}

}  // namespace tessera
