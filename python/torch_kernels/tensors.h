// Tensors of PyTorch as our products read them.
#pragma once

#include <cstdint>
#include <utility>

#include "stable_abi.h"
#include "tessera/gemm.h"

namespace tessera::torch_abi {

// Filled by tessera_torch_open(), before any kernel is registered.
inline Functions torch;

// A tensor of the stack that is deleted at the end, or given back to the stack.
class Tensor {
 public:
  explicit Tensor(AtenTensorHandle handle = nullptr) : handle_(handle) {}
  explicit Tensor(StableIValue value) : handle_(reinterpret_cast<AtenTensorHandle>(value)) {}
  ~Tensor() {
    if (handle_) torch.aoti_torch_delete_tensor_object(handle_);
  }
  Tensor(Tensor&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Tensor& operator=(Tensor&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }

  AtenTensorHandle handle() const { return handle_; }
  StableIValue give_up() { return reinterpret_cast<StableIValue>(std::exchange(handle_, nullptr)); }

 private:
  AtenTensorHandle handle_;
};

// What a product depends on. Strides count elements.
struct View {
  void* address = nullptr;
  std::int64_t dims = 0;
  const std::int64_t *sizes = nullptr, *strides = nullptr;  // the tensor's own
  std::int32_t dtype = -1, device_type = -1, device_index = -1;
};

// False where PyTorch refuses to say, or where the tensor is not dense.
bool view_of(AtenTensorHandle tensor, View* view);

// How the library reads a matrix: op N, contiguous rows, or T, contiguous columns.
struct Line {
  bool is_legal = false;
  std::int32_t op = TESSERA_N;
  std::int64_t ld = 0;
};
Line line_of(std::int64_t rows, std::int64_t cols, std::int64_t by_row, std::int64_t by_col);

}  // namespace tessera::torch_abi
