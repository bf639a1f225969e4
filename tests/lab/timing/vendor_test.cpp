// The vendor's library cannot run here, but what we ask of it can be checked: by a stand-in with
// the same functions.
#include "lab/timing/vendor.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/lab/timing/fake_device.h"
#include "tests/lab/timing/stand_in_cublas.h"
#include "tests/lab/verify/operands.h"

namespace tessera::lab {
namespace {

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

TEST(Vendor, EpiloguesAreThoseOfCublasLtAlone) {
  FakeDevice device(DeviceKind::kCuda);
  std::string problem;
  const auto vendor = make_vendor(device, stand_in(), {}, problem);
  ASSERT_TRUE(vendor) << problem;
  for (const Order order : {Order::kColumnMajor, Order::kRowMajor}) {
    const std::string has = order == Order::kColumnMajor ? "bias_row" : "bias_col";
    const std::string has_not = order == Order::kColumnMajor ? "bias_col" : "bias_row";
    for (const std::string& name : {has, has + "+relu", has + "+gelu", std::string("gelu")}) {
      Problem given{13, 9, 21, kF32Types, order};
      given.epilogue = parse_epilogue(name);
      given = with_default_ld(given);
      given.beta = 0.5;
      TestOperands x(given);
      HostMatrix bias(ElementType::kF32, view_of(given.epilogue.bias, given), 256);
      if (bias.view().span() > 0) fill(bias, {Fill::kUniform, 77});
      const auto calls = vendor->calls(given);
      ASSERT_EQ(calls.size(), 4u) << "no default";
      for (const VendorCall& call : calls) {
        EXPECT_FALSE(call.is_default);
        x.d = HostMatrix(ElementType::kF32, view_d(x.problem), 256);
        call.call({address_of(x.a), address_of(x.b), address_of(x.c), address_of(x.d), 0,
                   address_of(bias)});
        const Reference reference = make_reference(x.problem, x.a, x.b, x.c, {}, {nullptr, &bias});
        const Bound bound =
            bound_after(given.epilogue, bound_for(kF32Types, 21, Fill::kUniform), kF32Types);
        const Comparison result = compare(x.d, reference, bound);
        EXPECT_TRUE(result.ok()) << name << ": " << describe(result, ElementType::kF32);
      }
    }
    for (const std::string& name :
         {has_not, std::string("scale_row"), std::string("gelu_erf"), std::string("silu")}) {
      Problem given{13, 9, 21, kF32Types, order};
      given.epilogue = parse_epilogue(name);
      EXPECT_TRUE(vendor->calls(given).empty()) << name;
    }
  }
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

// With it the library would read FP32 as TF32 unasked.
TEST(Vendor, LoadingRemovesTheOverrideOfTf32) {
  FakeDevice device(DeviceKind::kCuda);
  setenv("NVIDIA_TF32_OVERRIDE", "1", 1);
  EXPECT_THROW(Vendor::load(device, {.library = "/nowhere"}), StatusError);
  EXPECT_EQ(std::getenv("NVIDIA_TF32_OVERRIDE"), nullptr);
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

}  // namespace
}  // namespace tessera::lab
