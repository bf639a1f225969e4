#include "gemm/families/shared/tensor_maps.h"

namespace tessera::gemm {
namespace {

constexpr TensorSwizzle swizzle_of(int bytes) {
  return bytes == 128  ? TensorSwizzle::k128B
         : bytes == 64 ? TensorSwizzle::k64B
         : bytes == 32 ? TensorSwizzle::k32B
                       : TensorSwizzle::kNone;
}

TensorMapDesc map_of_floats(long long inner, long long outer, long long stride, TensorBox box) {
  return tensor_map_of(TensorType::kF32, inner, outer, stride, box);
}

}  // namespace

TensorMapDesc tensor_map_of(TensorType type, long long inner, long long outer, long long stride,
                            TensorBox box) {
  TensorMapDesc desc;
  desc.type = type;
  desc.sizes = {static_cast<std::uint64_t>(inner), static_cast<std::uint64_t>(outer)};
  desc.strides = {static_cast<std::uint64_t>(stride) * element_bytes(type)};
  desc.box = {static_cast<std::uint32_t>(box.inner), static_cast<std::uint32_t>(box.outer)};
  desc.swizzle = swizzle_of(box.swizzle);
  desc.promotion = TensorPromotion::k256B;
  return desc;
}

TensorMapDesc map_of_a(const KernelRow& row, const GemmParams& p) {
  return row.majors.a == Major::kK ? map_of_floats(p.k, p.m, p.a_row, row.a_box)
                                   : map_of_floats(p.m, p.k, p.a_col, row.a_box);
}
TensorMapDesc map_of_b(const KernelRow& row, const GemmParams& p) {
  return row.majors.b == Major::kK ? map_of_floats(p.k, p.n, p.b_col, row.b_box)
                                   : map_of_floats(p.n, p.k, p.b_row, row.b_box);
}

bool can_be_mapped(TensorMapDesc desc, int alignment) {
  constexpr auto most = static_cast<std::uint64_t>(kMaxCoordinate);
  // WHY before check(): writing the message of a failed check takes longer
  // than making a whole plan.
  if (alignment % 16 != 0 || desc.strides[0] % 16 != 0) return false;
  desc.address = static_cast<std::uint64_t>(alignment);  // the worst address of this alignment
  return desc.sizes[0] <= most && desc.sizes[1] <= most && check(desc).ok();
}

bool can_load(const KernelRow& row, const Request& request) {
  const GemmParams& p = request.product.params;
  return (row.loads.a != Load::kTma || can_be_mapped(map_of_a(row, p), request.a_alignment)) &&
         (row.loads.b != Load::kTma || can_be_mapped(map_of_b(row, p), request.b_alignment));
}

const KernelRow* row_of_loads(const Variant& variant, const Request& request) {
  for (const KernelRow& row : variant.rows) {
    const bool fits = row.majors.a == Major::kStrided ||
                      (row.majors.a == request.majors.a && row.majors.b == request.majors.b);
    if (fits && can_load(row, request)) return &row;
  }
  return nullptr;
}

void add_maps(Step& step, const KernelRow& row, const Product& product, std::size_t a_offset,
              std::size_t b_offset) {
  if (row.loads.a == Load::kTma) {
    step.maps.push_back({a_offset, map_of_a(row, product.params), product.a});
  }
  if (row.loads.b == Load::kTma) {
    step.maps.push_back({b_offset, map_of_b(row, product.params), product.b});
  }
}

}  // namespace tessera::gemm
