#include "vgpu/async/parts.h"

namespace tessera::vgpu {

Actor AsyncWarp::actor(const Op& op, std::uint32_t mask) const {
  return {cta_.rank(), index_, mask, op.instruction};
}

void AsyncWarp::fault(FaultKind kind, const std::string& message, const Op& op, int lane,
                      const std::uint64_t* address) const {
  const InstructionInfo& info = cta_.kernel().instructions[op.instruction];
  FaultPlace place;
  place.ptx_line = info.ptx_line;
  place.form = info.form;
  place.source_file = info.source_file;
  place.source_line = info.source_line;
  place.callers = info.callers;
  place.kernel = cta_.kernel().name;
  place.cta = cta_.index();
  place.thread = static_cast<int>(index_ * kLanes) + lane;
  place.has_address = address != nullptr;
  if (address) place.address = *address;
  throw Fault(kind, message, place);
}

AsyncCta::AsyncCta(AsyncCluster& cluster, std::uint32_t rank)
    : rank_(rank),
      cluster_(cluster),
      context_(cluster.context()),
      warp_count_((context_.block[0] * context_.block[1] * context_.block[2] + kLanes - 1) /
                  kLanes) {}

}  // namespace tessera::vgpu
