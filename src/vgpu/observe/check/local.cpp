// Notes reads of undefined values: local memory that its thread has not written, and shuffles from
// lanes outside the mask. Such reads are no errors; the caller finds out whether a result depends
// on them.
#include <bit>

#include "vgpu/observe/check/cluster_checker.h"

namespace tessera::vgpu::check {

void ClusterChecker::access_local(const WarpAccess& access) {
  std::vector<std::uint32_t>& written = local_written_[entity_of(access.by)];
  std::uint32_t undefined = 0;
  for (std::uint32_t left = access.by.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const std::uint64_t begin = access.address[lane] - kLocalBase, end = begin + access.bytes;
    if (written.size() < end) written.resize(end);
    for (std::uint64_t byte = begin; byte < end; ++byte) {
      std::uint32_t& lanes = written[byte];
      if (access.kind != AccessKind::kStore && !(lanes >> lane & 1)) undefined |= 1u << lane;
      if (access.kind != AccessKind::kLoad) lanes |= 1u << lane;
    }
  }
  if (undefined == 0) return;
  Actor by = access.by;
  by.mask = undefined;
  reads_undefined(by, UndefinedSource::kLocal);
}

void ClusterChecker::reads_undefined(const Actor& by, UndefinedSource source) {
  const char* what = source == UndefinedSource::kShuffle ? "read a lane that the mask leaves out"
                                                         : "read local memory that is not written";
  undefined_reads_.try_emplace({by.instruction, source},
                               Place{what, by.instruction, cta_index(first_, by.cta),
                                     static_cast<int>(by.warp), std::countr_zero(by.mask)});
}

}  // namespace tessera::vgpu::check
