// Kernels and the limits of a GPU: each kernel's speed and its FLOP per byte. Bytes are counted in
// three ways. An intensity means nothing without its denominator, so all three are kept by name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arch/gpu.h"
#include "lab/counts/count_run.h"
#include "lab/record/report.h"

namespace tessera::lab {

struct RooflinePoint {
  std::string kernel, config;
  Types types;
  double flop = 0;
  FlopPerByte intensity;   // requested, sector, footprint
  std::string counts_tag;  // "exact" or "model"
  double predicted_ms = 0;
  std::string bound;  // predicted
  std::optional<double> measured_ms;

  double ms() const { return measured_ms.value_or(predicted_ms); }
  double tflops() const { return flop / (ms() * 1e9); }
  // Returns the speed that device memory allows if every word is requested from it.
  double memory_tflops(const arch::Gpu& gpu) const {
    return gpu.memory_gbs * intensity.requested * 1e-3;
  }
};
// A kernel that the GPU cannot run.
struct NotDrawn {
  std::string kernel, why;
};

struct BandwidthRoof {
  std::string name;  // "device memory"
  double gbs = 0;
};
struct ComputeRoof {
  std::string name;  // "FP32"
  double tflops = 0;
};

struct Roofline {
  arch::Gpu gpu;
  std::string size;      // "4096 x 4096 x 4096"
  std::string model;     // the model behind the predicted times
  std::string measured;  // file of the measured ones; empty without
  std::vector<BandwidthRoof> bandwidths;
  std::vector<ComputeRoof> peaks;
  std::vector<RooflinePoint> points;
  std::vector<NotDrawn> not_drawn = {};
};

// Returns the peak TFLOP/s of the unit that multiplies these types, computed from the unit's number
// of lanes and the clock; 0 if there is no such unit.
double data_sheet_peak(const arch::Gpu& gpu, const Types& types, bool on_tensor_cores);
// Returns the TFLOP/s that the unit for these types can reach, measured with a kernel of
// multiply-adds alone. If that was not measured, returns data_sheet_peak().
double reachable_peak(const arch::Gpu& gpu, const Types& types, bool on_tensor_cores);

// Returns one kernel's point. The run may have counted only a sample of the blocks.
RooflinePoint roofline_point(const CountedRun& run, const std::string& config,
                             const arch::Gpu& gpu);
// Returns the roofs of the GPU, with the compute peaks of the units that multiply the points'
// types. Throws kUnsupported for types whose peak is not known.
Roofline roofline_of(const arch::Gpu& gpu, std::vector<RooflinePoint> points);

Table roofline_table(const Roofline& roofline);
Json to_json(const Roofline& roofline);

// Returns a drawing for a slide, 1280 x 760, for light and dark pages.
std::string roofline_svg(const Roofline& roofline);

}  // namespace tessera::lab
