#include "lab/timing/vendor.h"

#include <fmt/format.h>
#include <glob.h>
#include <sys/stat.h>

#include <array>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>

#include "base/elements.h"
#include "device/buffer.h"
#include "lab/timing/cublas.h"

namespace tessera::lab {
namespace {

void demand(cublas::Code code, const char* function) {
  if (code == 0) return;
  throw StatusError(Status::unavailable(fmt::format("{} returned status {}", function, code)));
}

void* pointer(DeviceAddress address) { return reinterpret_cast<void*>(address); }

// Returns cuBLASLt's epilogue bits for an activation (its GELU is the tanh form); nullopt if
// cuBLASLt does not have the activation.
std::optional<int> lt_activation(Activation activation) {
  switch (activation) {
    case Activation::kIdentity:
      return 0;
    case Activation::kRelu:
      return cublas::kLtRelu;
    case Activation::kGelu:
      return cublas::kLtGelu;
    default:
      return std::nullopt;
  }
}

// alpha or beta in the type that the library reads.
struct Scale {
  alignas(8) std::array<std::byte, 8> bytes{};
  const void* get() const { return bytes.data(); }
};

Scale make_scale(ComputeType type, double value) {
  Scale scale;
  store_element(facts_of(type).sum, value, scale.bytes.data());
  return scale;
}

// cuBLAS knows only column-major matrices: a row-major problem becomes the column-major one with A
// and B exchanged.
struct ColumnMajor {
  std::int64_t m, n, k, lda, ldb, ldc, ldd;
  Batch batch;
  int op_a, op_b, a_type, b_type, c_type, d_type, compute, scale_type;
  bool exchanged;
  Scale alpha, beta;
  int epilogue = 0;  // epilogue of cuBLASLt; 0: none
  bool has_bias = false;

  explicit ColumnMajor(const Problem& p)
      : m(p.m),
        n(p.n),
        k(p.k),
        lda(p.lda),
        ldb(p.ldb),
        ldc(p.ldc),
        ldd(p.ldd),
        batch(p.batch),
        op_a(p.op_a == Op::kNone ? cublas::kNoTranspose : cublas::kTranspose),
        op_b(p.op_b == Op::kNone ? cublas::kNoTranspose : cublas::kTranspose),
        a_type(cublas::data_type(p.types.a)),
        b_type(cublas::data_type(p.types.b)),
        c_type(cublas::data_type(p.types.c)),
        d_type(cublas::data_type(p.types.d)),
        compute(cublas::compute_type(p.types.compute)),
        scale_type(cublas::data_type(facts_of(p.types.compute).sum)),
        exchanged(p.order == Order::kRowMajor),
        alpha(make_scale(p.types.compute, p.alpha)),
        beta(make_scale(p.types.compute, p.beta)) {
    has_bias = p.epilogue.bias != VectorKind::kNone;
    epilogue = has_bias ? cublas::kLtAddBias : 0;
    epilogue |= lt_activation(p.epilogue.activation).value_or(0);
    if (!exchanged) return;
    std::swap(m, n);
    std::swap(lda, ldb);
    std::swap(op_a, op_b);
    std::swap(a_type, b_type);
    std::swap(batch.stride_a, batch.stride_b);
  }
  // Whether the library has this epilogue: no scale, a supported activation, and at most a bias of
  // one value for each row of the library's column-major D.
  static bool has(const Problem& p) {
    const VectorKind rows =
        p.order == Order::kColumnMajor ? VectorKind::kPerRow : VectorKind::kPerColumn;
    return p.epilogue.scale == VectorKind::kNone &&
           (p.epilogue.bias == VectorKind::kNone || p.epilogue.bias == rows) &&
           lt_activation(p.epilogue.activation).has_value();
  }
  void* left(const Operands& x) const { return pointer(exchanged ? x.b : x.a); }
  void* right(const Operands& x) const { return pointer(exchanged ? x.a : x.b); }
};

// The library's state on one device: handles, and the workspace that all calls share.
struct Session {
  cublas::Library lib{};
  cublas::Handle blas = nullptr;
  cublas::LtHandle light = nullptr;
  cublas::Stream stream = nullptr;
  DeviceBuffer workspace;

  ~Session() {
    if (blas) lib.destroy(blas);
    if (light) lib.lt_destroy(light);
  }
};

// The descriptors of one problem for cuBLASLt, shared by the candidates that use them.
class LightProblem {
 public:
  // WHY it delegates: after the other constructor has completed, C++ runs the destructor even if
  // creating a descriptor fails here.
  LightProblem(Session& session, const ColumnMajor& problem)
      : LightProblem(session, problem, Empty{}) {
    const auto& p = problem_;
    const bool transpose_a = p.op_a == cublas::kTranspose;
    const bool transpose_b = p.op_b == cublas::kTranspose;
    demand(lib_.lt_matmul_create(&matmul_, p.compute, p.scale_type), "cublasLtMatmulDescCreate");
    set_op(cublas::kLtTransposeA, p.op_a);
    set_op(cublas::kLtTransposeB, p.op_b);
    if (p.epilogue != 0) set_op(cublas::kLtEpilogue, p.epilogue);
    // WHY an address is set: whether a candidate takes the problem may depend on the alignment of
    // the bias.
    if (p.has_bias) set_bias(session.workspace.address());
    const Batch& batch = p.batch;
    create_layout(a_, p.a_type, transpose_a ? p.k : p.m, transpose_a ? p.m : p.k, p.lda,
                  batch.stride_a);
    create_layout(b_, p.b_type, transpose_b ? p.n : p.k, transpose_b ? p.k : p.n, p.ldb,
                  batch.stride_b);
    create_layout(c_, p.c_type, p.m, p.n, p.ldc, batch.stride_c);
    create_layout(d_, p.d_type, p.m, p.n, p.ldd, batch.stride_d);
  }
  LightProblem(const LightProblem&) = delete;
  LightProblem& operator=(const LightProblem&) = delete;
  ~LightProblem() {
    for (cublas::LtDescriptor layout : {a_, b_, c_, d_}) {
      if (layout) lib_.lt_layout_destroy(layout);
    }
    if (matmul_) lib_.lt_matmul_destroy(matmul_);
  }

  std::vector<cublas::LtAlgorithm> candidates(int requested) const {
    cublas::LtDescriptor preference = nullptr;
    demand(lib_.lt_preference_create(&preference), "cublasLtMatmulPreferenceCreate");
    const std::size_t bytes = session_.workspace.bytes();
    lib_.lt_preference_set(preference, cublas::kLtMaxWorkspace, &bytes, sizeof bytes);
    std::vector<cublas::LtHeuristic> results(requested);
    int found = 0;
    const cublas::Code code = lib_.lt_heuristic(session_.light, matmul_, a_, b_, c_, d_, preference,
                                                requested, results.data(), &found);
    lib_.lt_preference_destroy(preference);
    std::vector<cublas::LtAlgorithm> algorithms;
    for (int i = 0; code == 0 && i < found; ++i) {
      if (results[i].state == 0) algorithms.push_back(results[i].algorithm);
    }
    return algorithms;
  }

  void call(const cublas::LtAlgorithm& algorithm, const Operands& x) const {
    const auto& p = problem_;
    const void* c = pointer(x.c ? x.c : x.d);
    if (p.has_bias) set_bias(x.bias);
    demand(lib_.lt_matmul(session_.light, matmul_, p.alpha.get(), p.left(x), a_, p.right(x), b_,
                          p.beta.get(), c, c_, pointer(x.d), d_, &algorithm,
                          pointer(session_.workspace.address()), session_.workspace.bytes(),
                          session_.stream),
           "cublasLtMatmul");
  }

 private:
  struct Empty {};
  LightProblem(Session& session, const ColumnMajor& problem, Empty)
      : session_(session), lib_(session.lib), problem_(problem) {}

  void set_op(int attribute, int op) {
    demand(lib_.lt_matmul_set(matmul_, attribute, &op, sizeof op),
           "cublasLtMatmulDescSetAttribute");
  }
  void set_bias(DeviceAddress address) const {
    demand(lib_.lt_matmul_set(matmul_, cublas::kLtBias, &address, sizeof address),
           "cublasLtMatmulDescSetAttribute");
  }
  void create_layout(cublas::LtDescriptor& out, int type, std::int64_t rows, std::int64_t cols,
                     std::int64_t ld, std::int64_t stride) {
    demand(lib_.lt_layout_create(&out, type, rows, cols, ld), "cublasLtMatrixLayoutCreate");
    if (problem_.batch.kind == BatchKind::kNone) return;
    const auto count = static_cast<std::int32_t>(problem_.batch.count);
    demand(lib_.lt_layout_set(out, cublas::kLtBatchCount, &count, sizeof count),
           "cublasLtMatrixLayoutSetAttribute");
    demand(lib_.lt_layout_set(out, cublas::kLtBatchStride, &stride, sizeof stride),
           "cublasLtMatrixLayoutSetAttribute");
  }

  Session& session_;
  const cublas::Library& lib_;
  ColumnMajor problem_;
  cublas::LtDescriptor matmul_ = nullptr, a_ = nullptr, b_ = nullptr, c_ = nullptr, d_ = nullptr;
};

void call_strided(Session& session, const ColumnMajor& p, const Operands& x) {
  demand(session.lib.gemm_strided(session.blas, p.op_a, p.op_b, p.m, p.n, p.k, p.alpha.get(),
                                  p.left(x), p.a_type, p.lda, p.batch.stride_a, p.right(x),
                                  p.b_type, p.ldb, p.batch.stride_b, p.beta.get(), pointer(x.d),
                                  p.d_type, p.ldd, p.batch.stride_d, p.batch.count, p.compute,
                                  cublas::kDefaultAlgorithm),
         "cublasGemmStridedBatchedEx");
}

void call_pointers(Session& session, const ColumnMajor& p, const Operands& x) {
  const auto array = [](void* address) { return static_cast<void* const*>(address); };
  demand(session.lib.gemm_pointers(session.blas, p.op_a, p.op_b, p.m, p.n, p.k, p.alpha.get(),
                                   array(p.left(x)), p.a_type, p.lda, array(p.right(x)), p.b_type,
                                   p.ldb, p.beta.get(), array(pointer(x.d)), p.d_type, p.ldd,
                                   p.batch.count, p.compute, cublas::kDefaultAlgorithm),
         "cublasGemmBatchedEx");
}

void call_default(Session& session, const ColumnMajor& p, const Operands& x) {
  if (p.batch.kind == BatchKind::kStrided) return call_strided(session, p, x);
  if (p.batch.kind == BatchKind::kPointers) return call_pointers(session, p, x);
  demand(session.lib.gemm(session.blas, p.op_a, p.op_b, p.m, p.n, p.k, p.alpha.get(), p.left(x),
                          p.a_type, p.lda, p.right(x), p.b_type, p.ldb, p.beta.get(), pointer(x.d),
                          p.d_type, p.ldd, p.compute, cublas::kDefaultAlgorithm),
         "cublasGemmEx");
}

class Cublas : public Vendor {
 public:
  Cublas(std::unique_ptr<Session> session, int candidates)
      : session_(std::move(session)), candidates_(candidates) {}

  std::string version() const override {
    int number[3] = {};
    for (int part = 0; part < 3; ++part) session_->lib.get_property(part, &number[part]);
    return fmt::format("cuBLAS {}.{}.{}", number[0], number[1], number[2]);
  }

  std::int64_t workspace_bytes() const override {
    return static_cast<std::int64_t>(session_->workspace.bytes());
  }

  std::vector<VendorCall> calls(const Problem& given) override {
    const Problem problem = with_default_ld(given);
    require(check_supported(problem));
    if (!ColumnMajor::has(problem)) return {};
    const ColumnMajor shape(problem);
    Session& session = *session_;
    std::vector<VendorCall> calls;
    // The default call reads C from D, so C and D must have the same type.
    const bool has_default = problem.beta == 0 || problem.types.c == problem.types.d;
    if (has_default && problem.epilogue.is_identity()) {
      calls.push_back({"cuBLAS default", problem.beta != 0, true,
                       [&session, shape](const Operands& x) { call_default(session, shape, x); }});
    }
    const bool is_empty = problem.m == 0 || problem.n == 0 || problem.k == 0;
    // A cuBLASLt layout holds a batch count of 32 bits, and cannot hold an array of addresses.
    const bool takes_batch = problem.batch.kind != BatchKind::kPointers &&
                             problem.batch.count > 0 &&
                             problem.batch.count <= std::numeric_limits<std::int32_t>::max();
    if (is_empty || !takes_batch) return calls;
    const auto light = std::make_shared<LightProblem>(session, shape);
    int number = 0;
    for (const cublas::LtAlgorithm& algorithm : light->candidates(candidates_)) {
      calls.push_back({fmt::format("cuBLASLt candidate {}", number++), false, false,
                       [light, algorithm](const Operands& x) { light->call(algorithm, x); }});
    }
    return calls;
  }

 private:
  std::unique_ptr<Session> session_;
  int candidates_;
};

// Makes the handles on the device's stream. Returns null if the library cannot start; `problem` is
// then the reason.
std::unique_ptr<Session> start_session(Device& device, const cublas::Library& lib,
                                       const VendorOptions& options, std::string& problem) {
  auto session = std::make_unique<Session>();
  session->lib = lib;
  cublas::Code code = lib.create(&session->blas);
  if (code == 0) code = lib.lt_create(&session->light);
  if (code != 0) {
    problem = fmt::format("it does not start on this driver (status {})", code);
    return nullptr;
  }
  session->stream = device.native_stream();
  session->workspace = DeviceBuffer(device, options.workspace_bytes);
  code = lib.set_stream(session->blas, session->stream);
  if (code == 0) {
    code = lib.set_workspace(session->blas, pointer(session->workspace.address()),
                             session->workspace.bytes());
  }
  if (code == 0) return session;
  problem = fmt::format("it does not take this stream and workspace (status {})", code);
  return nullptr;
}

std::vector<std::string> matches(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> paths;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    for (std::size_t i = 0; i < found.gl_pathc; ++i) paths.emplace_back(found.gl_pathv[i]);
  }
  globfree(&found);
  return paths;
}

bool is_folder(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

std::vector<std::string> vendor_library_paths(const std::string& given) {
  constexpr const char* kNames[] = {"libcublas.so.13", "libcublas.so.12"};
  std::vector<std::string> paths;
  if (!given.empty()) {
    if (!is_folder(given)) return {given};
    for (const char* name : kNames) paths.push_back(given + "/" + name);
    return paths;
  }
  std::vector<std::string> folders{"/usr/local/cuda/lib64", "/usr/local/cuda-*/lib64"};
  for (const std::string& root :
       {std::string("/usr"), std::string("/usr/local"), std::string("/opt/*"),
        environment("HOME") + "/.local", environment("VIRTUAL_ENV"), environment("CONDA_PREFIX")}) {
    if (root.empty()) continue;
    for (const char* packages : {"site-packages", "dist-packages"}) {
      for (const char* part : {"cu13", "cublas"}) {
        folders.push_back(fmt::format("{}/lib/python3*/{}/nvidia/{}/lib", root, packages, part));
      }
    }
  }
  for (const char* name : kNames) {
    paths.push_back(name);
    for (const std::string& folder : folders) {
      for (std::string& path : matches(folder + "/" + name)) paths.push_back(std::move(path));
    }
  }
  return paths;
}

std::unique_ptr<Vendor> make_vendor(Device& device, const cublas::Library& library,
                                    const VendorOptions& options, std::string& problem) {
  auto session = start_session(device, library, options, problem);
  if (!session) return nullptr;
  return std::make_unique<Cublas>(std::move(session), options.candidates);
}

std::unique_ptr<Vendor> Vendor::load(Device& device, const VendorOptions& options) {
  if (device.info().kind != DeviceKind::kCuda) {
    throw StatusError(Status::unavailable("the vendor's library needs a CUDA device, and this is " +
                                          device.info().name));
  }
  // WHY: if this variable is 1, the library would use TF32 for FP32 unrequested; if it is 0, it
  // would not use TF32 even on request.
  unsetenv("NVIDIA_TF32_OVERRIDE");
  std::string problem;  // error of the last library that was found, else of the first one tried
  bool found = false;
  for (const std::string& path : vendor_library_paths(options.library)) {
    cublas::Library library{};
    std::string reason;
    const bool loaded = cublas::load_library(path, library, reason);
    if (loaded) {
      if (auto vendor = make_vendor(device, library, options, reason)) return vendor;
    }
    if (loaded || !found) problem = fmt::format("{}: {}", path, reason);
    found = found || loaded;
  }
  const std::string asked =
      options.library.empty() ? "" : fmt::format("vendor_library is '{}', but ", options.library);
  throw StatusError(
      Status::unavailable(fmt::format("{}cuBLAS cannot be loaded: {}", asked, problem)));
}

}  // namespace tessera::lab
