// The objects of a C caller: handles, plans and packed operands, by names that are never reused. So
// a destroyed object is recognised, and no object goes away while a call uses it.
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

// A GPU, and what calls keep on it.
struct Gpu {
  Gpu(std::unique_ptr<Device> on, std::size_t plan_cache)
      : device(std::move(on)), gemm(*device, plan_cache) {}
  // Made by the first call that needs it.
  host::Staging& staging();

  const std::unique_ptr<Device> device;
  Handle gemm;

 private:
  // WHY no std::call_once: an exception that leaves it ends the process where libgcc is linked
  // twice (pthread_once unwinds by the shared one).
  std::mutex making_;
  std::optional<host::Staging> staging_;
};

}  // namespace tessera::gemm::c_api

struct tessera_handle_s {
  // `info` describes the handle's GPU; it is empty for the CPU. `on` is null if the GPU is opened
  // at first use.
  tessera_handle_s(const tessera::gemm::c_api::Place& place,
                   std::optional<tessera::DeviceInfo> info, std::unique_ptr<tessera::Device> on,
                   std::string why_on_cpu);

  bool has_gpu() const { return info.has_value(); }
  // For a handle that may use any place, the GPU is opened at its first use. WHY: a context takes
  // 300 ms and 500 MB, and the CPU multiplies small problems faster. Throws what make_cuda_device()
  // throws; the next call tries again.
  tessera::gemm::c_api::Gpu& gpu() const;
  bool has_made_gpu() const { return is_made_; }
  // False where no context can be made and the handle may use the CPU instead; then its log says
  // so.
  bool can_use_gpu() const;
  void say(const std::string& line) const;
  bool has_log() const;

  const tessera::gemm::c_api::Place place;
  const std::optional<tessera::DeviceInfo> info;
  const std::string why_on_cpu;  // where the caller did not ask for it; else empty
  mutable std::mutex log_mutex;
  tessera_log log = nullptr;
  void* log_user = nullptr;

 private:
  void make_gpu(std::unique_ptr<tessera::Device> on) const;

  mutable std::mutex making_;
  mutable std::atomic<bool> is_made_ = false;
  mutable std::unique_ptr<tessera::gemm::c_api::Gpu> gpu_;
};

// One plan for each combination of alpha and beta being zero or not.
struct tessera_plan_s {
  static std::size_t place_of(double alpha, double beta) {
    return (alpha != 0 ? 1u : 0u) + (beta != 0 ? 2u : 0u);
  }

  std::shared_ptr<tessera_handle_s> owner;
  tessera::gemm::c_api::Asked asked;
  tessera::gemm::PlanOptions options;
  std::array<std::shared_ptr<const tessera::gemm::Prepared>, 4> prepared;  // of device memory
};

// An operand in the caller's memory.
struct tessera_packed_s {
  tessera::Types types;  // of the problems that read it
  std::int64_t outer, k;
  tessera::gemm::PackedArgument argument;
  int gpu;
};

namespace tessera::gemm::c_api {

// Returns a name that no object has had before. WHY odd: an odd number is not the
// address of an object.
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
  // Locks around a fork, so that the child never finds the lock taken.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  // HW: a write lock belongs to its thread, and the child's thread has another number (glibc).
  void unlock_in_child() { new (&mutex_) std::shared_mutex; }

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<const T*, std::shared_ptr<T>> live_;
};

Registry<tessera_handle_s>& handles();
Registry<tessera_plan_s>& plans();
Registry<tessera_packed_s>& packed_operands();

// Called before the driver is used: from then on a fork is noticed. Throws kUnavailable in the
// child of a fork.
void begin_driver_use();
// Throws kUnavailable in the child of a fork, if the driver was used before the fork.
void require_no_fork();
bool is_forked_child();

// The same, with at most an eighth of the memory of the handle's GPU as workspace.
PlanOptions within_memory(const tessera_handle_s& owner, PlanOptions options);

// The caller's problem, with FP32 products computed as the handle specifies.
Asked asked_of(const tessera_handle_s& owner, const tessera_problem* given);

// A handle on the place that the caller names.
std::shared_ptr<tessera_handle_s> make_handle(const tessera_place* place);

}  // namespace tessera::gemm::c_api
