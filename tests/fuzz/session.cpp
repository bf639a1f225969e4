#include "tests/fuzz/session.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "tests/fuzz/exact_memory.h"
#include "tests/support/beside.h"

namespace tessera::fuzz {
namespace {

constexpr int kSteps = 12;

// Types that a kernel or the CPU knows: A and B, D, compute.
struct TypeChoice {
  std::int32_t a, d, compute;
};
constexpr TypeChoice kTypes[] = {{TESSERA_F32, TESSERA_F32, TESSERA_COMPUTE_USUAL},
                                 {TESSERA_F64, TESSERA_F64, TESSERA_COMPUTE_USUAL},
                                 {TESSERA_BF16, TESSERA_BF16, TESSERA_COMPUTE_USUAL},
                                 {TESSERA_BF16, TESSERA_F32, TESSERA_COMPUTE_F32},
                                 {TESSERA_F16, TESSERA_F16, TESSERA_COMPUTE_F32},
                                 {TESSERA_F16, TESSERA_F32, TESSERA_COMPUTE_USUAL},
                                 {TESSERA_F32, TESSERA_F32, TESSERA_COMPUTE_TF32},
                                 {TESSERA_E4M3, TESSERA_BF16, TESSERA_COMPUTE_USUAL},
                                 {TESSERA_E5M2, TESSERA_F32, TESSERA_COMPUTE_USUAL},
                                 {TESSERA_S8, TESSERA_S32, TESSERA_COMPUTE_USUAL},
                                 {TESSERA_F64, TESSERA_F32, TESSERA_COMPUTE_F64}};

constexpr std::int64_t tessera_problem::*kWideFields[] = {
    &tessera_problem::m,        &tessera_problem::n,        &tessera_problem::k,
    &tessera_problem::lda,      &tessera_problem::ldb,      &tessera_problem::ldc,
    &tessera_problem::ldd,      &tessera_problem::stride_a, &tessera_problem::stride_b,
    &tessera_problem::stride_c, &tessera_problem::stride_d, &tessera_problem::batch_count};
constexpr std::int32_t tessera_problem::*kNarrowFields[] = {
    &tessera_problem::type_a, &tessera_problem::type_b,         &tessera_problem::type_c,
    &tessera_problem::type_d, &tessera_problem::compute,        &tessera_problem::order,
    &tessera_problem::op_a,   &tessera_problem::op_b,           &tessera_problem::batch,
    &tessera_problem::memory, &tessera_problem::bias,           &tessera_problem::activation,
    &tessera_problem::scale,  &tessera_problem::batch_alignment};

constexpr const char* kWideNames[] = {"m",        "n",        "k",        "lda",
                                      "ldb",      "ldc",      "ldd",      "stride_a",
                                      "stride_b", "stride_c", "stride_d", "batch_count"};
constexpr const char* kNarrowNames[] = {
    "type_a", "type_b", "type_c", "type_d", "compute",    "order", "op_a",
    "op_b",   "batch",  "memory", "bias",   "activation", "scale", "batch_alignment"};

template <class F>
void set_batch(tessera_problem& p, Input& input, F distance) {
  p.batch = input.below(3);
  if (p.batch == TESSERA_NO_BATCH) return;
  p.batch_count = input.below(4);
  if (p.batch == TESSERA_POINTERS) {
    p.batch_alignment = 1 << input.below(5);
    return;
  }
  p.stride_a = input.one_in(3) ? 0 : distance('A');
  p.stride_b = input.one_in(3) ? 0 : distance('B');
  p.stride_c = distance('C');
  p.stride_d = distance('D');
}

void no_log(void* count, const char* line) {
  *static_cast<std::size_t*>(count) += std::strlen(line);
}

}  // namespace

namespace {

// The call that is being made, for who reads of a finding.
tessera_problem last{};

void print_last() {
  std::fprintf(stderr, "in a call, or after it, of:\n");
  for (std::size_t i = 0; i < std::size(kWideFields); ++i) {
    std::fprintf(stderr, " %s %lld", kWideNames[i], static_cast<long long>(last.*kWideFields[i]));
  }
  for (std::size_t i = 0; i < std::size(kNarrowFields); ++i) {
    std::fprintf(stderr, " %s %d", kNarrowNames[i], last.*kNarrowFields[i]);
  }
}

}  // namespace

void fail(const char* what) {
  std::fprintf(stderr, "%s\n", what);
  print_last();
  std::abort();
}

const FakeDriver& FakeDriver::loaded() {
  static const FakeDriver driver = [] {
    void* const library = dlopen(fake_driver().c_str(), RTLD_NOW);
    expect(library != nullptr, "no stand-in driver beside the fuzzer");
    const auto find = [&]<class F>(F*& to, const char* name) {
      to = reinterpret_cast<F*>(dlsym(library, name));
    };
    FakeDriver found{};
    find(found.clear, "fake_cuda_clear");
    find(found.fail_at, "fake_cuda_fail_at");
    find(found.lose_at, "fake_cuda_lose_at");
    find(found.calls_made, "fake_cuda_calls_made");
    find(found.launches_made, "fake_cuda_launches_made");
    find(found.leave_contexts, "fake_cuda_leave_contexts");
    find(found.live, "fake_cuda_live");
    find(found.pending, "fake_cuda_pending");
    return found;
  }();
  return driver;
}

tessera_status Session::checked(tessera_status status) {
  expect(status >= TESSERA_OK && status <= TESSERA_OUT_OF_MEMORY, "a status that gemm.h lacks");
  if (status != TESSERA_OK) expect(*tessera_last_message() != '\0', "a status without a sentence");
  if (!is_failing_) {
    expect(status != TESSERA_FAILED, tessera_last_message());
    expect(status != TESSERA_OUT_OF_MEMORY, tessera_last_message());
  }
  return status;
}

void Session::create() {
  Handle& to = handle();
  if (to.is_live) checked(tessera_destroy(to.name));
  tessera_place place{};
  place.gpu = input_.one_of({TESSERA_CPU, 0, 0, 0, TESSERA_ANY_PLACE, TESSERA_CURRENT_CONTEXT, 1});
  place.plan_cache = input_.one_in(4) ? input_.below(3) : 0;
  place.check_addresses = input_.one_in(8);
  if (input_.one_in(32)) place.gpu = static_cast<std::int32_t>(input_.wild());
  if (input_.one_in(32)) place.plan_cache = static_cast<std::int32_t>(input_.wild());
  if (input_.one_in(32)) place.check_addresses = static_cast<std::int32_t>(input_.wild());
  place.host_side = input_.below(3);
  if (input_.one_in(32)) place.host_side = static_cast<std::int32_t>(input_.wild());
  if (input_.one_in(4)) place.fp32 = TESSERA_COMPUTE_F16X3;
  if (input_.one_in(32)) place.fp32 = static_cast<std::int32_t>(input_.wild());
  Sized<tessera_place> sized(place, input_);
  to.name = nullptr;
  to.is_live = checked(tessera_create(&to.name, sized.get())) == TESSERA_OK;
  to.place = place.gpu;
  expect(to.is_live == (to.name != nullptr), "a handle without a status, or a status without one");
}

void Session::destroy() {
  Handle& one = handle();
  const bool was_live = one.is_live;
  const tessera_status status = tessera_destroy(one.name);
  expect((status == TESSERA_OK) == (was_live || !one.name), "a handle is destroyed once");
  one.is_live = false;
}

tessera_problem Session::problem(const Handle& on) {
  tessera_problem p{};
  p.size = sizeof p;
  const auto size = [&] { return input_.one_in(16) ? 500 + input_.below(30) : input_.below(40); };
  p.m = size();
  p.n = size();
  p.k = size();
  const TypeChoice types = input_.one_of(kTypes);
  p.type_a = types.a;
  p.type_b = input_.one_in(2) ? types.a : TESSERA_AS_A;
  p.type_c = p.type_d = types.d;
  p.compute = types.compute;
  p.order = input_.below(2);
  p.op_a = input_.below(2);
  p.op_b = input_.below(2);
  for (const char operand : {'A', 'B', 'C', 'D'}) {
    std::int64_t& ld = operand == 'A'   ? p.lda
                       : operand == 'B' ? p.ldb
                       : operand == 'C' ? p.ldc
                                        : p.ldd;
    if (input_.one_in(2)) ld = extent_of(p, operand).ld + input_.below(5);
  }
  p.memory = on.place == TESSERA_CPU ? TESSERA_HOST_MEMORY : input_.below(3);
  set_batch(p, input_, [&](char operand) {
    tessera_problem one = p;
    one.batch = TESSERA_NO_BATCH;
    return static_cast<std::int64_t>(extent_of(one, operand).elements()) + input_.below(3);
  });
  if (input_.one_in(16)) p.scale = input_.below(3);
  if (input_.one_in(16)) p.bias = input_.below(3);
  if (input_.one_in(16)) p.activation = input_.below(5);
  return p;
}

// One or two fields with values that are none of theirs.
void Session::spoil(tessera_problem& p) {
  for (int left = input_.below(8) - 5; left > 0; --left) {
    const int field = input_.byte();
    const std::int64_t value = input_.wild();
    if (field % 2) {
      p.*kWideFields[static_cast<std::size_t>(field / 2) % std::size(kWideFields)] = value;
    } else {
      p.*kNarrowFields[static_cast<std::size_t>(field / 2) % std::size(kNarrowFields)] =
          static_cast<std::int32_t>(value);
    }
  }
}

Session::Call Session::call(const Handle& on) {
  Call made;
  made.problem = problem(on);
  spoil(made.problem);
  last = made.problem;
  made.options.size = sizeof made.options;
  if (input_.one_in(4)) made.options.workspace_limit = TESSERA_NO_WORKSPACE;
  if (input_.one_in(8)) made.options.workspace_limit = static_cast<std::size_t>(input_.wild());
  if (input_.one_in(4)) made.options.alignment = 1 << input_.below(6);
  if (input_.one_in(32)) made.options.alignment = static_cast<std::int32_t>(input_.wild());
  made.options.any_order = input_.one_in(64) ? 2 : input_.one_in(4);
  tessera_arguments& in = made.arguments;
  in.size = sizeof in;
  in.alpha = input_.one_of({1.0, 1.0, 0.0, -1.0, 2.0});
  in.beta = input_.one_of({0.0, 0.0, 1.0, -2.0});
  if (input_.one_in(16)) {
    in.alpha = input_.one_of({1e300, -1e-300, std::numeric_limits<double>::quiet_NaN(),
                              std::numeric_limits<double>::infinity()});
    made.is_exact = false;
  }
  const tessera_problem& p = made.problem;
  if (p.scale != TESSERA_NO_SCALE || p.activation != TESSERA_NO_ACTIVATION) made.is_exact = false;
  if (p.bias != TESSERA_NO_BIAS) made.is_exact = false;
  if (p.scale != TESSERA_NO_SCALE && !input_.one_in(8)) in.scale = no_memory();
  if (p.bias != TESSERA_NO_BIAS && !input_.one_in(8)) in.bias = no_memory();
  if (input_.one_in(64)) in.scale = no_memory();
  if (input_.one_in(64)) in.bias = no_memory();
  if (input_.one_in(64)) in.alpha_address = no_memory();
  if (input_.one_in(64)) in.beta_address = no_memory();
  return made;
}

tessera_status Session::run_plan(const Handle& on, const Call& call) {
  tessera_plan plan = nullptr;
  Sized<tessera_problem> problem(call.problem, input_);
  Sized<tessera_plan_options> options(call.options, input_);
  tessera_status status = checked(tessera_plan_create(&plan, on.name, problem.get(),
                                                      input_.one_in(2) ? options.get() : nullptr));
  expect((status == TESSERA_OK) == (plan != nullptr), "a plan without a status, or the opposite");
  if (!plan) return status;
  std::size_t needed = 0;
  expect(tessera_plan_workspace(plan, &needed) == TESSERA_OK, "workspace of a plan");
  tessera_arguments in = call.arguments;
  in.workspace = reinterpret_cast<void*>(std::uintptr_t{5} << 44);
  in.workspace_bytes = input_.one_in(8) ? static_cast<std::size_t>(input_.wild()) : needed;
  bool has_run = false;
  for (int runs = 1 + (call.may_repeat && input_.one_in(4)); runs > 0; --runs) {
    Sized<tessera_arguments> arguments(in, input_);
    const tessera_status ran = checked(tessera_plan_run(plan, arguments.get()));
    if (!has_run) status = ran;
    has_run = has_run || ran == TESSERA_OK;
  }
  expect(tessera_plan_destroy(plan) == TESSERA_OK, "a plan is destroyed");
  expect(tessera_plan_destroy(plan) == TESSERA_BAD_ARGUMENT, "a plan is destroyed twice");
  return status;
}

tessera_status Session::run_call(const Handle& on, const Call& call) {
  const int way = input_.below(3);
  if (way == 2) return run_plan(on, call);
  const tessera_arguments& in = call.arguments;
  Sized<tessera_problem> problem(call.problem, input_);
  if (way == 0) {
    return checked(
        tessera_gemm(on.name, problem.get(), in.alpha, in.a, in.b, in.beta, in.c, in.d, in.stream));
  }
  Sized<tessera_plan_options> options(call.options, input_);
  Sized<tessera_arguments> arguments(in, input_);
  return checked(tessera_gemm_with(on.name, problem.get(),
                                   input_.one_in(2) ? options.get() : nullptr, arguments.get()));
}

void Session::multiply() {
  const Handle& on = handle();
  Call made = call(on);
  const bool is_device = made.problem.memory == TESSERA_DEVICE_MEMORY;
  if (is_device) {  // nobody looks at it here
    tessera_arguments& in = made.arguments;
    const void** const addresses[] = {&in.a, &in.b, &in.c, const_cast<const void**>(&in.d)};
    std::uintptr_t next = 0;
    for (const void** one : addresses) {
      *one = reinterpret_cast<void*>((++next << 40) + (input_.one_in(8) ? 4 : 0));
      if (input_.one_in(32)) *one = reinterpret_cast<void*>(input_.wild());
    }
    run_call(on, made);
    return;
  }
  if (!can_be_tried(made.problem)) return;
  Operands operands(made.problem, made.arguments.alpha, made.arguments.beta, input_);
  operands.put_into(made.arguments);
  const Extent of_d = extent_of(made.problem, 'D');
  const bool is_double = made.problem.type_a == TESSERA_F64;
  const Vector scale(made.problem, made.problem.scale, is_double ? 8 : 4);
  const Vector bias(made.problem, made.problem.bias, bytes_of_type(of_d.type));
  if (made.arguments.scale) made.arguments.scale = scale.address();
  if (made.arguments.bias) made.arguments.bias = bias.address();
  made.may_repeat = !operands.is_in_place();
  const tessera_status status = run_call(on, made);
  expect(FakeDriver::loaded().pending() == 0, "copies are on their way after the call");
  if (status == TESSERA_OK) return operands.check_done(on.place == TESSERA_CPU && made.is_exact);
  if (status != TESSERA_FAILED && !is_failing_) operands.check_untouched();
}

void Session::explain() {
  const Handle& on = handle();
  const Call made = call(on);
  Sized<tessera_problem> problem(made.problem, input_);
  Sized<tessera_plan_options> options(made.options, input_);
  const tessera_plan_options* const given = input_.one_in(2) ? options.get() : nullptr;
  if (input_.one_in(2)) {
    std::vector<char> text(static_cast<std::size_t>(input_.byte()) * 4);
    std::size_t needed = 0;
    const tessera_status status =
        checked(tessera_explain_text(on.name, problem.get(), given, text.data(), text.size(),
                                     input_.one_in(2) ? &needed : nullptr));
    if (text.empty() || status != TESSERA_OK) return;
    expect(std::memchr(text.data(), 0, text.size()) != nullptr, "a text without its end");
    return;
  }
  tessera_explanation explanation{};
  explanation.size = sizeof explanation;
  Sized<tessera_explanation> to(explanation, input_);
  std::vector<tessera_choice> choices(static_cast<std::size_t>(input_.below(5)));
  if (!choices.empty()) choices[0].size = sizeof choices[0];
  checked(tessera_explain(on.name, problem.get(), given, to.get(), choices.data(), choices.size()));
}

void Session::ask_devices() {
  std::int32_t count = -1;
  checked(tessera_device_count(&count));
  tessera_device device{};
  device.size = sizeof device;
  Sized<tessera_device> to(device, input_);
  checked(tessera_device_info(input_.one_in(4) ? static_cast<std::int32_t>(input_.wild()) : 0,
                              to.get()));
  static std::size_t said = 0;
  checked(tessera_set_log(handle().name, input_.one_in(2) ? no_log : nullptr, &said));
}

// One call of the driver fails in the next step; or the GPU is another one from now on.
void Session::fail_somewhere() {
  const int result = input_.one_of({2, 999, 719, 100, 209, 700, 1});
  FakeDriver::loaded().fail_at(1 + input_.below(60), result);
  is_failing_ = true;
  setenv("FAKE_CUDA_SM", input_.one_of({"90", "90", "75", "80", "86", "100", "120", "70"}), 1);
  setenv("FAKE_CUDA_COUNT", input_.one_of({"1", "1", "2", "0"}), 1);
  step();
  FakeDriver::loaded().fail_at(0, 0);
}

void Session::step() {
  switch (input_.below(12)) {
    case 0:
      return create();
    case 1:
      return input_.one_in(4) ? destroy() : explain();
    case 2:
      return explain();
    case 3:
      return input_.one_in(4) ? ask_devices() : multiply();
    case 4:
      return fail_somewhere();
    default:
      return multiply();
  }
}

void Session::run() {
  setenv("FAKE_CUDA_ACCEPT", "1", 1);
  setenv("FAKE_CUDA_MEMORY", "100000000000", 1);
  setenv("FAKE_CUDA_SM", "90", 1);
  setenv("FAKE_CUDA_COUNT", "1", 1);
  setenv("FAKE_CUDA_LAZY", "1", 1);
  create();
  for (int i = 0; i < kSteps && !input_.is_over(); ++i) step();
  for (Handle& one : handles_) {
    if (one.is_live) expect(tessera_destroy(one.name) == TESSERA_OK, "a handle is destroyed");
  }
  expect(FakeDriver::loaded().live() == 0, "something of the driver's is left");
  FakeDriver::loaded().leave_contexts();
  FakeDriver::loaded().clear();
}

}  // namespace tessera::fuzz
