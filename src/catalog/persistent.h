// Production kernels: a persistent grid that walks a stream-K schedule, with operands loaded by TMA
// where their alignment allows it. Members of such a kernel's config:
//   block, thread, majors, loads      base/config.h
//   threads(), ctas_per_sm()           threads of a block; CTAs per SM
//   shared_bytes()                     dynamic shared memory of a block
//   a_box(), b_box()                   what one tensor copy moves: a TensorBox
#pragma once

#include <functional>
#include <utility>

#include "catalog/rung.h"
#include "kernels/passes/params.h"

namespace tessera::catalog {

// The name that the build gives to the entry of a config row: "simt_f32__256x128x16_am_bn_tma".
std::string entry_name(std::string_view kernel, std::string_view variant, Majors majors,
                       Loads loads);
// The name of the entry that adds the partial sums of tiles of this size:
// "simt_f32__reduce_256x128".
std::string reduce_entry(std::string_view kernel, BlockTile block);

std::string repack_entry(std::string_view kernel);  // "simt_f32__repack"

template <class Config>
KernelRow persistent_row(std::string_view kernel, const char* variant, const Config& config) {
  KernelRow row{.variant = variant,
                .entry = entry_name(kernel, variant, config.majors, config.loads),
                .majors = config.majors,
                .block = config.block,
                .thread = config.thread,
                .threads = config.threads(),
                .loads = config.loads,
                .shared_bytes = config.shared_bytes(),
                .ctas_per_sm = config.ctas_per_sm()};
  if constexpr (requires { config.slices; }) row.slices = config.slices;
  if (config.loads.a == Load::kTma) row.a_box = config.a_box();
  if (config.loads.b == Load::kTma) row.b_box = config.b_box();
  return row;
}

// A function that returns the C++ call of a helper for a tile size, which is written as "128,64".
using CallOfTile = std::function<std::string(const std::string& tile)>;
inline std::string reduce_call(const std::string& tile) { return "reduce<" + tile + ">"; }

// One helper for each tile size among the rows. A helper adds the partial sums of split tiles.
std::vector<HelperEntry> reduce_helpers(const std::vector<KernelRow>& rows,
                                        const std::string& params,
                                        const CallOfTile& call = reduce_call);
// The helpers of reduce_helpers(), and one that repacks operands.
std::vector<HelperEntry> persistent_helpers(const std::vector<KernelRow>& rows,
                                            const std::string& params);

// The rows of a config table. The names of entries begin with `prefix` and the kernel's name.
template <class Rows>
std::vector<KernelRow> persistent_rows(const std::string& prefix, const std::string& kernel,
                                       const Rows& table) {
  std::vector<KernelRow> rows;
  for (const auto& [variant, config] : table) {
    rows.push_back(persistent_row(prefix + kernel, variant, config));
    rows.back().image = image_name(kernel, variant);
  }
  return rows;
}

// An FP32 kernel with a stream-K schedule. Its code is in namespace tessera::`family`, and the
// params.h of that family declares SimtParams.
template <class Rows>
Kernel stream_k_kernel(const std::string& name, std::string idea, const std::string& family,
                       const Rows& table) {
  Kernel kernel = plain_kernel(name, std::move(idea), persistent_rows("", name, table));
  for (KernelRow& row : kernel.rows) {
    row.reduce_entry = reduce_entry(name, row.block);
    row.repack_entry = repack_entry(name);
  }
  kernel.family = "simt";
  kernel.first_sm = kernel.last_sm = 90;  // tensor copies and setmaxnreg: sm_90a only
  kernel.source = "kernels/families/" + family + "/kernel.cu";
  kernel.name_space = "tessera::" + family;
  kernel.params = kernel.name_space + "::SimtParams";
  kernel.helpers = persistent_helpers(kernel.rows, kernel.params);
  return kernel;
}

// An FP32 kernel that needs no repacked operands. Its configs are in namespace simt_direct.
template <class Rows>
Kernel direct_kernel(const std::string& name, std::string idea, const Rows& table) {
  Kernel kernel = plain_kernel(name, std::move(idea), persistent_rows("", name, table));
  for (KernelRow& row : kernel.rows) {
    row.reduce_entry = reduce_entry(name, row.block);
    row.repack_entry = repack_entry(name);
  }
  kernel.family = "direct";
  kernel.first_sm = kernel.last_sm = 90;  // tensor copies: sm_90a only
  kernel.source = "kernels/families/simt/direct.cu";
  kernel.name_space = "tessera::simt_direct";
  kernel.params = kernel.name_space + "::DirectParams";
  kernel.helpers = persistent_helpers(kernel.rows, kernel.params);
  return kernel;
}

// An FP64 kernel on tensor cores, whose rows are dmma_f64::kSm80 or kSm90. It has a stream-K
// schedule. All of its warps copy operands, which may have any layout and alignment.
template <class Rows>
Kernel dmma_kernel(const std::string& name, std::string idea, const Rows& table, int first_sm) {
  Kernel kernel = plain_kernel(name, std::move(idea), rows_from("", name, table));
  for (std::size_t i = 0; i < kernel.rows.size(); ++i) {
    KernelRow& row = kernel.rows[i];
    row.ctas_per_sm = table[static_cast<int>(i)].config.ctas_per_sm();
    row.reduce_entry = reduce_entry(name, row.block);
  }
  kernel.types = kF64Types;
  kernel.family = "dmma";
  kernel.first_sm = first_sm;
  kernel.source = "kernels/families/dmma/kernel.cu";
  kernel.name_space = "tessera::dmma_f64";
  kernel.configs = table_of("sm" + std::to_string(first_sm));
  kernel.params = "tessera::dmma_f64::DmmaParams";
  kernel.helpers = reduce_helpers(kernel.rows, kernel.params, [&](const std::string& tile) {
    return "reduce<" + tile + (first_sm >= 90 ? ",true>" : ",false>");
  });
  return kernel;
}

// A kernel for batches of small products, such as "small_bf16" with the rows of small::kBf16. The
// kernel keeps pointers into the table, which must live as long as the program.
template <class Rows>
Kernel small_kernel(const std::string& name, std::string idea, const Types& types,
                    const Rows& table, int first_sm) {
  Kernel kernel = plain_kernel(name, std::move(idea), rows_from("", name, table));
  for (std::size_t i = 0; i < kernel.rows.size(); ++i) {
    const auto& config = table[static_cast<int>(i)].config;
    kernel.rows[i].config = &config;
    kernel.rows[i].ctas_per_sm = config.ctas_per_sm();
    kernel.rows[i].thread = config.thread();
  }
  kernel.types = types;
  kernel.family = "small";
  kernel.first_sm = first_sm;
  kernel.source = "kernels/families/small/kernel.cu";
  kernel.name_space = "tessera::small";
  kernel.configs = table_of(name.substr(name.find('_') + 1));
  kernel.params = "tessera::small::Params";
  return kernel;
}

// A rung with a persistent grid and tensor copies. Tiles are not split among CTAs.
template <class Rows>
Kernel persistent_rung(const std::string& name, std::string idea, const Rows& table) {
  Kernel kernel = plain_kernel(name, std::move(idea), persistent_rows("rung_", name, table));
  kernel.family = "producer_warp";
  kernel.first_sm = kernel.last_sm = 90;  // tensor copies: sm_90a only
  kernel.params = kernel.name_space + "::Params";
  return kernel;
}

// A rung of family "warpgroups" with a launch before the product, which copies operands into rows
// that tensor copies can read.
template <class Rows>
Kernel repacking_rung(const std::string& name, std::string idea, const Rows& table) {
  Kernel kernel = warpgroup_rung(name, std::move(idea), table);
  const std::string entry = repack_entry("rung_" + name);
  for (KernelRow& row : kernel.rows) row.repack_entry = entry;
  kernel.helpers = {{entry, "repack_halves", "tessera::passes::RepackParams",
                     passes::kRepackThreads, passes::kPassCtasPerSm, kernel.rows.front().image}};
  return kernel;
}

// A rung of family "warpgroups" with a launch after the product, which adds the partial sums of
// split tiles.
template <class Rows>
Kernel splitting_rung(const std::string& name, std::string idea, const Rows& table) {
  Kernel kernel = warpgroup_rung(name, std::move(idea), table);
  for (KernelRow& row : kernel.rows) row.reduce_entry = reduce_entry("rung_" + name, row.block);
  kernel.helpers = reduce_helpers(kernel.rows, kernel.params);
  return kernel;
}

}  // namespace tessera::catalog
