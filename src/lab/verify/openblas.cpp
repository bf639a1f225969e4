#include <dlfcn.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <sstream>

#include "lab/verify/products.h"

namespace tessera::lab {
namespace {

// Constants of the C interface of the BLAS.
constexpr int kRowMajor = 101, kNoTranspose = 111;

// "OpenBLAS 0.3.21 NO_LAPACKE ..." without what follows the number.
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
  static std::map<std::string, OpenBlas> loaded;
  const std::lock_guard lock(guard);
  const auto known = loaded.find(path);
  OpenBlas& blas = known != loaded.end() ? known->second : loaded[path];
  if (known == loaded.end()) {
    void* library = open_library(path);
    if (library) {
      blas.dgemm_ = reinterpret_cast<Dgemm>(dlsym(library, "cblas_dgemm"));
      using Config = const char* (*)();
      const auto config = reinterpret_cast<Config>(dlsym(library, "openblas_get_config"));
      blas.version_ = short_version(config ? config() : nullptr);
    }
  }
  return blas.dgemm_ ? &blas : nullptr;
}

bool OpenBlas::multiply(const Extents& size, const double* a, const double* b, double* c) const {
  if (std::max({size.m, size.n, size.k}) > std::numeric_limits<int>::max()) return false;
  const int m = static_cast<int>(size.m), n = static_cast<int>(size.n),
            k = static_cast<int>(size.k);
  dgemm_(kRowMajor, kNoTranspose, kNoTranspose, m, n, k, 1.0, a, std::max(k, 1), b, std::max(n, 1),
         0.0, c, std::max(n, 1));
  return true;
}

}  // namespace tessera::lab
