// multiply() plans, prepares and executes a product. The handle keeps the prepared plan, so that a
// second call for an equal problem only looks up the plan and executes it.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "gemm/call/prepare.h"
#include "gemm/call/workspaces.h"

namespace tessera::gemm {

// Problems that differ only in nonzero values of alpha or beta share a plan. An alpha or a beta of
// zero needs a plan of its own.
struct PlanKey {
  Problem problem;  // alpha and beta are 0, or 1 for any other value
  Alignment alignment;
  PlanOptions options;

  bool operator==(const PlanKey& other) const;
};
struct PlanKeyHash {
  std::size_t operator()(const PlanKey& key) const;
};

// A cache of prepared plans for one device, and the workspaces that calls borrow. A full cache
// drops the least recently used plan. Several threads may use one handle, on any streams.
class Handle {
 public:
  explicit Handle(Device& device, std::size_t capacity = 256);

  Device& device() const { return device_; }
  // The prepared plan for this problem. The result stays usable after the cache has dropped it.
  std::shared_ptr<const Prepared> prepared(const Problem& problem, const Alignment& alignment,
                                           const PlanOptions& options = {});
  Workspaces& workspaces() { return workspaces_; }

  std::size_t plans() const;  // number of plans in the cache
  // Sets a callback that gets each new plan, in the thread of the call that needs the plan. An
  // empty function removes the callback.
  void on_planned(std::function<void(const Plan&)> told);

 private:
  struct Entry {
    PlanKey key;
    std::shared_ptr<const Prepared> prepared;
  };
  using Entries = std::list<Entry>;  // the most recently used entry first

  std::shared_ptr<const Prepared> find(const PlanKey& key);  // null if the cache has no such plan
  void tell(const Plan& plan) const;

  Device& device_;
  const DeviceLimits limits_;
  const std::size_t capacity_;
  mutable std::mutex mutex_;
  std::function<void(const Plan&)> told_;
  Entries entries_;
  std::unordered_map<PlanKey, Entries::iterator, PlanKeyHash> known_;
  Workspaces workspaces_;
};

// Checks the arguments, then launches a plan of the handle's device. If the plan needs a workspace
// and arguments.workspace is 0, the handle lends one after the arguments are checked.
void run(Handle& handle, const Prepared& prepared, Arguments arguments, void* stream = nullptr);

// D = alpha op(A) op(B) + beta C, with the problem's alpha and beta. Asynchronous if the device is.
// If plan(), prepare() or execute() throws anything but kFailed, nothing was launched.
void multiply(Handle& handle, const Problem& problem, const Operands& operands,
              const PlanOptions& options = {}, void* stream = nullptr);

}  // namespace tessera::gemm
