// The one-shot call: it plans, prepares and executes, and its handle keeps the prepared plan. A
// second call for the same problem only looks the plan up.
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

// Problems that differ only in the values of alpha and beta share a plan, if the same ones of the
// two are zero.
struct PlanKey {
  Problem problem;  // alpha and beta 0 or 1
  Alignment alignment;
  PlanOptions options;

  bool operator==(const PlanKey& other) const;
};
struct PlanKeyHash {
  std::size_t operator()(const PlanKey& key) const;
};

// Prepared plans of one device, of which the least recently used is dropped first, and the
// workspaces that are lent to calls. Safe to use from several threads, on one stream or several.
class Handle {
 public:
  explicit Handle(Device& device, std::size_t capacity = 256);

  Device& device() const { return device_; }
  // The plan for these options on this device, prepared. Stays usable when the handle drops it.
  std::shared_ptr<const Prepared> prepared(const Problem& problem, const Alignment& alignment,
                                           const PlanOptions& options = {});
  Workspaces& workspaces() { return workspaces_; }

  std::size_t plans() const;  // kept at the moment
  // Sets a callback for each plan that is made, called in the thread of the call. Empty: no
  // callback.
  void on_planned(std::function<void(const Plan&)> told);

 private:
  struct Entry {
    PlanKey key;
    std::shared_ptr<const Prepared> prepared;
  };
  using Entries = std::list<Entry>;  // the last used one first

  std::shared_ptr<const Prepared> find(const PlanKey& key);  // null where it is not kept
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

// Runs a plan of the handle's device. All checks come first, then the handle lends a workspace
// where the caller gives none (address 0), then everything is launched.
void run(Handle& handle, const Prepared& prepared, Arguments arguments, void* stream = nullptr);

// D = alpha op(A) op(B) + beta C, with alpha and beta of the problem. Asynchronous if the device
// is. Throws what plan(), prepare() and execute() throw; then nothing is launched.
void multiply(Handle& handle, const Problem& problem, const Operands& operands,
              const PlanOptions& options = {}, void* stream = nullptr);

}  // namespace tessera::gemm
