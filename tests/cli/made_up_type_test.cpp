// A type that nobody knows, handed to every place that depends on types: each refuses it, in a
// sentence that names it. Who adds a type to the table and forgets one of these places gets such a
// sentence, and no number that was read as another type's.
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "arch/gpus.h"
#include "catalog/catalog.h"
#include "cli/files/npy.h"
#include "cli/options/options.h"
#include "gemm/plan/plan.h"
#include "lab/data/elements.h"
#include "lab/data/integers.h"
#include "lab/data/operand_sets.h"
#include "lab/explain/roofline.h"
#include "lab/json/json_number.h"
#include "lab/timing/cublas.h"
#include "lab/verify/compare.h"
#include "lab/verify/reference.h"
#include "lab/verify/verify.h"
#include "tests/lab/timing/fake_device.h"

namespace tessera {
namespace {

constexpr auto kMadeUp = ElementType::kMadeUp;
constexpr Types kMadeUpTypes = same_types(kMadeUp, ComputeType::kMadeUp);

const gemm::DeviceLimits kLimits{.sms = 132};

Problem made_up_problem() {
  return with_default_ld({.m = 8, .n = 8, .k = 8, .types = kMadeUpTypes});
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const StatusError& error) {
    return error.what();
  }
  return "nothing was refused";
}

void expect_refused(const char* place, const std::function<void()>& call) {
  EXPECT_NE(message_of(call).find("made-up"), std::string::npos)
      << place << ": " << message_of(call);
}

// It has a size and a name, so that it gets past the front door.
TEST(MadeUpType, IsALegalProblem) {
  EXPECT_TRUE(check(made_up_problem()).ok()) << check(made_up_problem()).message;
  EXPECT_EQ(name_of(kMadeUpTypes), "made-up,made-up,made-up,made-up,made-up");
}

TEST(MadeUpType, IsRefusedByTheLibrary) {
  EXPECT_EQ(message_of([] { gemm::plan(made_up_problem(), {}, kLimits); }),
            "no kernel multiplies made-up x made-up -> made-up with compute made-up");
  for (const Kernel& kernel : all_kernels()) {
    const KernelChoice choice{&kernel, kernel.rows.front().variant};
    expect_refused(kernel.name.c_str(),
                   [&] { gemm::plan(made_up_problem(), {}, kLimits, {.kernel = choice}); });
  }
  expect_refused("a tensor map", [] { tensor_type_of(kMadeUp); });
}

// One operand, or the arithmetic alone, is enough.
TEST(MadeUpType, IsRefusedAsAnyPartOfAProblem) {
  for (const Types& known : {kF32Types, kF64Types}) {
    for (ElementType Types::*part : {&Types::a, &Types::b, &Types::c, &Types::d}) {
      Problem problem = with_default_ld({.m = 8, .n = 8, .k = 8, .types = known});
      problem.types.*part = kMadeUp;
      expect_refused("select", [&] { gemm::plan(problem, {}, kLimits); });
      expect_refused("verify", [&] { lab::VerifyCase{problem}; });
    }
    Problem problem = with_default_ld({.m = 8, .n = 8, .k = 8, .types = known});
    problem.types.compute = ComputeType::kMadeUp;
    expect_refused("select", [&] { gemm::plan(problem, {}, kLimits); });
    expect_refused("verify", [&] { lab::VerifyCase{problem}; });
  }
}

TEST(MadeUpType, IsRefusedByHostData) {
  const MatrixView view{4, 4, 4, 1};
  expect_refused("a host matrix", [&] { lab::HostMatrix(kMadeUp, view, 256); });
  expect_refused("poison", [] { lab::poison_of(kMadeUp); });
  expect_refused("a load", [] { load_element(kMadeUp, nullptr); });
  expect_refused("a store", [] { store_element(kMadeUp, 1, nullptr); });
  expect_refused("a number's text", [] { lab::text_of(kMadeUp, nullptr); });
  expect_refused("a typed number", [] { lab::store_text(kMadeUp, "x", "1", nullptr); });
  lab::FakeDevice device;
  expect_refused("operands", [&] { lab::OperandSets(device, made_up_problem(), {}); });
}

TEST(MadeUpType, IsRefusedByVerification) {
  const lab::HostMatrix a(ElementType::kF32, {8, 8, 8, 1}, 256);
  expect_refused("a bound", [] { lab::bound_for(kMadeUpTypes, 8, lab::Fill::kUniform); });
  expect_refused("a factor", [] { lab::scale_in_type(ComputeType::kMadeUp, 1); });
  expect_refused("a reference", [&] { lab::make_reference(made_up_problem(), a, a, a); });
  expect_refused("integers", [] { lab::exact_integers(made_up_problem(), 1); });
  expect_refused("a rounding", [] { unit_roundoff(kMadeUp); });
}

TEST(MadeUpType, IsRefusedByTheVendorsLibrary) {
  expect_refused("a data type", [] { lab::cublas::data_type(kMadeUp); });
  expect_refused("a compute type", [] { lab::cublas::compute_type(ComputeType::kMadeUp); });
}

TEST(MadeUpType, IsRefusedByTheRoofline) {
  const arch::Gpu& gpu = *arch::find_gpu("NVIDIA H200");
  lab::RooflinePoint point;
  point.types = kMadeUpTypes;
  expect_refused("a peak", [&] { lab::roofline_of(gpu, {point}); });
  EXPECT_EQ(lab::reachable_peak(gpu, kMadeUpTypes, false), 0);
}

// A record may tell of it, and is not read back.
TEST(MadeUpType, IsRefusedByFilesAndOptions) {
  const lab::Json json = lab::json_types(kMadeUpTypes);
  EXPECT_EQ(json.at("a"), "made-up");
  expect_refused("a record", [&] { lab::types_of(json); });
  expect_refused("a NumPy file", [] { cli::NpyFile::make(kMadeUp, 2, 2, false); });
  expect_refused("an array", [] { lab::npy_descr(kMadeUp); });
  expect_refused("files", [] { types_for(kMadeUp); });
  expect_refused("--type", [] { parse_types("--type", "made-up"); });
  cli::ProblemOptions options;
  options.type = "f16,f16,f16,made-up,f32";
  expect_refused("--type", [&] { cli::kernels_of(options); });
  EXPECT_FALSE(lab::type_of_word("made-up"));
}

// Types that exist and that no kernel multiplies.
TEST(UnsupportedTypes, AreRefusedByName) {
  cli::ProblemOptions options;
  options.type = "e4m3";
  EXPECT_EQ(message_of([&] { cli::kernels_of(options); }),
            "no kernel multiplies e4m3 x e4m3 -> bf16 with compute f32");
}

}  // namespace
}  // namespace tessera
