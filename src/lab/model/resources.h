// The work that a run gives to each unit of a GPU, and the time that the unit alone would need for
// it if every SM is busy. The longest time is a lower bound of the run's time and shows which unit
// to relieve.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "arch/gpu.h"
#include "lab/sites/sites.h"

namespace tessera::lab {

// Two rules for wide loads from shared memory have been published (vgpu/report/memory_counts.h has
// both counts). HW: an H200 follows the pair rule for loads; stores are never merged
// (results/calibration/h200_calibration.json).
inline constexpr const char* kBankModel = "pair";
inline const vgpu::BankCounts& banks_of(const vgpu::SharedCounts& shared) { return shared.pair; }

// kAlu and kL2 are known only from the replay: kAlu is counted in integer instructions of the PTX,
// kL2 in sectors.
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

// The types of operands that tensor cores multiply. Each kind has its own rate.
enum class MatrixOperands { kF64, kTf32, kBf16, kF16, kOther };
MatrixOperands operands_of(std::string_view form);

// Wavefronts by cause. The load/store unit of an SM serves, per clock, one wavefront of shared
// memory or one L1 wavefront of global memory (model, calibrated in
// results/calibration/h200_calibration.json).
struct Wavefronts {
  double conflicts = 0;  // excess wavefronts of shared memory
  double shared = 0;     // wavefronts without conflicts
  double scattered = 0;  // wavefronts of global accesses beyond 128 bytes of lanes each
  double global = 0;     // the other wavefronts of global accesses

  double sum() const { return conflicts + shared + scattered + global; }
  Wavefronts& operator+=(const Wavefronts& more);
};
Wavefronts wavefronts_of(const Site& site);

// Atomic updates that must run one after another; the numbers are lower bounds.
struct SerialUpdates {
  double shared_clocks = 0;  // clocks of updates at one address in shared memory
  double l2 = 0;             // an SM's sectors, or the lanes at one address if these are more
  double meeting = 0;        // global memory: lanes at the most wanted address of a request
  double meeting_ns = 0;     // time of these updates in L2 if they share one sector
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
  // Requested bytes; each byte counts once per request. A byte that an atomic touches counts twice,
  // as read and as written; footprint_bytes does the same.
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

// Returns a lower bound of the number of updates that the most updated sector gets: the mean
// number, as if all updates were spread evenly over the written sectors.
double updates_of_one_sector(const Totals& totals);
double one_sector_ms(const Totals& totals);  // time of the updates of one sector

struct ResourceUse {
  Resource resource;
  std::string name;  // "issue slots"
  double amount = 0;
  std::string unit;  // "warp instructions"
  double ms = 0;     // time if only this resource limited the run
};

// Returns the resources that the run uses and whose rate on the GPU is known, the longest
// first. All times are lower bounds; for tensor cores, because the data sheet's rate is
// used.
std::vector<ResourceUse> resources_of(const Totals& totals, const arch::Gpu& gpu);

// Returns how much of a resource a site uses, in the resource's unit.
double use_of(const Site& site, Resource resource);
// use_of_all() returns the sum of use_of() over all sites; shared_unit() returns the sum's unit in
// words. For device memory the sum counts requested sectors, also those that a cache serves.
double use_of_all(const Totals& totals, const ResourceUse& use);
std::string shared_unit(const ResourceUse& use);

}  // namespace tessera::lab
