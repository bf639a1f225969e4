// A stand-in for libcuda.so.1: memory is host memory, kernels are only recorded, and any call can
// be told to fail. So the order of calls, the texts of errors and the choice of an image are tested
// on machines without a GPU.
//
// FAKE_CUDA_FAIL="cuInit=100,cuMemAlloc_v2=2"  results of calls    FAKE_CUDA_SM=75    (default 90)
// FAKE_CUDA_DRIVER=12040  release of the driver (default 13000)    FAKE_CUDA_MEMORY=bytes
// FAKE_CUDA_MULTIPROCESSORS=68  (default 132)
// cuModuleLoadDataEx takes a text that starts with "good" and refuses everything else, unless
// FAKE_CUDA_ACCEPT is set.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

namespace {

std::string recorded;   // one call a line
bool is_quiet = false;  // for who measures the time of others: launches do nothing
std::map<std::uint64_t, std::size_t> allocated;
float clock_ms = 0;
std::map<void*, float> recorded_at;

std::string setting(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value ? value : otherwise;
}

std::size_t memory_bytes() { return std::stoull(setting("FAKE_CUDA_MEMORY", "1000000")); }

std::size_t allocated_bytes() {
  std::size_t sum = 0;
  for (const auto& [address, bytes] : allocated) sum += bytes;
  return sum;
}

// Notes the call and returns the result that FAKE_CUDA_FAIL names for it, else 0.
int note(const std::string& call, const std::string& detail = "") {
  if (is_quiet) return 0;
  recorded += call + (detail.empty() ? "" : " " + detail) + "\n";
  const std::string failures = "," + setting("FAKE_CUDA_FAIL", "") + ",";
  const auto at = failures.find("," + call + "=");
  return at == std::string::npos ? 0 : std::atoi(failures.c_str() + at + call.size() + 2);
}

void* new_handle() { return std::malloc(1); }

int free_handle(const char* call, void* handle) {
  std::free(handle);
  return note(call);
}

std::string hexadecimal(const unsigned char* bytes, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += "0123456789abcdef"[bytes[i] >> 4];
    text += "0123456789abcdef"[bytes[i] & 15];
  }
  return text;
}

// The bytes of the parameter buffer of a launch's "extra" list, in hexadecimal; of a list of
// parameters, whose sizes nobody tells, the first byte of each (our device ends it with a null).
std::string parameters_of(void** list, void** extra) {
  if (list) {
    std::string text = "list";
    for (; *list; ++list) text += " " + hexadecimal(static_cast<unsigned char*>(*list), 1);
    return text;
  }
  if (!extra) return "-";
  const unsigned char* bytes = nullptr;
  std::size_t count = 0;
  for (; *extra != nullptr; extra += 2) {
    if (extra[0] == reinterpret_cast<void*>(1)) bytes = static_cast<unsigned char*>(extra[1]);
    if (extra[0] == reinterpret_cast<void*>(2)) count = *static_cast<std::size_t*>(extra[1]);
  }
  return hexadecimal(bytes, count);
}

}  // namespace

extern "C" {

const char* fake_cuda_calls() { return recorded.c_str(); }
void fake_cuda_quiet(int quiet) { is_quiet = quiet != 0; }
void fake_cuda_clear() { recorded.clear(); }
std::size_t fake_cuda_allocated() { return allocated_bytes(); }

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
int cuDeviceGet(int* gpu, int) { return *gpu = 0, note("cuDeviceGet"); }
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
int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = reinterpret_cast<void*>(1);
  return note("cuDevicePrimaryCtxRetain");
}
int cuDevicePrimaryCtxRelease_v2(int) { return note("cuDevicePrimaryCtxRelease_v2"); }
int cuCtxSetCurrent(void*) { return note("cuCtxSetCurrent"); }
int cuStreamCreate(void** stream, unsigned) {
  *stream = new_handle();
  return note("cuStreamCreate");
}
int cuStreamDestroy_v2(void* stream) { return free_handle("cuStreamDestroy_v2", stream); }
int cuStreamSynchronize(void*) { return note("cuStreamSynchronize"); }
int cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes) {
  if (const int failure = note("cuMemAlloc_v2", std::to_string(bytes))) return failure;
  if (allocated_bytes() + bytes > memory_bytes()) return 2;
  // HW: a real driver aligns to 256 bytes at least (CUDA C++ Programming Guide, device memory).
  *address = reinterpret_cast<std::uint64_t>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  allocated[*address] = bytes;
  return 0;
}
int cuMemFree_v2(std::uint64_t address) {
  if (allocated.erase(address) == 0) return 1;
  std::free(reinterpret_cast<void*>(address));
  return note("cuMemFree_v2");
}
int cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* total) {
  *total = memory_bytes();
  *free_bytes = *total - allocated_bytes();
  return note("cuMemGetInfo_v2");
}
int cuMemcpyHtoDAsync_v2(std::uint64_t to, const void* from, std::size_t bytes, void*) {
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return note("cuMemcpyHtoDAsync_v2", std::to_string(bytes));
}
int cuMemcpyDtoHAsync_v2(void* to, std::uint64_t from, std::size_t bytes, void*) {
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return note("cuMemcpyDtoHAsync_v2", std::to_string(bytes));
}
int cuModuleLoadDataEx(void** module, const void* image, unsigned count, int* options,
                       void** values) {
  const std::string text(static_cast<const char*>(image));
  const int failure = note("cuModuleLoadDataEx", text);
  if (failure) return failure;
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
int cuModuleUnload(void* module) { return free_handle("cuModuleUnload", module); }
int cuModuleGetFunction(void** function, void*, const char* name) {
  if (const int failure = note("cuModuleGetFunction", name)) return failure;
  if (std::strcmp(name, "missing") == 0) return 500;
  // WHY: leaked on purpose; functions live as long as their module, and the fake keeps no list.
  *function = strdup(name);
  return 0;
}
int cuFuncSetAttribute(void*, int attribute, int value) {
  return note("cuFuncSetAttribute", std::to_string(attribute) + "=" + std::to_string(value));
}
int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void*, void** list, void** extra) {
  if (is_quiet) return 0;
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
  std::memcpy(map, &address, sizeof address);  // where a test finds it
  if (is_quiet) return 0;
  return note("cuTensorMapReplaceAddress");
}
int cuEventCreate(void** event, unsigned) {
  *event = new_handle();
  return note("cuEventCreate");
}
int cuEventDestroy_v2(void* event) {
  recorded_at.erase(event);
  return free_handle("cuEventDestroy_v2", event);
}
int cuEventRecord(void* event, void*) {
  recorded_at[event] = clock_ms += 1.5f;
  return note("cuEventRecord");
}
int cuEventSynchronize(void*) { return note("cuEventSynchronize"); }
int cuEventElapsedTime(float* ms, void* begin, void* end) {
  *ms = recorded_at[end] - recorded_at[begin];
  return note("cuEventElapsedTime");
}

}  // extern "C"
