#include "lab/model/resources.h"

#include <algorithm>

#include "arch/costs.h"
#include "lab/counts/pipe_instructions.h"

namespace tessera::lab {
namespace {

Wavefronts wavefronts_of(const vgpu::MemoryCounts& memory) {
  const vgpu::BankCounts& banks = banks_of(memory.shared);
  const vgpu::GlobalCounts& global = memory.global;
  Wavefronts split;
  split.conflicts = static_cast<double>(banks.excess());
  split.shared = static_cast<double>(banks.passes);
  const auto wavefronts = static_cast<double>(global.data_wavefronts);
  const double needed = std::max(static_cast<double>(global.requests),
                                 static_cast<double>(global.requested_bytes) / vgpu::kLineBytes);
  split.global = std::min(wavefronts, needed);
  split.scattered = wavefronts - split.global;
  return split;
}

// Returns the number of updates of one address that run one after another. WHY a request counts
// once if all lanes add 32-bit integers to one address: ptxas then adds up the warp's values and
// updates once (tools/calibrate/kernels/atomics.cu, counter).
double updates_at_one(std::string_view form, std::uint64_t requests, std::uint64_t lanes,
                      std::uint64_t at_one) {
  const bool is_sum = form.find(".add.u32") != form.npos || form.find(".add.s32") != form.npos;
  return static_cast<double>(is_sum && at_one == lanes ? requests : at_one);
}

bool is_of_floats(std::string_view form) {
  return form.find(".f") != form.npos || form.find(".bf") != form.npos;
}

// Returns the clocks of an update in shared memory. HW: no instruction of sm_90 adds floats or
// 64-bit numbers in shared memory, so ptxas writes a loop. Clocks for halves were not measured; the
// clocks for f32 are used.
double clocks_of_shared_update(std::string_view form) {
  const arch::Costs costs;
  if (form.find(".add") == form.npos) return costs.shared_atomic;
  if (form.ends_with("64")) return costs.shared_swap_64;
  return is_of_floats(form) ? costs.shared_swap_32 : costs.shared_atomic;
}

template <class Row>
SerialUpdates updates_of(const Row& row) {
  if (row.memory.traffic != vgpu::Traffic::kAtomic) return {};
  const auto& shared = row.memory.shared;
  const auto& global = row.memory.global;
  const std::string_view form = row.form;
  SerialUpdates updates;
  updates.shared = updates_at_one(form, shared.requests, shared.lanes, shared.same_address_lanes);
  updates.shared_clocks = clocks_of_shared_update(form) * updates.shared;
  updates.meeting = updates_at_one(form, global.requests, global.lanes, global.same_address_lanes);
  updates.l2 = std::max(static_cast<double>(global.sectors), updates.meeting);
  const arch::Costs costs;
  const bool shares = updates.meeting > static_cast<double>(global.requests);
  updates.are_floats = is_of_floats(form);
  updates.meeting_ns = updates.meeting * (!shares              ? costs.hot_sector_ns
                                          : updates.are_floats ? costs.hot_lanes_float_ns
                                                               : costs.hot_lanes_integer_ns);
  return updates;
}

// Adds a row of counts: a site, or one instruction of the PTX.
template <class Row>
void add_row(Totals& totals, const Row& row) {
  const FormClass form = classify(row.form);
  const auto warp = static_cast<double>(row.warp);
  if (form.kind == FormKind::kFma) {
    (is_double(row.form) ? totals.fma_f64 : totals.fma_f32) += warp;
    totals.fma_lanes += static_cast<double>(row.thread);
  }
  totals.pipe_f32 += warp * pipe_instructions(row.form, FloatPipe::kF32);
  totals.pipe_f64 += warp * pipe_instructions(row.form, FloatPipe::kF64);
  if (form.kind == FormKind::kMatrix) {
    totals.matrix += warp;
    const MatrixOperands operands = operands_of(row.form);
    if (operands == MatrixOperands::kOther) {
      totals.unrated_matrix = row.form;
    } else {
      totals.matrix_flop[static_cast<std::size_t>(operands)] +=
          warp * static_cast<double>(matrix_flop(row.form));
    }
  }
  if (form.kind == FormKind::kBarrier) totals.barriers += warp;
  if (class_of(row.form) == InstructionClass::kInteger) totals.integer += warp;
  if (class_of(row.form) == InstructionClass::kSpecial) totals.special += warp;
  const auto requests = static_cast<double>(row.memory.shared.requests);
  if (row.memory.traffic == vgpu::Traffic::kLoad) {
    totals.shared_loads += requests;
    totals.shared_load_lanes += static_cast<double>(row.memory.shared.lanes);
  } else {
    totals.shared_stores += requests;
  }
  totals.global_requests += static_cast<double>(row.memory.global.requests);
  totals.requested_bytes += static_cast<double>(row.memory.global.requested_bytes);
  totals.sector_bytes += static_cast<double>(row.memory.global.sector_bytes());
  const double touches = row.memory.traffic == vgpu::Traffic::kAtomic ? 2 : 1;
  totals.distinct_bytes += touches * static_cast<double>(row.memory.global.distinct_bytes);
  totals.local_requests += static_cast<double>(row.memory.local.requests);
  totals.wavefronts += wavefronts_of(row.memory);
  const SerialUpdates updates = updates_of(row);
  totals.updates.shared += updates.shared;
  totals.updates.shared_clocks += updates.shared_clocks;
  totals.updates.l2 += updates.l2;
  totals.updates.meeting += updates.meeting;
  totals.updates.meeting_ns += updates.meeting_ns;
}

void add_launch(Totals& totals, const LaunchCounts& launch) {
  totals.warp_instructions += static_cast<double>(launch.warp_instructions);
  totals.footprint_bytes += static_cast<double>(launch.memory.footprint.bytes());
  totals.written_sectors += static_cast<double>(launch.memory.footprint.written_sectors);
}

}  // namespace

Wavefronts& Wavefronts::operator+=(const Wavefronts& more) {
  conflicts += more.conflicts;
  shared += more.shared;
  scattered += more.scattered;
  global += more.global;
  return *this;
}

Wavefronts wavefronts_of(const Site& site) { return wavefronts_of(site.memory); }
SerialUpdates serial_updates_of(const Site& site) { return updates_of(site); }

// Returns the kind of operands. Except for FP64, accumulators are wider than operands, so the
// narrowest type in the form is that of the operands.
MatrixOperands operands_of(std::string_view form) {
  const auto names = [form](std::string_view type) { return form.find(type) != form.npos; };
  if (names(".f64")) return MatrixOperands::kF64;
  if (names(".tf32")) return MatrixOperands::kTf32;
  if (names(".bf16")) return MatrixOperands::kBf16;
  if (names(".e4m3") || names(".e5m2")) return MatrixOperands::kOther;
  return names(".f16") || (form.starts_with("wmma") && !names(".s32")) ? MatrixOperands::kF16
                                                                       : MatrixOperands::kOther;
}

Totals totals_of(const CountedRun& run, const std::vector<Site>& sites) {
  Totals totals;
  for (const Site& site : sites) add_row(totals, site);
  for (const LaunchCounts& launch : run.counts) add_launch(totals, launch);
  return totals;
}

Totals totals_of(const LaunchCounts& launch) {
  Totals totals;
  for (const InstructionCount& row : launch.instructions) add_row(totals, row);
  add_launch(totals, launch);
  return totals;
}

double updates_of_one_sector(const Totals& totals) {
  return totals.written_sectors > 0 ? totals.updates.meeting / totals.written_sectors : 0;
}

double one_sector_ms(const Totals& totals) {
  return totals.written_sectors > 0 ? 1e-6 * totals.updates.meeting_ns / totals.written_sectors : 0;
}

std::vector<ResourceUse> resources_of(const Totals& totals, const arch::Gpu& gpu) {
  const double clocks_a_ms = gpu.sms * gpu.clock_ghz * 1e6;  // clocks of all SMs per ms
  constexpr double kIssuesAClock = 4;  // HW: four schedulers an SM since Volta, one issue each
  constexpr double kWarp = 32;
  std::vector<ResourceUse> uses;
  const auto add = [&](Resource resource, const char* name, double amount, const char* unit,
                       double a_ms) {
    if (amount > 0 && a_ms > 0) uses.push_back({resource, name, amount, unit, amount / a_ms});
  };
  add(Resource::kIssue, "issue slots", totals.warp_instructions, "warp instructions",
      kIssuesAClock * clocks_a_ms);
  add(Resource::kFma, "FP32 pipe", totals.pipe_f32, "FP32 instructions",
      gpu.fp32_lanes / kWarp * clocks_a_ms);
  add(Resource::kFp64, "FP64 pipe", totals.pipe_f64, "FP64 instructions",
      gpu.fp64_lanes / kWarp * clocks_a_ms);
  const double peaks[] = {gpu.fp64_tensor_peak(), gpu.tf32_tensor_peak(), gpu.bf16_tensor_peak(),
                          gpu.f16_tensor_peak()};  // TFLOP/s, as MatrixOperands
  for (std::size_t i = 0; i < totals.matrix_flop.size(); ++i) {
    add(Resource::kMatrix, "tensor cores", totals.matrix_flop[i], "FLOP", peaks[i] * 1e9);
  }
  // HW: CUDA C++ Programming Guide, throughput of native arithmetic instructions: 16 results per
  // clock and SM, compute capability 7.0 to 9.0.
  constexpr double kSpecialLanes = 16;
  add(Resource::kSpecial, "special function unit", totals.special, "special functions",
      kSpecialLanes / kWarp * clocks_a_ms);
  add(Resource::kLoadStore, "load/store unit", totals.wavefronts.sum(), "wavefronts", clocks_a_ms);
  const arch::Costs costs = arch::costs_of(gpu);
  add(Resource::kSharedAtomic, "atomics in shared memory", totals.updates.shared_clocks,
      "clocks, of updates in turn", clocks_a_ms);
  add(Resource::kL2Atomic, "atomics in L2", totals.updates.l2, "updates, in turn",
      clocks_a_ms / costs.l2_atomic);
  // The rate of updates of one sector does not grow with the number of SMs: a sector is in one
  // place.
  constexpr double kFew = 64;
  const double at_one = updates_of_one_sector(totals);
  if (at_one >= kFew) {
    add(Resource::kHotSector, "one sector in L2", at_one, "updates, in turn",
        at_one / one_sector_ms(totals));
  }
  add(Resource::kDram, "device memory", totals.footprint_bytes, "bytes, each once",
      gpu.memory_gbs * 1e6);
  std::stable_sort(uses.begin(), uses.end(),
                   [](const ResourceUse& a, const ResourceUse& b) { return a.ms > b.ms; });
  return uses;
}

double use_of(const Site& site, Resource resource) {
  const FormKind kind = classify(site.form).kind;
  const auto warp = static_cast<double>(site.warp);
  switch (resource) {
    case Resource::kIssue:
      return warp;
    case Resource::kFma:
      return warp * pipe_instructions(site.form, FloatPipe::kF32);
    case Resource::kFp64:
      return warp * pipe_instructions(site.form, FloatPipe::kF64);
    case Resource::kMatrix:
      return kind == FormKind::kMatrix ? warp * static_cast<double>(matrix_flop(site.form)) : 0;
    case Resource::kSpecial:
      return class_of(site.form) == InstructionClass::kSpecial ? warp : 0;
    case Resource::kLoadStore:
      return wavefronts_of(site).sum();
    case Resource::kSharedAtomic:
      return serial_updates_of(site).shared_clocks;
    case Resource::kHotSector:
      return serial_updates_of(site).meeting;
    case Resource::kL2Atomic:
      return serial_updates_of(site).l2;
    case Resource::kDram:
    case Resource::kL2:
      return static_cast<double>(site.memory.global.sector_bytes());
    case Resource::kAlu:
      return class_of(site.form) == InstructionClass::kInteger ? warp : 0;
  }
  return 0;
}

double use_of_all(const Totals& totals, const ResourceUse& use) {
  if (use.resource == Resource::kHotSector) return totals.updates.meeting;
  return use.resource == Resource::kDram ? totals.sector_bytes : use.amount;
}

std::string shared_unit(const ResourceUse& use) {
  if (use.resource == Resource::kDram) return "the sectors' bytes";
  const bool is_atomic = use.resource == Resource::kSharedAtomic ||
                         use.resource == Resource::kL2Atomic ||
                         use.resource == Resource::kHotSector;
  if (is_atomic) return "the updates";
  return use.resource == Resource::kLoadStore ? "the load/store unit's wavefronts"
                                              : "the " + use.unit;
}

}  // namespace tessera::lab
