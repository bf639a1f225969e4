// Writes an explanation as JSON, for programs.
#include <nlohmann/json.hpp>

#include "lab/explain/explain.h"
#include "lab/json/json_number.h"

namespace tessera::lab {
namespace {

Json to_json(const vgpu::GlobalCounts& g) {
  return {{"requests", g.requests},
          {"requested_bytes", g.requested_bytes},
          {"distinct_bytes", g.distinct_bytes},
          {"sectors", g.sectors},
          {"lines", g.lines},
          {"sectors_per_request", g.sectors_per_request()}};
}

Json to_json(const vgpu::SharedCounts& s) {
  const vgpu::BankCounts& banks = banks_of(s);
  return {{"requests", s.requests},
          {"requested_bytes", s.requested_bytes},
          {"wavefronts", banks.wavefronts},
          {"excess", banks.excess()}};
}

Json to_json(const Site& site) {
  return {{"file", site.file},
          {"line", site.line},
          {"inlined_from", site.via},
          {"text", site.text},
          {"entry", site.entry},
          {"form", site.form},
          {"touches", site.touches},
          {"instructions", site.instructions},
          {"warp", site.warp},
          {"thread", site.thread},
          {"global", to_json(site.memory.global)},
          {"shared", to_json(site.memory.shared)}};
}

constexpr const char* kTraffic[] = {"none",    "load",     "store",      "atomic",
                                    "copy in", "copy out", "copy reduce"};  // by vgpu::Traffic

void add_lanes(Json& to, const Site& site) {
  const vgpu::MemoryCounts& memory = site.memory;
  to["traffic"] = site.forms > 1 ? Json(nullptr) : Json(kTraffic[static_cast<int>(memory.traffic)]);
  to["global"]["same_address_lanes"] = memory.global.same_address_lanes;
  to["shared"]["same_address_lanes"] = memory.shared.same_address_lanes;
}

Json to_json(const Placement& r) {
  return {{"threads", r.threads},
          {"registers", r.registers},
          {"shared_bytes", r.shared_bytes},
          {"local_bytes", r.local_bytes},
          {"blocks_per_sm", r.ctas},
          {"warps_per_sm", r.warps},
          {"max_warps", r.max_warps},
          {"limited_by", r.limited_by},
          {"grid", r.grid}};
}

Json prediction_json(const Explanation& e) {
  if (!e.prediction) return nullptr;
  Json rest = Json::object();
  for (const UnitTime& part : e.rest) rest[part.name] = part.ms;
  return {{"gpu", e.prediction->gpu},
          {"time_ms", e.prediction->time_ms},
          {"bound", e.prediction->bound},
          {"rest_ms", rest},
          {"model", e.prediction->model}};
}

Json resources_json(const Explanation& e) {
  Json list = Json::array();
  for (const ResourceUse& use : e.evidence.resources) {
    list.push_back(
        {{"name", use.name}, {"amount", use.amount}, {"unit", use.unit}, {"ms", use.ms}});
  }
  return list;
}

}  // namespace

Json to_json(const Explanation& e, int lines) {
  const Wavefronts& t = e.evidence.totals.wavefronts;
  Json formulas = Json::array(), advice = Json::array(), sites = Json::array();
  for (const FormulaCheck& check : e.formulas) {
    formulas.push_back({{"what", check.what},
                        {"formula", check.formula},
                        {"expected", check.expected},
                        {"counted", check.counted},
                        {"equal", check.equal()},
                        {"note", check.note}});
  }
  for (const Advice& a : e.advice) {
    advice.push_back(
        {{"rule", a.rule}, {"weight", a.weight}, {"sentence", a.sentence}, {"remedy", a.remedy}});
  }
  for (const Site& site : e.costly) {
    if (lines-- == 0) break;
    sites.push_back(to_json(site));
  }
  const Problem& p = e.problem;
  return {{"kernel", e.kernel},
          {"config", e.config},
          {"counted_as", e.counted_as.empty() ? Json(nullptr) : Json(e.counted_as)},
          {"problem",
           {{"m", p.m},
            {"n", p.n},
            {"k", p.k},
            {"type", json_types(p.types)},
            {"layout", layout_of(p)},
            {"order", name_of(p.order)}}},
          {"gpu", e.gpu.name},
          {"code", e.code_arch},
          {"predicted", prediction_json(e)},
          {"not_predicted", e.prediction ? Json(nullptr) : Json(e.not_predicted)},
          {"limited_by", e.limited_by},
          {"verdict", e.verdict},
          {"tag", e.ran < e.ctas ? "model" : e.counts.tag},
          {"bank_model", kBankModel},
          {"blocks", e.ctas},
          {"blocks_ran", e.ran},
          {"resources", resources_json(e)},
          {"wavefronts",
           {{"conflicts", t.conflicts},
            {"shared", t.shared},
            {"scattered", t.scattered},
            {"global", t.global}}},
          {"formulas", formulas},
          {"flop_per_byte",
           {{"requested", e.intensities.requested},
            {"sector", e.intensities.sector},
            {"footprint", e.intensities.footprint},
            {"once", e.intensities.once}}},
          {"bandwidth_gb_per_s", e.gpu.memory_gbs},
          {"peak_tflops", e.peak_tflops},
          {"reads_per_shared_word", e.reads_per_shared_word},
          {"placement", to_json(e.evidence.placement)},
          {"advice", advice},
          {"lines", sites}};
}

Json launch_json(const Explanation& e, int lines) {
  Json all = to_json(e, lines), object;
  for (const char* key :
       {"gpu", "predicted", "not_predicted", "limited_by", "verdict", "bank_model", "resources",
        "wavefronts", "placement", "advice", "lines"}) {
    object[key] = all[key];
  }
  object["multiplies"] = e.evidence.multiplies;
  for (std::size_t i = 0; i < object["lines"].size(); ++i) {
    add_lanes(object["lines"][i], e.costly[i]);
  }
  return object;
}

}  // namespace tessera::lab
