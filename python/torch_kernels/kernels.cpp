// Kernels for PyTorch's products and for our own operators, and their registration. Where the
// library does not take a product (its type, layout or size), PyTorch's own kernel multiplies,
// which torch_op.py kept as an operator of ours.
#include <dlfcn.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "products.h"

namespace tessera::torch_abi {
namespace {

std::atomic<std::uint64_t> taken_calls{0}, other_calls{0};

struct LibraryDeleter {
  void operator()(TorchLibraryOpaque* one) const { torch.aoti_torch_delete_library_object(one); }
};
using OwnedLibrary = std::unique_ptr<TorchLibraryOpaque, LibraryDeleter>;
// WHY never destroyed: at the end of the process PyTorch's dispatcher may be gone.
OwnedLibrary& products_of_pytorch = *new OwnedLibrary;
std::vector<OwnedLibrary>& products_of_ours = *new std::vector<OwnedLibrary>;

Taken counted(Taken taken) {
  (taken == Taken::kYes ? taken_calls : other_calls).fetch_add(1, std::memory_order_relaxed);
  return taken;
}

std::string shape_text(const View& x) {
  std::string text;
  for (std::int64_t i = 0; i < x.dims; ++i) {
    text += (text.empty() ? "" : "x") + std::to_string(x.sizes[i]);
  }
  return text;
}

// Refuses shapes in PyTorch's words: an error of a call into PyTorch comes back as a number alone.
void check_shapes(AtenTensorHandle left, AtenTensorHandle right, std::int64_t dims) {
  View a, b;
  if (!view_of(left, &a) || !view_of(right, &b)) return;
  const std::string shapes = " (" + shape_text(a) + " and " + shape_text(b) + ")";
  if (a.dims != dims || b.dims != dims) {
    throw std::runtime_error(dims == 2 ? "self and mat2 must be matrices" + shapes
                                       : "batch1 and batch2 must be 3D tensors" + shapes);
  }
  const bool fits =
      a.sizes[dims - 1] == b.sizes[dims - 2] && (dims == 2 || a.sizes[0] == b.sizes[0]);
  if (!fits) throw std::runtime_error("mat1 and mat2 shapes cannot be multiplied" + shapes);
  if (a.dtype != b.dtype) {
    throw std::runtime_error("expected mat1 and mat2 to have the same dtype" + shapes);
  }
}

[[noreturn]] void throw_out_of_memory() {
  throw std::runtime_error("CUDA out of memory: no room for the result of a product");
}

void call_pytorch(const char* name, StableIValue* stack) {
  if (torch.aoti_torch_call_dispatcher(name, "", stack) != 0) {
    throw std::runtime_error(std::string(name) +
                             ": PyTorch's own kernel refused the product, as printed above");
  }
}

// aten::mm and aten::bmm
template <std::int64_t kDims>
void product(StableIValue* stack, std::uint64_t, std::uint64_t) {
  Tensor a(stack[0]), b(stack[1]);
  AtenTensorHandle result = nullptr;
  const Taken taken = counted(multiply({.a = a.handle(), .b = b.handle(), .dims = kDims}, &result));
  if (taken == Taken::kNoMemory) throw_out_of_memory();
  if (taken == Taken::kNo) {
    check_shapes(a.handle(), b.handle(), kDims);
    StableIValue theirs[] = {a.give_up(), b.give_up()};
    call_pytorch(kDims == 2 ? "tessera::pytorch_mm" : "tessera::pytorch_bmm", theirs);
    result = reinterpret_cast<AtenTensorHandle>(theirs[0]);
  }
  stack[0] = reinterpret_cast<StableIValue>(result);
}

// aten::mm.out and aten::bmm.out
template <std::int64_t kDims>
void product_out(StableIValue* stack, std::uint64_t, std::uint64_t) {
  Tensor a(stack[0]), b(stack[1]), out(stack[2]);
  const Product one{.a = a.handle(), .b = b.handle(), .out = out.handle(), .dims = kDims};
  if (counted(multiply(one, nullptr)) == Taken::kYes) {
    stack[0] = out.give_up();
    return;
  }
  check_shapes(a.handle(), b.handle(), kDims);
  StableIValue theirs[] = {a.give_up(), b.give_up(), out.give_up()};
  call_pytorch(kDims == 2 ? "tessera::pytorch_mm_out" : "tessera::pytorch_bmm_out", theirs);
  stack[0] = theirs[0];
}

double number_in(StableIValue value) {
  double number = 0;
  std::memcpy(&number, &value, sizeof number);
  return number;
}

// Of add_product(Tensor addend, Tensor a, Tensor b, float beta, float alpha, int dims) -> Tensor?
// and of add_product_out, which has `Tensor(a!) out` in addition and gives a bool.
struct Sum {
  explicit Sum(StableIValue* stack) : addend(stack[0]), a(stack[1]), b(stack[2]) {
    of.a = a.handle();
    of.b = b.handle();
    of.addend = addend.handle();
    of.beta = number_in(stack[3]);
    of.alpha = number_in(stack[4]);
    of.dims = static_cast<std::int64_t>(stack[5]);
  }
  Tensor addend, a, b;
  Product of;
};

void add_product(StableIValue* stack, std::uint64_t, std::uint64_t) {
  const Sum sum(stack);
  AtenTensorHandle result = nullptr;
  stack[0] = 0;
  if (counted(multiply(sum.of, &result)) != Taken::kYes) return;
  // An optional value is a pointer that its receiver deletes.
  stack[0] =
      reinterpret_cast<StableIValue>(new StableIValue(reinterpret_cast<StableIValue>(result)));
}

void add_product_out(StableIValue* stack, std::uint64_t, std::uint64_t) {
  Sum sum(stack);
  const Tensor out(stack[6]);
  sum.of.out = out.handle();
  stack[0] = counted(multiply(sum.of, nullptr)) == Taken::kYes;
}

// tessera::matmul, of two matrices, of as many, or of a batch that is one matrix and another matrix
void matmul(StableIValue* stack, std::uint64_t, std::uint64_t) {
  Tensor a(stack[0]), b(stack[1]);
  AtenTensorHandle result = nullptr;
  const Taken taken = counted(multiply({.a = a.handle(), .b = b.handle(), .folds = true}, &result));
  if (taken == Taken::kNoMemory) throw_out_of_memory();
  if (taken == Taken::kNo) {
    StableIValue any[] = {a.give_up(), b.give_up()};
    call_pytorch("tessera::matmul_any", any);
    result = reinterpret_cast<AtenTensorHandle>(any[0]);
  }
  stack[0] = reinterpret_cast<StableIValue>(result);
}

OwnedLibrary library_for(const char* space, const char* key) {
  TorchLibraryHandle made = nullptr;
  if (torch.aoti_torch_library_init_impl(space, key, __FILE__, __LINE__, &made)) return nullptr;
  return OwnedLibrary(made);
}

bool add(const OwnedLibrary& to, const char* name, Kernel kernel) {
  return to && torch.aoti_torch_library_impl(to.get(), name, kernel) == 0;
}

const char* look_up_pytorch() {
  void* const cpu = dlopen("libtorch_cpu.so", RTLD_NOLOAD | RTLD_LAZY);
  void* const cuda = dlopen("libtorch_cuda.so", RTLD_NOLOAD | RTLD_LAZY);
  if (!cpu) return "PyTorch is not loaded";
#define TESSERA_LOOK_UP(result, name, parameters)                          \
  torch.name = reinterpret_cast<decltype(torch.name)>(dlsym(from, #name)); \
  if (!torch.name && from) return "this PyTorch lacks " #name;
  void* from = cpu;
  TESSERA_TORCH_FUNCTIONS(TESSERA_LOOK_UP)
  from = cuda;
  TESSERA_TORCH_CUDA_FUNCTIONS(TESSERA_LOOK_UP)
#undef TESSERA_LOOK_UP
  return nullptr;
}

}  // namespace
}  // namespace tessera::torch_abi

using namespace tessera::torch_abi;

// What torch_op.py calls.
#define TESSERA_TORCH_API __attribute__((visibility("default")))

extern "C" {

// Null, or the reason why the operators cannot be used.
TESSERA_TORCH_API const char* tessera_torch_open(const char* library) {
  const char* why = look_up_pytorch();
  if (!why) open_library(library, &why);
  return why;
}

// Kernels of our own operators for a dispatch key, once for each; null, or the reason why not.
TESSERA_TORCH_API const char* tessera_torch_register(const char* key) {
  OwnedLibrary made = library_for("tessera", key);
  const bool is_added = add(made, "add_product", add_product) &&
                        add(made, "add_product_out", add_product_out) &&
                        add(made, "matmul", matmul);
  products_of_ours.push_back(std::move(made));
  return is_added ? nullptr : "PyTorch takes no kernel of this interface";
}

// Null, or why not. fp32: the tessera_compute of products of FP32.
TESSERA_TORCH_API const char* tessera_torch_enable(const char* key, std::int32_t fp32) {
  set_compute_of_fp32(fp32);
  if (products_of_pytorch) return nullptr;
  OwnedLibrary made = library_for("aten", key);
  const bool is_added = add(made, "mm", product<2>) && add(made, "mm.out", product_out<2>) &&
                        add(made, "bmm", product<3>) && add(made, "bmm.out", product_out<3>);
  if (!is_added) return "PyTorch takes no kernel for its own products";
  products_of_pytorch = std::move(made);
  return nullptr;
}

TESSERA_TORCH_API void tessera_torch_disable() {
  products_of_pytorch.reset();
  set_compute_of_fp32(TESSERA_COMPUTE_USUAL);
}

// Products that the library computed, and those that it left to PyTorch.
TESSERA_TORCH_API void tessera_torch_counts(std::uint64_t counts[2]) {
  counts[0] = taken_calls;
  counts[1] = other_calls;
}

}  // extern "C"
