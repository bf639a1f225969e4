// The one-shot call: plans, prepares and executes, and keeps what it has prepared. The second call
// for the same problem only looks it up.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "device/buffer.h"
#include "gemm/prepare.h"

namespace tessera::gemm {

// Plans are the same for problems that differ in the values of alpha and beta, but not in whether
// those are zero.
struct PlanKey {
  Problem problem;  // alpha and beta 0 or 1
  Alignment alignment;
  PlanOptions options;

  bool operator==(const PlanKey& other) const;
};
struct PlanKeyHash {
  std::size_t operator()(const PlanKey& key) const;
};

// Prepared plans of one device, the least recently used forgotten first, and a workspace for each
// stream. Safe to use from several threads; launches of one stream share its workspace, as they
// share its order.
class Handle {
 public:
  explicit Handle(Device& device, std::size_t capacity = 256);

  Device& device() const { return device_; }
  // The plan for these options on this device, prepared. Stays usable when the cache forgets it.
  std::shared_ptr<const Prepared> prepared(const Problem& problem, const Alignment& alignment,
                                           const PlanOptions& options = {});
  // At least so many bytes for launches on this stream. A larger one than before is allocated after
  // the stream's work has ended.
  DeviceAddress workspace(std::int64_t bytes, void* stream = nullptr);

  std::size_t plans() const;  // kept at the moment

 private:
  struct Entry {
    PlanKey key;
    std::shared_ptr<const Prepared> prepared;
  };
  using Entries = std::list<Entry>;  // the last used one first

  Device& device_;
  const DeviceLimits limits_;
  const std::size_t capacity_;
  mutable std::mutex mutex_;
  Entries entries_;
  std::unordered_map<PlanKey, Entries::iterator, PlanKeyHash> known_;
  std::map<void*, DeviceBuffer> workspaces_;
};

// D = alpha op(A) op(B) + beta C, with alpha and beta of the problem. Asynchronous where the device
// is. Throws what plan(), prepare() and execute() throw; then nothing is launched.
void multiply(Handle& handle, const Problem& problem, const Operands& operands,
              const PlanOptions& options = {}, void* stream = nullptr);

}  // namespace tessera::gemm
