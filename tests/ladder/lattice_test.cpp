// Every kernel of the catalog, in every variant, over the shape lattice: both orders, four layouts,
// padded leading dimensions, alpha and beta, in place and not, NaN rules. On the virtual GPU
// always; with TESSERA_TEST_DEVICE=cuda on the real one.
#include "lab/verify/lattice.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "gemm/plan/plan.h"
#include "lab/verify/verify.h"
#include "tests/support/kernel_choice.h"
#include "tests/support/test_device.h"

namespace tessera {

namespace {

class Lattice : public testing::TestWithParam<KernelChoice> {
 protected:
  void SetUp() override {
    if (!test_on_cuda() && GetParam().kernel->is_patched()) GTEST_SKIP() << "as the PTX it is from";
  }
};

// Rungs from 34 on but 43 take one layout, and operands at multiples of 16 bytes:
// warpgroups_test.cpp walks those. What else they are given they refuse by name.
bool is_refused(const lab::LatticeCase& each, const KernelChoice& choice) {
  const Kernel& kernel = *choice.kernel;
  if (kernel.family != "warpgroups" || !kernel.rows.front().repack_entry.empty()) return false;
  try {
    gemm::plan(each.problem, {}, {}, {.kernel = choice});
  } catch (const StatusError& error) {
    EXPECT_EQ(error.status().code, StatusCode::kUnsupported);
    EXPECT_NE(error.status().message.find(choice.kernel->name), std::string::npos);
    return true;
  }
  return (each.misalign.a | each.misalign.b) % 8 != 0;  // plan() was told no addresses
}

// Operands and references of a case, made once for all kernels of its types: of what a small
// product costs they are half. Those of other types are forgotten.
const lab::VerifyCase& prepared(const lab::LatticeCase& each, const lab::VerifyOptions& options) {
  static std::map<std::string, std::unique_ptr<lab::VerifyCase>> cases;
  static Types types;
  if (types != each.problem.types) cases.clear();
  types = each.problem.types;
  const std::string name =
      each.name() + (options.checks ? " checks" : "") + " nans " + std::to_string(options.nans);
  std::unique_ptr<lab::VerifyCase>& known = cases[name];
  if (!known) known = std::make_unique<lab::VerifyCase>(each.problem, options);
  return *known;
}

void expect_verified(const lab::LatticeCase& each, const KernelChoice& choice,
                     lab::VerifyOptions options) {
  if (is_refused(each, choice)) return;
  options.in_place = each.in_place;
  options.misalign = each.misalign;
  try {
    const lab::VerifyResult result = prepared(each, options).check(test_device(), choice);
    EXPECT_TRUE(result.ok()) << each.name() << ": " << result.reason;
  } catch (const StatusError& error) {
    EXPECT_TRUE(may_refuse_alignments(choice)) << each.name() << ": " << error.what();
    EXPECT_NE(error.status().message.find(choice.variant), std::string::npos) << error.what();
  }
}

// The default variant walks the whole lattice, further ones the short one.
TEST_P(Lattice, IsVerified) {
  const Kernel& kernel = *GetParam().kernel;
  const bool is_default = GetParam().variant == variants_of(kernel).front();
  const auto cases = is_default ? lab::lattice(kernel.types) : lab::short_lattice(kernel.types);
  for (const lab::LatticeCase& each : cases) expect_verified(each, GetParam(), {});
}

TEST_P(Lattice, PassesNaNsOnWhereTheyBelong) {
  const Kernel& kernel = *GetParam().kernel;
  if (!is_float(kernel.types.d)) GTEST_SKIP() << "integers have none";
  for (const char* layout : {"NN", "NT", "TN", "TT"}) {
    Problem problem{.m = 65, .n = 33, .k = 40, .types = kernel.types, .alpha = -1.5, .beta = 1};
    set_layout(problem, layout);
    expect_verified({with_default_ld(problem)}, GetParam(), {.nans = 2});
    problem.beta = 0;
    expect_verified({with_default_ld(problem)}, GetParam(), {.nans = 2});
  }
}

// Nothing is reported of a kernel that is right: at whole tiles, at ragged edges, in every layout.
TEST_P(Lattice, IsCleanUnderChecks) {
  if (test_on_cuda()) GTEST_SKIP() << "the virtual GPU checks";
  const Types& types = GetParam().kernel->types;
  const double beta = is_float(types.d) ? -1.5 : -2;
  for (const char* layout : {"NN", "NT", "TN", "TT"}) {
    for (Problem problem : {Problem{.m = 128, .n = 128, .k = 32, .types = types},
                            Problem{.m = 131, .n = 67, .k = 45, .types = types, .beta = beta}}) {
      set_layout(problem, layout);
      expect_verified({with_default_ld(problem)}, GetParam(), {.checks = true});
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Catalog, Lattice, testing::ValuesIn(choose_kernels("all/all")), test_name);

}  // namespace
}  // namespace tessera
