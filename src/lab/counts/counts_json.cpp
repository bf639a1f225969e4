#include "lab/counts/counts_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lab/counts/count_tag.h"

namespace tessera::lab {
namespace {

constexpr std::size_t kLines = 10;  // number of costliest lines in a record

Json json_of(const Count& count) { return {{"warp", count.warp}, {"thread", count.thread}}; }

// Returns counts by width in bits, with the names of the SASS: {"b32": {...}, "b128": {...}}.
Json json_of(const Accesses& accesses) {
  Json out = Json::object();
  for (const auto& [bytes, count] : accesses) out[fmt::format("b{}", 8 * bytes)] = json_of(count);
  return out;
}

Json json_of(const vgpu::GlobalCounts& g) {
  return {{"requests", g.requests},
          {"lanes", g.lanes},
          {"requested_bytes", g.requested_bytes},
          {"distinct_bytes", g.distinct_bytes},
          {"sectors", g.sectors},
          {"partial_sectors", g.partial_sectors},
          {"lines", g.lines},
          {"tag_wavefronts", g.tag_wavefronts},
          {"data_wavefronts", g.data_wavefronts},
          {"sectors_per_request", g.sectors_per_request()},
          {"efficiency", g.efficiency()}};
}

Json json_of(const vgpu::BankCounts& banks) {
  return {{"passes", banks.passes}, {"wavefronts", banks.wavefronts}, {"excess", banks.excess()}};
}

Json json_of(const vgpu::SharedCounts& s) {
  return {{"requests", s.requests},
          {"lanes", s.lanes},
          {"requested_bytes", s.requested_bytes},
          {"plain", json_of(s.plain)},
          {"pair", json_of(s.pair)}};
}

// Memories without accesses are left out.
Json json_of(const vgpu::MemoryCounts& m) {
  Json out = Json::object();
  if (m.global.requests != 0) out["global"] = json_of(m.global);
  if (m.shared.requests != 0) out["shared"] = json_of(m.shared);
  if (m.local.requests != 0) out["local"] = json_of(m.local);
  return out;
}

Json json_of(const vgpu::Footprint& f, const std::string& tag) {
  if (!f.known) return nullptr;
  return {{"tag", tag}, {"read_bytes", f.read_bytes()}, {"written_bytes", f.written_bytes()}};
}

Json memory_json(const CountSummary& c) {
  const vgpu::LaunchMemory& m = c.memory;
  if (!m.counted) return nullptr;
  return {
      {"loads", json_of(m.loads)},           {"stores", json_of(m.stores)},
      {"atomics", json_of(m.atomics)},       {"copies_in", json_of(m.copies_in)},
      {"copies_out", json_of(m.copies_out)}, {"copies_reduce", json_of(m.copies_reduce)},
      {"wavefront_tag", wavefront_tag(c)},   {"footprint", json_of(m.footprint, footprint_tag(c))}};
}

Json intensity_json(const CountSummary& c) {
  if (!c.memory.counted) return nullptr;
  const FlopPerByte per = c.flop_per_byte();
  Json footprint = c.memory.footprint.known ? Json(per.footprint) : Json(nullptr);
  return {{"requested", per.requested}, {"sector", per.sector}, {"footprint", footprint}};
}

Json mix_json(const CountSummary& c) {
  Json out = Json::object();
  for (const auto& [kind, count] : c.mix) out[std::string(name_of(kind))] = json_of(count);
  return out;
}

Json resources_json(const vgpu::LaunchResources& r) {
  return {{"ctas", r.ctas},
          {"ctas_per_cluster", r.ctas_per_cluster},
          {"threads", r.threads},
          {"shared_bytes", r.shared_bytes},
          {"local_bytes", r.local_bytes},
          {"live_registers", r.live_registers}};
}

Json lines_json(const CountSummary& c) {
  Json out = Json::array();
  for (const LineCounts& line : c.lines) {
    if (out.size() == kLines) break;
    out.push_back({{"file", line.file},
                   {"line", line.line},
                   {"warp", line.total.warp},
                   {"cost", line.cost()},
                   {"memory", json_of(line.memory)}});
  }
  return out;
}

}  // namespace

Json to_json(const CountSummary& c) {
  return {
      {"tag", c.tag},
      {"launches", c.launches},
      {"sample", c.is_sample() ? Json{{"clusters", c.clusters}, {"ran", c.ran}} : Json(nullptr)},
      {"total", json_of(c.total)},
      {"fma", json_of(c.fma)},
      {"matrix", json_of(c.matrix)},
      {"bar", json_of(c.barrier)},
      {"ld.global", json_of(c.global_loads)},
      {"st.global", json_of(c.global_stores)},
      {"ld.shared", json_of(c.shared_loads)},
      {"st.shared", json_of(c.shared_stores)},
      {"ld_st.generic", json_of(c.other_accesses)},
      {"fma_per_shared_load", c.fma_per_shared_load()},
      {"flop", c.flop},
      {"useful_flop", c.useful_flop},
      {"flop_per_byte", intensity_json(c)},
      {"memory", memory_json(c)},
      {"mix", mix_json(c)},
      {"resources", resources_json(c.resources)},
      {"lines", lines_json(c)},
      {"approximate", c.approximate_forms},
      {"cubin_differences", c.cubin_differences}};
}

}  // namespace tessera::lab
