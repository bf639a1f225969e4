// How a catalog line becomes a Kernel: entry names from rows, launches from configs.
#pragma once

#include <string>
#include <string_view>

#include "catalog/catalog.h"
#include "problem/config.h"

namespace tessera::catalog {

inline constexpr std::int64_t kMaxGrid = 0x7fffffff;  // HW: largest grid.x since compute 3.0

// "rung_10_general_tile__128x128x8_ak_bn": what the build calls the entry of a row.
std::string entry_name(std::string_view kernel, std::string_view variant, Sides sides);

// Blocks that cover D of the canonical problem.
std::int64_t grid_blocks(const KernelRow& row, const GemmParams& canonical);

std::int64_t no_workspace(const KernelRow& row, const Problem& problem);
Plan plan_one_launch(const KernelRow& row, const Problem& problem, const Operands& operands,
                     DeviceAddress workspace);

// Packed A and packed B, each padded to whole blocks, one after the other.
std::int64_t packed_workspace(const KernelRow& row, const Problem& problem);
Plan plan_packed(const KernelRow& row, const Problem& problem, const Operands& operands,
                 DeviceAddress workspace);

// Outputs of one thread: what the config says, else a strip along n of as many as there are.
template <class Config>
constexpr OutputTile thread_tile(const Config& config) {
  if constexpr (requires { config.thread.m; }) return config.thread;
  if constexpr (requires { config.kThread; }) return {config.kThread, config.kThread};
  return {1, config.block.m * config.block.n / config.threads()};
}

// The type-erased rows of a kernel's config table.
template <class Rows>
std::vector<KernelRow> rows_from(std::string_view name, const Rows& table) {
  std::vector<KernelRow> rows;
  for (const auto& [variant, config] : table) {
    KernelRow row{.variant = variant, .entry = {}, .sides = {}, .block = config.block};
    if constexpr (requires { config.sides; }) row.sides = config.sides;
    if constexpr (requires { config.threads_y(); }) row.threads_y = config.threads_y();
    row.threads = config.threads() / row.threads_y;
    row.thread = thread_tile(config);
    row.entry = entry_name(name, variant, row.sides);
    rows.push_back(row);
  }
  return rows;
}

// An FP32 kernel of one launch.
template <class Rows>
Kernel rung(std::string name, std::string idea, const Rows& table) {
  std::vector<KernelRow> rows = rows_from(name, table);
  return {.name = std::move(name),
          .idea = std::move(idea),
          .type = DataType::kF32,
          .rows = std::move(rows),
          .helpers = {},
          .workspace_bytes = no_workspace,
          .plan = plan_one_launch,
          .own_image = {}};
}

// An FP64 kernel that multiplies packed blocks: two packing launches, then one that multiplies.
template <class Rows>
Kernel packed_rung(std::string name, std::string idea, const Rows& table) {
  std::vector<KernelRow> rows = rows_from(name, table);
  std::vector<std::string> helpers;
  for (const KernelRow& row : rows) {
    helpers.push_back(row.entry + "__pack_a");
    helpers.push_back(row.entry + "__pack_b");
  }
  return {.name = std::move(name),
          .idea = std::move(idea),
          .type = DataType::kF64,
          .rows = std::move(rows),
          .helpers = std::move(helpers),
          .workspace_bytes = packed_workspace,
          .plan = plan_packed,
          .own_image = {}};
}

}  // namespace tessera::catalog
