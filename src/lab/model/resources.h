// The work that a run gives each part of a GPU, and how long that part alone would need for it with
// every SM busy. The longest is a lower bound of the run's time, and the thing to make shorter.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "arch/gpu.h"
#include "lab/sites/sites.h"

namespace tessera::lab {

// Two rules are in print for wide shared loads (vgpu/report/memory_counts.h has both counts).
// HW: an H200 follows the pair rule for loads; stores never merge
// (results/calibration/h200_calibration.json).
inline constexpr const char* kBankModel = "pair";
inline const vgpu::BankCounts& banks_of(const vgpu::SharedCounts& shared) { return shared.pair; }

// kAlu and kL2 are of the replay alone: the first is counted in integer instructions of the PTX,
// the second in sectors.
enum class Resource {
  kIssue,
  kFma,   // the FP32 pipe
  kFp64,  // the FP64 pipe
  kMatrix,
  kSpecial,
  kLoadStore,
  kSharedAtomic,
  kL2Atomic,
  kHotSector,
  kDram,
  kAlu,
  kL2
};

// The types of operands that tensor cores multiply: each kind has a rate of its own.
enum class MatrixOperands { kF64, kTf32, kBf16, kF16, kOther };
MatrixOperands operands_of(std::string_view form);

// The load/store unit of an SM serves, per clock, one wavefront of shared memory or one L1
// wavefront of global memory (model, calibrated in results/calibration/h200_calibration.json).
// Wavefronts by their cause.
struct Wavefronts {
  double conflicts = 0;  // excess wavefronts of shared memory
  double shared = 0;     // wavefronts without conflicts
  double scattered = 0;  // wavefronts of global accesses beyond 128 bytes of lanes each
  double global = 0;     // the other wavefronts of global accesses

  double sum() const { return conflicts + shared + scattered + global; }
  Wavefronts& operator+=(const Wavefronts& more);
};
Wavefronts wavefronts_of(const Site& site);

// Atomic updates that must run one after another: at least these.
struct SerialUpdates {
  double shared_clocks = 0;  // at one address in shared memory
  double l2 = 0;             // an SM's sectors, or the lanes at one address if these are more
  double meeting = 0;        // global memory: lanes at the most wanted address of a request
  double meeting_ns = 0;     // time of these in L2 if they share one sector
  double shared = 0;         // shared memory, counted as in `meeting`
  bool are_floats = false;
};
SerialUpdates serial_updates_of(const Site& site);

// Sums over a launch, or over all launches of a run.
struct Totals {
  double warp_instructions = 0;
  double fma_f32 = 0, fma_f64 = 0;             // issues
  double pipe_f32 = 0, pipe_f64 = 0;           // all instructions of the pipes, issues
  double matrix = 0;                           // issues
  std::array<double, 4> matrix_flop{};         // by MatrixOperands
  std::string unrated_matrix;                  // a product of other operands, if there are any
  double barriers = 0;                         // issues
  double shared_loads = 0, shared_stores = 0;  // requests
  double shared_load_lanes = 0, fma_lanes = 0;
  double global_requests = 0;
  Wavefronts wavefronts;
  SerialUpdates updates;
  double requested_bytes = 0, sector_bytes = 0, footprint_bytes = 0;  // global memory
  // Each byte counts once per request; bytes that atomics touch are read and written, as in the
  // footprint.
  double distinct_bytes = 0;
  double written_sectors = 0;  // each once
  double special = 0;          // issues of reciprocals, roots, exponentials, sines
  double integer = 0;          // issues, in the PTX
  double local_requests = 0;

  double fma() const { return fma_f32 + fma_f64; }
  double multiplies() const { return fma() + matrix; }  // issues
};
Totals totals_of(const CountedRun& run, const std::vector<Site>& sites);
Totals totals_of(const LaunchCounts& launch);

// The least number of updates that the sector with the most of them gets, if they were spread
// evenly over everything that is written.
double updates_of_one_sector(const Totals& totals);
double one_sector_ms(const Totals& totals);  // time of the updates of one sector

struct ResourceUse {
  Resource resource;
  std::string name;  // "issue slots"
  double amount = 0;
  std::string unit;  // "warp instructions"
  double ms = 0;     // this resource alone
};

// Resources that the run uses and that have a known rate on the GPU, the longest first. Tensor
// cores are rated as in the data sheet, so their time is a lower bound, like all others.
std::vector<ResourceUse> resources_of(const Totals& totals, const arch::Gpu& gpu);

// A site's part of a resource, in its unit.
double use_of(const Site& site, Resource resource);
// The sum over all sites, and its unit for people. For device memory it counts requested sectors,
// whatever a perfect cache would move.
double use_of_all(const Totals& totals, const ResourceUse& use);
std::string shared_unit(const ResourceUse& use);

}  // namespace tessera::lab
