// What `verify` says of wrong kernels, from records written by hand: no kernel of the catalog is
// wrong.
#include "cli/terminal/verify_failures.h"

#include <gtest/gtest.h>

#include "base/status.h"

namespace tessera::cli {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

VerifiedCase case_of(std::int64_t m, std::int64_t k, bool fails) {
  VerifiedCase made;
  made.one.problem = with_default_ld({.m = m, .n = 8, .k = k});
  made.record.kernel = "99_wrong";
  made.record.config = "8x8";
  made.record.verified = fails ? "failed" : "full";
  made.record.reason = "D(0, 0) is wrong at m " + std::to_string(m);
  made.record.command = "tessera verify -m " + std::to_string(m);
  return made;
}

std::vector<VerifiedCase> cases_that_fail_beyond(std::int64_t k) {
  std::vector<VerifiedCase> cases;
  for (std::int64_t m = 20; m > 0; --m) cases.push_back(case_of(m, 3 * m, 3 * m > k));
  return cases;
}

std::vector<vgpu::Finding> no_findings(const VerifiedCase&) { return {}; }

TEST(VerifyFailures, ThreeAreShownTheOthersCounted) {
  const std::string text = failures_text(cases_that_fail_beyond(30), no_findings);
  EXPECT_TRUE(contains(text, "FAILED 99_wrong, 8x8: 10 of 20 problems\n")) << text;
  for (const char* shown : {"at m 20\n", "at m 19\n", "at m 18\n", "tessera verify -m 18\n"}) {
    EXPECT_TRUE(contains(text, shown)) << shown;
  }
  EXPECT_FALSE(contains(text, "at m 17\n"));
  EXPECT_TRUE(contains(text, "7 more; --json FILE lists them")) << text;
}

TEST(VerifyFailures, TellsWhatTheyShareAndChecksTheSmallest) {
  std::int64_t checked = 0;
  const std::string text =
      failures_text(cases_that_fail_beyond(30), [&](const VerifiedCase& smallest) {
        checked = smallest.one.problem.m;
        vgpu::Finding finding;
        finding.check = "race";
        finding.message = "Warp 0 reads what warp 1 writes";
        finding.hint = "put a barrier there";
        return std::vector{finding};
      });
  EXPECT_EQ(checked, 11);
  EXPECT_TRUE(contains(text, "All 10 that fail have m > 10; none of the 10 that pass has that."))
      << text;
  EXPECT_TRUE(contains(text, "race, 1 times: Warp 0 reads what warp 1 writes.")) << text;
  EXPECT_TRUE(contains(text, "do: put a barrier there")) << text;
}

TEST(VerifyFailures, WhatWasFoundAlreadyIsNotRunAgain) {
  VerifiedCase wrong = case_of(3, 3, true);
  wrong.record.findings.resize(1);
  wrong.record.findings[0].check = "deadlock";
  const std::string text = failures_text({wrong}, [](const VerifiedCase&) {
    ADD_FAILURE() << "run again";
    return std::vector<vgpu::Finding>{};
  });
  EXPECT_TRUE(contains(text, "deadlock")) << text;
}

TEST(VerifyFailures, EachKernelHasItsOwnAndRightOnesHaveNone) {
  VerifiedCase other = case_of(5, 5, true);
  other.record.kernel = "98_wrong";
  VerifiedCase skipped = case_of(6, 6, false);
  skipped.record.verified = std::nullopt;
  const std::string text = failures_text({case_of(4, 4, true), other, skipped}, no_findings);
  EXPECT_TRUE(contains(text, "FAILED 99_wrong, 8x8: 1 of 1 problems")) << text;
  EXPECT_TRUE(contains(text, "FAILED 98_wrong, 8x8: 1 of 1 problems")) << text;
  EXPECT_EQ(failures_text({case_of(4, 4, false), skipped}, no_findings), "");
}

TEST(VerifyFailures, SaysWhyTheSmallestWasNotRun) {
  const std::string text = failures_text({case_of(3, 3, true)}, [](const VerifiedCase&) {
    throw StatusError(Status::unavailable("no PTX"));
    return std::vector<vgpu::Finding>{};
  });
  EXPECT_TRUE(contains(text, "not run: ")) << text;
  EXPECT_TRUE(contains(text, "no PTX")) << text;
}

}  // namespace
}  // namespace tessera::cli
