// The C interface as a program sees it: what it refuses, and with which words; nothing is launched
// then. On the stand-in driver.
#include <sys/wait.h>

#include <cstdio>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "tests/library/library.h"

namespace {

TEST_F(Library, SaysItsRelease) {
  EXPECT_STREQ(tessera_version(), TESSERA_VERSION);
  int major = 0, minor = 0, patch = 0;
  ASSERT_EQ(std::sscanf(tessera_version(), "%d.%d.%d", &major, &minor, &patch), 3);
  EXPECT_EQ(tessera_version_number(), 10000 * major + 100 * minor + patch);
  EXPECT_EQ(tessera_version_number(), TESSERA_VERSION_NUMBER);
}

TEST_F(Library, ActivationsHaveNames) {
  EXPECT_STREQ(tessera_activation_name(TESSERA_NO_ACTIVATION), "identity");
  EXPECT_STREQ(tessera_activation_name(TESSERA_RELU), "relu");
  EXPECT_STREQ(tessera_activation_name(TESSERA_GELU), "gelu");
  EXPECT_STREQ(tessera_activation_name(TESSERA_GELU_ERF), "gelu_erf");
  EXPECT_STREQ(tessera_activation_name(TESSERA_SILU), "silu");
  EXPECT_EQ(tessera_activation_name(-1), nullptr);
  EXPECT_EQ(tessera_activation_name(1 << 20), nullptr);
}

TEST_F(Library, Multiplies) {
  EXPECT_EQ(multiply(problem_), TESSERA_OK) << tessera_last_message();
  EXPECT_TRUE(launched());
}

TEST_F(Library, SizesOfStructs) {
  const auto bad = TESSERA_BAD_ARGUMENT;
  refused(bad, "size of problem is 0, but must be", [](auto& p) { p.size = 0; });
  refused(bad, "size of problem is 1000000", [](auto& p) { p.size = 1000000; });
  refused(bad, "size of problem is " + std::to_string(sizeof problem_ - 1),
          [](auto& p) { p.size -= 1; });
  // A later version's, whose further field says something, or nothing.
  struct {
    tessera_problem problem;
    std::int64_t more;
  } later = {problem_, 1};
  later.problem.size = sizeof later;
  EXPECT_EQ(multiply(later.problem), bad);
  EXPECT_TRUE(says(tessera_last_message(), "those behind must be 0"));
  later.more = 0;
  EXPECT_EQ(multiply(later.problem), TESSERA_OK);
}

TEST_F(Library, FieldsOfAProblem) {
  const auto bad = TESSERA_BAD_ARGUMENT;
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  refused(bad, "m is -1, but", [](auto& p) { p.m = -1; });
  refused(bad, "n is -5, but", [](auto& p) { p.n = -5; });
  refused(bad, "k is -9223372036854775808",
          [](auto& p) { p.k = std::numeric_limits<std::int64_t>::min(); });
  refused(bad, "lda is 299, but must be at least 300", [](auto& p) { p.lda = 299; });
  refused(bad, "ldb is -1", [](auto& p) { p.ldb = -1; });
  refused(bad, "ldc is 1", [](auto& p) { p.ldc = 1; });
  refused(bad, "ldd is 1", [](auto& p) { p.ldd = 1; });
  refused(bad, "signed 64-bit", [&](auto& p) { p.lda = most; });
  refused(bad, "signed 64-bit", [&](auto& p) { p.m = p.n = p.k = most; });
  refused(bad, "type_a is 0, but must be 1 to 8", [](auto& p) { p.type_a = 0; });
  refused(bad, "type_b is 9", [](auto& p) { p.type_b = 9; });
  refused(bad, "type_c is -1", [](auto& p) { p.type_c = -1; });
  refused(bad, "type_d is 100", [](auto& p) { p.type_d = 100; });
  refused(bad, "compute is 7", [](auto& p) { p.compute = 7; });
  refused(bad, "order is 2", [](auto& p) { p.order = 2; });
  refused(bad, "op_a is 2", [](auto& p) { p.op_a = 2; });
  refused(bad, "op_b is -1", [](auto& p) { p.op_b = -1; });
  refused(TESSERA_UNSUPPORTED, "no kernel multiplies s8 x f64", [](auto& p) {
    p.type_a = TESSERA_S8;
    p.type_b = TESSERA_F64;
  });
}

TEST_F(Library, AddressesAndFactors) {
  const auto refused_with = [&](const std::string& words) {
    EXPECT_TRUE(says(tessera_last_message(), words)) << tessera_last_message();
    EXPECT_FALSE(launched());
  };
  const auto call = [&](const void* a, const void* b, const void* c, void* d, double beta = 0) {
    return tessera_gemm(handle_, &problem_, 1, a, b, beta, c, d, nullptr);
  };
  EXPECT_EQ(call(nullptr, b_, c_, d_), TESSERA_BAD_ARGUMENT);
  refused_with("address of A is 0, but A is read");
  EXPECT_EQ(call(a_, nullptr, c_, d_), TESSERA_BAD_ARGUMENT);
  refused_with("address of B is 0");
  EXPECT_EQ(call(a_, b_, nullptr, d_, 1), TESSERA_BAD_ARGUMENT);
  refused_with("address of C is 0");
  EXPECT_EQ(call(a_, b_, c_, nullptr), TESSERA_BAD_ARGUMENT);
  refused_with("address of D is 0");
  EXPECT_EQ(call(address(0x10002), b_, c_, d_), TESSERA_BAD_ARGUMENT);
  refused_with("address of A is 65538");
  EXPECT_EQ(call(a_, b_, c_, a_), TESSERA_BAD_ARGUMENT);
  refused_with("D shares an element with A");
  EXPECT_EQ(multiply(problem_, 1e300), TESSERA_BAD_ARGUMENT);
  refused_with("alpha is 1e+300");
  EXPECT_EQ(call(a_, b_, nullptr, d_), TESSERA_OK) << "C is not read";
}

TEST_F(Library, HandlesThatAreNone) {
  tessera_handle made = nullptr;
  const tessera_place place = {.size = sizeof place};
  ASSERT_EQ(tessera_create(&made, &place), TESSERA_OK);
  ASSERT_EQ(tessera_destroy(made), TESSERA_OK);
  for (const tessera_handle handle : {tessera_handle{}, made}) {
    EXPECT_EQ(tessera_gemm(handle, &problem_, 1, a_, b_, 0, c_, d_, nullptr), TESSERA_BAD_ARGUMENT);
    EXPECT_TRUE(says(tessera_last_message(), "handle is n")) << tessera_last_message();
    tessera_plan plan = nullptr;
    EXPECT_EQ(tessera_plan_create(&plan, handle, &problem_, nullptr), TESSERA_BAD_ARGUMENT);
    EXPECT_EQ(tessera_explain_text(handle, &problem_, nullptr, nullptr, 0, nullptr),
              TESSERA_BAD_ARGUMENT);
  }
  EXPECT_EQ(tessera_destroy(made), TESSERA_BAD_ARGUMENT) << "twice";
  EXPECT_EQ(tessera_destroy(nullptr), TESSERA_OK);
  EXPECT_EQ(tessera_create(nullptr, &place), TESSERA_BAD_ARGUMENT);
  EXPECT_EQ(tessera_gemm(handle_, nullptr, 1, a_, b_, 0, c_, d_, nullptr), TESSERA_BAD_ARGUMENT);
  EXPECT_STREQ(tessera_last_message(), "problem is null, but must be given");
  EXPECT_FALSE(launched());
}

TEST_F(Library, Places) {
  const auto refusal = [](tessera_place place) {
    tessera_handle made = nullptr;
    EXPECT_EQ(tessera_create(&made, &place), TESSERA_BAD_ARGUMENT);
    EXPECT_EQ(made, nullptr);
    return std::string(tessera_last_message());
  };
  const std::size_t size = sizeof(tessera_place);
  EXPECT_EQ(refusal({size, 1}), "gpu is 1, but this machine has 1 GPU, whose number is 0");
  EXPECT_TRUE(says(refusal({size, -4}), "gpu is -4"));
  EXPECT_TRUE(says(refusal({size, 0, 0, 0, 3}), "host_side is 3, but must be 0 to 2"));
  EXPECT_TRUE(says(refusal({size, 0, 0, 0, 0, TESSERA_COMPUTE_TF32}),
                   "fp32 is 3, but must be 0, TESSERA_COMPUTE_F32 or TESSERA_COMPUTE_F16X3"));
  EXPECT_TRUE(says(refusal({3}), "size of place is 3"));
  EXPECT_TRUE(says(refusal({size, 0, -1}), "plan_cache is -1, but must be 0 to"));
  EXPECT_TRUE(says(refusal({size, 0, 0, 2}), "check_addresses is 2, but must be 0 to 1"));
  fake<void()>("fake_cuda_leave_contexts")();
  EXPECT_TRUE(says(refusal({size, TESSERA_CURRENT_CONTEXT}), "context is none"));

  fake<void*(int, int)>("fake_cuda_make_context")(0, 1);
  tessera_handle mine = nullptr;
  ASSERT_EQ(tessera_create(&mine, nullptr), TESSERA_OK) << tessera_last_message();
  EXPECT_EQ(tessera_gemm(mine, &problem_, 1, a_, b_, 0, c_, d_, nullptr), TESSERA_OK);
  EXPECT_EQ(tessera_destroy(mine), TESSERA_OK);
}

TEST_F(Library, APlanServesAllFactors) {
  tessera_plan plan = nullptr;
  tessera_problem deep = problem_;
  deep.k = 4000;
  ASSERT_EQ(tessera_plan_create(&plan, handle_, &deep, nullptr), TESSERA_OK);
  std::size_t bytes = 0;
  ASSERT_EQ(tessera_plan_workspace(plan, &bytes), TESSERA_OK);
  ASSERT_GT(bytes, 0u);
  void* const workspace = address(std::uint64_t{5} << 40);
  for (const double alpha : {0.0, 2.0}) {
    for (const double beta : {0.0, -1.0}) {
      tessera_arguments in = arguments(alpha, beta);
      in.workspace = workspace;
      in.workspace_bytes = bytes;
      EXPECT_EQ(tessera_plan_run(plan, &in), TESSERA_OK) << tessera_last_message();
    }
  }
  fake<void()>("fake_cuda_clear")();
  const auto refused_with = [&](void* at, std::size_t size, const char* words) {
    tessera_arguments in = arguments();
    in.workspace = at;
    in.workspace_bytes = size;
    EXPECT_EQ(tessera_plan_run(plan, &in), TESSERA_BAD_ARGUMENT);
    expect_said(words);
    EXPECT_FALSE(launched());
  };
  refused_with(nullptr, bytes, "workspace is null, but ");
  refused_with(workspace, 0, "workspace_bytes is 0, but ");
  refused_with(address(257), bytes, "multiple of 256");
  refused_with(a_, bytes, "overlaps A, but must be apart");
  tessera_arguments in = arguments();
  in.workspace = workspace;
  in.workspace_bytes = bytes;
  in.d = address(0x40004);
  EXPECT_EQ(tessera_plan_run(plan, &in), TESSERA_BAD_ARGUMENT);
  EXPECT_TRUE(says(tessera_last_message(), "the plan is for a multiple of 16 bytes"));
  EXPECT_EQ(tessera_plan_workspace(plan, nullptr), TESSERA_BAD_ARGUMENT);
  EXPECT_EQ(tessera_plan_destroy(plan), TESSERA_OK);
  EXPECT_EQ(tessera_plan_destroy(plan), TESSERA_BAD_ARGUMENT) << "twice";
  EXPECT_EQ(tessera_plan_destroy(nullptr), TESSERA_OK);
  EXPECT_EQ(tessera_plan_run(plan, &in), TESSERA_BAD_ARGUMENT);
  EXPECT_TRUE(says(tessera_last_message(), "plan is none"));
}

TEST_F(Library, OptionsOfAPlan) {
  const auto made = [&](tessera_plan_options options) {
    tessera_plan plan = nullptr;
    const tessera_status status = tessera_plan_create(&plan, handle_, &problem_, &options);
    EXPECT_EQ(tessera_plan_destroy(plan), TESSERA_OK);
    return status;
  };
  const std::size_t size = sizeof(tessera_plan_options);
  EXPECT_EQ(made({size, 0, 4, 0}), TESSERA_OK);
  EXPECT_EQ(made({size, 0, 1 << 20, 0}), TESSERA_OK);
  EXPECT_EQ(made({size, std::numeric_limits<std::size_t>::max(), 0, 0}), TESSERA_OK);
  EXPECT_EQ(made({size, 0, 3, 0}), TESSERA_BAD_ARGUMENT);
  EXPECT_EQ(made({size, 0, -16, 0}), TESSERA_BAD_ARGUMENT);
  EXPECT_TRUE(says(tessera_last_message(), "alignment is -16"));
  EXPECT_EQ(made({size, 0, 0, 1}), TESSERA_OK);
  EXPECT_EQ(made({size, 0, 0, 7}), TESSERA_BAD_ARGUMENT);
  EXPECT_TRUE(says(tessera_last_message(), "any_order is 7, but must be 0 to 1"));
  EXPECT_EQ(made({1, 0, 0, 0}), TESSERA_BAD_ARGUMENT);
}

// A plan outlives the handle that made it.
TEST_F(Library, APlanKeepsWhatItNeeds) {
  tessera_handle other = nullptr;
  const tessera_place place = {.size = sizeof place};
  ASSERT_EQ(tessera_create(&other, &place), TESSERA_OK);
  tessera_plan plan = nullptr;
  const tessera_plan_options options = {sizeof options, TESSERA_NO_WORKSPACE};
  ASSERT_EQ(tessera_plan_create(&plan, other, &problem_, &options), TESSERA_OK)
      << tessera_last_message();
  ASSERT_EQ(tessera_destroy(other), TESSERA_OK);
  const tessera_arguments in = arguments();
  EXPECT_EQ(tessera_plan_run(plan, &in), TESSERA_OK) << tessera_last_message();
  EXPECT_EQ(tessera_plan_destroy(plan), TESSERA_OK);
}

TEST_F(Library, Explains) {
  std::size_t needed = 0;
  ASSERT_EQ(tessera_explain_text(handle_, &problem_, nullptr, nullptr, 0, &needed), TESSERA_OK);
  std::vector<char> text(needed, 'x');
  ASSERT_EQ(tessera_explain_text(handle_, &problem_, nullptr, text.data(), needed, nullptr),
            TESSERA_OK);
  EXPECT_EQ(std::strlen(text.data()), needed - 1);
  EXPECT_TRUE(says(text.data(), "runs simt_f32/")) << text.data();
  EXPECT_TRUE(says(text.data(), "instead of ")) << text.data();
  char little[5] = {'x', 'x', 'x', 'x', 'x'};
  ASSERT_EQ(tessera_explain_text(handle_, &problem_, nullptr, little, 4, nullptr), TESSERA_OK);
  EXPECT_STREQ(little, "run");
  EXPECT_EQ(little[4], 'x');
  EXPECT_EQ(tessera_explain_text(handle_, &problem_, nullptr, nullptr, 4, nullptr),
            TESSERA_BAD_ARGUMENT);
}

TEST_F(Library, ADriverThatFailsIsAStatus) {
  setenv("FAKE_CUDA_FAIL", "cuLaunchKernel=719,cuLaunchKernelEx=719", 1);
  EXPECT_EQ(multiply(problem_), TESSERA_FAILED);
  setenv("FAKE_CUDA_FAIL", "cuInit=100", 1);
  tessera_handle made = nullptr;
  EXPECT_EQ(tessera_create(&made, nullptr), TESSERA_UNAVAILABLE);
  EXPECT_TRUE(says(tessera_last_message(), "cuInit failed"));
  EXPECT_EQ(made, nullptr);
}

// Messages are each thread's own.
TEST_F(Library, ThreadsShareAHandle) {
  tessera_plan_destroy(reinterpret_cast<tessera_plan>(this));
  const std::string mine = tessera_last_message();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      EXPECT_STREQ(tessera_last_message(), "");
      for (int i = 0; i < 50; ++i) {
        tessera_problem problem = problem_;
        problem.m = 1 + (i + t) % 7;
        EXPECT_EQ(multiply(problem), TESSERA_OK) << tessera_last_message();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(tessera_last_message(), mine);
}

// What an example says; fails where its exit code is not 0.
std::string said_by(const std::string& example) {
  const std::string program = tessera::beside_test(example);
  if (!std::filesystem::exists(program)) return "no example here";
  FILE* const pipe = popen((program + " 2>&1").c_str(), "r");
  std::string said(1000, '\0');
  said.resize(std::fread(said.data(), 1, said.size(), pipe));
  EXPECT_EQ(WEXITSTATUS(pclose(pipe)), 0) << example << ": " << said;
  return said;
}

TEST_F(Library, TheExamplesRun) {
  const std::string said = said_by("example_multiply_c");
  if (said == "no example here") GTEST_SKIP() << said;
  EXPECT_TRUE(says(said, "D[0] = ")) << said;
  EXPECT_TRUE(says(said, "runs simt_f32/")) << said;
  setenv("FAKE_CUDA_FAIL", "cuInit=100", 1);  // no GPU: the CPU multiplies
  EXPECT_EQ(said_by("example_multiply_cpp"), "D[0] = 200, with A all 1 and B all 2\n");
  EXPECT_EQ(said_by("example_epilogue_c"),
            "  0.8412  0.0000 -0.0454  0.0000\n"
            "  2.9964  1.9546 -0.0000  0.0000\n"
            "  5.0000  3.9999 -0.0000  0.0000\n");
  EXPECT_EQ(said_by("example_epilogue_cpp"), "D[0] = 60 and D[1] = 0\n");
  EXPECT_TRUE(says(said_by("example_blocked_lu_cpp"), "largest difference of P A and L U"));
}

}  // namespace
