// Records only which lines of global memory a launch stores to.
#include <bit>

#include "vgpu/observe/observers.h"
#include "vgpu/observe/written_lines.h"
#include "vgpu/program/launch_context.h"

namespace tessera::vgpu {
namespace {

class WriteRecorder : public Observer {
 public:
  explicit WriteRecorder(WrittenLines& lines) : lines_(lines) {}

  void access(const WarpAccess& access) override {
    if (access.window != Window::kGlobal || access.kind == AccessKind::kLoad) return;
    for (std::uint32_t left = access.by.mask; left != 0; left &= left - 1) {
      lines_.mark(access.address[std::countr_zero(left)], access.bytes);
    }
  }
  void agent_access(const AgentAccess& access) override {
    if (access.window != Window::kGlobal || access.kind == AccessKind::kLoad) return;
    lines_.mark(access.address, access.bytes);
  }

 private:
  WrittenLines& lines_;
};

class WriteRecorders : public LaunchObserver {
 public:
  explicit WriteRecorders(WrittenLines& lines) : lines_(lines) {}
  std::unique_ptr<Observer> for_worker() override {
    return std::make_unique<WriteRecorder>(lines_);
  }
  void report(LaunchReport&) override {}

 private:
  WrittenLines& lines_;
};

}  // namespace

std::unique_ptr<LaunchObserver> make_write_recorder(const LaunchContext& context) {
  WrittenLines& lines = *context.observation.record_writes;
  lines.begin(*context.memory);
  return std::make_unique<WriteRecorders>(lines);
}

}  // namespace tessera::vgpu
