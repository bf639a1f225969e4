// Sites and evidence made by hand, for tests of advice.
#pragma once

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/gpus.h"
#include "lab/explain/advice/advice.h"

namespace tessera::lab {

// `count` issues of an instruction by whole warps.
inline Site plain(const char* form, std::uint64_t count, int line = 30) {
  Site site;
  site.file = "src/demo/kernel.cu";
  site.line = line;
  site.form = form;
  site.instructions = 1;
  site.warp = count;
  site.thread = 32 * count;
  return site;
}

// The same, of a load from what is named.
inline Site plain_load(const char* form, const char* touches, std::uint64_t count, int line) {
  Site site = plain(form, count, line);
  site.touches = touches;
  site.memory.traffic = vgpu::Traffic::kLoad;
  return site;
}

// `count` issues of a shared load of 32 bits, `ways` wavefronts each.
inline Site shared_load(std::uint64_t count, std::uint64_t ways, int line = 28) {
  Site site = plain_load("ld.shared.f32", "tile_b", count, line);
  vgpu::SharedCounts& shared = site.memory.shared;
  shared.requests = count;
  shared.lanes = 32 * count;
  shared.requested_bytes = 128 * count;
  shared.plain = shared.pair = {count, ways * count};
  return site;
}

// `count` issues of a global load of 32 bits; all lanes want different words in `lines` lines.
inline Site global_load(std::uint64_t count, std::uint64_t lines, int instructions = 1) {
  Site site = plain_load("ld.global.f32", "operand a", count, 12);
  site.instructions = instructions;
  vgpu::GlobalCounts& global = site.memory.global;
  global.requests = count;
  global.lanes = 32 * count;
  global.requested_bytes = global.distinct_bytes = 128 * count;
  global.lines = global.data_wavefronts = lines * count;
  global.sectors = std::max<std::uint64_t>(4, std::min<std::uint64_t>(32, 4 * lines)) * count;
  return site;
}

inline Evidence evidence(std::vector<Site> sites) {
  Evidence e;
  CountedRun run;
  run.counts.resize(1);
  for (const Site& site : sites) run.counts[0].warp_instructions += site.warp;
  e.totals = totals_of(run, sites);
  e.resources = resources_of(e.totals, arch::kH200);
  e.sites = std::move(sites);
  return e;
}

inline const Advice* find(const std::vector<Advice>& list, std::string_view rule) {
  const auto at = std::find_if(list.begin(), list.end(),
                               [&](const Advice& advice) { return advice.rule == rule; });
  return at == list.end() ? nullptr : &*at;
}

inline bool fires(const Evidence& e, std::string_view rule) {
  return find(advise(e), rule) != nullptr;
}

}  // namespace tessera::lab
