#include "vgpu/observe/observers.h"

#include <utility>

#include "vgpu/observe/tracer.h"
#include "vgpu/program/launch_context.h"

namespace tessera::vgpu {
namespace {

class Several : public Observer {
 public:
  explicit Several(std::vector<std::unique_ptr<Observer>> all) : all_(std::move(all)) {}

  void cluster_begins(std::uint64_t first, std::uint32_t ctas) override {
    tell(&Observer::cluster_begins, first, ctas);
  }
  void cluster_ends() override { tell(&Observer::cluster_ends); }
  void warp_exits(const Actor& by) override { tell(&Observer::warp_exits, by); }
  void access(const WarpAccess& access) override { tell(&Observer::access, access); }
  void copy_issued(const WarpAccess& from, const WarpAccess& to) override {
    tell(&Observer::copy_issued, from, to);
  }
  void warp_syncs(const Actor& by) override { tell(&Observer::warp_syncs, by); }
  void warp_exchanges(const Actor& by) override { tell(&Observer::warp_exchanges, by); }
  void reads_undefined(const Actor& by, UndefinedSource source) override {
    tell(&Observer::reads_undefined, by, source);
  }
  void barrier_arrives(const Actor& by, std::uint32_t id) override {
    tell(&Observer::barrier_arrives, by, id);
  }
  void barrier_passes(const Actor& by, std::uint32_t id) override {
    tell(&Observer::barrier_passes, by, id);
  }
  void cluster_arrives(const Actor& by, MemoryOrder order) override {
    tell(&Observer::cluster_arrives, by, order);
  }
  void cluster_passes(const Actor& by, MemoryOrder order) override {
    tell(&Observer::cluster_passes, by, order);
  }
  void fence(const Actor& by, FenceKind kind, MemoryScope scope) override {
    tell(&Observer::fence, by, kind, scope);
  }
  void mbarrier_inits(const Actor& by, MbarrierPlace place) override {
    tell(&Observer::mbarrier_inits, by, place);
  }
  void mbarrier_ends(const Actor& by, MbarrierPlace place) override {
    tell(&Observer::mbarrier_ends, by, place);
  }
  void mbarrier_arrives(const Actor& by, MbarrierPlace place, std::uint64_t phase,
                        MemoryOrder order) override {
    tell(&Observer::mbarrier_arrives, by, place, phase, order);
  }
  void mbarrier_passes(const Actor& by, MbarrierPlace place, std::uint64_t phase,
                       MemoryOrder order) override {
    tell(&Observer::mbarrier_passes, by, place, phase, order);
  }
  void agent_starts(const Actor& by, AgentId agent, AgentKind kind) override {
    tell(&Observer::agent_starts, by, agent, kind);
  }
  void agent_access(const AgentAccess& access) override { tell(&Observer::agent_access, access); }
  void agent_signals(AgentId agent, MbarrierPlace place, std::uint64_t phase) override {
    tell(&Observer::agent_signals, agent, place, phase);
  }
  void agent_awaited(const Actor& by, AgentId agent, bool read_only) override {
    tell(&Observer::agent_awaited, by, agent, read_only);
  }
  void agent_covered(const Actor& by, AgentId agent) override {
    tell(&Observer::agent_covered, by, agent);
  }
  void notice(Finding finding) override { tell(&Observer::notice, finding); }

 private:
  template <class... Formal, class... Actual>
  void tell(void (Observer::*event)(Formal...), const Actual&... arguments) {
    for (const auto& one : all_) (one.get()->*event)(arguments...);
  }

  std::vector<std::unique_ptr<Observer>> all_;
};

class SeveralOfALaunch : public LaunchObserver {
 public:
  explicit SeveralOfALaunch(std::vector<std::unique_ptr<LaunchObserver>> all)
      : all_(std::move(all)) {}

  std::unique_ptr<Observer> for_worker() override {
    std::vector<std::unique_ptr<Observer>> workers;
    for (const auto& one : all_) workers.push_back(one->for_worker());
    return std::make_unique<Several>(std::move(workers));
  }
  void report(LaunchReport& to) override {
    for (const auto& one : all_) one->report(to);
  }

 private:
  std::vector<std::unique_ptr<LaunchObserver>> all_;
};

}  // namespace

std::unique_ptr<LaunchObserver> observers_of(const LaunchContext& context) {
  std::vector<std::unique_ptr<LaunchObserver>> observers;
  if (context.observation.memory) observers.push_back(make_memory_counter(context));
  if (context.observation.record_writes) observers.push_back(make_write_recorder(context));
  if (context.observation.reached) observers.push_back(make_reach_recorder(context));
  if (context.observation.checks) observers.push_back(make_checker(context));
  if (auto tracer = tracer_of_this_thread()) observers.push_back(std::move(tracer));
  if (observers.empty()) return nullptr;
  if (observers.size() == 1) return std::move(observers.front());
  return std::make_unique<SeveralOfALaunch>(std::move(observers));
}

}  // namespace tessera::vgpu
