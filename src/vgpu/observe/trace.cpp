#include "vgpu/observe/trace.h"

#include <algorithm>
#include <utility>

#include "vgpu/observe/tracer.h"

namespace tessera::vgpu {
namespace {

thread_local AccessTrace* trace_of_this_thread = nullptr;

TracedAccess::Kind kind_of(AccessKind kind) {
  return kind == AccessKind::kLoad    ? TracedAccess::Kind::kLoad
         : kind == AccessKind::kStore ? TracedAccess::Kind::kStore
                                      : TracedAccess::Kind::kAtomic;
}

class TraceWorker : public Observer {
 public:
  explicit TraceWorker(AccessTrace& trace) : trace_(trace) {}

  void cluster_begins(std::uint64_t first, std::uint32_t ctas) override {
    first_ = first;
    is_wanted_ = !trace_.cta || (*trace_.cta >= first && *trace_.cta < first + ctas);
  }
  void access(const WarpAccess& access) override { add(access, false); }
  void copy_issued(const WarpAccess& from, const WarpAccess& to) override {
    if (from.by.mask != 0) add(from, true);
    if (to.by.mask != 0) add(to, true);
  }
  // copy_issued() records the copies of cp.async. The fetches of wgmma are no copies.
  void agent_starts(const Actor& issuer, AgentId, AgentKind kind) override {
    is_bulk_ = kind == AgentKind::kBulkCopy;
    issuer_ = issuer;
  }
  void agent_access(const AgentAccess& access) override {
    if (!is_wanted_ || !is_bulk_ || access.is_map || access.bytes == 0) return;
    TracedAccess traced;
    traced.kind = kind_of(access.kind);
    traced.is_shared = access.window == Window::kShared;
    traced.is_copy = true;
    traced.cta = first_ + issuer_.cta;
    traced.warp = issuer_.warp;
    traced.instruction = access.instruction;
    traced.bytes = access.bytes;
    traced.address[0] = access.address;
    trace_.add(traced);
  }

 private:
  void add(const WarpAccess& access, bool is_copy) {
    if (!is_wanted_ || access.window == Window::kLocal) return;
    TracedAccess traced;
    traced.kind = kind_of(access.kind);
    traced.is_shared = access.window == Window::kShared;
    traced.is_copy = is_copy;
    traced.cta = first_ + access.by.cta;
    traced.warp = access.by.warp;
    traced.mask = access.by.mask;
    traced.instruction = access.by.instruction;
    traced.bytes = access.bytes;
    std::copy_n(access.address, traced.address.size(), traced.address.begin());
    trace_.add(traced);
  }

  AccessTrace& trace_;
  std::uint64_t first_ = 0;
  bool is_wanted_ = true, is_bulk_ = false;
  Actor issuer_;
};

class Tracer : public LaunchObserver {
 public:
  explicit Tracer(AccessTrace& trace) : trace_(trace) {}
  std::unique_ptr<Observer> for_worker() override { return std::make_unique<TraceWorker>(trace_); }
  void report(LaunchReport&) override {}

 private:
  AccessTrace& trace_;
};

}  // namespace

bool AccessTrace::wants(const TracedAccess& access) const {
  if (begin == end) return true;
  if (access.is_shared) return false;
  if (access.mask == 0) return access.address[0] < end && access.address[0] + access.bytes > begin;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (access.touches(lane, begin, end)) return true;
  }
  return false;
}

void AccessTrace::add(TracedAccess access) {
  if (!wants(access)) return;
  const std::lock_guard lock(mutex_);
  access.launch = launches_ - 1;
  is_full_ = accesses_.size() >= most;
  if (!is_full_) accesses_.push_back(access);
}

Tracing::Tracing(AccessTrace& trace) : before_(std::exchange(trace_of_this_thread, &trace)) {}
Tracing::~Tracing() { trace_of_this_thread = before_; }

std::unique_ptr<LaunchObserver> tracer_of_this_thread() {
  if (!trace_of_this_thread) return nullptr;
  trace_of_this_thread->begin_launch();
  return std::make_unique<Tracer>(*trace_of_this_thread);
}

}  // namespace tessera::vgpu
