// The vendor's library cannot run here, but what we ask of it can be checked: a stand-in with the
// same functions multiplies column-major matrices as the library's manual says.
#include "lab/timing/vendor.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lab/timing/cublas.h"
#include "tests/lab/timing/fake_device.h"
#include "tests/lab/verify/operands.h"

namespace tessera::lab {
namespace {

// A matrix layout, a matmul or a preference of the stand-in.
struct Descriptor {
  int type = 0, compute = 0, op_a = 0, op_b = 0;
  std::uint64_t rows = 0, cols = 0;
  std::int64_t ld = 0;
  std::size_t workspace = 0;
};

Descriptor& of(cublas::LtDescriptor handle) { return *static_cast<Descriptor*>(handle); }

struct Product {
  std::int64_t m, n, k;
  int op_a, op_b;
  const void *alpha, *a, *b, *beta, *c;
  void* d;
  std::int64_t lda, ldb, ldc, ldd;
};

// Column-major D = alpha op(A) op(B) + beta C, with sums of type T.
template <class T, class In = T, class Out = T>
void multiply(const Product& p) {
  const In* a = static_cast<const In*>(p.a);
  const In* b = static_cast<const In*>(p.b);
  const T alpha = *static_cast<const T*>(p.alpha), beta = *static_cast<const T*>(p.beta);
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      T sum = 0;
      for (std::int64_t k = 0; k < p.k; ++k) {
        const In left = p.op_a == cublas::kNoTranspose ? a[i + k * p.lda] : a[k + i * p.lda];
        const In right = p.op_b == cublas::kNoTranspose ? b[k + j * p.ldb] : b[j + k * p.ldb];
        sum = std::fma(static_cast<T>(left), static_cast<T>(right), sum);
      }
      T value = alpha * sum;
      if (beta != 0) value += beta * static_cast<T>(static_cast<const Out*>(p.c)[i + j * p.ldc]);
      static_cast<Out*>(p.d)[i + j * p.ldd] = element_of<Out>(value);
    }
  }
}

// The numbers of the vendor's headers: cudaDataType 0 f32, 1 f64, 14 bf16; cublasComputeType 68 and
// 70. 15 is its "not supported".
cublas::Code multiply_types(const Product& p, int in, int out, int compute) {
  if (in == 1 && out == 1 && compute == 70) return multiply<double>(p), 0;
  if (in == 0 && out == 0 && compute == 68) return multiply<float>(p), 0;
  if (in == 14 && out == 14 && compute == 68) return multiply<float, Bfloat16, Bfloat16>(p), 0;
  if (in == 14 && out == 0 && compute == 68) return multiply<float, Bfloat16, float>(p), 0;
  return 15;
}

int live_descriptors = 0;
int last_algorithm = -1;
std::size_t asked_workspace = 0;

cublas::Code lt_destroy_any(cublas::LtDescriptor handle) {
  delete static_cast<Descriptor*>(handle);
  --live_descriptors;
  return 0;
}

cublas::LtDescriptor make_descriptor(const Descriptor& value) {
  ++live_descriptors;
  return new Descriptor(value);
}

void stand_in_blas(cublas::Library& lib) {
  lib.create = [](cublas::Handle* out) { return *out = new int, 0; };
  lib.destroy = [](cublas::Handle handle) { return delete static_cast<int*>(handle), 0; };
  lib.get_property = [](int part, int* value) { return *value = 10 + part, 0; };
  lib.set_stream = [](cublas::Handle, cublas::Stream) { return 0; };
  lib.set_workspace = [](cublas::Handle, void* memory, std::size_t bytes) {
    return memory != nullptr && bytes == std::size_t{64} << 20 ? 0 : 7;
  };
  lib.gemm = [](cublas::Handle, int op_a, int op_b, std::int64_t m, std::int64_t n, std::int64_t k,
                const void* alpha, const void* a, int a_type, std::int64_t lda, const void* b,
                int b_type, std::int64_t ldb, const void* beta, void* c, int c_type,
                std::int64_t ldc, int compute, int algorithm) {
    const Product p{m, n, k, op_a, op_b, alpha, a, b, beta, c, c, lda, ldb, ldc, ldc};
    if (a_type != b_type || algorithm != -1) return 15;
    return multiply_types(p, a_type, c_type, compute);
  };
}

void stand_in_descriptors(cublas::Library& lib) {
  lib.lt_create = [](cublas::LtHandle* out) { return *out = new int, 0; };
  lib.lt_destroy = [](cublas::LtHandle handle) { return delete static_cast<int*>(handle), 0; };
  lib.lt_matmul_create = [](cublas::LtDescriptor* out, int compute, int type) {
    Descriptor matmul;
    matmul.compute = compute;
    matmul.type = type;
    return *out = make_descriptor(matmul), 0;
  };
  lib.lt_matmul_set = [](cublas::LtDescriptor matmul, int attribute, const void* value,
                         std::size_t bytes) {
    if (bytes != sizeof(int)) return 7;
    (attribute == cublas::kLtTransposeA ? of(matmul).op_a : of(matmul).op_b) =
        *static_cast<const int*>(value);
    return 0;
  };
  lib.lt_layout_create = [](cublas::LtDescriptor* out, int type, std::uint64_t rows,
                            std::uint64_t cols, std::int64_t ld) {
    Descriptor layout;
    layout.type = type;
    layout.rows = rows;
    layout.cols = cols;
    layout.ld = ld;
    return *out = make_descriptor(layout), ld >= static_cast<std::int64_t>(rows) ? 0 : 7;
  };
  lib.lt_preference_create = [](cublas::LtDescriptor* out) {
    return *out = make_descriptor({}), 0;
  };
  lib.lt_preference_set = [](cublas::LtDescriptor preference, int attribute, const void* value,
                             std::size_t) {
    if (attribute != cublas::kLtMaxWorkspace) return 7;
    asked_workspace = of(preference).workspace = *static_cast<const std::size_t*>(value);
    return 0;
  };
  lib.lt_matmul_destroy = lib.lt_layout_destroy = lib.lt_preference_destroy = lt_destroy_any;
}

void stand_in_light(cublas::Library& lib) {
  lib.lt_heuristic = [](cublas::LtHandle, cublas::LtDescriptor, cublas::LtDescriptor,
                        cublas::LtDescriptor, cublas::LtDescriptor, cublas::LtDescriptor,
                        cublas::LtDescriptor, int requested, cublas::LtHeuristic results[],
                        int* found) {
    *found = std::min(requested, 5);
    for (int i = 0; i < *found; ++i) {
      results[i].algorithm.data[0] = i;
      results[i].state = i == 2 ? 15 : 0;  // one that does not fit
    }
    return 0;
  };
  lib.lt_matmul = [](cublas::LtHandle, cublas::LtDescriptor matmul, const void* alpha,
                     const void* a, cublas::LtDescriptor la, const void* b, cublas::LtDescriptor lb,
                     const void* beta, const void* c, cublas::LtDescriptor lc, void* d,
                     cublas::LtDescriptor ld, const cublas::LtAlgorithm* algorithm, void*,
                     std::size_t, cublas::Stream) {
    const bool plain = of(matmul).op_a == cublas::kNoTranspose;
    const auto k = static_cast<std::int64_t>(plain ? of(la).cols : of(la).rows);
    const bool plain_b = of(matmul).op_b == cublas::kNoTranspose;
    if (k != static_cast<std::int64_t>(plain_b ? of(lb).rows : of(lb).cols)) return 7;
    last_algorithm = static_cast<int>(algorithm->data[0]);
    const Product p{static_cast<std::int64_t>(of(ld).rows),
                    static_cast<std::int64_t>(of(ld).cols),
                    k,
                    of(matmul).op_a,
                    of(matmul).op_b,
                    alpha,
                    a,
                    b,
                    beta,
                    c,
                    d,
                    of(la).ld,
                    of(lb).ld,
                    of(lc).ld,
                    of(ld).ld};
    if (of(la).type != of(lb).type || of(lc).type != of(ld).type) return 15;
    return multiply_types(p, of(la).type, of(ld).type, of(matmul).compute);
  };
}

cublas::Library stand_in() {
  cublas::Library lib{};
  stand_in_blas(lib);
  stand_in_descriptors(lib);
  stand_in_light(lib);
  return lib;
}

DeviceAddress address_of(HostMatrix& matrix) {
  return reinterpret_cast<DeviceAddress>(matrix.elements<std::byte>());
}

void expect_right(TestOperands& x, Fill kind, const std::string& what) {
  const Bound bound = bound_for(x.problem.types, x.problem.k, kind);
  const Comparison result = compare(x.d, x.reference(), bound);
  EXPECT_TRUE(result.ok()) << what << ": " << describe(result, x.problem.types.d);
}

constexpr Types kBf16IntoF32{ElementType::kBf16, ElementType::kBf16, ElementType::kF32,
                             ElementType::kF32, ComputeType::kF32};

TEST(Vendor, EveryCallComputesTheProblemInEveryLayout) {
  FakeDevice device(DeviceKind::kCuda);
  std::string problem;
  const auto vendor = make_vendor(device, stand_in(), {}, problem);
  ASSERT_TRUE(vendor) << problem;
  EXPECT_EQ(vendor->version(), "cuBLAS 10.11.12");
  for (const Types& types : {kF32Types, kF64Types, kBf16Types, kBf16IntoF32}) {
    for (Order order : {Order::kColumnMajor, Order::kRowMajor}) {
      for (const char* layout : {"NN", "NT", "TN", "TT"}) {
        Problem given{13, 9, 21, types, order};
        set_layout(given, layout);
        given = with_default_ld(given);
        given.lda += 1;
        given.ldb += 2;
        given.ldc += 3;
        given.ldd += 3;
        given.alpha = -1.5;
        given.beta = 0.5;
        TestOperands x(given);
        const auto calls = vendor->calls(given);
        ASSERT_EQ(calls.size(), 5u);  // the default and the 4 of 5 candidates that fit
        for (const VendorCall& call : calls) {
          x.d = call.in_place ? x.c.clone() : HostMatrix(types.d, view_d(x.problem), 256);
          call.call({address_of(x.a), address_of(x.b), address_of(x.c), address_of(x.d)});
          expect_right(x, Fill::kUniform, call.name + layout + std::string(name_of(order)));
        }
        EXPECT_EQ(last_algorithm, 4);
      }
    }
  }
  EXPECT_EQ(asked_workspace, std::size_t{64} << 20);
  EXPECT_EQ(live_descriptors, 0);
}

TEST(Vendor, TheDefaultWorksInPlaceOnlyWhereCCounts) {
  FakeDevice device(DeviceKind::kCuda);
  std::string problem;
  const auto vendor = make_vendor(device, stand_in(), {}, problem);
  Problem given{4, 4, 4};
  EXPECT_FALSE(vendor->calls(given).front().in_place);
  given.beta = 1;
  EXPECT_TRUE(vendor->calls(given).front().in_place);
}

TEST(Vendor, ALibraryThatDoesNotStartIsNull) {
  FakeDevice device(DeviceKind::kCuda);
  cublas::Library lib = stand_in();
  lib.create = [](cublas::Handle*) { return 1; };
  std::string problem;
  EXPECT_FALSE(make_vendor(device, lib, {}, problem));
  EXPECT_NE(problem.find("status 1"), std::string::npos);
}

int layouts_made = 0;

TEST(Vendor, NothingLeaksWhereADescriptorCannotBeHad) {
  FakeDevice device(DeviceKind::kCuda);
  cublas::Library lib = stand_in();
  lib.lt_layout_create = [](cublas::LtDescriptor* out, int, std::uint64_t, std::uint64_t,
                            std::int64_t) {
    if (++layouts_made == 3) return 3;
    return *out = make_descriptor({}), 0;
  };
  std::string problem;
  const auto vendor = make_vendor(device, lib, {}, problem);
  ASSERT_TRUE(vendor) << problem;
  live_descriptors = layouts_made = 0;
  EXPECT_THROW(vendor->calls(with_default_ld({13, 9, 21})), StatusError);
  EXPECT_EQ(layouts_made, 3);
  EXPECT_EQ(live_descriptors, 0);
}

TEST(Vendor, ALibraryThatRefusesTheStreamIsNull) {
  FakeDevice device(DeviceKind::kCuda);
  cublas::Library lib = stand_in();
  lib.set_stream = [](cublas::Handle, cublas::Stream) { return 6; };
  std::string problem;
  EXPECT_FALSE(make_vendor(device, lib, {}, problem));  // so that the next library is tried
  EXPECT_NE(problem.find("status 6"), std::string::npos) << problem;
  EXPECT_EQ(device.live_blocks(), 0u);
}

void expect_unavailable(Device& device, const VendorOptions& options, const std::string& words) {
  try {
    Vendor::load(device, options);
    FAIL() << words;
  } catch (const StatusError& error) {
    EXPECT_EQ(error.status().code, StatusCode::kUnavailable);
    EXPECT_NE(error.status().message.find(words), std::string::npos) << error.what();
  }
}

TEST(Vendor, WithoutALibraryThereIsOneSentence) {
  FakeDevice gpu(DeviceKind::kCuda), none;
  VendorOptions options;
  options.library = "/nowhere/libcublas.so.13";
  expect_unavailable(gpu, options, "vendor_library is '/nowhere/libcublas.so.13', but");
  expect_unavailable(none, {}, "needs a CUDA device");
}

TEST(Vendor, AFolderStandsForTheLibrariesInIt) {
  const auto paths = vendor_library_paths("/tmp");
  ASSERT_EQ(paths.size(), 2u);
  EXPECT_EQ(paths[0], "/tmp/libcublas.so.13");
  EXPECT_EQ(vendor_library_paths("/x/libcublas.so.12").front(), "/x/libcublas.so.12");
  EXPECT_EQ(vendor_library_paths("").front(), "libcublas.so.13");
}

// Where the real library is installed it must have every function that we call.
TEST(Vendor, TheRealLibraryHasAllFunctions) {
  for (const std::string& path : vendor_library_paths("")) {
    cublas::Library lib{};
    std::string problem;
    if (cublas::load_library(path, lib, problem)) {
      int major = 0;
      EXPECT_EQ(lib.get_property(0, &major), 0);
      EXPECT_GE(major, 12);
      return;
    }
    EXPECT_EQ(problem.find("has no function"), std::string::npos) << problem;
  }
  GTEST_SKIP() << "cuBLAS is not installed";
}

// The numbers of library_types.h and cublas_api.h, release 13.0.
TEST(Vendor, TypesHaveTheVendorsNumbers) {
  EXPECT_EQ(cublas::data_type(ElementType::kF16), 2);
  EXPECT_EQ(cublas::data_type(ElementType::kBf16), 14);
  EXPECT_EQ(cublas::data_type(ElementType::kE4m3), 28);
  EXPECT_EQ(cublas::data_type(ElementType::kS8), 3);
  EXPECT_EQ(cublas::data_type(ElementType::kS32), 10);
  EXPECT_EQ(cublas::compute_type(ComputeType::kTf32), 77);
  EXPECT_EQ(cublas::compute_type(ComputeType::kS32), 72);
  EXPECT_THROW(cublas::data_type(ElementType::kMadeUp), StatusError);
  EXPECT_THROW(cublas::compute_type(ComputeType::kMadeUp), StatusError);
}

// cuBLAS' default call reads C from D, so it is left out where they differ in type.
TEST(Vendor, ADefaultCallNeedsCAndDOfOneType) {
  FakeDevice device(DeviceKind::kCuda);
  std::string reason;
  const auto vendor = make_vendor(device, stand_in(), {}, reason);
  ASSERT_TRUE(vendor) << reason;
  Problem problem{16, 16, 16, kBf16IntoF32};
  problem.types.c = ElementType::kBf16;
  EXPECT_EQ(vendor->calls(problem).front().name, "cuBLAS default");
  problem.beta = 1;
  for (const VendorCall& call : vendor->calls(problem)) EXPECT_NE(call.name, "cuBLAS default");
}

TEST(Vendor, ABatchIsRefusedByName) {
  FakeDevice device(DeviceKind::kCuda);
  std::string reason;
  const auto vendor = make_vendor(device, stand_in(), {}, reason);
  ASSERT_TRUE(vendor) << reason;
  Problem problem{16, 16, 16};
  problem.batch = {.kind = BatchKind::kStrided, .count = 3, .stride_d = 256};
  EXPECT_THROW(vendor->calls(problem), StatusError);
}

}  // namespace
}  // namespace tessera::lab
