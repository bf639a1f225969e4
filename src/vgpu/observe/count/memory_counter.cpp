// Sectors, wavefronts and footprints of a launch.
#include "vgpu/observe/observer.h"

namespace tessera::vgpu {
namespace {

class MemoryCounter : public LaunchObserver {
 public:
  std::unique_ptr<Observer> for_worker() override { return std::make_unique<Observer>(); }
  void report(LaunchReport&) override {}
};

}  // namespace

std::unique_ptr<LaunchObserver> make_memory_counter(const LaunchContext&) {
  return std::make_unique<MemoryCounter>();
}

}  // namespace tessera::vgpu
