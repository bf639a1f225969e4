// The objects of a C caller: handles, plans and packed operands. Their names are never reused, so a
// destroyed object is recognised. No object goes away while a call uses it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>

#include "gemm/c_api/structs.h"
#include "gemm/call/multiply.h"
#include "gemm/host/staging.h"

namespace tessera::gemm::c_api {

// A GPU, and the plans, workspaces and staging buffers that calls keep on it.
struct Gpu {
  Gpu(std::unique_ptr<Device> on, std::size_t plan_cache)
      : device(std::move(on)), gemm(*device, plan_cache) {}
  // The streams and buffers for operands in host memory, made by the first call that needs them.
  host::Staging& staging();

  const std::unique_ptr<Device> device;
  Handle gemm;

 private:
  // WHY no std::call_once: where libgcc is linked twice, an exception that leaves call_once ends
  // the process (pthread_once unwinds by the shared libgcc).
  std::mutex making_;
  std::optional<host::Staging> staging_;
};

}  // namespace tessera::gemm::c_api

struct tessera_handle_s {
  // `info` describes the handle's GPU, and is empty for the CPU. `on` is null for the CPU, and if
  // the GPU is opened at its first use.
  tessera_handle_s(const tessera::gemm::c_api::Place& place,
                   std::optional<tessera::DeviceInfo> info, std::unique_ptr<tessera::Device> on,
                   std::string why_on_cpu);

  bool has_gpu() const { return info.has_value(); }
  // The handle's GPU. A handle that may use any place opens the GPU at its first use. WHY: a
  // context takes 300 ms and 500 MB, and the CPU multiplies small problems faster. Throws what
  // make_cuda_device() throws; the next call tries again.
  tessera::gemm::c_api::Gpu& gpu() const;
  bool has_made_gpu() const { return is_made_; }
  // False if no context can be made and the handle may use the CPU instead. The reason is then
  // written to the handle's log.
  bool can_use_gpu() const;
  void say(const std::string& line) const;
  bool has_log() const;

  const tessera::gemm::c_api::Place place;
  const std::optional<tessera::DeviceInfo> info;
  const std::string why_on_cpu;  // why there is no GPU, if the caller left that open; else empty
  mutable std::mutex log_mutex;
  tessera_log log = nullptr;
  void* log_user = nullptr;

 private:
  void make_gpu(std::unique_ptr<tessera::Device> on) const;

  mutable std::mutex making_;
  mutable std::atomic<bool> is_made_ = false;
  mutable std::unique_ptr<tessera::gemm::c_api::Gpu> gpu_;
};

// A caller's plan: a prepared plan for each combination of alpha and beta being zero or not.
struct tessera_plan_s {
  static std::size_t place_of(double alpha, double beta) {
    return (alpha != 0 ? 1u : 0u) + (beta != 0 ? 2u : 0u);
  }

  std::shared_ptr<tessera_handle_s> owner;
  tessera::gemm::c_api::Asked asked;
  tessera::gemm::PlanOptions options;
  std::array<std::shared_ptr<const tessera::gemm::Prepared>, 4> prepared;  // null for host memory
};

// A packed operand, in memory of the caller.
struct tessera_packed_s {
  tessera::Types types;  // of the problems that read the operand
  std::int64_t outer, k;
  tessera::gemm::PackedArgument argument;
  int gpu;
};

namespace tessera::gemm::c_api {

// Returns a name that no object has had before. WHY odd: no object has an odd address, so no name
// is the address of an object.
inline std::uintptr_t next_name() {
  static std::atomic<std::uintptr_t> last = 0x7e55e1;
  return last += 2;
}

template <class T>
class Registry {
 public:
  T* add(std::shared_ptr<T> object) {
    const std::unique_lock lock(mutex_);
    T* const name = reinterpret_cast<T*>(next_name());
    live_.emplace(name, std::move(object));
    return name;
  }
  std::shared_ptr<T> find(T* name, const char* what) const {
    const std::shared_lock lock(mutex_);
    if (const auto known = live_.find(name); known != live_.end()) return known->second;
    throw refused(std::string(what) + (name ? " is none that was made and not yet destroyed"
                                            : " is null, but must be given"));
  }
  std::shared_ptr<T> remove(T* name, const char* what) {
    std::shared_ptr<T> found = find(name, what);
    const std::unique_lock lock(mutex_);
    if (live_.erase(name) == 0) throw refused(std::string(what) + " is destroyed by two threads");
    return found;
  }
  // Called around a fork, so that the child does not inherit a lock that is taken.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  // HW: glibc's write lock stores the number of its thread; the child's thread has another number.
  void unlock_in_child() { new (&mutex_) std::shared_mutex; }

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<const T*, std::shared_ptr<T>> live_;
};

Registry<tessera_handle_s>& handles();
Registry<tessera_plan_s>& plans();
Registry<tessera_packed_s>& packed_operands();

// Call this before the first use of the driver: later forks are noticed from then on. Throws
// kUnavailable in a forked child whose parent had used the driver.
void begin_driver_use();
// Throws kUnavailable in a forked child whose parent had used the driver.
void require_no_fork();
bool is_forked_child();

// The options, with a workspace limit of at most an eighth of the memory of the handle's GPU.
PlanOptions within_memory(const tessera_handle_s& owner, PlanOptions options);

// The caller's problem. FP32 products without a compute type are computed as the handle says.
Asked asked_of(const tessera_handle_s& owner, const tessera_problem* given);

// Makes a handle for the place that the caller names.
std::shared_ptr<tessera_handle_s> make_handle(const tessera_place* place);

}  // namespace tessera::gemm::c_api
