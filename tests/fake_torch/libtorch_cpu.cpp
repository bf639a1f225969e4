// A stand-in for the part of PyTorch that our operators call (python/torch_kernels/stable_abi.h),
// under the file name of PyTorch's own library, so that they are tested where PyTorch is not
// installed. Tensors describe memory of the test.
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stable_abi.h"

using tessera::torch_abi::Kernel;

struct AtenTensorOpaque {
  void* address;
  std::vector<int64_t> sizes, strides;
  int32_t dtype, device_type, device_index, layout;
  void* owned;  // of a tensor that was made here
};

class TorchLibraryOpaque {
 public:
  std::string prefix;  // "aten CPU "
};

namespace {

enum Constants {
  kCpu = 0,
  kCuda = 1,
  kHalf = 5,
  kFloat = 6,
  kDouble = 7,
  kBFloat16 = 15,
  kStrided = 0
};

std::set<AtenTensorHandle> live;
std::map<std::string, Kernel> kernels;
std::string calls, message;
bool has_memory = true;

AtenTensorHandle made(const AtenTensorOpaque& like) {
  return *live.insert(new AtenTensorOpaque(like)).first;
}

}  // namespace

extern "C" {

int32_t aoti_torch_device_type_cpu() { return kCpu; }
int32_t aoti_torch_device_type_cuda() { return kCuda; }
int32_t aoti_torch_layout_strided() { return kStrided; }
int32_t aoti_torch_dtype_float64() { return kDouble; }
int32_t aoti_torch_dtype_float32() { return kFloat; }
int32_t aoti_torch_dtype_float16() { return kHalf; }
int32_t aoti_torch_dtype_bfloat16() { return kBFloat16; }

AOTITorchError aoti_torch_get_data_ptr(AtenTensorHandle x, void** to) {
  return *to = x->address, 0;
}
AOTITorchError aoti_torch_get_dim(AtenTensorHandle x, int64_t* to) {
  return *to = static_cast<int64_t>(x->sizes.size()), 0;
}
AOTITorchError aoti_torch_get_sizes(AtenTensorHandle x, int64_t** to) {
  return *to = x->sizes.data(), 0;
}
AOTITorchError aoti_torch_get_strides(AtenTensorHandle x, int64_t** to) {
  return *to = x->strides.data(), 0;
}
AOTITorchError aoti_torch_get_dtype(AtenTensorHandle x, int32_t* to) { return *to = x->dtype, 0; }
AOTITorchError aoti_torch_get_device_type(AtenTensorHandle x, int32_t* to) {
  return *to = x->device_type, 0;
}
AOTITorchError aoti_torch_get_device_index(AtenTensorHandle x, int32_t* to) {
  return *to = x->device_index, 0;
}
AOTITorchError aoti_torch_get_layout(AtenTensorHandle x, int32_t* to) { return *to = x->layout, 0; }

AOTITorchError aoti_torch_empty_strided(int64_t dims, const int64_t* sizes, const int64_t* strides,
                                        int32_t dtype, int32_t device_type, int32_t device_index,
                                        AtenTensorHandle* to) {
  if (!has_memory) return 1;
  std::size_t elements = 1;
  for (int64_t i = 0; i < dims; ++i)
    elements += static_cast<std::size_t>((sizes[i] - 1) * strides[i]);
  void* memory = std::aligned_alloc(64, (elements * 8 + 63) / 64 * 64);
  std::memset(memory, 0xff, elements * 8);
  *to = made({memory,
              {sizes, sizes + dims},
              {strides, strides + dims},
              dtype,
              device_type,
              device_index,
              kStrided,
              memory});
  return 0;
}
// A test gives elements of 8 bytes to what is cloned.
AOTITorchError aoti_torch_clone(AtenTensorHandle x, AtenTensorHandle* to) {
  std::vector<int64_t> strides(x->sizes.size(), 1);
  int64_t elements = 1;
  for (std::size_t i = strides.size(); i-- > 0;) strides[i] = elements, elements *= x->sizes[i];
  if (aoti_torch_empty_strided(static_cast<int64_t>(strides.size()), x->sizes.data(),
                               strides.data(), x->dtype, x->device_type, x->device_index, to)) {
    return 1;
  }
  for (int64_t at = 0; at < elements; ++at) {
    int64_t from = 0;
    for (std::size_t i = 0; i < strides.size(); ++i)
      from += at / strides[i] % x->sizes[i] * x->strides[i];
    static_cast<double*>((*to)->address)[at] = static_cast<double*>(x->address)[from];
  }
  return 0;
}
AOTITorchError aoti_torch_delete_tensor_object(AtenTensorHandle x) {
  if (live.erase(x) == 0) std::abort();  // deleted twice
  std::free(x->owned);
  delete x;
  return 0;
}

AOTITorchError aoti_torch_library_init_impl(const char* space, const char* key, const char*,
                                            uint32_t, TorchLibraryHandle* to) {
  *to = new TorchLibraryOpaque{std::string(space) + " " + key + " "};
  return 0;
}
AOTITorchError aoti_torch_library_impl(TorchLibraryHandle to, const char* name, Kernel kernel) {
  return kernels.emplace(to->prefix + name, kernel).second ? 0 : 1;
}
AOTITorchError aoti_torch_delete_library_object(TorchLibraryHandle one) {
  std::erase_if(kernels, [&](const auto& kernel) { return kernel.first.starts_with(one->prefix); });
  delete one;
  return 0;
}
// An operator of another kernel takes its tensors, and gives back one without memory. "refused"
// refuses.
AOTITorchError aoti_torch_call_dispatcher(const char* name, const char*, StableIValue* stack) {
  calls += std::string(name) + "\n";
  const bool has_out = std::string(name).ends_with("_out");
  for (int i = 0; i < 2 + has_out; ++i)
    aoti_torch_delete_tensor_object(reinterpret_cast<AtenTensorHandle>(stack[i]));
  if (!has_memory) return 1;
  stack[0] = reinterpret_cast<StableIValue>(
      made({nullptr, {1}, {1}, kDouble, kCpu, -1, kStrided, nullptr}));
  return 0;
}

// What a test asks for.
AtenTensorHandle fake_torch_tensor(void* address, int64_t dims, const int64_t* sizes,
                                   const int64_t* strides, int32_t dtype, int32_t device_type,
                                   int32_t device_index, int32_t layout) {
  return made({address,
               {sizes, sizes + dims},
               {strides, strides + dims},
               dtype,
               device_type,
               device_index,
               layout,
               nullptr});
}
void* fake_torch_address(AtenTensorHandle x) { return x->address; }
void fake_torch_delete(AtenTensorHandle x) { aoti_torch_delete_tensor_object(x); }
int64_t fake_torch_live() { return static_cast<int64_t>(live.size()); }
void fake_torch_set_memory(int is_there) { has_memory = is_there != 0; }
// "" or the words of the exception.
const char* fake_torch_call(const char* kernel, StableIValue* stack, uint64_t inputs) {
  message.clear();
  const auto found = kernels.find(kernel);
  if (found == kernels.end()) return "there is no such kernel";
  try {
    found->second(stack, inputs, 1);
  } catch (const std::exception& error) {
    message = error.what();
  }
  return message.c_str();
}
const char* fake_torch_calls() {
  static std::string last;
  last = std::exchange(calls, "");
  return last.c_str();
}
StableIValue fake_torch_take_optional(StableIValue value) {
  if (!value) return 0;
  auto* const inside = reinterpret_cast<StableIValue*>(value);
  const StableIValue taken = *inside;
  delete inside;
  return taken;
}

}  // extern "C"
