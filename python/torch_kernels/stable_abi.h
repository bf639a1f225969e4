// The functions of PyTorch's stable C interface that our operators call, declared anew: neither the
// build nor a test needs PyTorch. A test compares them with PyTorch's own headers
// (torch/csrc/inductor/aoti_torch/c/shim.h) where these are installed. They are looked up in the
// PyTorch that the process has loaded.
#pragma once

#include <cstdint>

// PyTorch's names, so that the test can compare types.
struct AtenTensorOpaque;
using AtenTensorHandle = AtenTensorOpaque*;
class TorchLibraryOpaque;
using TorchLibraryHandle = TorchLibraryOpaque*;
using AOTITorchError = int32_t;  // 0: success
using StableIValue = uint64_t;   // a tensor handle, which its receiver owns; a number's own bytes

namespace tessera::torch_abi {

// A kernel finds its arguments on the stack and leaves its results there.
using Kernel = void (*)(StableIValue* stack, uint64_t inputs, uint64_t outputs);

// X(result, name, (parameters)): of libtorch_cpu.so, all since PyTorch 2.8.
#define TESSERA_TORCH_FUNCTIONS(X)                                                           \
  X(AOTITorchError, aoti_torch_get_data_ptr, (AtenTensorHandle, void**))                     \
  X(AOTITorchError, aoti_torch_get_dim, (AtenTensorHandle, int64_t*))                        \
  X(AOTITorchError, aoti_torch_get_sizes, (AtenTensorHandle, int64_t**))                     \
  X(AOTITorchError, aoti_torch_get_strides, (AtenTensorHandle, int64_t**))                   \
  X(AOTITorchError, aoti_torch_get_dtype, (AtenTensorHandle, int32_t*))                      \
  X(AOTITorchError, aoti_torch_get_device_type, (AtenTensorHandle, int32_t*))                \
  X(AOTITorchError, aoti_torch_get_device_index, (AtenTensorHandle, int32_t*))               \
  X(AOTITorchError, aoti_torch_get_layout, (AtenTensorHandle, int32_t*))                     \
  X(AOTITorchError, aoti_torch_empty_strided,                                                \
    (int64_t, const int64_t*, const int64_t*, int32_t, int32_t, int32_t, AtenTensorHandle*)) \
  X(AOTITorchError, aoti_torch_clone, (AtenTensorHandle, AtenTensorHandle*))                 \
  X(AOTITorchError, aoti_torch_delete_tensor_object, (AtenTensorHandle))                     \
  X(AOTITorchError, aoti_torch_call_dispatcher, (const char*, const char*, StableIValue*))   \
  X(AOTITorchError, aoti_torch_library_init_impl,                                            \
    (const char*, const char*, const char*, uint32_t, TorchLibraryHandle*))                  \
  X(AOTITorchError, aoti_torch_library_impl,                                                 \
    (TorchLibraryHandle, const char*, void (*)(StableIValue*, uint64_t, uint64_t)))          \
  X(AOTITorchError, aoti_torch_delete_library_object, (TorchLibraryHandle))                  \
  X(int32_t, aoti_torch_device_type_cpu, ())                                                 \
  X(int32_t, aoti_torch_device_type_cuda, ())                                                \
  X(int32_t, aoti_torch_layout_strided, ())                                                  \
  X(int32_t, aoti_torch_dtype_float64, ())                                                   \
  X(int32_t, aoti_torch_dtype_float32, ())                                                   \
  X(int32_t, aoti_torch_dtype_float16, ())                                                   \
  X(int32_t, aoti_torch_dtype_bfloat16, ())

// Of libtorch_cuda.so, which a PyTorch for CPUs does not have.
#define TESSERA_TORCH_CUDA_FUNCTIONS(X) \
  X(AOTITorchError, aoti_torch_get_current_cuda_stream, (int32_t, void**))

struct Functions {
#define TESSERA_FIELD(result, name, parameters) result(*name) parameters = nullptr;
  TESSERA_TORCH_FUNCTIONS(TESSERA_FIELD)
  TESSERA_TORCH_CUDA_FUNCTIONS(TESSERA_FIELD)
#undef TESSERA_FIELD
};

}  // namespace tessera::torch_abi
