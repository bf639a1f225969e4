// The state that the checkers of all worker threads of a launch share.
#pragma once

#include "vgpu/observe/check/shadow/global_shadow.h"
#include "vgpu/observe/check/sync_variables.h"
#include "vgpu/program/launch_context.h"

namespace tessera::vgpu::check {

// Returns log2 of the bytes of the kernel's narrowest access to memory, at most 2.
std::uint32_t cell_shift_of(const Kernel& kernel);

struct LaunchChecks {
  explicit LaunchChecks(const LaunchContext& launch)
      : context(launch),
        cell_shift(cell_shift_of(*launch.kernel)),
        memory(std::make_shared<GlobalShadow>(*launch.memory, launch.observation.written_lines,
                                              cell_shift)),
        global(*memory) {}

  const LaunchContext& context;
  const std::uint32_t cell_shift;
  const std::shared_ptr<GlobalShadow> memory;  // the next launch may be held against it
  GlobalShadow& global;
  SyncVariables sync;
};

}  // namespace tessera::vgpu::check
