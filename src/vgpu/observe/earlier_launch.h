// Launches that may still run while the next one does (programmatic dependent launch). Launches
// follow each other here; so that a missing griddepcontrol.wait is noticed, the accesses of an
// unfinished one are kept until the next one has been compared with them.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace tessera::vgpu {

namespace check {
class GlobalShadow;
}

struct EarlierLaunch {
  std::string kernel;
  std::vector<int> lines;  // by instruction: of the source, or of the PTX where that is not known
  std::shared_ptr<const check::GlobalShadow> memory;
  // The launch that this one, which started early, may itself have overtaken.
  std::shared_ptr<const EarlierLaunch> before;
};

}  // namespace tessera::vgpu
