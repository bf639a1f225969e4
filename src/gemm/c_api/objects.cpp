#include "gemm/c_api/objects.h"

#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>

#include "device/cuda/cuda_device.h"
#include "gemm/c_api/explain.h"
#include "gemm/call/images_ahead.h"

tessera::gemm::host::Staging& tessera::gemm::c_api::Gpu::staging() {
  const std::lock_guard lock(making_);
  if (!staging_) staging_.emplace(*device);
  return *staging_;
}

tessera_handle_s::tessera_handle_s(const tessera::gemm::c_api::Place& where,
                                   std::optional<tessera::DeviceInfo> of,
                                   std::unique_ptr<tessera::Device> on, std::string why)
    : place(where), info(std::move(of)), why_on_cpu(std::move(why)) {
  if (on) make_gpu(std::move(on));
}

void tessera_handle_s::make_gpu(std::unique_ptr<tessera::Device> on) const {
  gpu_ = std::make_unique<tessera::gemm::c_api::Gpu>(std::move(on), place.plan_cache);
  gpu_->gemm.on_planned([this](const tessera::gemm::Plan& plan) {
    tessera::gemm::expect_images(plan.problem.types, info->sm);
    if (has_log()) say(tessera::gemm::c_api::line_of(plan));
  });
  is_made_ = true;
}

tessera::gemm::c_api::Gpu& tessera_handle_s::gpu() const {
  if (!is_made_) {
    const std::lock_guard lock(making_);
    if (!is_made_) make_gpu(tessera::make_cuda_device(info->index));
  }
  return *gpu_;
}

bool tessera_handle_s::can_use_gpu() const {
  using tessera::gemm::c_api::HostSide;
  if (is_made_ || place.gpu != TESSERA_ANY_PLACE || place.host_side == HostSide::kGpu) return true;
  try {
    gpu();
    return true;
  } catch (const tessera::OutOfMemory&) {
    throw;
  } catch (const tessera::StatusError& error) {
    if (error.status().code != tessera::StatusCode::kUnavailable) throw;
    say(std::string("multiplied on the CPU: ") + error.what());
    return false;
  }
}

bool tessera_handle_s::has_log() const {
  const std::lock_guard lock(log_mutex);
  return log != nullptr;
}

void tessera_handle_s::say(const std::string& line) const {
  tessera_log to = nullptr;
  void* user = nullptr;
  {
    const std::lock_guard lock(log_mutex);
    to = log;
    user = log_user;
  }
  if (to) to(user, line.c_str());
}

namespace tessera::gemm::c_api {
namespace {

// Whether this process or its parent used the driver, and whether this process was forked later.
std::atomic<bool> is_driver_used = false, is_child = false;

void before_fork() {
  stop_images_before_fork();
  handles().lock();
  plans().lock();
  packed_operands().lock();
}
void after_fork() {
  packed_operands().unlock();
  plans().unlock();
  handles().unlock();
  go_on_with_images_after_fork(false);
}
void after_fork_in_child() {
  packed_operands().unlock_in_child();
  plans().unlock_in_child();
  handles().unlock_in_child();
  go_on_with_images_after_fork(true);
  is_child = is_child || is_driver_used;
}

// Describes the first GPU without making a context. Throws what make_cuda_device() throws.
DeviceInfo info_of_first() {
  const std::vector<DeviceInfo> all = list_cuda_devices();
  return all.empty() ? make_cuda_device(0)->info() : all.front();
}

}  // namespace

// WHY never destroyed: at the end of a process, the driver may be unloaded before these objects.
Registry<tessera_handle_s>& handles() {
  static auto& all = *new Registry<tessera_handle_s>;
  return all;
}
Registry<tessera_plan_s>& plans() {
  static auto& all = *new Registry<tessera_plan_s>;
  return all;
}
Registry<tessera_packed_s>& packed_operands() {
  static auto& all = *new Registry<tessera_packed_s>;
  return all;
}

namespace {

// WHY ask: without a driver, a fork does no harm.
bool has_driver() {
  void* const library = dlopen(cuda::kDriverLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library) dlclose(library);
  return library != nullptr;
}

}  // namespace

void begin_driver_use() {
  require_no_fork();
  static const int known = pthread_atfork(before_fork, after_fork, after_fork_in_child);
  if (known != 0) throw OutOfMemory("not enough host memory: pthread_atfork failed");
  is_driver_used = is_driver_used || has_driver();
}

bool is_forked_child() { return is_child.load(std::memory_order_relaxed); }

void require_no_fork() {
  if (!is_forked_child()) return;
  throw StatusError(Status::unavailable(
      "this process is the child of a fork, and its parent had used the NVIDIA driver, which does "
      "not work here then; fork before the first handle is made, or start a new program"));
}

PlanOptions within_memory(const tessera_handle_s& owner, PlanOptions options) {
  // The rest of the memory is for the operands.
  constexpr std::int64_t kShareOfMemory = 8;
  const std::int64_t bytes = owner.has_gpu() ? owner.info->memory_bytes / kShareOfMemory : 0;
  if (bytes > 0) options.workspace_limit = std::min(options.workspace_limit, bytes);
  return options;
}

Asked asked_of(const tessera_handle_s& owner, const tessera_problem* given) {
  Asked asked = asked_of(given);
  if (asked.is_usual) owner.place.fp32.replace(asked.problem.types);
  return asked;
}

std::shared_ptr<tessera_handle_s> make_handle(const tessera_place* given) {
  const Place place = place_of(given);
  const auto made = [&](std::optional<DeviceInfo> info, std::unique_ptr<Device> on,
                        std::string why_on_cpu) {
    return std::make_shared<tessera_handle_s>(place, std::move(info), std::move(on),
                                              std::move(why_on_cpu));
  };
  if (place.gpu == TESSERA_CPU) return made({}, nullptr, "");
  begin_driver_use();
  if (place.gpu != TESSERA_ANY_PLACE) {
    std::unique_ptr<Device> device = place.gpu == TESSERA_CURRENT_CONTEXT
                                         ? make_cuda_device_in_context()
                                         : make_cuda_device(place.gpu);
    const DeviceInfo info = device->info();
    return made(info, std::move(device), "");
  }
  try {
    return made(info_of_first(), nullptr, "");
  } catch (const OutOfMemory&) {
    throw;
  } catch (const StatusError& error) {
    if (error.status().code != StatusCode::kUnavailable) throw;
    return made({}, nullptr, error.status().message);  // no driver or no GPU: the CPU
  }
}

}  // namespace tessera::gemm::c_api
