// A stand-in for libcuda.so.1: memory is host memory, kernels are only recorded, and any call can
// be told to fail. So the order of calls, the texts of errors and the choice of an image are tested
// on machines without a GPU. It knows which context is current in a thread, what belongs to which
// context, and what a stream that is captured forbids.
//
// FAKE_CUDA_FAIL="cuInit=100,cuMemAlloc_v2=2"  results of calls    FAKE_CUDA_SM=75    (default 90)
// FAKE_CUDA_DRIVER=12040  release of the driver (default 13000)    FAKE_CUDA_MEMORY=bytes
// FAKE_CUDA_MULTIPROCESSORS=68  (default 132)                      FAKE_CUDA_COUNT=GPUs
// FAKE_CUDA_LAZY=1  copies are made when somebody waits for them
// cuModuleLoadDataEx takes a text that starts with "good" and refuses everything else, unless
// FAKE_CUDA_ACCEPT is set.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "tests/fake_cuda/state.h"

using namespace fake;

extern "C" {

int cuInit(unsigned) { return note("cuInit"); }
int cuDriverGetVersion(int* version) {
  *version = std::stoi(setting("FAKE_CUDA_DRIVER", "13000"));
  return note("cuDriverGetVersion");
}
int cuGetErrorName(int result, const char** name) {
  if (result == 9999) return 1;
  *name = result == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_OF_THE_FAKE";
  return 0;
}
int cuGetErrorString(int result, const char** text) {
  if (result == 9999) return 1;
  *text = "text of the fake";
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = std::stoi(setting("FAKE_CUDA_COUNT", "1"));
  return note("cuDeviceGetCount");
}
int cuDeviceGet(int* gpu, int index) { return *gpu = index, note("cuDeviceGet"); }
int cuDeviceGetName(char* name, int bytes, int) {
  std::strncpy(name, "Fake GPU", bytes);
  return note("cuDeviceGetName");
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  const int sm = std::stoi(setting("FAKE_CUDA_SM", "90"));
  const int sms = std::stoi(setting("FAKE_CUDA_MULTIPROCESSORS", "132"));
  const std::map<int, int> values = {
      {13, 1980000}, {16, sms}, {38, 52428800}, {75, sm / 10}, {76, sm % 10}};
  *value = values.at(attribute);
  return note("cuDeviceGetAttribute");
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  *bytes = memory_bytes();
  return note("cuDeviceTotalMem_v2");
}
int cuDeviceGetPCIBusId(char* id, int bytes, int gpu) {
  std::strncpy(id, ("0000:" + std::to_string(10 + gpu) + ":00.0").c_str(), bytes);
  return note("cuDeviceGetPCIBusId");
}
int cuDevicePrimaryCtxRetain(void** context, int gpu) {
  const int result = note("cuDevicePrimaryCtxRetain");
  const std::lock_guard lock(mutex);
  if (result) return result;
  *context = primary_of(gpu);
  contexts[*context].gpu = gpu;
  ++contexts[*context].retained;
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int gpu) {
  const std::lock_guard lock(mutex);
  --contexts[primary_of(gpu)].retained;
  return note("cuDevicePrimaryCtxRelease_v2");
}
int cuCtxSetCurrent(void* context) {
  if (const int result = note("cuCtxSetCurrent")) return result;
  if (!current.empty()) current.pop_back();
  current.push_back(context);
  return 0;
}
// Not noted: every call looks first which context is current.
int cuCtxGetCurrent(void** context) {
  *context = current_context();
  return 0;
}
int cuCtxPushCurrent_v2(void* context) {
  if (const int result = note("cuCtxPushCurrent_v2")) return result;
  const std::lock_guard lock(mutex);
  if (contexts.count(context) == 0) return kInvalidContext;
  if (contexts[context].is_destroyed) return kContextIsDestroyed;
  current.push_back(context);
  return 0;
}
int cuCtxPopCurrent_v2(void** context) {
  if (current.empty()) return kInvalidContext;
  *context = current.back();
  current.pop_back();
  return note("cuCtxPopCurrent_v2");
}
int cuCtxGetDevice(int* gpu) {
  const std::lock_guard lock(mutex);
  if (const int result = note_in_context("cuCtxGetDevice")) return result;
  *gpu = contexts[current_context()].gpu;
  return 0;
}
// Not noted either: what must not be done in a capture is refused.
int cuThreadExchangeStreamCaptureMode(int* mode) {
  const std::lock_guard lock(mutex);
  const int result = is_quiet ? 0 : count("cuThreadExchangeStreamCaptureMode");
  if (result) return result;
  std::swap(*mode, capture_mode);
  return 0;
}
int cuStreamCreate(void** stream, unsigned) {
  const std::lock_guard lock(mutex);
  if (const int result = note_in_context("cuStreamCreate")) return result;
  *stream = new_handle();
  return 0;
}
int cuStreamDestroy_v2(void* stream) { return free_handle("cuStreamDestroy_v2", stream); }
int cuStreamSynchronize(void* stream) {
  const std::lock_guard lock(mutex);
  if (const int result = note_in_context("cuStreamSynchronize")) {
    pending.clear();  // a GPU that has failed copies no more
    return result;
  }
  make_copies_of(stream);
  return captured.count(stream) ? static_cast<int>(kCaptureUnsupported) : check_stream(stream);
}
// A graph is the number of its capture.
int cuStreamGetCaptureInfo_v2(void* stream, int* status, std::uint64_t* id, void** graph, void*,
                              std::size_t*) {
  const std::lock_guard lock(mutex);
  const auto found = captured.find(stream);
  *status = found == captured.end() ? 0 : 1;
  if (id && *status) *id = found->second;
  if (graph && *status) *graph = reinterpret_cast<void*>(found->second);
  const int result = note_in_context("cuStreamGetCaptureInfo_v2");
  return result ? result : check_stream(stream);
}
int cuUserObjectCreate(void** object, void* what, void (*destroy)(void*), unsigned references,
                       unsigned flags) {
  const std::lock_guard lock(mutex);
  if (const int result = note("cuUserObjectCreate")) return result;
  if (references != 1 || flags != 1) return kInvalidValue;
  *object = std::malloc(1);
  user_objects[*object] = {what, destroy};
  return 0;
}
int cuUserObjectRelease(void* object, unsigned) {
  const std::lock_guard lock(mutex);
  const int result = note("cuUserObjectRelease");
  destroy_object(object);
  return result;
}
int cuGraphRetainUserObject(void* graph, void* object, unsigned references, unsigned flags) {
  const std::lock_guard lock(mutex);
  if (const int result = note("cuGraphRetainUserObject")) return result;
  if (!graph || references != 1 || flags != 1) return kInvalidValue;
  user_objects.at(object).capture = reinterpret_cast<std::uint64_t>(graph);
  return 0;
}
int cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes) {
  const std::lock_guard lock(mutex);
  if (const int result = note_unsafe("cuMemAlloc_v2", std::to_string(bytes))) return result;
  if (allocated_bytes() + bytes > memory_bytes()) return kOutOfMemory;
  *address = reinterpret_cast<std::uint64_t>(new_handle(bytes));
  return 0;
}
int cuMemFree_v2(std::uint64_t address) {
  const std::lock_guard lock(mutex);
  if (const int result = check_safe()) return result;
  while (!pending.empty()) make_copies_of(pending.back().stream);  // HW: it waits for the GPU
  return free_handle("cuMemFree_v2", reinterpret_cast<void*>(address));
}
int cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* total) {
  *total = memory_bytes();
  *free_bytes = *total - allocated_bytes();
  return note("cuMemGetInfo_v2");
}
int cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) {
  const std::lock_guard lock(mutex);
  if (const int result = note_unsafe("cuMemHostAlloc", std::to_string(bytes))) return result;
  *memory = new_handle(bytes);
  owned[*memory].is_host = true;
  return 0;
}
int cuMemFreeHost(void* memory) {
  const std::lock_guard lock(mutex);
  if (const int result = check_safe()) return result;
  return free_handle("cuMemFreeHost", memory);
}
// Reports the kind of memory, its GPU, and whether it is managed; zeros if the address is unknown.
int cuPointerGetAttributes(unsigned count, int* which, void** values, std::uint64_t address) {
  const std::lock_guard lock(mutex);
  if (const int result = note_in_context("cuPointerGetAttributes")) return result;
  const Owned* const found = memory_at(address);
  for (unsigned i = 0; i < count; ++i) {
    int value = 0;
    if (found && which[i] == 2) value = found->is_host ? 1 : 2;
    if (found && which[i] == 9) value = contexts[found->context].gpu;
    std::memcpy(values[i], &value, sizeof value);
  }
  return 0;
}
struct Copy2d {
  struct Side {
    std::size_t x, y;
    unsigned type;
    char* host;
    char* device;
    void* array;
    std::size_t pitch;
    char* first() const { return type == 1 ? host : device; }
  };
  Side from, to;
  std::size_t width, rows;
};
int cuMemcpy2DAsync_v2(const Copy2d* copy, void* stream) {
  const std::lock_guard lock(mutex);
  const std::string shape = std::to_string(copy->width) + "x" + std::to_string(copy->rows);
  if (const int result = note_in_context("cuMemcpy2DAsync_v2", shape)) return result;
  if (copy->from.pitch < copy->width || copy->to.pitch < copy->width) return kInvalidValue;
  if (const int result = check_stream(stream)) return result;
  const auto make = [one = *copy] {
    for (std::size_t row = 0; row < one.rows; ++row) {
      std::memcpy(one.to.first() + row * one.to.pitch, one.from.first() + row * one.from.pitch,
                  one.width);
    }
  };
  if (!std::getenv("FAKE_CUDA_LAZY")) return make(), 0;
  pending.push_back({stream, make});
  return 0;
}
int cuStreamWaitEvent(void* stream, void* event, unsigned) {
  const std::lock_guard lock(mutex);
  const int result = note_in_context("cuStreamWaitEvent");
  // HW: no error, but the stream waits for nothing (cuEventRecord of the driver's reference).
  if (!result && !stream_of_event.count(event)) note("cuStreamWaitEvent of no event");
  return result ? result : check_stream(stream);
}
int cuMemcpyHtoDAsync_v2(std::uint64_t to, const void* from, std::size_t bytes, void*) {
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return note("cuMemcpyHtoDAsync_v2", std::to_string(bytes));
}
int cuMemcpyDtoHAsync_v2(void* to, std::uint64_t from, std::size_t bytes, void*) {
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return note("cuMemcpyDtoHAsync_v2", std::to_string(bytes));
}
int cuMemcpyHtoD_v2(std::uint64_t to, const void* from, std::size_t bytes) {
  return cuMemcpyHtoDAsync_v2(to, from, bytes, nullptr);
}
int cuMemcpyDtoH_v2(void* to, std::uint64_t from, std::size_t bytes) {
  return cuMemcpyDtoHAsync_v2(to, from, bytes, nullptr);
}
int cuModuleLoadDataEx(void** module, const void* image, unsigned count, int* options,
                       void** values) {
  const std::string text(static_cast<const char*>(image));
  const std::lock_guard lock(mutex);
  if (const int failure = note_unsafe("cuModuleLoadDataEx", text)) return failure;
  if (std::getenv("FAKE_CUDA_ACCEPT") || text.rfind("good", 0) == 0)
    return *module = new_handle(), 0;
  char* log = nullptr;
  std::size_t bytes = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == 5) log = static_cast<char*>(values[i]);
    if (options[i] == 6) bytes = reinterpret_cast<std::size_t>(values[i]);
  }
  if (log) std::strncpy(log, "line 7: the fake refuses this\nmore", bytes);
  return text.rfind("text", 0) == 0 ? 218 : 209;
}
int cuModuleUnload(void* module) {
  const std::lock_guard lock(mutex);
  std::erase_if(functions, [&](const auto& one) {
    if (one.second.module != module) return false;
    std::free(one.first);
    return true;
  });
  return free_handle("cuModuleUnload", module);
}
// HW: where code is loaded lazily, this loads it.
int cuModuleGetFunction(void** function, void* module, const char* name) {
  const std::lock_guard lock(mutex);
  if (const int failure = note_unsafe("cuModuleGetFunction", name)) return failure;
  if (std::strcmp(name, "missing") == 0) return 500;
  *function = strdup(name);
  functions[*function] = {current_context(), module};
  return 0;
}
int cuFuncSetAttribute(void*, int attribute, int value) {
  return note("cuFuncSetAttribute", std::to_string(attribute) + "=" + std::to_string(value));
}
int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void* stream, void** list, void** extra) {
  if (is_quiet) return 0;
  const std::lock_guard lock(mutex);
  if (const int result = check_launch(function, stream)) return result;
  const std::string grid = std::to_string(gx) + "x" + std::to_string(gy) + "x" + std::to_string(gz);
  const std::string block =
      std::to_string(bx) + "x" + std::to_string(by) + "x" + std::to_string(bz);
  return note("cuLaunchKernel", std::string(static_cast<char*>(function)) + " " + grid + " " +
                                    block + " " + std::to_string(shared) + " " +
                                    parameters_of(list, extra));
}
struct Config {
  unsigned grid[3], block[3], shared;
  void* stream;
  const unsigned* attribute;
  unsigned attributes;
};
int cuLaunchKernelEx(const Config* config, void* function, void** list, void** extra) {
  if (is_quiet) return 0;
  const std::lock_guard lock(mutex);
  if (const int result = check_launch(function, config->stream)) return result;
  const auto extents = [](const unsigned* x) {
    return std::to_string(x[0]) + "x" + std::to_string(x[1]) + "x" + std::to_string(x[2]);
  };
  std::string text = std::string(static_cast<char*>(function)) + " " + extents(config->grid) + " " +
                     extents(config->block) + " " + std::to_string(config->shared);
  for (unsigned i = 0; i < config->attributes; ++i) {
    const unsigned* attribute = config->attribute + 18 * i;  // 72 bytes each
    text += " " + std::to_string(attribute[0]) + "=" + extents(attribute + 2);
  }
  return note("cuLaunchKernelEx", text + " " + parameters_of(list, extra));
}
int cuTensorMapEncodeTiled(void* map, int type, unsigned rank, void*, const std::uint64_t* sizes,
                           const std::uint64_t*, const unsigned* box, const unsigned*, int,
                           int swizzle, int, int) {
  std::memset(map, 0x5a, 128);
  return note("cuTensorMapEncodeTiled", std::to_string(type) + " " + std::to_string(rank) + " " +
                                            std::to_string(sizes[0]) + " " +
                                            std::to_string(box[0]) + " " + std::to_string(swizzle));
}
int cuTensorMapReplaceAddress(void* map, void* address) {
  if (current.empty()) return kInvalidContext;  // HW: as release 580 does
  std::memcpy(map, &address, sizeof address);   // where a test finds it
  if (is_quiet) return 0;
  return note("cuTensorMapReplaceAddress");
}
int cuEventCreate(void** event, unsigned) {
  const std::lock_guard lock(mutex);
  if (const int result = note_in_context("cuEventCreate")) return result;
  *event = new_handle();
  return 0;
}
int cuEventDestroy_v2(void* event) {
  const std::lock_guard lock(mutex);
  recorded_at.erase(event);
  stream_of_event.erase(event);
  return free_handle("cuEventDestroy_v2", event);
}
int cuEventRecord(void* event, void* stream) {
  const std::lock_guard lock(mutex);
  if (const int result = note("cuEventRecord")) return result;
  recorded_at[event] = clock_ms += 1.5f;
  stream_of_event[event] = stream;
  return 0;
}
int cuEventSynchronize(void* event) {
  const std::lock_guard lock(mutex);
  if (const int result = note("cuEventSynchronize")) return result;
  if (const int result = check_safe()) return result;
  if (stream_of_event.count(event)) make_copies_of(stream_of_event[event]);
  return 0;
}
int cuEventElapsedTime(float* ms, void* begin, void* end) {
  const std::lock_guard lock(mutex);
  *ms = recorded_at[end] - recorded_at[begin];
  return note("cuEventElapsedTime");
}

}  // extern "C"
