// Launches that may still run while the next launch does (programmatic dependent launch). Here
// launches run one after the other. To notice a missing griddepcontrol.wait, the accesses of an
// unfinished launch are kept until those of the next launch have been compared with them.
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
  // The launch before this one, if this one started early and may have overtaken it.
  std::shared_ptr<const EarlierLaunch> before;
};

}  // namespace tessera::vgpu
