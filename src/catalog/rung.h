// Makes a Kernel from a line of the catalog. Its config table gives names of entries and images.
#pragma once

#include <string>
#include <string_view>

#include "base/config.h"
#include "catalog/catalog.h"

namespace tessera::catalog {

// The name that the build gives to the entry of a config row:
// "rung_10_general_tile__128x128x8_ak_bn". `kernel` already includes the prefix "rung_".
std::string entry_name(std::string_view kernel, std::string_view variant, Majors majors);

// The name of the image of a kernel's config: "12_warp_tile__staged".
inline std::string image_name(std::string_view kernel, std::string_view variant) {
  return std::string(kernel) + "__" + std::string(variant);
}

// The namespace of a rung's code: "tessera::vector_access" for "07_vector_access".
std::string name_space_of(const std::string& rung);
// The name of a kernel's config table, from the words after the family in the kernel's name:
// "kBf16F32" for the words "bf16_f32" of "mma_bf16_f32".
std::string table_of(std::string_view words);

// Returns the tile of outputs that one thread computes: the tile that the config states, or, if it
// states none, a row of outputs: an equal share of the block tile.
template <class Config>
constexpr OutputTile thread_tile(const Config& config) {
  if constexpr (requires { config.thread.m; }) return config.thread;
  if constexpr (requires { config.kThread; }) return {config.kThread, config.kThread};
  return {1, config.block.m * config.block.n / config.threads()};
}

// The type-erased rows of a kernel's config table. The names of entries begin with `prefix` and the
// kernel's name.
template <class Rows>
std::vector<KernelRow> rows_from(const std::string& prefix, const std::string& name,
                                 const Rows& table) {
  std::vector<KernelRow> rows;
  for (const auto& [variant, value] : table) {
    const auto& config = value;  // WHY: Clang 14 takes no structured binding in a requires
    KernelRow row{.variant = variant, .entry = {}, .majors = {}, .block = config.block};
    if constexpr (requires { config.majors; }) row.majors = config.majors;
    if constexpr (requires { config.threads_y(); }) row.threads_y = config.threads_y();
    row.threads = config.threads() / row.threads_y;
    if constexpr (requires { config.shared_bytes(); }) row.shared_bytes = config.shared_bytes();
    row.thread = thread_tile(config);
    row.entry = entry_name(prefix + name, variant, row.majors);
    row.image = image_name(name, variant);
    rows.push_back(row);
  }
  return rows;
}

// An FP32 kernel of one launch; callers change the fields that differ.
inline Kernel plain_kernel(std::string name, std::string idea, std::vector<KernelRow> rows) {
  std::string name_space = name_space_of(name), source = "ladder/" + name + "/kernel.cu";
  return {.name = std::move(name),
          .idea = std::move(idea),
          .types = kF32Types,
          .family = "one_launch",
          .rows = std::move(rows),
          .helpers = {},
          .source = std::move(source),
          .name_space = std::move(name_space)};
}

// An FP32 rung. `first_sm` is the lowest compute capability that its code runs on (kPortableArch of
// its config.h).
template <class Rows>
Kernel rung(const std::string& name, std::string idea, const Rows& table, int first_sm = 75,
            int known_spills = 0) {
  Kernel kernel = plain_kernel(name, std::move(idea), rows_from("rung_", name, table));
  kernel.first_sm = first_sm;
  kernel.known_spills = known_spills;
  return kernel;
}

// An FP64 rung. `first_sm` is the lowest compute capability that its code runs on.
template <class Rows>
Kernel fp64_rung(const std::string& name, std::string idea, const Rows& table, int first_sm) {
  Kernel kernel = rung(name, std::move(idea), table, first_sm);
  kernel.types = kF64Types;
  return kernel;
}

// A BF16 rung with FP32 sums. `first_sm` and `last_sm` are the lowest and the highest compute
// capability that its code runs on.
template <class Rows>
Kernel bf16_rung(const std::string& name, std::string idea, const Rows& table, int first_sm,
                 int last_sm = 999) {
  Kernel kernel = rung(name, std::move(idea), table, first_sm);
  kernel.types = kBf16Types;
  kernel.last_sm = last_sm;
  return kernel;
}

// A rung of family "warpgroups". Its plan reads the configs of the rows in `table`, which must
// exist as long as the program runs.
template <class Rows>
Kernel warpgroup_rung(const std::string& name, std::string idea, const Rows& table) {
  Kernel kernel = bf16_rung(name, std::move(idea), table, 90, 90);
  for (std::size_t i = 0; i < kernel.rows.size(); ++i) {
    const auto& config = table[static_cast<int>(i)].config;
    kernel.rows[i].config = &config;
    if (config.persistent) kernel.rows[i].ctas_per_sm = config.ctas_per_sm();
  }
  kernel.family = "warpgroups";
  kernel.params = kernel.name_space + "::Params";
  return kernel;
}

// The entry that adds one matrix to another (AddParams). It belongs to the first FP64 rung.
inline constexpr const char* kAddEntry = "rung_20_unpacked__add";

template <class Rows>
Kernel first_fp64_rung(const std::string& name, std::string idea, const Rows& table) {
  Kernel kernel = fp64_rung(name, std::move(idea), table, 75);
  kernel.helpers = {{kAddEntry, "add", "tessera::AddParams", 0, 1, kernel.rows.front().image}};
  return kernel;
}

// A production kernel of one launch, such as "simt_f64_sm80", whose rows are portable::kF64Sm80.
template <class Rows>
Kernel portable_kernel(const std::string& name, std::string idea, const Types& types,
                       const Rows& table, int first_sm) {
  Kernel kernel = plain_kernel(name, std::move(idea), rows_from("", name, table));
  kernel.types = types;
  kernel.first_sm = first_sm;
  kernel.family = "portable";
  kernel.params = "tessera::portable::Params";
  kernel.source = "kernels/families/simt/portable.cu";
  kernel.name_space = "tessera::portable";
  kernel.configs = table_of(name.substr(name.find('_') + 1));
  return kernel;
}

// A kernel that multiplies a matrix by a few vectors, such as "simt_f32_vector" or
// "vector_bf16_f32".
template <class Rows>
Kernel vector_kernel(const std::string& name, std::string idea, const Types& types,
                     const Rows& table, int first_sm) {
  Kernel kernel = portable_kernel(name, std::move(idea), types, table, first_sm);
  for (std::size_t i = 0; i < kernel.rows.size(); ++i) {
    kernel.rows[i].config = &table[static_cast<int>(i)].config;
  }
  kernel.family = "vector";
  kernel.params = "tessera::vector::Params";
  kernel.source = "kernels/families/simt/vector.cu";
  kernel.name_space = "tessera::vector";
  kernel.configs = name.starts_with("vector_") ? table_of(name.substr(7)) : "kF32";
  return kernel;
}

// A kernel that multiplies a BF16 matrix by a few rows of FP32, such as "mixed_bf16_f32", whose
// rows are mixed::kBf16F32. `table` must exist as long as the program runs.
template <class Rows>
Kernel mixed_kernel(const std::string& name, std::string idea, const Types& types,
                    const Rows& table, int first_sm) {
  Kernel kernel = portable_kernel(name, std::move(idea), types, table, first_sm);
  for (std::size_t i = 0; i < kernel.rows.size(); ++i) {
    const auto& config = table[static_cast<int>(i)].config;
    kernel.rows[i].config = &config;
    kernel.rows[i].ctas_per_sm = config.ctas_per_sm();
  }
  kernel.family = "mixed";
  kernel.params = "tessera::mixed::Params";
  kernel.source = "kernels/families/mixed/kernel.cu";
  kernel.name_space = "tessera::mixed";
  return kernel;
}

// A rung with the machine code of the kernel `from`, reordered by the build.
inline Kernel patched_rung(std::string name, std::string idea, Kernel from) {
  for (KernelRow& row : from.rows) row.image = image_name(name, row.variant);
  from.patched_from = std::move(from.name);
  from.name = std::move(name);
  from.idea = std::move(idea);
  return from;
}

// An FP64 kernel on packed blocks: two launches pack the operands, and the third multiplies.
template <class Rows>
Kernel packed_rung(const std::string& name, std::string idea, const Rows& table,
                   int first_sm = 75) {
  Kernel kernel = rung(name, std::move(idea), table, first_sm);
  for (std::size_t i = 0; i < kernel.rows.size(); ++i) {
    for (const std::string pack : {"pack_a", "pack_b"}) {
      kernel.helpers.push_back({kernel.rows[i].entry + "__" + pack,
                                pack + "<kernel::kConfigs[" + std::to_string(i) + "].config>",
                                "tessera::PackParams", 0, 1, kernel.rows[i].image});
    }
  }
  kernel.types = kF64Types;
  kernel.family = "packed";
  return kernel;
}

}  // namespace tessera::catalog
