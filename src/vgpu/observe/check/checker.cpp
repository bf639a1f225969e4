// The checks of a launch.
#include "vgpu/observe/observer.h"

namespace tessera::vgpu {
namespace {

class Checker : public LaunchObserver {
 public:
  std::unique_ptr<Observer> for_worker() override { return std::make_unique<Observer>(); }
  void report(LaunchReport&) override {}
};

}  // namespace

std::unique_ptr<LaunchObserver> make_checker(const LaunchContext&) {
  return std::make_unique<Checker>();
}

}  // namespace tessera::vgpu
