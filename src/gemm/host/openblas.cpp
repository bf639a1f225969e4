#include "gemm/host/openblas.h"

#include <dlfcn.h>

#include <map>
#include <mutex>
#include <sstream>

namespace tessera::gemm::host {
namespace {

// Constants of the C interface of the BLAS.
constexpr int kRowMajor = 101, kColumnMajor = 102, kNoTranspose = 111, kTranspose = 112;

// "OpenBLAS 0.3.21" of "OpenBLAS 0.3.21 NO_LAPACKE ...".
std::string short_version(const char* config) {
  std::istringstream words(config ? config : "");
  std::string name, number;
  words >> name >> number;
  return name.empty() ? "OpenBLAS" : name + " " + number;
}

void* open_library(const std::string& path) {
  if (!path.empty()) return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  for (const char* name : {"libopenblas.so.0", "libopenblas.so"}) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

}  // namespace

const OpenBlas* OpenBlas::load(const std::string& path) {
  static std::mutex guard;
  static auto& loaded = *new std::map<std::string, OpenBlas>;
  const std::lock_guard lock(guard);
  const auto known = loaded.find(path);
  OpenBlas& blas = known != loaded.end() ? known->second : loaded[path];
  if (known == loaded.end()) {
    if (void* library = open_library(path)) {
      blas.dgemm_ = reinterpret_cast<Gemm<double>>(dlsym(library, "cblas_dgemm"));
      blas.sgemm_ = reinterpret_cast<Gemm<float>>(dlsym(library, "cblas_sgemm"));
      using Config = const char* (*)();
      const auto config = reinterpret_cast<Config>(dlsym(library, "openblas_get_config"));
      blas.version_ = short_version(config ? config() : nullptr);
    }
  }
  return blas.dgemm_ && blas.sgemm_ ? &blas : nullptr;
}

template <class T>
void OpenBlas::run(Gemm<T> gemm, const Call<T>& call) {
  const auto trans = [](Op op) { return op == Op::kNone ? kNoTranspose : kTranspose; };
  gemm(call.order == Order::kRowMajor ? kRowMajor : kColumnMajor, trans(call.op_a),
       trans(call.op_b), call.m, call.n, call.k, call.alpha, call.a, call.lda, call.b, call.ldb,
       call.beta, call.c, call.ldc);
}

void OpenBlas::multiply(const Call<double>& call) const { run(dgemm_, call); }
void OpenBlas::multiply(const Call<float>& call) const { run(sgemm_, call); }

}  // namespace tessera::gemm::host
