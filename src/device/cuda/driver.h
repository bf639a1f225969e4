// The NVIDIA driver, loaded at run time, so that one binary runs on machines with and without a
// GPU. The prototypes are declared here: no CUDA header, CUDA runtime or link to libcuda is needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace tessera::cuda {

// HW: names, argument types and values are those of the CUDA driver API reference, release 13.0.
using Result = int;
using DeviceOrdinal = int;
using DevicePointer = std::uint64_t;
struct ContextOpaque;
struct StreamOpaque;
struct ModuleOpaque;
struct FunctionOpaque;
struct EventOpaque;
struct GraphOpaque;
struct UserObjectOpaque;
using Context = ContextOpaque*;
using StreamHandle = StreamOpaque*;
using Module = ModuleOpaque*;
using Function = FunctionOpaque*;
using Event = EventOpaque*;
using Graph = GraphOpaque*;
using UserObject = UserObjectOpaque*;

enum : Result {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kStubLibrary = 34,
  kNoDevice = 100,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNoBinaryForGpu = 209,
  kInvalidPtx = 218,
  kJitCompilerNotFound = 221,
  kUnsupportedPtxVersion = 222,
  kJitCompilationDisabled = 223,
  kInvalidSource = 300,
  kInvalidHandle = 400,
  kNotFound = 500,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kContextIsDestroyed = 709,
  kAssert = 710,
  kLaunchFailed = 719,
  kSystemDriverMismatch = 803,
};

enum Attribute : int {
  kClockRate = 13,  // kHz
  kMultiprocessorCount = 16,
  kL2CacheSize = 38,  // bytes
  kComputeCapabilityMajor = 75,
  kComputeCapabilityMinor = 76,
};

enum FunctionAttribute : int { kMaxDynamicSharedBytes = 8, kNonPortableCluster = 14 };

// CUlaunchAttribute and CUlaunchConfig, as far as clusters and programmatic launches need them.
struct LaunchAttribute {
  static constexpr int kClusterDimension = 4;
  static constexpr int kProgrammaticStreamSerialization = 6;
  int id = kClusterDimension;
  int pad = 0;
  unsigned value[3] = {};  // extents of the cluster; or 1: allowed
  char rest[64 - sizeof(unsigned[3])] = {};
};
struct LaunchConfig {
  unsigned grid[3] = {}, block[3] = {};
  unsigned shared_bytes = 0;
  StreamHandle stream = nullptr;
  LaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};

enum CaptureMode : int { kGlobal = 0, kThreadLocal = 1, kRelaxed = 2 };

// CUpointer_attribute and CUmemorytype, as far as they describe where an address is.
enum PointerAttribute : int { kPointerMemoryType = 2, kPointerIsManaged = 8, kPointerDevice = 9 };
enum MemoryType : unsigned { kHostMemory = 1, kDeviceMemory = 2 };

// CUDA_MEMCPY2D.
struct Copy2d {
  struct Side {
    std::size_t x = 0, y = 0;
    MemoryType type = kHostMemory;
    const void* host = nullptr;
    DevicePointer device = 0;
    void* array = nullptr;
    std::size_t pitch = 0;
  };
  Side from, to;
  std::size_t width = 0, rows = 0;
};

enum JitOption : int { kErrorLogBuffer = 5, kErrorLogBufferBytes = 6 };

// Keys of the "extra" list of a launch: one parameter buffer and its size.
inline constexpr std::uintptr_t kParamEnd = 0, kParamBuffer = 1, kParamBufferSize = 2;

// Every driver call that this project makes. A member is named after the call; driver.cpp has the
// exported symbol, with its version suffix.
struct Driver {
  Result (*init)(unsigned flags);
  Result (*driver_get_version)(int* version);
  Result (*get_error_name)(Result, const char**);
  Result (*get_error_string)(Result, const char**);
  Result (*device_get_count)(int* count);
  Result (*device_get)(DeviceOrdinal*, int index);
  Result (*device_get_name)(char* name, int bytes, DeviceOrdinal);
  Result (*device_get_attribute)(int* value, Attribute, DeviceOrdinal);
  Result (*device_total_mem)(std::size_t* bytes, DeviceOrdinal);
  Result (*primary_ctx_retain)(Context*, DeviceOrdinal);
  Result (*primary_ctx_release)(DeviceOrdinal);
  Result (*device_get_pci_bus_id)(char* id, int bytes, DeviceOrdinal);
  Result (*ctx_set_current)(Context);
  Result (*ctx_get_current)(Context*);
  Result (*ctx_push_current)(Context);
  Result (*ctx_pop_current)(Context*);
  Result (*ctx_get_device)(DeviceOrdinal*);
  Result (*thread_exchange_capture_mode)(CaptureMode*);
  Result (*stream_create)(StreamHandle*, unsigned flags);
  Result (*stream_destroy)(StreamHandle);
  Result (*stream_synchronize)(StreamHandle);
  Result (*stream_get_capture_info)(StreamHandle, int* status, std::uint64_t* id, Graph*,
                                    void* dependencies, std::size_t* count);
  Result (*user_object_create)(UserObject*, void* what, void (*destroy)(void*), unsigned references,
                               unsigned flags);
  Result (*user_object_release)(UserObject, unsigned references);
  Result (*graph_retain_user_object)(Graph, UserObject, unsigned references, unsigned flags);
  Result (*mem_alloc)(DevicePointer*, std::size_t bytes);
  Result (*mem_free)(DevicePointer);
  Result (*mem_get_info)(std::size_t* free, std::size_t* total);
  Result (*mem_host_alloc)(void**, std::size_t bytes, unsigned flags);
  Result (*mem_free_host)(void*);
  Result (*pointer_get_attributes)(unsigned count, PointerAttribute*, void** values, DevicePointer);
  Result (*memcpy_2d_async)(const Copy2d*, StreamHandle);
  Result (*stream_wait_event)(StreamHandle, Event, unsigned flags);
  Result (*memcpy_htod_async)(DevicePointer to, const void* from, std::size_t bytes, StreamHandle);
  Result (*memcpy_dtoh_async)(void* to, DevicePointer from, std::size_t bytes, StreamHandle);
  Result (*module_load_data_ex)(Module*, const void* image, unsigned count, JitOption*, void**);
  Result (*module_unload)(Module);
  Result (*module_get_function)(Function*, Module, const char* name);
  Result (*func_set_attribute)(Function, FunctionAttribute, int value);
  Result (*launch_kernel)(Function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                          unsigned block_x, unsigned block_y, unsigned block_z,
                          unsigned shared_bytes, StreamHandle, void** params, void** extra);
  Result (*launch_kernel_ex)(const LaunchConfig*, Function, void** params, void** extra);
  Result (*tensor_map_encode_tiled)(void* map, int type, std::uint32_t rank, void* address,
                                    const std::uint64_t* sizes, const std::uint64_t* strides,
                                    const std::uint32_t* box, const std::uint32_t* element_strides,
                                    int interleave, int swizzle, int promotion, int fill);
  Result (*tensor_map_replace_address)(void* map, void* address);
  Result (*event_create)(Event*, unsigned flags);
  Result (*event_destroy)(Event);
  Result (*event_record)(Event, StreamHandle);
  Result (*event_synchronize)(Event);
  Result (*event_elapsed_time)(float* milliseconds, Event begin, Event end);

  int version = 0;  // newest CUDA release the driver supports: 1000 * major + 10 * minor
};

// Loads the driver library, finds every call, initialises it and checks its version. Throws
// kUnavailable if there is no library or no GPU, if a call is missing, or if the driver is older
// than CUDA 12.0.
Driver load_driver(const char* library);

// "CUDA 12.4" of 12040.
std::string release_name(int version);

// Returns a message such as "cuMemAlloc_v2 failed: CUDA_ERROR_OUT_OF_MEMORY (out of memory)".
std::string describe(const Driver& driver, std::string_view call, Result result);

// Throws StatusError unless the result is kSuccess: kFailed for a fault of a kernel, kUnavailable
// otherwise. The message names the call and what to do next.
void check(const Driver& driver, std::string_view call, Result result);

}  // namespace tessera::cuda
