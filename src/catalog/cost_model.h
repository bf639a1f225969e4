// What a product is expected to cost, part by part: the one model behind the choice of a kernel
// (gemm/select.h) and of its schedule (scheduler/choose_stream_k.h). Constants are measured on an
// H200 at 1.98 GHz and stand in cost_model.cpp; for other GPUs they are proportions.
#pragma once

#include "catalog/catalog.h"
#include "kernels/schedule/choose_stream_k.h"

namespace tessera::catalog {

// Microseconds.
struct Prediction {
  double launch = 0;    // from the end of the call before to the first instruction
  double turn = 0;      // a launch ahead that turns operands
  double start = 0;     // until the first tile has come
  double multiply = 0;  // waves of tiles, the last one perhaps not full
  double store = 0;     // what storing tiles adds to that
  double memory = 0;    // operands and D by way of device memory: the least that it takes
  double add = 0;       // a second launch that adds the parts of cut tiles
  double edges = 0;     // launches behind these, of what whole tiles do not cover

  bool memory_bound() const { return memory > multiply + store; }
  double total() const {
    return launch + turn + start + (memory_bound() ? memory : multiply + store) + add + edges;
  }
};

// Of a persistent row whose operands come by tensor copies.
scheduler::TileCosts tile_costs(const KernelRow& row, const GemmParams& canonical,
                                const PlanContext& context);

// The schedule of a persistent row: as the options say, or the one that costs least.
scheduler::StreamK schedule_of(const KernelRow& row, const GemmParams& canonical,
                               const PlanContext& context);

// What a call with this row costs whose operands come as its fetches say. `turned_bytes`: of those
// that a launch ahead turns.
Prediction predicted(const KernelRow& row, const GemmParams& canonical, int element_bytes,
                     const PlanContext& context, std::int64_t turned_bytes = 0);

// The same launches behind others of one plan: they begin while those end.
double behind_another(Prediction prediction);

}  // namespace tessera::catalog
