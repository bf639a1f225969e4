// Catalog lines of the kernels on tensor cores. Kernels on Hopper's tensor cores have a persistent
// grid, and tensor copies load all their operands; the kernel's own config has the facts that a
// plan needs in addition to a row's fields. Kernels on the tensor cores of all GPUs since SM 8.0
// have a persistent grid and take operands of any layout and alignment. On a GPU that has no tensor
// cores for a type, other kernels of this file multiply operands of that type.
#pragma once

#include <utility>

#include "catalog/persistent.h"
#include "catalog/rung.h"
#include "kernels/families/promoted/config.h"
#include "kernels/families/wgmma/config.h"

namespace tessera::catalog {

// The type of D, as text for an argument of a template.
std::string out_of(const Types& types);
KernelRow wgmma_row(std::string_view kernel, const char* variant, const wgmma::Config& config);
KernelRow wgmma_row(std::string_view kernel, const char* variant, const promoted::Config& config);
std::vector<HelperEntry> wgmma_helpers(const std::string& kernel, const KernelRow& row,
                                       const Types& types);
// The launch that splits FP32 operands into FP16 terms. `image`: the kernel's image that has it.
HelperEntry terms_helper(const std::string& kernel, const std::string& image);

// A kernel with the fields that all kernels on Hopper's tensor cores have in common. Its code is in
// kernels/families/`family`. `table` must exist as long as the program runs.
template <class Rows>
Kernel hopper_kernel(const std::string& name, std::string idea, const Types& types,
                     const Rows& table, const std::string& family) {
  Kernel kernel = plain_kernel(name, std::move(idea), {});
  for (const auto& [variant, config] : table) {
    kernel.rows.push_back(wgmma_row(name, variant, config));
  }
  kernel.types = types;
  kernel.family = family;
  kernel.first_sm = kernel.last_sm = 90;  // wgmma, tensor copies and setmaxnreg: sm_90a only
  kernel.source = "kernels/families/" + family + "/kernel.cu";
  kernel.name_space = "tessera::" + family;
  kernel.configs = table_of(name.substr(name.find('_') + 1));
  return kernel;
}

// A kernel such as "wgmma_bf16", whose rows are wgmma::kBf16.
template <class Rows>
Kernel wgmma_kernel(const std::string& name, std::string idea, const Types& types,
                    const Rows& table) {
  Kernel kernel = hopper_kernel(name, std::move(idea), types, table, "wgmma");
  kernel.params = "tessera::wgmma::WgmmaParams";
  kernel.helpers = wgmma_helpers(name, kernel.rows.front(), types);
  return kernel;
}

// A kernel such as "wgmma_s8", whose rows are wgmma::kS8. The kernel does not split tiles along k.
template <class Rows>
Kernel whole_wgmma_kernel(const std::string& name, std::string idea, const Types& types,
                          const Rows& table) {
  Kernel kernel = wgmma_kernel(name, std::move(idea), types, table);
  for (KernelRow& row : kernel.rows) row.reduce_entry.clear();
  kernel.helpers.resize(1);  // repack
  kernel.helpers.front().image = kernel.rows.front().image;
  return kernel;
}

// A kernel whose stores apply an epilogue, such as "wgmma_bf16_fused", whose rows are
// wgmma::kBf16Fused.
template <class Rows>
Kernel fused_wgmma_kernel(const std::string& name, std::string idea, const Types& types,
                          const Rows& table) {
  Kernel kernel = whole_wgmma_kernel(name, std::move(idea), types, table);
  kernel.params = "tessera::wgmma::FusedParams";
  kernel.applies_epilogue = true;
  return kernel;
}

// A kernel with an epilogue and an auxiliary output, such as "wgmma_bf16_fused_x", whose rows are
// wgmma::kBf16FusedX.
template <class Rows>
Kernel fused_x_wgmma_kernel(const std::string& name, std::string idea, const Types& types,
                            const Rows& table) {
  Kernel kernel = fused_wgmma_kernel(name, std::move(idea), types, table);
  kernel.params = "tessera::wgmma::FusedXParams";
  kernel.writes_x = true;
  return kernel;
}

// A kernel such as "wgmma_f16x3", whose rows are promoted::kF16x3, with the launch that splits its
// FP32 operands into FP16 terms.
template <class Rows>
Kernel promoted_kernel(const std::string& name, std::string idea, const Types& types,
                       const Rows& table) {
  Kernel kernel = hopper_kernel(name, std::move(idea), types, table, "promoted");
  kernel.params = "tessera::promoted::PromotedParams";
  kernel.helpers = {terms_helper(name, image_name(name, "passes"))};
  return kernel;
}

// A rung that multiplies FP32 operands as sums of FP16 terms. The launch that splits operands is in
// the image of the rung's default variant. `table` must exist as long as the program runs.
template <class Rows>
Kernel terms_rung(const std::string& name, std::string idea, const Rows& table) {
  Kernel kernel = rung(name, std::move(idea), table, 90);
  for (std::size_t i = 0; i < kernel.rows.size(); ++i) {
    const auto& config = table[static_cast<int>(i)].config;
    kernel.rows[i].config = &config;
    kernel.rows[i].ctas_per_sm = config.ctas_per_sm();
  }
  kernel.types = kF16x3Types;
  kernel.last_sm = 90;
  kernel.family = "two_halves";
  kernel.params = kernel.name_space + "::Params";
  kernel.helpers = {terms_helper("rung_" + name, kernel.rows.front().image)};
  return kernel;
}

// A kernel such as "mma_bf16", whose rows are mma::kBf16.
template <class Rows>
Kernel mma_kernel(const std::string& name, std::string idea, const Types& types,
                  const Rows& table) {
  Kernel kernel = plain_kernel(name, std::move(idea), rows_from("", name, table));
  for (std::size_t i = 0; i < kernel.rows.size(); ++i) {
    kernel.rows[i].ctas_per_sm = table[static_cast<int>(i)].config.ctas_per_sm();
    kernel.rows[i].reduce_entry = reduce_entry(name, kernel.rows[i].block);
  }
  kernel.types = types;
  kernel.family = "mma";
  kernel.first_sm = 80;  // cp.async, and the instructions of these types
  kernel.source = "kernels/families/mma/kernel.cu";
  kernel.name_space = "tessera::mma";
  kernel.configs = table_of(name.substr(name.find('_') + 1));
  kernel.params = "tessera::mma::MmaParams";
  kernel.helpers = reduce_helpers(kernel.rows, kernel.params, [&](const std::string& tile) {
    return "reduce_tiles<" + out_of(types) + "," + tile + ">";
  });
  return kernel;
}

// A kernel of one launch such as "simt_bf16_f32_sm75", whose rows are mma_by_ffma::kBf16F32.
template <class Rows>
Kernel mma_by_ffma_kernel(const std::string& name, std::string idea, const Types& types,
                          const Rows& table) {
  Kernel kernel = plain_kernel(name, std::move(idea), rows_from("", name, table));
  const std::size_t begin = name.find('_') + 1, end = name.rfind('_');
  kernel.types = types;
  kernel.first_sm = 75;
  kernel.source = "kernels/families/mma/ffma.cu";
  kernel.name_space = "tessera::mma_by_ffma";
  kernel.configs = table_of(name.substr(begin, end - begin));
  return kernel;
}

}  // namespace tessera::catalog
