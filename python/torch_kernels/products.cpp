#include "products.h"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <mutex>
#include <vector>

namespace tessera::torch_abi {
namespace {

constexpr int kMostGpus = 64;

struct Library {
  decltype(&tessera_create) create = nullptr;
  decltype(&tessera_gemm_with) gemm_with = nullptr;
};
Library library;
std::atomic<std::int32_t> compute_of_fp32{TESSERA_COMPUTE_USUAL};
// The last one is of the CPU.
std::array<std::atomic<tessera_handle>, kMostGpus + 1> handles;
std::mutex creating;

// Null where there is none, and the reason is not asked for: PyTorch's kernel multiplies.
tessera_handle handle_of(bool is_cpu, std::int32_t gpu) {
  if (!is_cpu && (gpu < 0 || gpu >= kMostGpus)) return nullptr;
  auto& slot = handles[is_cpu ? kMostGpus : gpu];
  if (tessera_handle known = slot.load(std::memory_order_acquire)) return known;
  const std::lock_guard lock(creating);
  if (tessera_handle known = slot.load(std::memory_order_acquire)) return known;
  tessera_place place{};
  place.size = sizeof place;
  place.gpu = is_cpu ? TESSERA_CPU : gpu;
  tessera_handle made = nullptr;
  if (library.create(&made, &place) != TESSERA_OK) return nullptr;
  slot.store(made, std::memory_order_release);
  return made;
}

std::int32_t type_of(std::int32_t dtype) {
  if (dtype == torch.aoti_torch_dtype_bfloat16()) return TESSERA_BF16;
  if (dtype == torch.aoti_torch_dtype_float16()) return TESSERA_F16;
  if (dtype == torch.aoti_torch_dtype_float32()) return TESSERA_F32;
  if (dtype == torch.aoti_torch_dtype_float64()) return TESSERA_F64;
  return 0;
}

// Dimensions of the matrices, which come last, and the batch before them.
struct Shape {
  std::int64_t batch, m, n, k;
  bool is_batch;
};

bool shape_of(const View& a, const View& b, std::int64_t dims, Shape* shape) {
  if (a.dims != b.dims || (a.dims != 2 && a.dims != 3) || (dims && a.dims != dims)) return false;
  const bool is_batch = a.dims == 3;
  const std::int64_t *x = a.sizes + is_batch, *y = b.sizes + is_batch;
  *shape = {is_batch ? a.sizes[0] : 1, x[0], y[1], x[1], is_batch};
  if (x[1] != y[0] || (is_batch && a.sizes[0] != b.sizes[0])) return false;
  return shape->batch > 0 && shape->m > 0 && shape->n > 0 && shape->k > 0;
}

bool is_like(const View& x, const View& a) {
  return x.dtype == a.dtype && x.device_type == a.device_type && x.device_index == a.device_index;
}

bool has_line(const View& x) {
  const std::int64_t last = x.dims - 1;
  return line_of(x.sizes[last - 1], x.sizes[last], x.strides[last - 1], x.strides[last]).is_legal;
}

// One operand of the problem: op, leading dimension and stride of the batch.
bool set_operand(const View& x, std::int64_t rows, std::int64_t cols, std::int32_t* op,
                 std::int64_t* ld, std::int64_t* stride) {
  const std::int64_t* strides = x.strides + (x.dims == 3);
  const Line line = line_of(rows, cols, strides[0], strides[1]);
  *op = line.op;
  *ld = line.ld;
  if (x.dims == 3 && x.sizes[0] > 1) *stride = x.strides[0];
  return line.is_legal;
}

bool has_shape(const View& x, const Shape& shape) {
  if (x.dims != 2 + shape.is_batch) return false;
  const std::int64_t* sizes = x.sizes + shape.is_batch;
  return sizes[0] == shape.m && sizes[1] == shape.n &&
         (!shape.is_batch || x.sizes[0] == shape.batch);
}

// The addend as C, as a bias that is broadcast, or not at all.
bool set_addend(const View& x, const Shape& shape, const Product& product, tessera_problem* problem,
                tessera_arguments* in) {
  const bool is_flat = x.dims == 1 || (x.dims == 2 && x.sizes[0] == 1);
  if (product.beta == 1 && is_flat && x.sizes[x.dims - 1] == shape.n &&
      (x.strides[x.dims - 1] == 1 || shape.n == 1)) {
    problem->bias = TESSERA_BIAS_PER_COLUMN;
    in->bias = x.address;
    return true;
  }
  if (product.beta == 1 && x.dims == 2 && x.sizes[0] == shape.m && x.sizes[1] == 1 &&
      (x.strides[0] == 1 || shape.m == 1)) {
    problem->bias = TESSERA_BIAS_PER_ROW;
    in->bias = x.address;
    return true;
  }
  if (!has_shape(x, shape)) return false;
  std::int32_t op = 0;
  in->c = x.address;
  in->beta = product.beta;
  return set_operand(x, shape.m, shape.n, &op, &problem->ldc, &problem->stride_c) &&
         op == TESSERA_N;
}

bool describe(const View& a, const View& b, const Shape& shape, tessera_problem* problem) {
  *problem = {};
  problem->size = sizeof *problem;
  problem->m = shape.m;
  problem->n = shape.n;
  problem->k = shape.k;
  problem->type_a = type_of(a.dtype);
  problem->order = TESSERA_ROW_MAJOR;
  if (problem->type_a == 0 || !is_like(b, a)) return false;
  if (problem->type_a == TESSERA_F32) problem->compute = compute_of_fp32;
  if (shape.is_batch) {
    problem->batch = TESSERA_STRIDED;
    problem->batch_count = shape.batch;
  }
  return set_operand(a, shape.m, shape.k, &problem->op_a, &problem->lda, &problem->stride_a) &&
         set_operand(b, shape.k, shape.n, &problem->op_b, &problem->ldb, &problem->stride_b);
}

// An operand, or a copy of one whose rows and columns both have gaps, or that is broadcast.
// PyTorch's kernels copy these, too.
struct Operand {
  View view;
  Tensor copy;

  bool read(AtenTensorHandle tensor) {
    if (!view_of(tensor, &view)) return false;
    if (view.dims < 2 || has_line(view)) return true;
    AtenTensorHandle made = nullptr;
    if (torch.aoti_torch_clone(tensor, &made)) return false;
    copy = Tensor(made);
    return view_of(made, &view);
  }
};

// A product on its way to the library; each step says whether the library takes it.
struct Call {
  Operand left, right;
  std::int64_t folded_sizes[2], folded_strides[2];
  const View &a = left.view, &b = right.view;
  Shape shape{};
  bool is_cpu = false, is_folded = false;
  tessera_handle handle = nullptr;
  tessera_problem problem{};
  tessera_arguments in{};

  bool read(const Product& product) {
    in.size = sizeof in;
    in.alpha = product.alpha;
    if (!left.read(product.a) || !right.read(product.b)) return false;
    if (product.folds && a.dims > 2 && b.dims == 2 && !fold_rows()) return false;
    is_cpu = a.device_type == torch.aoti_torch_device_type_cpu();
    if (!is_cpu && a.device_type != torch.aoti_torch_device_type_cuda()) return false;
    if (!shape_of(a, b, product.dims, &shape) || !describe(a, b, shape, &problem)) return false;
    problem.memory = is_cpu ? TESSERA_HOST_MEMORY : TESSERA_DEVICE_MEMORY;
    if (product.addend && product.beta != 0) {
      View addend;
      if (!view_of(product.addend, &addend) || !is_like(addend, a)) return false;
      if (!set_addend(addend, shape, product, &problem, &in)) return false;
    }
    handle = handle_of(is_cpu, a.device_index);
    return handle != nullptr;
  }

  // A batch of matrices whose rows continue is one matrix.
  bool fold_rows() {
    const std::int64_t last = a.dims - 1;
    std::int64_t rows = 1, step = a.strides[last - 1];
    for (std::int64_t i = last; i-- > 0;) {
      if (a.sizes[i] == 1) continue;
      if (rows == 1) step = a.strides[i];
      if (a.strides[i] != step * rows) return false;
      rows *= a.sizes[i];
    }
    folded_sizes[0] = rows;
    folded_sizes[1] = a.sizes[last];
    folded_strides[0] = step;
    folded_strides[1] = a.strides[last];
    is_folded = true;
    left.view.sizes = folded_sizes;
    left.view.strides = folded_strides;
    left.view.dims = 2;
    return true;
  }

  bool set_result(AtenTensorHandle tensor) {
    View d;
    std::int32_t op = 0;
    if (!view_of(tensor, &d) || !is_like(d, a)) return false;
    in.d = d.address;
    if (is_folded) return true;  // new, and in C order
    if (!has_shape(d, shape)) return false;
    const bool is_legal = set_operand(d, shape.m, shape.n, &op, &problem.ldd, &problem.stride_d);
    if (!in.c) problem.ldc = problem.ldd, problem.stride_c = problem.stride_d;
    return is_legal && op == TESSERA_N;
  }

  bool run() {
    if (!is_cpu && torch.aoti_torch_get_current_cuda_stream(a.device_index, &in.stream)) {
      return false;
    }
    in.a = a.address;
    in.b = b.address;
    return library.gemm_with(handle, &problem, nullptr, &in) == TESSERA_OK;
  }
};

AOTITorchError make_result(const View& a, const Shape& shape, AtenTensorHandle* made) {
  const std::int64_t sizes[] = {shape.batch, shape.m, shape.n};
  const std::int64_t strides[] = {shape.m * shape.n, shape.n, 1};
  const int first = shape.is_batch ? 0 : 1;
  return torch.aoti_torch_empty_strided(3 - first, sizes + first, strides + first, a.dtype,
                                        a.device_type, a.device_index, made);
}

// With the dimensions of `a` but the last one, in C order.
AOTITorchError make_folded_result(AtenTensorHandle a, const Shape& shape, AtenTensorHandle* made) {
  View like;
  if (!view_of(a, &like)) return 1;
  std::vector<std::int64_t> sizes(like.sizes, like.sizes + like.dims), strides(sizes.size(), 1);
  sizes.back() = shape.n;
  for (std::size_t i = sizes.size() - 1; i-- > 0;) strides[i] = strides[i + 1] * sizes[i + 1];
  return torch.aoti_torch_empty_strided(like.dims, sizes.data(), strides.data(), like.dtype,
                                        like.device_type, like.device_index, made);
}

template <class Function>
bool look_up(void* from, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(from, name));
  return *function != nullptr;
}

}  // namespace

bool open_library(const char* path, const char** why) {
  void* const loaded = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!loaded) return *why = dlerror(), false;
  const bool has_all = look_up(loaded, "tessera_create", &library.create) &&
                       look_up(loaded, "tessera_gemm_with", &library.gemm_with);
  if (!has_all) *why = "libtessera.so lacks functions that the operators call";
  return has_all;
}

void set_compute_of_fp32(std::int32_t compute) { compute_of_fp32 = compute; }

Taken multiply(const Product& product, AtenTensorHandle* result) {
  Call call;
  if (!call.read(product)) return Taken::kNo;
  Tensor made;
  if (!product.out) {
    AtenTensorHandle fresh = nullptr;
    const AOTITorchError failed = product.folds ? make_folded_result(product.a, call.shape, &fresh)
                                                : make_result(call.a, call.shape, &fresh);
    if (failed) return Taken::kNoMemory;
    made = Tensor(fresh);
  }
  if (!call.set_result(product.out ? product.out : made.handle())) return Taken::kNo;
  if (!call.run()) return Taken::kNo;
  if (!product.out) *result = reinterpret_cast<AtenTensorHandle>(made.give_up());
  return Taken::kYes;
}

}  // namespace tessera::torch_abi
