// The table of all kernels. A line gives the kernel's folder, its idea in a few words, its config
// table and, by the function that the line calls, how the kernel is planned.
#include "catalog/catalog.h"

#include <algorithm>

#include "catalog/persistent.h"
#include "catalog/rung.h"
#include "catalog/tensor_core.h"
#include "kernels/families/dmma/config.h"
#include "kernels/families/mixed/config.h"
#include "kernels/families/mma/config.h"
#include "kernels/families/mma/ffma_config.h"
#include "kernels/families/simt/config.h"
#include "kernels/families/simt/direct_config.h"
#include "kernels/families/simt/portable_config.h"
#include "kernels/families/simt/vector_config.h"
#include "kernels/families/small/config.h"
#include "ladder/01_strided/config.h"
#include "ladder/02_coalesced/config.h"
#include "ladder/03_shared_tile/config.h"
#include "ladder/04_flat_index/config.h"
#include "ladder/05_conflict_free/config.h"
#include "ladder/06_four_outputs/config.h"
#include "ladder/07_vector_access/config.h"
#include "ladder/08_tile_4x4/config.h"
#include "ladder/09_tile_8x8/config.h"
#include "ladder/10_general_tile/config.h"
#include "ladder/11_double_buffer/config.h"
#include "ladder/12_warp_tile/config.h"
#include "ladder/13_async_copy/config.h"
#include "ladder/14_operand_order/config.h"
#include "ladder/15_producer_warp/config.h"
#include "ladder/16_scheduled_sass/config.h"
#include "ladder/20_unpacked/config.h"
#include "ladder/21_packed_blocks/config.h"
#include "ladder/22_packed_shared/config.h"
#include "ladder/23_packed_conflict_free/config.h"
#include "ladder/24_tensor_core_wmma/config.h"
#include "ladder/25_dmma/config.h"
#include "ladder/31_wmma/config.h"
#include "ladder/32_mma_sync/config.h"
#include "ladder/33_warpgroup_mma/config.h"
#include "ladder/34_tensor_copies/config.h"
#include "ladder/35_ring_of_stages/config.h"
#include "ladder/36_producer_warpgroup/config.h"
#include "ladder/37_two_consumers/config.h"
#include "ladder/38_persistent_grid/config.h"
#include "ladder/39_raster_order/config.h"
#include "ladder/40_cluster_multicast/config.h"
#include "ladder/41_stores_by_copy/config.h"
#include "ladder/42_ping_pong/config.h"
#include "ladder/43_any_layout/config.h"
#include "ladder/44_stream_k/config.h"
#include "ladder/47_two_halves/config.h"

namespace tessera {
std::span<const Kernel> all_kernels() {
  using enum ElementType;
  using catalog::bf16_rung, catalog::direct_kernel, catalog::dmma_kernel, catalog::first_fp64_rung,
      catalog::fp64_rung, catalog::fused_wgmma_kernel, catalog::fused_x_wgmma_kernel,
      catalog::mma_by_ffma_kernel, catalog::mixed_kernel, catalog::mma_kernel, catalog::packed_rung,
      catalog::patched_rung, catalog::persistent_rung, catalog::portable_kernel,
      catalog::promoted_kernel, catalog::repacking_rung, catalog::rung, catalog::small_kernel,
      catalog::splitting_rung, catalog::stream_k_kernel, catalog::terms_rung,
      catalog::vector_kernel, catalog::warpgroup_rung, catalog::wgmma_kernel,
      catalog::whole_wgmma_kernel;
  // clang-format off
  static const std::vector<Kernel> kernels = {
      rung("01_strided", "one thread an output, lanes down a column", strided::kConfigs),
      rung("02_coalesced", "lanes along a row", coalesced::kConfigs),
      rung("03_shared_tile", "tiles staged in shared memory", shared_tile::kConfigs),
      rung("04_flat_index", "a one-dimensional block", flat_index::kConfigs),
      rung("05_conflict_free", "tiles in the order the lanes read", conflict_free::kConfigs),
      rung("06_four_outputs", "four outputs a thread", four_outputs::kConfigs),
      rung("07_vector_access", "128-bit global access", vector_access::kConfigs),
      rung("08_tile_4x4", "4x4 outputs a thread", tile_4x4::kConfigs),
      rung("09_tile_8x8", "8x8 outputs a thread", tile_8x8::kConfigs),
      rung("10_general_tile", "interior blocks without predicates", general_tile::kConfigs),
      rung("11_double_buffer", "load the next tile while multiplying", double_buffer::kConfigs),
      rung("12_warp_tile", "lanes laid out for conflict-free reads", warp_tile::kConfigs, 75, warp_tile::kSpills),
      rung("13_async_copy", "tiles copied past the registers, in stages", async_copy::kConfigs, async_copy::kPortableArch),
      rung("14_operand_order", "FFMAs that share operands with their neighbours", operand_order::kConfigs, operand_order::kPortableArch),
      persistent_rung("15_producer_warp", "warps that fetch, warps that only multiply", producer_warp::kConfigs),
      patched_rung("16_scheduled_sass", "FFMAs reordered in the machine code", persistent_rung(scheduled_sass::kPatchedFrom, "", producer_warp::kConfigs)),
      first_fp64_rung("20_unpacked", "FP64, operands read where they are", unpacked::kConfigs),
      packed_rung("21_packed_blocks", "operands packed into blocks", packed_blocks::kConfigs),
      packed_rung("22_packed_shared", "packed blocks in shared memory", packed_shared::kConfigs),
      packed_rung("23_packed_conflict_free", "shared blocks read without conflicts", packed_conflict_free::kConfigs),
      packed_rung("24_tensor_core_wmma", "FP64 tensor cores, one warp a tile", tensor_core_wmma::kConfigs, tensor_core_wmma::kPortableArch),
      fp64_rung("25_dmma", "matrix instructions, fragments used many times", dmma::kConfigs, dmma::kPortableArch),
      bf16_rung("31_wmma", "BF16 tensor cores through the WMMA API", wmma::kConfigs, wmma::kPortableArch),
      bf16_rung("32_mma_sync", "mma.sync, ldmatrix and cp.async", mma_sync::kConfigs, mma_sync::kPortableArch),
      bf16_rung("33_warpgroup_mma", "wgmma: operands read from shared memory", warpgroup_mma::kConfigs, 90, 90),
      warpgroup_rung("34_tensor_copies", "tiles by tensor copies, swizzled on their way", tensor_copies::kConfigs),
      warpgroup_rung("35_ring_of_stages", "tiles on their way while one is multiplied", ring_of_stages::kConfigs),
      warpgroup_rung("36_producer_warpgroup", "a warpgroup that only loads, and gives registers", producer_warpgroup::kConfigs),
      warpgroup_rung("37_two_consumers", "two warpgroups share a tile of 128 x 256", two_consumers::kConfigs),
      warpgroup_rung("38_persistent_grid", "loads go on while a tile is stored", persistent_grid::kConfigs),
      warpgroup_rung("39_raster_order", "tiles in compact groups, for the L2", raster_order::kConfigs),
      warpgroup_rung("40_cluster_multicast", "two CTAs load one tile of B for both", cluster_multicast::kConfigs),
      warpgroup_rung("41_stores_by_copy", "stmatrix, and tensor copies that store", stores_by_copy::kConfigs),
      warpgroup_rung("42_ping_pong", "one consumer multiplies while the other stores", ping_pong::kConfigs),
      repacking_rung("43_any_layout", "four layouts, rows at any multiple of 2 bytes", any_layout::kConfigs),
      splitting_rung("44_stream_k", "the last tiles split along k, bits as ever", stream_k::kConfigs),
      terms_rung("47_two_halves", "FP32 from two FP16 terms, promoted sums", two_halves::kConfigs),
      portable_kernel("simt_f32_sm75", "plain loads, for SM 7.5", kF32Types, portable::kF32Sm75, 75),
      portable_kernel("simt_f64_sm75", "plain loads, for SM 7.5", kF64Types, portable::kF64Sm75, 75),
      portable_kernel("simt_f32_sm80", "cp.async, from SM 8.0 on", kF32Types, portable::kF32Sm80, 80),
      portable_kernel("simt_f64_sm80", "cp.async, from SM 8.0 on", kF64Types, portable::kF64Sm80, 80),
      vector_kernel("simt_f32_vector", "matrix times few vectors", kF32Types, vector::kF32, vector::kPortableArch),
      vector_kernel("vector_tf32", "matrix times few vectors, FP32 rounded to TF32", kTf32Types, vector::kTf32, vector::kPortableArch),
      vector_kernel("vector_f64", "matrix times few vectors", kF64Types, vector::kF64, vector::kPortableArch),
      vector_kernel("vector_bf16", "matrix times few vectors", kBf16Types, vector::kBf16, vector::kPortableArch),
      vector_kernel("vector_bf16_f32", "matrix times few vectors, D in FP32", kBf16ToF32Types, vector::kBf16F32, vector::kPortableArch),
      vector_kernel("vector_f16", "matrix times few vectors", kF16Types, vector::kF16, vector::kPortableArch),
      vector_kernel("vector_f16_f32", "matrix times few vectors, D in FP32", kF16ToF32Types, vector::kF16F32, vector::kPortableArch),
      dmma_kernel("dmma_f64_sm80", "FP64 tensor cores, stream-K, for SM 8.0", dmma_f64::kSm80, 80),
      dmma_kernel("dmma_f64", "FP64 tensor cores, stream-K", dmma_f64::kSm90, 90),
      small_kernel("small_f32", "batches of small products", kF32Types, small::kF32, 80),
      small_kernel("small_f64", "batches of small products, FP64 tensor cores", kF64Types, small::kF64, 90),
      small_kernel("small_bf16", "batches of small products, tensor cores", kBf16Types, small::kBf16, 80),
      small_kernel("small_bf16_f32", "batches of small products, tensor cores, D in FP32", kBf16ToF32Types, small::kBf16F32, 80),
      small_kernel("small_f16", "batches of small products, tensor cores", kF16Types, small::kF16, 80),
      small_kernel("small_f16_f32", "batches of small products, tensor cores, D in FP32", kF16ToF32Types, small::kF16F32, 80),
      stream_k_kernel("simt_f32", "TMA, persistent, stream-K", "simt", simt::kConfigs),
      direct_kernel("simt_f32_direct", "operands as they lie, batches", simt_direct::kConfigs),
      wgmma_kernel("wgmma_bf16", "Hopper's tensor cores", kBf16Types, wgmma::kBf16),
      fused_wgmma_kernel("wgmma_bf16_fused", "Hopper's tensor cores, epilogues in the store", kBf16Types, wgmma::kBf16Fused),
      fused_x_wgmma_kernel("wgmma_bf16_fused_x", "epilogues in the store, also D before its activation", kBf16Types, wgmma::kBf16FusedX),
      wgmma_kernel("wgmma_bf16_f32", "Hopper's tensor cores, D in FP32", kBf16ToF32Types, wgmma::kBf16F32),
      wgmma_kernel("wgmma_f16", "Hopper's tensor cores", kF16Types, wgmma::kF16),
      fused_wgmma_kernel("wgmma_f16_fused", "Hopper's tensor cores, epilogues in the store", kF16Types, wgmma::kF16Fused),
      fused_x_wgmma_kernel("wgmma_f16_fused_x", "epilogues in the store, also D before its activation", kF16Types, wgmma::kF16FusedX),
      wgmma_kernel("wgmma_f16_f32", "Hopper's tensor cores, D in FP32", kF16ToF32Types, wgmma::kF16F32),
      wgmma_kernel("wgmma_tf32", "Hopper's tensor cores, FP32 rounded to TF32", kTf32Types, wgmma::kTf32),
      whole_wgmma_kernel("wgmma_s8", "Hopper's tensor cores, sums in 32-bit integers", kS8Types, wgmma::kS8),
      promoted_kernel("wgmma_f16x3", "FP32 in two FP16 terms, promoted sums", kF16x3Types, promoted::kF16x3),
      mma_kernel("mma_bf16", "tensor cores from SM 8.0 on", kBf16Types, mma::kBf16),
      mma_kernel("mma_bf16_f32", "tensor cores from SM 8.0 on, D in FP32", kBf16ToF32Types, mma::kBf16F32),
      mma_kernel("mma_f16", "tensor cores from SM 8.0 on", kF16Types, mma::kF16),
      mma_kernel("mma_f16_f32", "tensor cores from SM 8.0 on, D in FP32", kF16ToF32Types, mma::kF16F32),
      mma_kernel("mma_tf32", "tensor cores from SM 8.0 on, FP32 rounded to TF32", kTf32Types, mma::kTf32),
      mixed_kernel("mixed_bf16_f32", "a BF16 A as it is, a few columns of FP32", {kBf16, kF32, kF32, kF32, ComputeType::kF32}, mixed::kBf16F32, mixed::kPortableArch),
      mixed_kernel("mixed_f32_bf16", "a few rows of FP32, a BF16 B as it is", {kF32, kBf16, kF32, kF32, ComputeType::kF32}, mixed::kF32Bf16, mixed::kPortableArch),
      mma_by_ffma_kernel("simt_bf16_sm75", "BF16 without tensor cores, for SM 7.5", kBf16Types, mma_by_ffma::kBf16),
      mma_by_ffma_kernel("simt_bf16_f32_sm75", "BF16 without tensor cores, D in FP32, for SM 7.5", kBf16ToF32Types, mma_by_ffma::kBf16F32),
      mma_by_ffma_kernel("simt_f16_sm75", "FP16 without tensor cores, for SM 7.5", kF16Types, mma_by_ffma::kF16),
      mma_by_ffma_kernel("simt_f16_f32_sm75", "FP16 without tensor cores, D in FP32, for SM 7.5", kF16ToF32Types, mma_by_ffma::kF16F32),
      mma_by_ffma_kernel("simt_tf32_sm75", "FP32 rounded to TF32 without tensor cores, for SM 7.5", kTf32Types, mma_by_ffma::kTf32),
  };
  // clang-format on
  return kernels;
}

bool is_rung(const Kernel& kernel) {
  return kernel.name.front() >= '0' && kernel.name.front() <= '9';
}

std::vector<std::string> variants_of(const Kernel& kernel) {
  std::vector<std::string> variants;
  for (const KernelRow& row : kernel.rows) {
    if (std::find(variants.begin(), variants.end(), row.variant) == variants.end()) {
      variants.push_back(row.variant);
    }
  }
  return variants;
}

const std::string& first_entry_of(const KernelChoice& choice) {
  return rows_of(*choice.kernel, choice.variant).front().entry;
}

std::span<const KernelRow> rows_of(const Kernel& kernel, std::string_view variant) {
  const auto is_wanted = [&](const KernelRow& row) { return row.variant == variant; };
  const auto begin = std::find_if(kernel.rows.begin(), kernel.rows.end(), is_wanted);
  if (begin == kernel.rows.end()) {
    throw StatusError(Status::bad_argument("kernel names variant '" + std::string(variant) +
                                           "', which " + kernel.name + " does not have"));
  }
  return {begin, std::find_if_not(begin, kernel.rows.end(), is_wanted)};
}

Status check_has_kernel(const Types& types) {
  for (const Kernel& kernel : all_kernels()) {
    if (kernel.types == types) return {};
  }
  return Status::unsupported("no kernel multiplies " + describe(types));
}

}  // namespace tessera
