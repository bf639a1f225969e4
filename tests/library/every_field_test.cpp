// Every field of every struct of the C interface with values that no caller should pass, in device
// memory, in host memory and on the CPU: refused with the field, its value and the rule; nothing
// launched, outputs as they were. A field that is added to a struct and not listed here is noticed.
#include <array>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "tests/library/library.h"

namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int32_t kMost32 = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kWide[] = {-1, -kMost - 1, kMost};
constexpr std::int32_t kNarrow[] = {-1, -kMost32 - 1, kMost32, 9};

struct WideField {
  const char* name;
  std::int64_t tessera_problem::*at;
};
constexpr WideField kWideFields[] = {{"m", &tessera_problem::m},
                                     {"n", &tessera_problem::n},
                                     {"k", &tessera_problem::k},
                                     {"lda", &tessera_problem::lda},
                                     {"ldb", &tessera_problem::ldb},
                                     {"ldc", &tessera_problem::ldc},
                                     {"ldd", &tessera_problem::ldd},
                                     {"batch_count", &tessera_problem::batch_count},
                                     {"stride_a", &tessera_problem::stride_a},
                                     {"stride_b", &tessera_problem::stride_b},
                                     {"stride_c", &tessera_problem::stride_c},
                                     {"stride_d", &tessera_problem::stride_d},
                                     {"ldx", &tessera_problem::ldx},
                                     {"stride_x", &tessera_problem::stride_x}};

struct NarrowField {
  const char* name;
  std::int32_t tessera_problem::*at;
};
constexpr NarrowField kNarrowFields[] = {
    {"type_a", &tessera_problem::type_a},
    {"type_b", &tessera_problem::type_b},
    {"type_c", &tessera_problem::type_c},
    {"type_d", &tessera_problem::type_d},
    {"compute", &tessera_problem::compute},
    {"order", &tessera_problem::order},
    {"op_a", &tessera_problem::op_a},
    {"op_b", &tessera_problem::op_b},
    {"batch", &tessera_problem::batch},
    {"batch_alignment", &tessera_problem::batch_alignment},
    {"bias", &tessera_problem::bias},
    {"activation", &tessera_problem::activation},
    {"memory", &tessera_problem::memory},
    {"scale", &tessera_problem::scale},
    {"auxiliary", &tessera_problem::auxiliary},
    {"reserved", &tessera_problem::reserved},
};
static_assert(sizeof(std::size_t) + sizeof(std::int64_t) * std::size(kWideFields) +
                      sizeof(std::int32_t) * std::size(kNarrowFields) ==
                  sizeof(tessera_problem),
              "a field of tessera_problem that is not attacked");
static_assert(sizeof(tessera_place) == sizeof(std::size_t) + 6 * sizeof(std::int32_t));
static_assert(sizeof(tessera_plan_options) ==
              2 * sizeof(std::size_t) + 4 * sizeof(std::int32_t) + sizeof(void*));
static_assert(sizeof(tessera_arguments) == 17 * 8, "a field of tessera_arguments not attacked");

// A problem in each of the places that a call may be made.
class EveryField : public Library {
 protected:
  void SetUp() override {
    Library::SetUp();
    if (handle_) cpu_ = made(TESSERA_CPU);
  }
  void TearDown() override {
    EXPECT_EQ(tessera_destroy(cpu_), TESSERA_OK);
    Library::TearDown();
  }

  struct Base {
    tessera_handle handle;
    tessera_problem problem;
    bool is_on_host;
  };
  std::vector<Base> bases() const {
    tessera_problem plain = {.size = sizeof plain, .m = 30, .n = 20, .k = 10};
    plain.type_a = TESSERA_F32;
    tessera_problem strided = plain, lists = plain;
    strided.batch = TESSERA_STRIDED;
    strided.batch_count = 3;
    strided.stride_a = 300;
    strided.stride_b = 200;
    strided.stride_c = strided.stride_d = 600;
    lists.batch = TESSERA_POINTERS;
    lists.batch_count = 2;
    lists.batch_alignment = 16;
    std::vector<Base> all;
    for (tessera_problem one : {plain, strided, lists}) {
      all.push_back({handle_, one, false});
      one.memory = TESSERA_HOST_MEMORY;
      all.push_back({cpu_, one, true});
      if (one.batch == TESSERA_NO_BATCH) all.push_back({handle_, one, true});
    }
    return all;
  }

  // All calls that take a problem refuse this one, and D stays as it was.
  void attack(const Base& base, const std::vector<std::string>& words) {
    std::vector<float> a(900, 1), b(600, 1), d(1800, 7);
    const void* list[] = {a.data(), a.data()};
    void* list_d[] = {d.data(), d.data() + 600};
    tessera_arguments in = arguments(1, 1);
    if (base.is_on_host) {
      const bool is_list = base.problem.batch == TESSERA_POINTERS;
      in.a = is_list ? static_cast<const void*>(list) : a.data();
      in.b = is_list ? static_cast<const void*>(list) : b.data();
      in.c = in.d = is_list ? static_cast<void*>(list_d) : d.data();
    }
    fake<void()>("fake_cuda_clear")();
    const tessera_problem* const p = &base.problem;
    const auto expect = [&](tessera_status status) {
      EXPECT_TRUE(status == TESSERA_BAD_ARGUMENT) << words[0] << ": " << status;
      for (const std::string& word : words) expect_said(word);
      EXPECT_TRUE(says(tessera_last_message(), "but")) << tessera_last_message();
    };
    expect(tessera_gemm_with(base.handle, p, nullptr, &in));
    expect(tessera_gemm(base.handle, p, 1, in.a, in.b, 1, in.c, in.d, nullptr));
    tessera_plan plan = reinterpret_cast<tessera_plan>(this);
    expect(tessera_plan_create(&plan, base.handle, p, nullptr));
    EXPECT_EQ(plan, nullptr);
    tessera_explanation why = {.size = sizeof why, .where = 77};
    expect(tessera_explain(base.handle, p, nullptr, &why, nullptr, 0));
    EXPECT_EQ(why.where, 77);
    char text[8] = "before";
    expect(tessera_explain_text(base.handle, p, nullptr, text, sizeof text, nullptr));
    EXPECT_FALSE(launched());
    EXPECT_FALSE(says(calls(), "cuMemcpy")) << calls();
    EXPECT_EQ(d, std::vector<float>(1800, 7));
  }

  tessera_handle cpu_ = nullptr;
};

TEST_F(EveryField, OfAProblem) {
  for (Base base : bases()) {
    for (const WideField& field : kWideFields) {
      const std::int64_t before = base.problem.*field.at;
      for (const std::int64_t value : kWide) {
        base.problem.*field.at = value;
        // Too large: told by the matrix that it makes too large, with its ld and stride.
        const bool is_extent = value == kMost && std::strlen(field.name) == 1;
        attack(base, {is_extent ? "matrix" : field.name, std::to_string(value)});
      }
      base.problem.*field.at = before;
    }
    for (const NarrowField& field : kNarrowFields) {
      const std::int32_t before = base.problem.*field.at;
      for (const std::int32_t value : kNarrow) {
        base.problem.*field.at = value;
        attack(base, {std::string(field.name) + " is " + std::to_string(value)});
      }
      base.problem.*field.at = before;
    }
    for (const std::size_t size : {std::size_t{0}, sizeof base.problem - 8, std::size_t{5000},
                                   std::numeric_limits<std::size_t>::max()}) {
      base.problem.size = size;
      attack(base, {"size of problem is " + std::to_string(size)});
    }
  }
}

TEST_F(EveryField, OfOptionsOfAPlan) {
  const auto attack_with = [&](tessera_plan_options options, const char* words) {
    tessera_plan plan = reinterpret_cast<tessera_plan>(this);
    EXPECT_EQ(tessera_plan_create(&plan, handle_, &problem_, &options), TESSERA_BAD_ARGUMENT);
    EXPECT_EQ(plan, nullptr);
    expect_said(words);
    const tessera_arguments in = arguments();
    EXPECT_EQ(tessera_gemm_with(handle_, &problem_, &options, &in), TESSERA_BAD_ARGUMENT);
    EXPECT_EQ(tessera_explain_text(handle_, &problem_, &options, nullptr, 0, nullptr),
              TESSERA_BAD_ARGUMENT);
    expect_said(words);
    EXPECT_FALSE(launched());
  };
  const std::size_t size = sizeof(tessera_plan_options);
  attack_with({7, 0, 0, 0}, "size of options is 7");
  attack_with({.size = size, .kernel = ""}, "kernel is ''");
  attack_with({.size = size, .kernel = "none"}, "kernel is 'none'");
  attack_with({.size = size, .kernel = "simt_f32/9x9"}, "kernel names variant '9x9'");
  attack_with({.size = size, .kernel = "library"}, "kernels, but must name one");
  attack_with({.size = size, .kernel = "simt_f32:runs=x"}, "with 'runs=x'");
  for (const std::int32_t value : kNarrow) {
    const std::string text = std::to_string(value);
    attack_with({size, 0, value, 0}, ("alignment is " + text).c_str());
    attack_with({size, 0, 0, value}, ("any_order is " + text).c_str());
    attack_with({.size = size, .packed = value}, ("packed is " + text).c_str());
    attack_with({.size = size, .reserved = value}, ("reserved is " + text).c_str());
  }
}

TEST_F(EveryField, OfAPlace) {
  const auto attack_with = [&](tessera_place place, const std::string& words) {
    tessera_handle none = reinterpret_cast<tessera_handle>(this);
    EXPECT_EQ(tessera_create(&none, &place), TESSERA_BAD_ARGUMENT) << words;
    EXPECT_EQ(none, nullptr);
    expect_said(words);
  };
  const std::size_t size = sizeof(tessera_place);
  attack_with({0}, "size of place is 0");
  for (const std::int32_t value : {-9, -kMost32 - 1, kMost32, 9}) {
    const std::string text = std::to_string(value);
    attack_with({size, value}, "gpu is " + text);
    attack_with({size, 0, value < 0 ? value : kMost32}, "plan_cache is ");
    attack_with({size, 0, 0, value}, "check_addresses is " + text);
    attack_with({size, 0, 0, 0, value}, "host_side is " + text);
    attack_with({size, 0, 0, 0, 0, value}, "fp32 is " + text);
    attack_with({size, 0, 0, 0, 0, 0, value}, "reserved is " + text);
  }
}

// The addresses of a call, one after the other, in each way to make it.
class EveryAddress : public EveryField {
 protected:
  using Change = std::function<void(tessera_arguments&)>;

  void refuses(const std::string& words, const Change& change, tessera_status status,
               const tessera_problem& problem) {
    tessera_arguments in = arguments(1, 1);
    change(in);
    EXPECT_EQ(tessera_gemm_with(handle_, &problem, nullptr, &in), status) << words;
    expect_said(words);
    tessera_plan plan = nullptr;
    const tessera_plan_options options = {.size = sizeof options, .alignment = 4};
    ASSERT_EQ(tessera_plan_create(&plan, handle_, &problem, &options), TESSERA_OK)
        << tessera_last_message();
    if (!in.workspace) {
      in.workspace = address(std::uint64_t{5} << 40);
      in.workspace_bytes = std::size_t{1} << 40;
    }
    EXPECT_EQ(tessera_plan_run(plan, &in), status) << words;
    expect_said(words);
    EXPECT_EQ(tessera_plan_destroy(plan), TESSERA_OK);
    EXPECT_FALSE(launched()) << words;
  }
  void refuses(const std::string& words, const Change& change) {
    refuses(words, change, TESSERA_BAD_ARGUMENT, problem_);
  }
};

TEST_F(EveryAddress, OfOperands) {
  const std::uint64_t last = ~std::uint64_t{0} - 1023;
  refuses("address of A is 0", [](auto& in) { in.a = nullptr; });
  refuses("address of B is 0", [](auto& in) { in.b = nullptr; });
  refuses("address of C is 0", [](auto& in) { in.c = nullptr; });
  refuses("address of D is 0", [](auto& in) { in.d = nullptr; });
  for (const std::uint64_t odd : {1, 2, 3}) {
    const std::string text = std::to_string((std::uint64_t{9} << 40) + odd);
    const auto at = address((std::uint64_t{9} << 40) + odd);
    refuses("address of A is " + text, [&](auto& in) { in.a = at; });
    refuses("address of B is " + text, [&](auto& in) { in.b = at; });
    refuses("address of C is " + text, [&](auto& in) { in.c = at; });
    refuses("address of D is " + text, [&](auto& in) { in.d = at; });
  }
  refuses("address of A is " + std::to_string(last), [&](auto& in) { in.a = address(last); });
  refuses("address of B is " + std::to_string(last), [&](auto& in) { in.b = address(last); });
  refuses("address of C is " + std::to_string(last), [&](auto& in) { in.c = address(last); });
  refuses("address of D is " + std::to_string(last), [&](auto& in) { in.d = address(last); });
  const auto beyond = [](const void* at, std::int64_t elements) {
    return const_cast<char*>(static_cast<const char*>(at)) + 4 * elements;
  };
  refuses("D shares an element with A", [&](auto& in) { in.d = beyond(a_, 300 * 100 - 1); });
  refuses("D shares an element with B", [&](auto& in) { in.d = beyond(b_, -300 * 200 + 1); });
  refuses("D shares an element with C", [&](auto& in) { in.d = beyond(c_, 1); });
}

TEST_F(EveryAddress, OfTheVectorsOfAnEpilogue) {
  tessera_problem problem = problem_;
  problem.scale = TESSERA_SCALE_PER_ROW;
  problem.bias = TESSERA_BIAS_PER_COLUMN;
  problem.activation = TESSERA_GELU_ERF;
  void* const good = address(std::uint64_t{9} << 40);
  const auto refuses_vector = [&](const void* tessera_arguments::*field, const char* words,
                                  const void* value) {
    const auto change = [&](tessera_arguments& in) {
      in.scale = in.bias = good;
      in.*field = value;
    };
    refuses(words, change, TESSERA_BAD_ARGUMENT, problem);
  };
  const auto scale = &tessera_arguments::scale, bias = &tessera_arguments::bias;
  refuses_vector(scale, "scale of arguments is null", nullptr);
  refuses_vector(bias, "bias of arguments is null", nullptr);
  refuses_vector(scale, "address of scale is 9895604649985, but", address((9ull << 40) + 1));
  refuses_vector(bias, "address of bias is 9895604649986, but", address((9ull << 40) + 2));
  refuses_vector(scale, "end beyond the address space", address(~std::uint64_t{0} - 1023));
  refuses_vector(bias, "end beyond the address space", address(~std::uint64_t{0} - 511));
  refuses_vector(scale, "D shares an element with the scale of the epilogue", d_);
  refuses_vector(bias, "D shares an element with the bias of the epilogue", d_);
}

TEST_F(EveryAddress, OfWhatElseACallIsGiven) {
  const auto unsupported = TESSERA_UNSUPPORTED;
  const auto one = [&](auto field) { return [=, this](auto& in) { in.*field = a_; }; };
  refuses("alpha_address is not null", one(&tessera_arguments::alpha_address), unsupported,
          problem_);
  refuses("beta_address is not null", one(&tessera_arguments::beta_address), unsupported, problem_);
  refuses("bias of arguments is not null", one(&tessera_arguments::bias));
  refuses("scale of arguments is not null", one(&tessera_arguments::scale));
  refuses("x of arguments is not null, but", [this](auto& in) { in.x = d_; });
  refuses("alpha is 1e+300", [](auto& in) { in.alpha = 1e300; });
  refuses("beta is -1e+300", [](auto& in) { in.beta = -1e300; });
  refuses("size of arguments is 8", [](auto& in) { in.size = 8; });
  tessera_problem deep = problem_;
  deep.k = 4000;
  const auto workspace = [&](const char* words, std::uint64_t at, std::size_t bytes) {
    const auto change = [&](auto& in) {
      in.workspace = address(at);
      in.workspace_bytes = bytes;
    };
    refuses(words, change, TESSERA_BAD_ARGUMENT, deep);
  };
  const std::size_t much = std::size_t{1} << 40;
  workspace("workspace_bytes is 0, but ", std::uint64_t{5} << 40, 0);
  workspace("workspace_bytes is 4096, but ", std::uint64_t{5} << 40, 4096);
  workspace("address of the workspace is 5497558138888, but", (std::uint64_t{5} << 40) + 8, much);
  const char* const names[] = {"A", "B", "C", "D"};
  for (int i = 0; i < 4; ++i) {
    const std::uint64_t at = std::uint64_t(i + 1) << 40;
    workspace((std::string("overlaps ") + names[i]).c_str(), at + 256, much);
  }
}

// A stream that was destroyed, or that is none.
TEST_F(EveryAddress, OfAStream) {
  std::vector<int> none(4);
  refuses("stream must be null, or a live stream", [&](auto& in) { in.stream = none.data(); });
  tessera_problem deep = problem_;
  deep.k = 4000;
  const tessera_arguments in = {
      .size = sizeof in, .alpha = 1, .a = a_, .b = b_, .d = d_, .stream = none.data()};
  EXPECT_EQ(tessera_gemm_with(handle_, &deep, nullptr, &in), TESSERA_BAD_ARGUMENT);
  expect_said("stream must be null");
  EXPECT_FALSE(launched());
}

// Every function with a null, a destroyed, a made-up handle or plan.
TEST_F(EveryField, OfHandlesAndPlans) {
  const tessera_handle stale = made();
  ASSERT_EQ(tessera_destroy(stale), TESSERA_OK);
  const tessera_arguments in = arguments();
  tessera_explanation why = {.size = sizeof why};
  for (const auto none : {tessera_handle{}, stale, reinterpret_cast<tessera_handle>(this)}) {
    tessera_plan plan = nullptr;
    EXPECT_EQ(tessera_gemm(none, &problem_, 1, a_, b_, 0, c_, d_, nullptr), TESSERA_BAD_ARGUMENT);
    EXPECT_EQ(tessera_gemm_with(none, &problem_, nullptr, &in), TESSERA_BAD_ARGUMENT);
    EXPECT_EQ(tessera_plan_create(&plan, none, &problem_, nullptr), TESSERA_BAD_ARGUMENT);
    EXPECT_EQ(tessera_explain(none, &problem_, nullptr, &why, nullptr, 0), TESSERA_BAD_ARGUMENT);
    EXPECT_EQ(tessera_explain_text(none, &problem_, nullptr, nullptr, 0, nullptr),
              TESSERA_BAD_ARGUMENT);
    EXPECT_EQ(tessera_set_log(none, nullptr, nullptr), TESSERA_BAD_ARGUMENT);
    expect_said("handle is n");
  }
  tessera_plan old = nullptr;
  ASSERT_EQ(tessera_plan_create(&old, handle_, &problem_, nullptr), TESSERA_OK);
  ASSERT_EQ(tessera_plan_destroy(old), TESSERA_OK);
  std::size_t bytes = 0;
  for (const auto none : {tessera_plan{}, old, reinterpret_cast<tessera_plan>(handle_)}) {
    EXPECT_EQ(tessera_plan_run(none, &in), TESSERA_BAD_ARGUMENT);
    EXPECT_EQ(tessera_plan_workspace(none, &bytes), TESSERA_BAD_ARGUMENT);
    expect_said("plan is n");
  }
  EXPECT_FALSE(launched());
}

TEST_F(EveryField, OfOutputs) {
  tessera_explanation why = {.size = sizeof why};
  tessera_choice choices[2] = {{.size = sizeof choices[0]}};
  const auto explained = [&](tessera_explanation* to, tessera_choice* list, std::size_t count) {
    return tessera_explain(handle_, &problem_, nullptr, to, list, count);
  };
  EXPECT_EQ(explained(nullptr, nullptr, 0), TESSERA_BAD_ARGUMENT);
  expect_said("explanation is null");
  EXPECT_EQ(explained(&why, nullptr, 2), TESSERA_BAD_ARGUMENT);
  expect_said("choices[0] is null");
  for (const std::size_t size : {std::size_t{0}, std::size_t{9}, std::size_t{1} << 40}) {
    why.size = size;
    EXPECT_EQ(explained(&why, nullptr, 0), TESSERA_BAD_ARGUMENT);
    expect_said("size of explanation is " + std::to_string(size));
    why.size = sizeof why;
    choices[0].size = size;
    EXPECT_EQ(explained(&why, choices, 2), TESSERA_BAD_ARGUMENT);
    expect_said("size of choices[0] is " + std::to_string(size));
    choices[0].size = sizeof choices[0];
  }
  EXPECT_EQ(explained(&why, choices, 2), TESSERA_OK) << tessera_last_message();
  EXPECT_FALSE(launched());
}

}  // namespace
