#include "vgpu/observe/check/sync_variables.h"

namespace tessera::vgpu::check {

void SyncVariables::release(std::uint64_t cell, const Handover& what, bool replaces) {
  const std::lock_guard lock(mutex_);
  if (replaces) cells_.erase(cell);
  if (what.empty()) return;
  Handover& here = cells_[cell];
  join(here.to_all, what.to_all);
  // WHY only the last CTA's: a cell that orders the threads of one CTA is not used by several CTAs.
  if (here.cta != what.cta) here.to_cta = nullptr;
  here.cta = what.cta;
  join(here.to_cta, what.to_cta);
}

SharedHorizon SyncVariables::acquire(std::uint64_t cell, std::uint64_t cta) const {
  const std::lock_guard lock(mutex_);
  const auto found = cells_.find(cell);
  if (found == cells_.end()) return nullptr;
  SharedHorizon all = found->second.to_all;
  if (found->second.cta == cta) join(all, found->second.to_cta);
  return all;
}

}  // namespace tessera::vgpu::check
