// Messages of the library name fields, and the command line turns them into its options. Every
// message of problem and gemm that names a field is made here, and looked up in the one table.
#include "cli/options/fields.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "catalog/catalog.h"
#include "gemm/call/arguments.h"
#include "gemm/plan/plan.h"
#include "tests/support/program.h"

namespace tessera::cli {
namespace {

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const StatusError& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return "";
}

const Problem kGood = with_default_ld({.m = 300, .n = 200, .k = 100, .beta = 1});

std::vector<std::string> messages_of_problem() {
  std::vector<std::string> all;
  const auto with = [&](const std::function<void(Problem&)>& change) {
    Problem problem = kGood;
    change(problem);
    const Status status = check(problem);
    EXPECT_FALSE(status.ok());
    all.push_back(status.message);
  };
  with([](Problem& p) { p.m = -1; });
  with([](Problem& p) { p.n = -1; });
  with([](Problem& p) { p.k = -1; });
  with([](Problem& p) { p.lda = 1; });
  with([](Problem& p) { p.ldb = 1; });
  with([](Problem& p) { p.ldc = 1; });
  with([](Problem& p) { p.ldd = 1; });
  with([](Problem& p) { p.alpha = 1e300; });
  with([](Problem& p) { p.beta = 1e300; });
  with([](Problem& p) { p.types.a = static_cast<ElementType>(99); });
  with([](Problem& p) { p.types.compute = static_cast<ComputeType>(99); });
  with([](Problem& p) { p.lda = std::numeric_limits<std::int64_t>::max(); });
  with([](Problem& p) { p.batch.count = 2; });
  with([](Problem& p) { p.batch.kind = static_cast<BatchKind>(99); });
  with([](Problem& p) { p.batch = {.kind = BatchKind::kStrided, .count = 2, .stride_a = -1}; });
  with([](Problem& p) { p.batch = {.kind = BatchKind::kStrided, .count = 2, .stride_b = -1}; });
  with([](Problem& p) { p.batch = {.kind = BatchKind::kStrided, .count = 2, .stride_c = -1}; });
  with([](Problem& p) { p.batch = {.kind = BatchKind::kStrided, .count = 2}; });
  with([](Problem& p) { p.batch.kind = BatchKind::kPointers, p.batch.alignment = 3; });
  with([](Problem& p) { p.epilogue.scale = static_cast<VectorKind>(99); });
  with([](Problem& p) { p.epilogue.bias = static_cast<VectorKind>(99); });
  with([](Problem& p) { p.epilogue.activation = static_cast<Activation>(99); });
  with([](Problem& p) { p.scales.a = static_cast<ScaleKind>(99); });
  all.push_back(message_of([] { parse_order("diagonal"); }));
  all.push_back(message_of([] { parse_epilogue("bias"); }));
  all.push_back(message_of([] {
    Problem problem;
    set_layout(problem, "NX");
  }));
  all.push_back(check_overlap(kGood, {0x1000, 0x100000, 0, 0x1000}).message);
  return all;
}

std::vector<std::string> messages_of_plans() {
  std::vector<std::string> all;
  const auto planned = [&](const Problem& problem, const gemm::PlanOptions& options,
                           const gemm::DeviceLimits& limits = {.sms = 132}) {
    all.push_back(message_of([&] { gemm::plan(problem, {}, limits, options); }));
  };
  const auto named = [](const char* kernel) { return choose_kernels(kernel)[0]; };
  Problem doubles = kGood;
  doubles.types = kF64Types;
  planned(doubles, {.kernel = named("simt_f32")});
  planned(kGood, {.kernel = named("simt_f32")}, {.sm = 80, .sms = 108});
  KernelChoice unknown = named("simt_f32");
  unknown.variant = "none";
  planned(kGood, {.kernel = unknown});
  planned(doubles, {.workspace_limit = 1, .kernel = named("21")});
  const std::int64_t huge = std::int64_t{1} << 38;
  planned({.m = huge, .n = huge, .k = 1}, {.kernel = named("02")});
  planned({.m = huge, .n = huge, .k = 1}, {.kernel = named("simt_f32")});
  planned({.m = huge, .n = huge, .k = 1}, {.kernel = named("15")});
  all.push_back(message_of([] { choose_kernels("nothing"); }));
  all.push_back(message_of([] { choose_kernels("02/nothing"); }));
  return all;
}

std::vector<std::string> messages_of_calls() {
  std::vector<std::string> all;
  const gemm::Plan plan = gemm::plan(kGood, {}, {.sms = 132});
  const gemm::Arguments good{
      {0x10000000, 0x20000000, 0x30000000, 0x40000000}, 1, 1, 0x50000000, plan.workspace_bytes()};
  EXPECT_TRUE(gemm::check(plan, good).ok());
  const auto with = [&](const std::function<void(gemm::Arguments&)>& change) {
    gemm::Arguments arguments = good;
    change(arguments);
    const Status status = gemm::check(plan, arguments);
    EXPECT_FALSE(status.ok());
    all.push_back(status.message);
  };
  with([](gemm::Arguments& x) { x.alpha = 0; });
  with([](gemm::Arguments& x) { x.beta = 0; });
  with([](gemm::Arguments& x) { x.beta = 1e300; });
  with([](gemm::Arguments& x) { x.operands.a = 0; });
  with([](gemm::Arguments& x) { x.operands.b += 4; });
  with([](gemm::Arguments& x) { x.operands.d = x.operands.a; });
  with([](gemm::Arguments& x) { x.workspace_bytes -= 1; });
  with([](gemm::Arguments& x) { x.workspace = 0; });
  with([](gemm::Arguments& x) { x.workspace += 16; });
  return all;
}

std::vector<std::string> all_messages() {
  std::vector<std::string> all = messages_of_problem();
  for (const auto& more : {messages_of_plans(), messages_of_calls()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

bool names(const std::string& message, std::string_view field) {
  return message.starts_with(std::string(field) + " ");
}

TEST(Fields, EveryMessageNamesAFieldOfTheTable) {
  for (const std::string& message : all_messages()) {
    const auto row = std::ranges::find_if(
        field_options(), [&](const FieldOption& one) { return names(message, one.field); });
    ASSERT_NE(row, field_options().end()) << message;
    EXPECT_EQ(message.find("--"), message.npos) << message;
    const std::string said = in_options(message);
    if (row->option.empty()) {
      EXPECT_EQ(said, message);
    } else {
      EXPECT_TRUE(names(said, row->option)) << said;
    }
  }
}

TEST(Fields, EveryFieldOfTheTableIsNamed) {
  const std::vector<std::string> messages = all_messages();
  for (const FieldOption& row : field_options()) {
    const bool of_other_rooms = row.field == "gpu" || row.field == "context" ||
                                row.field == "fill" || row.field == "vendor_library";
    const bool is_named = std::ranges::any_of(
        messages, [&](const std::string& message) { return names(message, row.field); });
    EXPECT_TRUE(of_other_rooms || is_named) << row.field;
  }
}

TEST(Fields, EveryOptionOfTheTableExists) {
  const std::string help = run_program({"bench", "--help"}).out;
  for (const FieldOption& row : field_options()) {
    if (row.option.empty()) continue;
    EXPECT_TRUE(contains(help, " " + std::string(row.option) + " ")) << row.option;
  }
}

TEST(Fields, OnlyFieldsAreTranslated) {
  EXPECT_EQ(in_options("m is 5, n is 6 and k is 7, but x is not"),
            "-m is 5, -n is 6 and -k is 7, but x is not");
  EXPECT_EQ(in_options("m is 5, but k is 7"), "-m is 5, but k is 7");
  EXPECT_EQ(in_options("type is 'k is 3', but"), "--type is 'k is 3', but");
  EXPECT_EQ(in_options("lda, which is 3"), "lda, which is 3");
  EXPECT_EQ(in_options("ldax is 3"), "ldax is 3");
  EXPECT_EQ(in_options("kernel simt_f32 has no image"), "kernel simt_f32 has no image");
  EXPECT_EQ(in_options("the sum of m is 3"), "the sum of m is 3");
  EXPECT_EQ(in_options("--lda is 'x'"), "--lda is 'x'");
}

// The library gives this advice, in these words, and none that needs a virtual GPU.
TEST(Fields, AdviceLeadsToTheVirtualGpu) {
  std::string said;
  for (const char* file : {"driver.cpp", "modules.cpp"}) {
    said += file_text(std::string(TESSERA_SOURCE_DIR "/src/device/cuda/") + file);
  }
  EXPECT_FALSE(contains(said, "virtual GPU"));
  for (const Advice& one : advice()) {
    EXPECT_TRUE(contains(said, std::string(one.said))) << one.said;
    EXPECT_TRUE(contains(std::string(one.more), "--device virtual")) << one.more;
  }
  EXPECT_EQ(in_options("no NVIDIA driver: none here; install the driver"),
            "no NVIDIA driver: none here; install the driver or use the virtual GPU (--device "
            "virtual)");
}

}  // namespace
}  // namespace tessera::cli
