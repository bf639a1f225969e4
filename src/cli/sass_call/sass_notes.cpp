#include "cli/sass_call/sass_notes.h"

#include <fmt/format.h>

#include "arch/occupancy.h"
#include "device/device.h"
#include "device/virtual/virtual_device.h"
#include "lab/counts/count_run.h"
#include "lab/counts/counts.h"
#include "lab/model/resources.h"

namespace tessera::cli {

sass::Note patch_note(const MachineKernel& kernel) {
  if (!kernel.choice || !kernel.choice->kernel->is_patched()) return {"Patched", ""};
  const Kernel& patched = *kernel.choice->kernel;
  const PatchedCubin& patch = image_of(patched, patched.rows.front().entry).patched;
  if (patch.bytes.empty()) return {"Patched", fmt::format("no: {}", patch.note)};
  return {"Patched", fmt::format("from {} {}, and proved bitwise equal to it by the build.",
                                 patched.patched_from, patch.made_from)};
}

sass::Note occupancy_note(const MachineKernel& kernel, const arch::Gpu& gpu) {
  const int dynamic = kernel.row ? kernel.row->shared_bytes : 0;
  const int threads =
      kernel.row ? kernel.row->threads * kernel.row->threads_y : kernel.kernel.max_threads;
  if (threads == 0) {
    return {"Occupancy", "unknown: the code does not say how many threads a block has."};
  }
  const int shared = static_cast<int>(kernel.kernel.shared_bytes) + dynamic;
  const arch::Occupancy found = arch::occupancy(gpu, {threads, kernel.kernel.registers, shared});
  if (found.blocks == 0) {
    return {"Occupancy", fmt::format("does not fit on an SM of {}; limited by {}.", gpu.name,
                                     name_of(found.limit))};
  }
  return {"Occupancy",
          fmt::format("{} block{} of {} threads on an SM of {} ({} of {} warps), limited by {}{}.",
                      found.blocks, found.blocks == 1 ? "" : "s", threads, gpu.name, found.warps,
                      found.max_warps, name_of(found.limit),
                      kernel.row ? "" : "; dynamic shared memory, if any, is not in the code")};
}

sass::Note wavefront_note(const MachineKernel& kernel, std::uint64_t seed, std::uint64_t sample) {
  const char* const kName = "Shared loads";
  if (!kernel.choice || !kernel.row) return {kName, ""};
  Problem problem;
  problem.types = kernel.choice->kernel->types;
  problem.m = 512;
  problem.n = 128;
  problem.k = 256;
  problem = with_default_ld(problem);
  const auto device = make_virtual_device({});
  const lab::CountedRun run = lab::count_run(*device, *kernel.choice, problem, seed, sample);
  const vgpu::SharedCounts shared = lab::summarize(run.counts).memory.loads.shared;
  if (shared.requests == 0) return {kName, "none ran (virtual GPU, 512x128x256)."};
  const vgpu::BankCounts& banks = lab::banks_of(shared);
  return {kName,
          fmt::format("{:.2f} wavefronts each, {} of {} excess (model: virtual GPU, "
                      "{}x{}x{}, bank rule '{}').",
                      static_cast<double>(banks.wavefronts) / shared.requests, banks.excess(),
                      banks.wavefronts, problem.m, problem.n, problem.k, lab::kBankModel)};
}

}  // namespace tessera::cli
