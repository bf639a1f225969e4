// What the library says of its choices, as fields.
#include <cstring>
#include <limits>
#include <vector>

#include "tests/library/library.h"

namespace {

tessera_explanation explained(tessera_handle handle, const tessera_problem& problem,
                              const tessera_plan_options* options = nullptr) {
  tessera_explanation out = {.size = sizeof out};
  EXPECT_EQ(tessera_explain(handle, &problem, options, &out, nullptr, 0), TESSERA_OK)
      << tessera_last_message();
  return out;
}

TEST_F(Library, ExplainsInFields) {
  const tessera_explanation all = explained(handle_, problem_);
  EXPECT_EQ(all.size, sizeof all);
  EXPECT_EQ(all.where, TESSERA_ON_GPU);
  EXPECT_EQ(all.deterministic, 1);
  EXPECT_GT(all.launches, 0);
  EXPECT_GT(all.total_us, 0);
  EXPECT_TRUE(says(all.kernel, "simt_f32/")) << all.kernel;
  ASSERT_GT(all.choices, 1);
  std::vector<tessera_choice> choices(static_cast<std::size_t>(all.choices) + 1);
  choices[0].size = sizeof choices[0];
  std::memset(choices[0].kernel, 'x', sizeof choices[0].kernel);
  choices.back().bound = 77;
  tessera_explanation again = {.size = sizeof again};
  ASSERT_EQ(tessera_explain(handle_, &problem_, nullptr, &again, choices.data(), choices.size()),
            TESSERA_OK);
  EXPECT_STREQ(choices[0].kernel, all.kernel);
  EXPECT_EQ(choices[0].total_us, all.total_us);
  EXPECT_EQ(choices.back().bound, 77) << "an entry beyond the choices is left alone";
  for (std::size_t i = 1; i + 1 < choices.size(); ++i) {
    EXPECT_EQ(choices[i].size, sizeof choices[i]);
    EXPECT_GE(choices[i].total_us, choices[i - 1].total_us);
    EXPECT_NE(choices[i].kernel[0], '\0');
  }
}

// The kernel that a handle takes for a large product of FP32, and for those that say how it is
// computed.
struct LargeProducts {
  std::string usual, of_f32, of_tf32;

  explicit LargeProducts(const tessera_place& place) {
    tessera_handle handle = nullptr;
    EXPECT_EQ(tessera_create(&handle, &place), TESSERA_OK) << tessera_last_message();
    tessera_problem problem = {
        .size = sizeof problem, .m = 4096, .n = 4096, .k = 4096, .type_a = TESSERA_F32};
    usual = explained(handle, problem).kernel;
    problem.compute = TESSERA_COMPUTE_F32;
    of_f32 = explained(handle, problem).kernel;
    problem.compute = TESSERA_COMPUTE_TF32;
    of_tf32 = explained(handle, problem).kernel;
    EXPECT_EQ(tessera_destroy(handle), TESSERA_OK);
  }
};

TEST_F(Library, ProductsOfFp32AreComputedAsTheHandleSays) {
  tessera_place place = {.size = sizeof place};
  EXPECT_TRUE(says(LargeProducts(place).usual, "simt_f32/"));
  place.fp32 = TESSERA_COMPUTE_F16X3;
  EXPECT_TRUE(says(LargeProducts(place).usual, "wgmma_f16x3/"));
  EXPECT_TRUE(says(LargeProducts(place).of_tf32, "wgmma_tf32/"));
  EXPECT_TRUE(says(LargeProducts(place).of_f32, "simt_f32/")) << "asked for";
  place.fp32 = 0;
  setenv("TESSERA_FP32", "f16x3", 1);
  EXPECT_TRUE(says(LargeProducts(place).usual, "wgmma_f16x3/"));
  place.fp32 = TESSERA_COMPUTE_F32;
  EXPECT_TRUE(says(LargeProducts(place).usual, "simt_f32/")) << "the handle outranks it";
  place = {.size = offsetof(tessera_place, fp32)};
  EXPECT_TRUE(says(LargeProducts(place).usual, "wgmma_f16x3/")) << "of an earlier version";
  setenv("TESSERA_FP32", "fp16", 1);
  tessera_handle none = nullptr;
  EXPECT_EQ(tessera_create(&none, &place), TESSERA_BAD_ARGUMENT);
  expect_said("TESSERA_FP32 is 'fp16' in the environment, but must be f32 or f16x3");
}

// Each choice is planned again by its name, and is the one choice then.
TEST_F(Library, PlansAChoiceAgain) {
  tessera_explanation all = explained(handle_, problem_);
  std::vector<tessera_choice> choices(static_cast<std::size_t>(all.choices));
  choices[0].size = sizeof choices[0];
  ASSERT_EQ(tessera_explain(handle_, &problem_, nullptr, &all, choices.data(), choices.size()),
            TESSERA_OK);
  for (const tessera_choice& choice : choices) {
    const tessera_plan_options options = {.size = sizeof options, .kernel = choice.plan};
    tessera_choice again = {.size = sizeof again};
    ASSERT_EQ(tessera_explain(handle_, &problem_, &options, &all, &again, 1), TESSERA_OK)
        << tessera_last_message();
    EXPECT_EQ(all.choices, 1) << choice.plan;
    EXPECT_STREQ(again.plan, choice.plan);
    EXPECT_EQ(again.total_us, choice.total_us);
    EXPECT_EQ(again.workspace_bytes, choice.workspace_bytes);
  }
  tessera_problem on_host = problem_;
  on_host.memory = TESSERA_HOST_MEMORY;
  const tessera_plan_options named = {.size = sizeof named, .kernel = "simt_f32"};
  tessera_plan plan = nullptr;
  EXPECT_EQ(tessera_plan_create(&plan, handle_, &on_host, &named), TESSERA_BAD_ARGUMENT);
  EXPECT_TRUE(says(tessera_last_message(), "operands in the memory of a GPU alone"));
}

// A program of before the plan's name was part of a choice.
TEST_F(Library, ChoicesOfAnEarlierVersion) {
  constexpr std::size_t kEarlier = offsetof(tessera_choice, plan);
  std::vector<unsigned char> bytes(2 * kEarlier + 1, 0xee);
  std::memcpy(bytes.data(), &kEarlier, sizeof kEarlier);
  tessera_explanation all = {.size = sizeof all};
  ASSERT_EQ(tessera_explain(handle_, &problem_, nullptr, &all,
                            reinterpret_cast<tessera_choice*>(bytes.data()), 2),
            TESSERA_OK);
  std::size_t size = 0;
  std::memcpy(&size, bytes.data() + kEarlier, sizeof size);
  EXPECT_EQ(size, kEarlier) << "the second choice begins where the caller says";
  EXPECT_EQ(bytes.back(), 0xee) << "and nothing is written behind it";
}

// A later version's choice is larger: entries are as far apart as the caller says.
TEST_F(Library, ChoicesOfALaterVersion) {
  struct Later {
    tessera_choice choice;
    double more;
  };
  std::vector<Later> choices(3);
  choices[0].choice.size = sizeof(Later);
  for (Later& one : choices) one.more = 5;
  tessera_explanation all = {.size = sizeof all};
  ASSERT_EQ(tessera_explain(handle_, &problem_, nullptr, &all, &choices[0].choice, 2), TESSERA_OK);
  EXPECT_EQ(choices[1].choice.size, sizeof(Later));
  EXPECT_NE(choices[1].choice.kernel[0], '\0');
  EXPECT_EQ(choices[1].more, 0);
  EXPECT_EQ(choices[2].more, 5) << "not asked for";
}

TEST_F(Library, SaysWhatWouldBeFaster) {
  tessera_problem large = problem_;
  large.m = large.n = large.k = 4096;
  large.type_a = TESSERA_BF16;
  EXPECT_EQ(explained(handle_, large).faster_us, 0);
  const tessera_plan_options unaligned = {.size = sizeof unaligned, .alignment = 2};
  tessera_explanation why = explained(handle_, large, &unaligned);
  EXPECT_LT(why.faster_us, why.total_us);
  EXPECT_GT(why.faster_us, 0);
  EXPECT_TRUE(says(why.why_not, "with addresses aligned to 16 bytes, wgmma_bf16/")) << why.why_not;
  large.k = 1024;  // a larger k hides what repacking costs
  for (std::int64_t* ld : {&large.lda, &large.ldb}) {
    *ld = 4097;
    why = explained(handle_, large);
    EXPECT_TRUE(says(why.why_not, "leading dimensions that are multiples of 64 bytes"))
        << why.why_not;
    *ld = 0;
  }
}

// The matrix has one line, so no element's address depends on the leading dimension.
TEST_F(Library, ExplainsTheLargestLeadingDimension) {
  tessera_problem line = problem_;
  line.k = 1;
  line.type_a = TESSERA_BF16;
  for (const std::int64_t below : {0, 3, 7}) {
    line.lda = std::numeric_limits<std::int64_t>::max() - below;
    const tessera_explanation all = explained(handle_, line);
    EXPECT_GT(all.total_us, 0);
    EXPECT_TRUE(all.faster_us == 0 || all.faster_us < all.total_us) << all.why_not;
  }
}

TEST_F(Library, SaysWhichKernelsNeedAnotherGpu) {
  setenv("FAKE_CUDA_SM", "80", 1);
  const tessera_handle older = made();
  unsetenv("FAKE_CUDA_SM");
  ASSERT_NE(older, nullptr);
  tessera_problem square = problem_;
  square.m = square.n = square.k = 1024;
  const tessera_explanation why = explained(older, square);
  EXPECT_TRUE(says(why.why_not, "simt_f32 needs sm_90, but the GPU is sm_80") ||
              says(why.why_not, "simt_f32 needs sm_90"))
      << why.why_not;
  EXPECT_EQ(tessera_destroy(older), TESSERA_OK);
}

TEST_F(Library, BoundsOfSmallAndLargeProblems) {
  tessera_problem problem = problem_;
  problem.m = problem.n = problem.k = 16;
  EXPECT_EQ(explained(handle_, problem).bound, TESSERA_BOUND_LAUNCH);
  problem.m = problem.n = problem.k = 8192;
  EXPECT_EQ(explained(handle_, problem).bound, TESSERA_BOUND_ARITHMETIC);
  problem.memory = TESSERA_HOST_MEMORY;
  EXPECT_EQ(explained(handle_, problem).where, TESSERA_ON_GPU_BY_PANELS);
  problem.type_a = TESSERA_BF16;
  problem.n = 8;
  EXPECT_EQ(explained(handle_, problem).bound, TESSERA_BOUND_HOST);
  problem.memory = TESSERA_DEVICE_MEMORY;
  EXPECT_EQ(explained(handle_, problem).bound, TESSERA_BOUND_MEMORY);
}

TEST_F(Library, ExplainRefusesWhatIsNoStruct) {
  tessera_explanation all = {.size = 16};
  EXPECT_EQ(tessera_explain(handle_, &problem_, nullptr, &all, nullptr, 0), TESSERA_BAD_ARGUMENT);
  expect_said("size of explanation is 16");
  EXPECT_EQ(tessera_explain(handle_, &problem_, nullptr, nullptr, nullptr, 0),
            TESSERA_BAD_ARGUMENT);
  expect_said("explanation is null");
  all.size = sizeof all;
  EXPECT_EQ(tessera_explain(handle_, &problem_, nullptr, &all, nullptr, 2), TESSERA_BAD_ARGUMENT);
  expect_said("choices[0] is null");
  tessera_choice choice = {.size = 3};
  EXPECT_EQ(tessera_explain(handle_, &problem_, nullptr, &all, &choice, 1), TESSERA_BAD_ARGUMENT);
  expect_said("size of choices[0] is 3");
}

TEST_F(Library, AnyPlaceIsTheCpuWithoutADriver) {
  setenv("FAKE_CUDA_FAIL", "cuInit=100", 1);
  const tessera_handle any = made(TESSERA_ANY_PLACE);
  ASSERT_NE(any, nullptr) << tessera_last_message();
  tessera_explanation why = {.size = sizeof why};
  ASSERT_EQ(tessera_explain(any, &problem_, nullptr, &why, nullptr, 0), TESSERA_OK);
  EXPECT_EQ(why.where, TESSERA_ON_CPU);
  EXPECT_TRUE(says(why.why_not, "cuInit")) << why.why_not;
  EXPECT_EQ(tessera_destroy(any), TESSERA_OK);
  const tessera_handle cpu = made(TESSERA_CPU);
  ASSERT_EQ(tessera_explain(cpu, &problem_, nullptr, &why, nullptr, 0), TESSERA_OK);
  EXPECT_STREQ(why.why_not, "a GPU, but the handle is for the CPU");
  EXPECT_EQ(tessera_destroy(cpu), TESSERA_OK);
}

}  // namespace
