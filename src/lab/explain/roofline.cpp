#include "lab/explain/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "arch/costs.h"
#include "lab/counts/count_tag.h"
#include "lab/data/batch_memory.h"
#include "lab/json/json_number.h"
#include "lab/model/predict.h"

namespace tessera::lab {
namespace {

std::string tag_of(const CountedRun& run, CountSummary& summary) {
  std::vector<std::string> entries;
  for (const Launch& launch : run.launches) entries.push_back(launch.entry);
  set_tag(summary, *run.kernel, entries);
  return summary.tag;
}

// The units of a GPU that multiply, with their types, from the slowest to the fastest.
struct Unit {
  const char* name;
  ElementType operand;
  ComputeType compute;
  bool is_tensor_core;
  double (arch::Gpu::*peak)() const;
  double arch::Gpu::*reached;  // rate of multiply-adds alone; null: not known
  bool multiplies(const Types& types) const {
    return types.a == operand && types.b == operand && types.compute == compute;
  }
};
constexpr Unit kUnits[] = {{"FP32", ElementType::kF32, ComputeType::kF32, false,
                            &arch::Gpu::fp32_peak, &arch::Gpu::measured_fp32},
                           {"FP64", ElementType::kF64, ComputeType::kF64, false,
                            &arch::Gpu::fp64_peak, &arch::Gpu::estimated_fp64},
                           {"FP64 tensor cores", ElementType::kF64, ComputeType::kF64, true,
                            &arch::Gpu::fp64_tensor_peak, nullptr},
                           {"FP16 tensor cores", ElementType::kF16, ComputeType::kF32, true,
                            &arch::Gpu::f16_tensor_peak, nullptr},
                           {"BF16 tensor cores", ElementType::kBf16, ComputeType::kF32, true,
                            &arch::Gpu::bf16_tensor_peak, nullptr},
                           {"TF32 tensor cores", ElementType::kF32, ComputeType::kTf32, true,
                            &arch::Gpu::tf32_tensor_peak, nullptr},
                           {"FP16 tensor cores, three products", ElementType::kF32,
                            ComputeType::kF16x3, true, &arch::Gpu::f16x3_peak, nullptr}};

// Returns the peak of the slowest unit that is fast enough for the point.
double peak_of(const Roofline& roofline, const RooflinePoint& point) {
  double peak = 0;
  for (const Unit& unit : kUnits) {
    const bool too_slow = peak == 0 || peak < point.tflops();
    if (unit.multiplies(point.types) && too_slow) {
      peak = std::max(peak, (roofline.gpu.*unit.peak)());
    }
  }
  return peak;
}

void require_peak(const arch::Gpu& gpu, const Types& types) {
  const auto fits = [&](const Unit& unit) { return unit.multiplies(types); };
  if (std::ranges::any_of(kUnits, fits)) return;
  throw StatusError(
      Status::unsupported(fmt::format("no peak of {} is known for {}", gpu.name, describe(types))));
}

}  // namespace

double data_sheet_peak(const arch::Gpu& gpu, const Types& types, bool on_tensor_cores) {
  for (const Unit& unit : kUnits) {
    if (unit.multiplies(types) && unit.is_tensor_core == on_tensor_cores) {
      return (gpu.*unit.peak)();
    }
  }
  return 0;
}

double reachable_peak(const arch::Gpu& gpu, const Types& types, bool on_tensor_cores) {
  for (const Unit& unit : kUnits) {
    if (!unit.multiplies(types) || unit.is_tensor_core != on_tensor_cores) continue;
    const double reached = unit.reached ? gpu.*unit.reached : 0;
    return reached > 0 ? reached : (gpu.*unit.peak)();
  }
  return 0;
}

RooflinePoint roofline_point(const CountedRun& run, const std::string& config,
                             const arch::Gpu& gpu) {
  RooflinePoint point;
  const Problem& p = run.problem;
  point.kernel = run.kernel->name;
  point.config = config;
  point.types = p.types;
  point.flop = flop_of(p);
  CountSummary summary = summarize(run.counts, p);
  point.counts_tag = tag_of(run, summary);
  point.intensity = summary.flop_per_byte();
  const Prediction prediction = predict(run, gpu);
  point.predicted_ms = prediction.time_ms;
  point.bound = prediction.bound;
  return point;
}

Roofline roofline_of(const arch::Gpu& gpu, std::vector<RooflinePoint> points) {
  Roofline roofline{gpu, "", model_name(gpu), "", {}, {}, std::move(points)};
  const arch::Costs costs = arch::costs_of(gpu);
  roofline.bandwidths = {{"device memory", costs.dram_gbs}, {"L2", costs.l2_gbs}};
  for (const RooflinePoint& point : roofline.points) require_peak(gpu, point.types);
  for (const Unit& unit : kUnits) {
    const double peak = (gpu.*unit.peak)();
    const auto multiplied = [&](const RooflinePoint& point) {
      return unit.multiplies(point.types);
    };
    if (peak > 0 && std::ranges::any_of(roofline.points, multiplied)) {
      roofline.peaks.push_back({unit.name, peak});
    }
  }
  return roofline;
}

Table roofline_table(const Roofline& roofline) {
  Table table{{"kernel", "config", "FLOP/byte requested", "sector", "footprint", "counts",
               "bandwidth x requested", "predicted ms", "measured ms", "TFLOP/s", "of peak",
               "bound (model)"},
              {}};
  for (const RooflinePoint& p : roofline.points) {
    const double peak = peak_of(roofline, p), memory = p.memory_tflops(roofline.gpu);
    table.rows.push_back({p.kernel, p.config, fmt::format("{:.3g}", p.intensity.requested),
                          fmt::format("{:.3g}", p.intensity.sector),
                          fmt::format("{:.4g}", p.intensity.footprint), p.counts_tag,
                          fmt::format("{:.3g} TFLOP/s, {:.1f} %", memory, 100 * memory / peak),
                          fmt::format("{:.4g}", p.predicted_ms),
                          p.measured_ms ? fmt::format("{:.4g}", *p.measured_ms) : "-",
                          fmt::format("{:.4g}", p.tflops()),
                          fmt::format("{:.1f} %", 100 * p.tflops() / peak), p.bound});
  }
  return table;
}

Json to_json(const Roofline& roofline) {
  Json file = {
      {"schema", "tessera.roofline/1"}, {"gpu", roofline.gpu.name}, {"size", roofline.size},
      {"model", roofline.model},        {"measured", nullptr},      {"bandwidths", Json::array()},
      {"peaks", Json::array()},         {"points", Json::array()}};
  if (!roofline.measured.empty()) file["measured"] = roofline.measured;
  for (const BandwidthRoof& roof : roofline.bandwidths) {
    file["bandwidths"].push_back({{"name", roof.name}, {"gb_per_s", roof.gbs}});
  }
  for (const ComputeRoof& roof : roofline.peaks) {
    file["peaks"].push_back({{"name", roof.name}, {"tflops", roof.tflops}});
  }
  for (const RooflinePoint& p : roofline.points) {
    file["points"].push_back({{"kernel", p.kernel},
                              {"config", p.config},
                              {"type", json_types(p.types)},
                              {"flop_per_byte",
                               {{"requested", p.intensity.requested},
                                {"sector", p.intensity.sector},
                                {"footprint", p.intensity.footprint}}},
                              {"counts", p.counts_tag},
                              {"memory_tflops", p.memory_tflops(roofline.gpu)},
                              {"predicted_ms", p.predicted_ms},
                              {"measured_ms", p.measured_ms ? Json(*p.measured_ms) : Json(nullptr)},
                              {"tflops", p.tflops()},
                              {"bound", p.bound}});
  }
  file["not_drawn"] = Json::array();
  for (const NotDrawn& absent : roofline.not_drawn) {
    file["not_drawn"].push_back({{"kernel", absent.kernel}, {"why", absent.why}});
  }
  return file;
}

}  // namespace tessera::lab
