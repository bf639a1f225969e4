// Finds the functions of the driver, and turns its errors into messages with advice.
#include "device/cuda/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "device/memory.h"

namespace tessera::cuda {
namespace {

// HW: CUDA 12.0 is the first release whose drivers know compute capability 9.0 (release notes).
constexpr int kOldestDriver = 12000;

// Sets a member to an exported symbol, or throws a sentence that names the symbol.
template <class Call>
void find(void* library, const char* symbol, Call& call) {
  call = reinterpret_cast<Call>(dlsym(library, symbol));
  if (call) return;
  throw StatusError(Status::unavailable(
      fmt::format("the NVIDIA driver is too old: it does not export {}, and CUDA {} or later is "
                  "needed; install a newer driver",
                  symbol, kOldestDriver / 1000)));
}

// WHY: the suffix _v2 names the 64-bit form of a call; the unsuffixed symbol still exists and takes
// 32-bit addresses. For cuStreamGetCaptureInfo, _v2 is the form that returns the graph.
void find_calls(void* library, Driver& d) {
  find(library, "cuInit", d.init);
  find(library, "cuDriverGetVersion", d.driver_get_version);
  find(library, "cuGetErrorName", d.get_error_name);
  find(library, "cuGetErrorString", d.get_error_string);
  find(library, "cuDeviceGetCount", d.device_get_count);
  find(library, "cuDeviceGet", d.device_get);
  find(library, "cuDeviceGetName", d.device_get_name);
  find(library, "cuDeviceGetAttribute", d.device_get_attribute);
  find(library, "cuDeviceTotalMem_v2", d.device_total_mem);
  find(library, "cuDevicePrimaryCtxRetain", d.primary_ctx_retain);
  find(library, "cuDevicePrimaryCtxRelease_v2", d.primary_ctx_release);
  find(library, "cuDeviceGetPCIBusId", d.device_get_pci_bus_id);
  find(library, "cuCtxSetCurrent", d.ctx_set_current);
  find(library, "cuCtxGetCurrent", d.ctx_get_current);
  find(library, "cuCtxPushCurrent_v2", d.ctx_push_current);
  find(library, "cuCtxPopCurrent_v2", d.ctx_pop_current);
  find(library, "cuCtxGetDevice", d.ctx_get_device);
  find(library, "cuThreadExchangeStreamCaptureMode", d.thread_exchange_capture_mode);
  find(library, "cuStreamCreate", d.stream_create);
  find(library, "cuStreamDestroy_v2", d.stream_destroy);
  find(library, "cuStreamSynchronize", d.stream_synchronize);
  find(library, "cuStreamGetCaptureInfo_v2", d.stream_get_capture_info);
  find(library, "cuUserObjectCreate", d.user_object_create);
  find(library, "cuUserObjectRelease", d.user_object_release);
  find(library, "cuGraphRetainUserObject", d.graph_retain_user_object);
  find(library, "cuMemAlloc_v2", d.mem_alloc);
  find(library, "cuMemFree_v2", d.mem_free);
  find(library, "cuMemGetInfo_v2", d.mem_get_info);
  find(library, "cuMemHostAlloc", d.mem_host_alloc);
  find(library, "cuMemFreeHost", d.mem_free_host);
  find(library, "cuPointerGetAttributes", d.pointer_get_attributes);
  find(library, "cuMemcpy2DAsync_v2", d.memcpy_2d_async);
  find(library, "cuStreamWaitEvent", d.stream_wait_event);
  find(library, "cuMemcpyHtoDAsync_v2", d.memcpy_htod_async);
  find(library, "cuMemcpyDtoHAsync_v2", d.memcpy_dtoh_async);
  find(library, "cuModuleLoadDataEx", d.module_load_data_ex);
  find(library, "cuModuleUnload", d.module_unload);
  find(library, "cuModuleGetFunction", d.module_get_function);
  find(library, "cuFuncSetAttribute", d.func_set_attribute);
  find(library, "cuLaunchKernel", d.launch_kernel);
  find(library, "cuLaunchKernelEx", d.launch_kernel_ex);
  find(library, "cuTensorMapEncodeTiled", d.tensor_map_encode_tiled);
  find(library, "cuTensorMapReplaceAddress", d.tensor_map_replace_address);
  find(library, "cuEventCreate", d.event_create);
  find(library, "cuEventDestroy_v2", d.event_destroy);
  find(library, "cuEventRecord", d.event_record);
  find(library, "cuEventSynchronize", d.event_synchronize);
  find(library, "cuEventElapsedTime", d.event_elapsed_time);
}

// Advice for the user about a result; empty if the result's name is already the best advice.
const char* advice(Result result) {
  switch (result) {
    case kOutOfMemory:
      return "; free device memory or choose a smaller problem";
    case kStubLibrary:
      return "; the library found is the toolkit's stub: put the driver's own libcuda.so.1 first "
             "in "
             "the library path";
    case kNoDevice:
      return "; check that the GPU is visible (nvidia-smi, CUDA_VISIBLE_DEVICES)";
    case kSystemDriverMismatch:
      return "; the kernel module and libcuda are of different releases: reboot, or install one "
             "driver release";
    case kIllegalAddress:
    case kLaunchFailed:
    case kAssert:
      return "; a kernel has failed, and nothing more runs in this context";
    case kContextIsDestroyed:
    case kInvalidContext:
      return "; the context that the device was made in is gone: make the device again";
    case kNotInitialized:
      return "; the driver was used before a fork, and does not work in the child";
    case kInvalidHandle:
      return "; stream must be null, or a live stream of the context that the device works in";
    case kLaunchOutOfResources:
      return "; the kernel wants more registers or shared memory than this GPU has";
    default:
      return "";
  }
}

// HW: results 700-720 are errors of a running kernel (CUDA driver API, CUresult), except for an
// error about the context itself.
bool is_kernel_fault(Result result) {
  return result >= 700 && result <= 720 && result != kContextIsDestroyed;
}

void check_version(Driver& driver) {
  check(driver, "cuDriverGetVersion", driver.driver_get_version(&driver.version));
  if (driver.version >= kOldestDriver) return;
  throw StatusError(Status::unavailable(
      fmt::format("the NVIDIA driver is too old: it supports {}, and at least {} is needed; "
                  "install a newer driver",
                  release_name(driver.version), release_name(kOldestDriver))));
}

}  // namespace

Driver load_driver(const char* library_name) {
  // WHY no dlclose(): the driver has threads and exit handlers.
  void* library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* reason = dlerror();
    throw StatusError(Status::unavailable(
        fmt::format("no NVIDIA driver: {} cannot be loaded ({}); install the driver", library_name,
                    reason ? reason : "no reason given")));
  }
  Driver driver{};
  find_calls(library, driver);
  check_version(driver);
  check(driver, "cuInit", driver.init(0));
  return driver;
}

std::string release_name(int version) {
  return fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
}

std::string describe(const Driver& driver, std::string_view call, Result result) {
  const char* name = nullptr;
  const char* text = nullptr;
  if (driver.get_error_name(result, &name) != kSuccess || !name) name = "an unknown error";
  if (driver.get_error_string(result, &text) != kSuccess || !text) text = "no description";
  return fmt::format("{} failed: {} (error {}: {})", call, name, result, text);
}

void check(const Driver& driver, std::string_view call, Result result) {
  if (result == kSuccess) return;
  const std::string message = describe(driver, call, result) + advice(result);
  // WHY a bad argument: of all handles that are passed to the driver, only streams come from the
  // caller.
  if (result == kInvalidHandle) throw StatusError(Status::bad_argument(message));
  if (result == kOutOfMemory) throw OutOfMemory(message);
  throw StatusError(is_kernel_fault(result) && result != kLaunchOutOfResources
                        ? Status::failed(message)
                        : Status::unavailable(message));
}

}  // namespace tessera::cuda
