#include "lab/explain/roofline.h"

#include <fmt/format.h>

#include <algorithm>

#include "arch/costs.h"
#include "lab/counts/count_tag.h"
#include "lab/model/predict.h"

namespace tessera::lab {
namespace {

std::string tag_of(const CountedRun& run, CountSummary& summary) {
  std::vector<std::string> entries;
  for (const Launch& launch : run.launches) entries.push_back(launch.entry);
  set_tag(summary, image_of(*run.kernel), entries);
  return summary.tag;
}

double peak_of(const Roofline& roofline, const RooflinePoint& point) {
  if (point.type == DataType::kF32) return roofline.gpu.fp32_peak();
  const bool on_tensor_cores = point.tflops() > roofline.gpu.fp64_peak();
  return on_tensor_cores ? roofline.gpu.fp64_tensor_peak() : roofline.gpu.fp64_peak();
}

}  // namespace

RooflinePoint roofline_point(const CountedRun& run, const std::string& config,
                             const arch::Gpu& gpu) {
  RooflinePoint point;
  const Problem& p = run.problem;
  point.kernel = run.kernel->name;
  point.config = config;
  point.type = p.type;
  point.flop = 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  CountSummary summary = summarize(run.counts);
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
  const auto any = [&](DataType type) {
    return std::ranges::any_of(roofline.points,
                               [&](const RooflinePoint& point) { return point.type == type; });
  };
  if (any(DataType::kF32)) roofline.peaks.push_back({"FP32", gpu.fp32_peak()});
  if (any(DataType::kF64)) {
    roofline.peaks.push_back({"FP64", gpu.fp64_peak()});
    if (gpu.fp64_tensor_lanes) {
      roofline.peaks.push_back({"FP64 tensor cores", gpu.fp64_tensor_peak()});
    }
  }
  return roofline;
}

Table roofline_table(const Roofline& roofline) {
  Table table{{"kernel", "config", "FLOP/byte requested", "sector", "footprint", "counts",
               "predicted ms", "measured ms", "TFLOP/s", "of peak", "bound (model)"},
              {}};
  for (const RooflinePoint& p : roofline.points) {
    table.rows.push_back(
        {p.kernel, p.config, fmt::format("{:.3g}", p.intensity.requested),
         fmt::format("{:.3g}", p.intensity.sector), fmt::format("{:.4g}", p.intensity.footprint),
         p.counts_tag, fmt::format("{:.4g}", p.predicted_ms),
         p.measured_ms ? fmt::format("{:.4g}", *p.measured_ms) : "-",
         fmt::format("{:.4g}", p.tflops()),
         fmt::format("{:.1f} %", 100 * p.tflops() / peak_of(roofline, p)), p.bound});
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
                              {"type", name_of(p.type)},
                              {"flop_per_byte",
                               {{"requested", p.intensity.requested},
                                {"sector", p.intensity.sector},
                                {"footprint", p.intensity.footprint}}},
                              {"counts", p.counts_tag},
                              {"predicted_ms", p.predicted_ms},
                              {"measured_ms", p.measured_ms ? Json(*p.measured_ms) : Json(nullptr)},
                              {"tflops", p.tflops()},
                              {"bound", p.bound}});
  }
  return file;
}

}  // namespace tessera::lab
