// Every argument of the C interface with values that are none: the right status, a sentence with
// field, value and rule, nothing launched. On the stand-in driver.
#include <limits>
#include <set>
#include <vector>

#include "base/activations.h"
#include "tests/library/library.h"

namespace {

const auto kBad = TESSERA_BAD_ARGUMENT;

TEST_F(Library, BatchAndEpilogueFields) {
  refused(kBad, "batch is 3, but must be 0 to 2", [](auto& p) { p.batch = 3; });
  refused(kBad, "batch_count is 2, but must be 0", [](auto& p) { p.batch_count = 2; });
  refused(kBad, "stride_a is 7, but must be 0", [](auto& p) { p.stride_a = 7; });
  refused(kBad, "stride_d is -1, but must be 0", [](auto& p) {
    p.batch = TESSERA_POINTERS;
    p.stride_d = -1;
  });
  refused(kBad, "batch_alignment is 16, but must be 0", [](auto& p) {
    p.batch = TESSERA_STRIDED;
    p.batch_alignment = 16;
  });
  refused(kBad, "batch_count is -1", [](auto& p) {
    p.batch = TESSERA_STRIDED;
    p.batch_count = -1;
  });
  refused(kBad, "stride_d is 0", [](auto& p) {
    p.batch = TESSERA_STRIDED;
    p.batch_count = 2;
  });
  refused(kBad, "batch_alignment is 3", [](auto& p) {
    p.batch = TESSERA_POINTERS;
    p.batch_count = 2;
    p.batch_alignment = 3;
  });
  refused(kBad, "bias is 3, but must be 0 to 2", [](auto& p) { p.bias = 3; });
  refused(kBad,
          "activation is -1, but must be 0 to " + std::to_string(tessera::kActivationCount - 1),
          [](auto& p) { p.activation = -1; });
  refused(kBad, "memory is 3, but must be 0 to 2", [](auto& p) { p.memory = 3; });
  refused(kBad, "scale is 3, but must be 0 to 2", [](auto& p) { p.scale = 3; });
}

TEST_F(Library, BatchesOfDeviceMemory) {
  tessera_problem p = problem_;
  p.batch = TESSERA_STRIDED;
  p.batch_count = 3;
  p.stride_d = 300 * 200;
  EXPECT_EQ(multiply(p), TESSERA_OK) << tessera_last_message();
  EXPECT_TRUE(launched());
  fake<void()>("fake_cuda_clear")();
  p.batch_count = 0;
  EXPECT_EQ(multiply(p), TESSERA_OK) << tessera_last_message();
  EXPECT_FALSE(launched()) << "nothing to multiply";
  p.batch_count = 2;
  p.stride_d = 299;
  refused(kBad, "stride_d is 299", [&](auto& q) { q = p; });
  p = problem_;
  p.batch = TESSERA_POINTERS;
  p.batch_count = 2;
  p.batch_alignment = 16;
  const tessera_status status = multiply(p);
  EXPECT_TRUE(status == TESSERA_OK || status == TESSERA_UNSUPPORTED) << tessera_last_message();
  EXPECT_EQ(launched(), status == TESSERA_OK);
}

TEST_F(Library, FieldsOfArguments) {
  const auto refused_with = [&](tessera_status status, const char* words, auto change,
                                std::int32_t bias = TESSERA_NO_BIAS) {
    tessera_problem problem = problem_;
    problem.bias = bias;
    tessera_arguments in = arguments();
    change(in);
    EXPECT_EQ(tessera_gemm_with(handle_, &problem, nullptr, &in), status) << words;
    expect_said(words);
    EXPECT_FALSE(launched());
  };
  refused_with(kBad, "size of arguments is 0", [](auto& in) { in.size = 0; });
  refused_with(kBad, "size of arguments is 99999", [](auto& in) { in.size = 99999; });
  refused_with(TESSERA_UNSUPPORTED, "alpha_address is not null, but no kernel",
               [&](auto& in) { in.alpha_address = a_; });
  refused_with(TESSERA_UNSUPPORTED, "beta_address is not null, but no kernel",
               [&](auto& in) { in.beta_address = a_; });
  refused_with(kBad, "bias of arguments is not null", [&](auto& in) { in.bias = a_; });
  refused_with(
      kBad, "bias of arguments is null", [](auto&) {}, TESSERA_BIAS_PER_ROW);
  refused_with(kBad, "alpha is -1e+300", [](auto& in) { in.alpha = -1e300; });
  refused_with(kBad, "end beyond the address space",
               [](auto& in) { in.d = address(~std::uint64_t{0} - 1023); });
  refused_with(kBad, "end beyond the address space",
               [](auto& in) { in.a = address(~std::uint64_t{0} - 1023); });
  EXPECT_EQ(tessera_gemm_with(handle_, &problem_, nullptr, nullptr), kBad);
  expect_said("arguments is null");
  EXPECT_EQ(tessera_plan_run(nullptr, nullptr), kBad);
  expect_said("plan is null");
}

TEST_F(Library, AWorkspaceOfTheCallersInOneCall) {
  tessera_problem deep = problem_;
  deep.k = 4000;
  tessera_arguments in = arguments();
  in.workspace = address(std::uint64_t{5} << 40);
  in.workspace_bytes = 1;
  EXPECT_EQ(tessera_gemm_with(handle_, &deep, nullptr, &in), kBad);
  expect_said("workspace_bytes is 1, but ");
  EXPECT_FALSE(launched());
  in.workspace_bytes = std::numeric_limits<std::size_t>::max();
  EXPECT_EQ(tessera_gemm_with(handle_, &deep, nullptr, &in), TESSERA_OK) << tessera_last_message();
  EXPECT_FALSE(says(calls(), "cuMemAlloc")) << "the handle's own is not made";
  EXPECT_TRUE(launched());
}

TEST_F(Library, ARefusedCallAllocatesNothing) {
  tessera_problem deep = problem_;
  deep.k = 4000;
  EXPECT_EQ(tessera_gemm(handle_, &deep, 1, a_, b_, 0, c_, a_, nullptr), kBad);
  EXPECT_FALSE(says(calls(), "cuMemAlloc"));
}

TEST_F(Library, ChecksAddressesWhereAsked) {
  using Allocate = int(std::uint64_t*, std::size_t);
  const tessera_handle checked = made(0, 1);
  ASSERT_NE(checked, nullptr);
  // One more allocation each, in the context of the handle.
  std::uint64_t at[3] = {};
  const std::size_t bytes[] = {300 * 100 * 4, 100 * 200 * 4, 300 * 200 * 4};
  for (int i = 0; i < 3; ++i) ASSERT_EQ(fake<Allocate>("cuMemAlloc_v2")(&at[i], bytes[i]), 0);
  const auto run = [&](std::uint64_t a, std::uint64_t b, std::uint64_t d) {
    fake<void()>("fake_cuda_clear")();
    return tessera_gemm(checked, &problem_, 1, address(a), address(b), 0, nullptr, address(d),
                        nullptr);
  };
  EXPECT_EQ(run(at[0], at[1], at[2]), TESSERA_OK) << tessera_last_message();
  std::vector<float> on_host(300 * 200);
  EXPECT_EQ(run(at[0], at[1], reinterpret_cast<std::uint64_t>(on_host.data())), kBad);
  expect_said("byte is in no memory of the driver: host memory, or freed");
  EXPECT_FALSE(launched());
  EXPECT_EQ(run(at[1], at[0], at[2]), kBad) << "B's memory is too small for A";
  expect_said("but its last byte is in no memory");
  setenv("FAKE_CUDA_COUNT", "2", 1);
  void* const other = fake<void*(int, int)>("fake_cuda_make_context")(1, 1);
  std::uint64_t elsewhere = 0;
  ASSERT_EQ(fake<Allocate>("cuMemAlloc_v2")(&elsewhere, bytes[2]), 0);
  EXPECT_EQ(run(at[0], at[1], elsewhere), kBad);
  expect_said("first byte is in memory of another GPU");
  EXPECT_FALSE(launched());
  fake<void(void*)>("fake_cuda_destroy_context")(other);
  fake<void()>("fake_cuda_leave_contexts")();
  const tessera_handle again = made();  // its context is current again
  for (const std::uint64_t one : at) fake<int(std::uint64_t)>("cuMemFree_v2")(one);
  EXPECT_EQ(run(at[0], at[1], at[2]), kBad) << "freed";
  expect_said("or freed");
  EXPECT_EQ(tessera_destroy(checked), TESSERA_OK);
  EXPECT_EQ(tessera_destroy(again), TESSERA_OK);
}

// A name is never given twice, so that a stale one is known for ever.
TEST_F(Library, NamesAreNotGivenTwice) {
  const tessera_handle first = made();
  ASSERT_EQ(tessera_destroy(first), TESSERA_OK);
  for (int i = 0; i < 20; ++i) {
    const tessera_handle next = made();
    EXPECT_NE(next, first);
    EXPECT_EQ(tessera_destroy(next), TESSERA_OK);
  }
  EXPECT_EQ(tessera_gemm(first, &problem_, 1, a_, b_, 0, c_, d_, nullptr), kBad);
  tessera_plan plan = nullptr;
  ASSERT_EQ(tessera_plan_create(&plan, handle_, &problem_, nullptr), TESSERA_OK);
  EXPECT_EQ(tessera_destroy(reinterpret_cast<tessera_handle>(plan)), kBad) << "a plan is none";
  EXPECT_EQ(tessera_plan_destroy(plan), TESSERA_OK);
}

TEST_F(Library, HandlesAndPlansHaveNoNameInCommon) {
  std::set<const void*> names;
  for (int i = 0; i < 300; ++i) {
    const tessera_handle handle = made();
    tessera_plan plan = nullptr;
    ASSERT_EQ(tessera_plan_create(&plan, handle_, &problem_, nullptr), TESSERA_OK);
    EXPECT_TRUE(names.insert(handle).second && names.insert(plan).second) << i;
    EXPECT_EQ(tessera_plan_destroy(plan), TESSERA_OK);
    EXPECT_EQ(tessera_destroy(handle), TESSERA_OK);
  }
}

TEST_F(Library, OutputsOfCallsThatFailAreCleared) {
  tessera_problem bad = problem_;
  bad.m = -1;
  tessera_plan plan = reinterpret_cast<tessera_plan>(this);
  EXPECT_EQ(tessera_plan_create(&plan, handle_, &bad, nullptr), kBad);
  EXPECT_EQ(plan, nullptr);
  EXPECT_EQ(tessera_plan_create(nullptr, handle_, &problem_, nullptr), kBad);
  expect_said("plan is null");
  char text[4] = {'x', 'x', 'x', 'x'};
  std::size_t needed = 7;
  EXPECT_EQ(tessera_explain_text(handle_, &bad, nullptr, text, 4, &needed), kBad);
  EXPECT_STREQ(text, "");
  EXPECT_EQ(needed, 0u);
}

TEST_F(Library, SeveralGpus) {
  setenv("FAKE_CUDA_COUNT", "3", 1);
  std::int32_t count = -1;
  EXPECT_EQ(tessera_device_count(&count), TESSERA_OK);
  EXPECT_EQ(count, 3);
  tessera_device device = {.size = sizeof device};
  ASSERT_EQ(tessera_device_info(2, &device), TESSERA_OK) << tessera_last_message();
  EXPECT_STREQ(device.name, "Fake GPU");
  EXPECT_STREQ(device.pci_bus_id, "0000:12:00.0");
  EXPECT_EQ(device.compute_capability, 90);
  EXPECT_EQ(device.sms, 132);
  EXPECT_EQ(tessera_device_info(3, &device), kBad);
  expect_said("gpu is 3, but must be 0 to 2");
  EXPECT_EQ(tessera_device_info(-1, &device), kBad);
  EXPECT_EQ(tessera_device_info(0, nullptr), kBad);
  device.size = 8;
  EXPECT_EQ(tessera_device_info(0, &device), kBad);
  expect_said("size of device is 8");
  EXPECT_EQ(tessera_device_count(nullptr), kBad);
  const tessera_handle second = made(2);
  ASSERT_NE(second, nullptr) << tessera_last_message();
  EXPECT_EQ(tessera_gemm(second, &problem_, 1, a_, b_, 0, c_, d_, nullptr), TESSERA_OK);
  EXPECT_EQ(multiply(problem_), TESSERA_OK);
  EXPECT_EQ(tessera_destroy(second), TESSERA_OK);
  setenv("FAKE_CUDA_FAIL", "cuInit=100", 1);
  EXPECT_EQ(tessera_device_count(&count), TESSERA_OK);
  EXPECT_EQ(count, 0);
  expect_said("cuInit failed");
}

TEST_F(Library, Logs) {
  std::vector<std::string> lines;
  const tessera_log note = [](void* user, const char* line) {
    static_cast<std::vector<std::string>*>(user)->push_back(line);
  };
  ASSERT_EQ(tessera_set_log(handle_, note, &lines), TESSERA_OK);
  EXPECT_EQ(multiply(problem_), TESSERA_OK);
  EXPECT_EQ(multiply(problem_), TESSERA_OK) << "kept: no second line";
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(says(lines[0], "planned 300 x 200 x 100 in f32 NN: simt_f32/")) << lines[0];
  EXPECT_TRUE(says(lines[0], "; call type=f32 order=")) << lines[0];
  tessera_problem bad = problem_;
  bad.n = -3;
  EXPECT_EQ(multiply(bad), kBad);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[1], tessera_last_message());
  ASSERT_EQ(tessera_set_log(handle_, nullptr, nullptr), TESSERA_OK);
  EXPECT_EQ(multiply(bad), kBad);
  EXPECT_EQ(lines.size(), 2u);
}

TEST_F(Library, ThePlanCacheHasTheSizeThatWasAskedFor) {
  const tessera_place place = {.size = sizeof place, .plan_cache = 1};
  tessera_handle small = nullptr;
  ASSERT_EQ(tessera_create(&small, &place), TESSERA_OK);
  int planned = 0;
  tessera_set_log(
      small, [](void* n, const char*) { ++*static_cast<int*>(n); }, &planned);
  tessera_problem other = problem_;
  other.m = 301;
  for (const tessera_problem& one : {problem_, problem_, other, problem_}) {
    EXPECT_EQ(tessera_gemm(small, &one, 1, a_, b_, 0, c_, d_, nullptr), TESSERA_OK);
  }
  EXPECT_EQ(planned, 3);
  EXPECT_EQ(tessera_destroy(small), TESSERA_OK);
}

// A kernel that needs more workspace than the GPU has memory is no choice, however fast it is.
TEST_F(Library, NoPlanNeedsMoreThanTheGpuHas) {
  tessera_problem tall = {.size = sizeof tall, .m = 1 << 30, .n = 5, .k = 23};
  tall.type_a = TESSERA_BF16;
  tall.order = TESSERA_ROW_MAJOR;
  tall.ldd = 7;
  EXPECT_EQ(multiply(tall), TESSERA_OK) << tessera_last_message();
  EXPECT_TRUE(launched());
}

TEST_F(Library, MemoryThatIsMissingHasAStatusOfItsOwn) {
  setenv("FAKE_CUDA_FAIL", "cuMemAlloc_v2=2", 1);
  tessera_problem deep = problem_;
  deep.k = 4000;
  EXPECT_EQ(multiply(deep), TESSERA_OUT_OF_MEMORY);
  expect_said("not enough device memory");
  EXPECT_FALSE(launched());
}

}  // namespace
