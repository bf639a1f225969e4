// Verification itself under test: a right kernel passes everywhere, and each wrong one is refused
// with a reason that names what it did.
#include "lab/verify/verify.h"

#include <gtest/gtest.h>

#include <cmath>

#include "device/virtual/virtual_device.h"
#include "lab/data/host_memory.h"
#include "lab/verify/lattice.h"
#include "tests/lab/timing/fake_device.h"

namespace tessera::lab {
namespace {

Problem problem_of(std::int64_t m, std::int64_t n, std::int64_t k, const Types& type = kF32Types) {
  Problem problem{m, n, k, type, Order::kRowMajor};
  problem.beta = -1.5;
  problem = with_default_ld(problem);
  problem.ldd += 3;
  problem.ldb += 1;
  return problem;
}

VerifyResult check_bug(Bug bug, const Problem& problem, const VerifyOptions& options = {},
                       DeviceKind kind = DeviceKind::kCuda) {
  FakeDevice device(kind, bug);
  const Kernel kernel = fake_kernel(problem.types);
  const VerifyResult result = verify(device, {&kernel, "only"}, problem, options);
  EXPECT_EQ(device.live_blocks(), 0u);
  return result;
}

TEST(Verify, ARightKernelPassesTheLattice) {
  for (const Types& type : {kF32Types, kF64Types}) {
    FakeDevice device;
    const Kernel kernel = fake_kernel(type);
    for (const LatticeCase& each : lattice(type)) {
      VerifyOptions options;
      options.in_place = each.in_place;
      options.misalign = each.misalign;
      const VerifyResult result = verify(device, {&kernel, "only"}, each.problem, options);
      ASSERT_TRUE(result.ok()) << each.name() << ": " << result.reason;
      ASSERT_LE(result.max_error_ratio, 1);
    }
  }
}

TEST(Verify, SaysWhatItDid) {
  const VerifyResult result =
      check_bug(Bug::kNone, problem_of(40, 30, 20), {}, DeviceKind::kVirtual);
  EXPECT_EQ(result.verified, Verified::kFull);
  EXPECT_EQ(result.integers, "full");
  EXPECT_EQ(result.config, "only");
  EXPECT_EQ(result.image.description, "fake image");
  EXPECT_GT(result.max_error_ratio, 0);
  ASSERT_EQ(result.counts.size(), 1u);  // of the real run alone
  EXPECT_EQ(result.counts[0].lane_instructions, 24000u);
  EXPECT_EQ(result.host_seconds, 0.25);
}

TEST(Verify, BigProblemsAreSampledAndSaySo) {
  VerifyOptions options;
  options.reference.full_limit = 1000;
  const VerifyResult result = check_bug(Bug::kNone, problem_of(200, 100, 20), options);
  EXPECT_EQ(result.verified, Verified::kSampled);
  EXPECT_EQ(result.integers, "every row, modulo 2^64");
}

// The sample need not hold the entry, but the integers see the whole matrix.
TEST(Verify, OneWrongEntryOfABigProblemIsFound) {
  VerifyOptions options;
  options.reference.full_limit = 1000;
  const VerifyResult result = check_bug(Bug::kDropsLastK, problem_of(200, 100, 20), options);
  EXPECT_EQ(result.verified, Verified::kFailed);
  EXPECT_EQ(result.reason.rfind("integers: D(", 0), 0u) << result.reason;
}

struct Wrong {
  Bug bug;
  const char* words;
};

TEST(Verify, EachBugIsNamed) {
  const Wrong cases[] = {
      {Bug::kDropsLastK, "integers: D("},
      {Bug::kLeavesOneEntry, "D(39, 29) was not written"},
      {Bug::kIgnoresBeta, "integers: D("},
      {Bug::kWritesGap, "D was written outside its elements, in the gap"},
      {Bug::kWritesBefore, "D was written outside its elements, 4 bytes before"},
      {Bug::kWritesBehind, "D was written outside its elements, 1 elements after"},
      {Bug::kChangesA, "A is an input and was written, at (0, 0)"},
      {Bug::kChangesC, "C is an input and was written, at (0, 0)"},
      {Bug::kReadsGapOfB, "holds a NaN read from outside"},
      {Bug::kOffByOneUlps, "should be"},
      {Bug::kFaults, "out of bounds at line 7"}};
  for (const Wrong& each : cases) {
    const VerifyResult result = check_bug(each.bug, problem_of(40, 30, 20));
    EXPECT_FALSE(result.ok()) << each.words;
    EXPECT_NE(result.reason.find(each.words), std::string::npos) << result.reason;
  }
}

// Without integers the real data must see the same bugs.
TEST(Verify, AFaultIsAFinding) {
  const VerifyResult result = check_bug(Bug::kFaults, problem_of(12, 10, 8));
  EXPECT_EQ(result.reason, "integers: out of bounds at line 7");
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].check, "out-of-bounds");
}

TEST(Verify, RealDataSeesThemToo) {
  VerifyOptions options;
  options.integers = false;
  for (const Types& type : {kF32Types, kF64Types}) {
    for (Bug bug : {Bug::kDropsLastK, Bug::kLeavesOneEntry, Bug::kIgnoresBeta, Bug::kWritesGap,
                    Bug::kReadsGapOfB, Bug::kOffByOneUlps}) {
      const VerifyResult result = check_bug(bug, problem_of(40, 30, 20, type), options);
      EXPECT_FALSE(result.ok()) << static_cast<int>(bug);
    }
  }
}

TEST(Verify, CIsNotReadWhenBetaIsZero) {
  Problem problem = problem_of(20, 20, 20);
  problem.beta = 0;
  EXPECT_TRUE(check_bug(Bug::kNone, problem).ok());
  EXPECT_FALSE(check_bug(Bug::kReadsCAlways, problem).ok());
}

TEST(Verify, InPlaceWantsEqualLeadingDimensions) {
  Problem problem = problem_of(20, 20, 20);
  VerifyOptions options;
  options.in_place = true;
  EXPECT_THROW(check_bug(Bug::kNone, problem, options), StatusError);
  problem.ldc = problem.ldd;
  EXPECT_TRUE(check_bug(Bug::kNone, problem, options).ok());
  EXPECT_FALSE(check_bug(Bug::kIgnoresBeta, problem, options).ok());
}

TEST(Verify, NaNsMustArrive) {
  VerifyOptions options;
  options.nans = 3;
  EXPECT_TRUE(check_bug(Bug::kNone, problem_of(40, 30, 20), options).ok());
  options.integers = false;
  EXPECT_FALSE(check_bug(Bug::kDropsLastK, problem_of(40, 30, 20), options).ok());
}

TEST(Verify, EveryFillPasses) {
  for (Fill kind :
       {Fill::kUniform, Fill::kNormal, Fill::kIntegers, Fill::kSameSign, Fill::kZeros}) {
    VerifyOptions options;
    options.fill = kind;
    const VerifyResult result = check_bug(Bug::kNone, problem_of(40, 30, 20), options);
    EXPECT_TRUE(result.ok()) << name_of(kind) << result.reason;
  }
}

TEST(Verify, ScalesThatAreNotExactStillVerify) {
  Problem problem = problem_of(40, 30, 20);
  problem.alpha = 0.1;
  problem.beta = -0.3;
  EXPECT_TRUE(check_bug(Bug::kNone, problem).ok());
}

TEST(Verify, IllegalProblemsAreRefused) {
  Problem problem = problem_of(40, 30, 20);
  problem.ldb = 3;
  EXPECT_THROW(check_bug(Bug::kNone, problem), StatusError);
}

TEST(Verify, OneCaseServesManyKernels) {
  const VerifyCase data(problem_of(40, 30, 20));
  const Kernel kernel = fake_kernel(kF32Types);
  FakeDevice right, wrong(DeviceKind::kVirtual, Bug::kDropsLastK);
  EXPECT_TRUE(data.check(right, {&kernel, "only"}).ok());
  EXPECT_FALSE(data.check(wrong, {&kernel, "only"}).ok());
  EXPECT_TRUE(data.check(right, {&kernel, "only"}).ok());
}

// Each matrix alone would fit; together they do not, which is said before the first is filled.
TEST(Verify, AsksForAllItsMemoryAtOnce) {
  const double elements = static_cast<double>(available_host_memory()) * 0.4 / sizeof(float);
  Problem problem;
  problem.m = problem.n = problem.k = static_cast<std::int64_t>(std::sqrt(elements));
  try {
    const VerifyCase data(problem);
    FAIL() << "made " << problem.m << " cubed";
  } catch (const StatusError& error) {
    EXPECT_EQ(error.status().code, StatusCode::kUnavailable);
    EXPECT_NE(error.status().message.find("product needs"), std::string::npos) << error.what();
  }
}

// Operands of a batch have numbers, and so have its products: something is rounded in each.
TEST(Verify, ProductsOfABatchAreNumbers) {
  const auto device = make_virtual_device();
  for (const double beta : {0.0, -1.5}) {
    Problem problem = problem_of(20, 30, 40);
    problem.beta = beta;
    problem.batch = {.kind = BatchKind::kStrided,
                     .count = 4,
                     .stride_a = 2000,
                     .stride_b = 2000,
                     .stride_c = 2000,
                     .stride_d = 2000};
    const VerifyResult result = verify(*device, choose_kernels("simt_f32")[0], problem, {});
    EXPECT_TRUE(result.ok()) << result.reason;
    EXPECT_GT(result.max_error_ratio, 0) << "beta " << beta;
  }
}

TEST(Verify, ChecksBf16KernelsInEveryPass) {
  Types into_f32 = kBf16Types;
  into_f32.c = into_f32.d = ElementType::kF32;
  for (const Types& types : {kBf16Types, into_f32}) {
    Problem problem{40, 33, 50, types};
    problem.alpha = -1.5;
    problem.beta = 0.5;
    const Kernel kernel = fake_kernel(types);
    FakeDevice right, wrong(DeviceKind::kVirtual, Bug::kDropsLastK);
    FakeDevice ulps(DeviceKind::kVirtual, Bug::kOffByOneUlps);
    const VerifyResult result = verify(right, {&kernel, "only"}, problem);
    EXPECT_TRUE(result.ok()) << result.reason;
    EXPECT_EQ(result.integers, "full");
    EXPECT_FALSE(verify(wrong, {&kernel, "only"}, problem).ok());
    EXPECT_FALSE(verify(ulps, {&kernel, "only"}, problem).ok());
    VerifyOptions by_rows;
    by_rows.reference.full_limit = 100;
    const VerifyResult rows = verify(right, {&kernel, "only"}, problem, by_rows);
    EXPECT_TRUE(rows.ok()) << rows.reason;
    EXPECT_EQ(rows.integers, "every row, modulo 2^64");
    EXPECT_FALSE(verify(wrong, {&kernel, "only"}, problem, by_rows).ok());
  }
}

}  // namespace
}  // namespace tessera::lab
