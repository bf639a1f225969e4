#include "lab/timing/cublas.h"

#include <dlfcn.h>

namespace tessera::lab::cublas {
namespace {

// Returns the path of the libcublasLt next to a libcublas: "/x/libcublasLt.so.13" for
// "/x/libcublas.so.13".
std::string light_path(const std::string& path) {
  const std::size_t at = path.rfind("libcublas.so");
  return at == std::string::npos ? path : path.substr(0, at) + "libcublasLt" + path.substr(at + 9);
}

struct Binder {
  void* library;
  std::string missing;

  template <class Function>
  void bind(const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (!function && missing.empty()) missing = name;
  }
};

std::string bind_blas(void* handle, Library& lib) {
  Binder from{handle, {}};
  from.bind("cublasCreate_v2", lib.create);
  from.bind("cublasDestroy_v2", lib.destroy);
  from.bind("cublasGetProperty", lib.get_property);
  from.bind("cublasSetStream_v2", lib.set_stream);
  from.bind("cublasSetWorkspace_v2", lib.set_workspace);
  from.bind("cublasGemmEx_64", lib.gemm);
  from.bind("cublasGemmStridedBatchedEx_64", lib.gemm_strided);
  from.bind("cublasGemmBatchedEx_64", lib.gemm_pointers);
  return from.missing;
}

std::string bind_light(void* handle, Library& lib) {
  Binder from{handle, {}};
  from.bind("cublasLtCreate", lib.lt_create);
  from.bind("cublasLtDestroy", lib.lt_destroy);
  from.bind("cublasLtMatmulDescCreate", lib.lt_matmul_create);
  from.bind("cublasLtMatmulDescDestroy", lib.lt_matmul_destroy);
  from.bind("cublasLtMatmulDescSetAttribute", lib.lt_matmul_set);
  from.bind("cublasLtMatrixLayoutCreate", lib.lt_layout_create);
  from.bind("cublasLtMatrixLayoutSetAttribute", lib.lt_layout_set);
  from.bind("cublasLtMatrixLayoutDestroy", lib.lt_layout_destroy);
  from.bind("cublasLtMatmulPreferenceCreate", lib.lt_preference_create);
  from.bind("cublasLtMatmulPreferenceDestroy", lib.lt_preference_destroy);
  from.bind("cublasLtMatmulPreferenceSetAttribute", lib.lt_preference_set);
  from.bind("cublasLtMatmulAlgoGetHeuristic", lib.lt_heuristic);
  from.bind("cublasLtMatmul", lib.lt_matmul);
  return from.missing;
}

void* open(const std::string& path, std::string& problem) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!handle) problem = dlerror();
  return handle;
}

}  // namespace

// HW: values of library_types.h and cublas_api.h, release 13.0.
int data_type(ElementType type) {
  switch (type) {
    case ElementType::kF32:
      return kReal32;
    case ElementType::kF64:
      return kReal64;
    case ElementType::kF16:
      return 2;
    case ElementType::kS8:
      return 3;
    case ElementType::kU8:
      return 8;
    case ElementType::kS32:
      return 10;
    case ElementType::kBf16:
      return 14;
    case ElementType::kE4m3:
      return 28;
    case ElementType::kE5m2:
      return 29;
    default:
      refuse_type("the vendor's library", type);
  }
}

int compute_type(ComputeType type) {
  switch (type) {
    case ComputeType::kF16:
      return 64;
    case ComputeType::kF32:
    case ComputeType::kF16x3:  // cuBLAS has no such type; users would take this one
      return kCompute32;
    case ComputeType::kF64:
      return kCompute64;
    case ComputeType::kS32:
      return 72;
    case ComputeType::kTf32:
      return 77;
    default:
      throw StatusError(Status::unsupported("the vendor's library does not compute in " +
                                            std::string(name_of(type))));
  }
}

bool load_library(const std::string& path, Library& library, std::string& problem) {
  void* light = open(light_path(path), problem);  // libcublas needs it and may not find it itself
  void* blas = light ? open(path, problem) : nullptr;
  if (!blas) return false;
  std::string missing = bind_light(light, library);
  if (missing.empty()) missing = bind_blas(blas, library);
  if (!missing.empty()) problem = path + " has no function " + missing;
  return missing.empty();
}

}  // namespace tessera::lab::cublas
