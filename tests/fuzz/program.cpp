#include "tests/fuzz/program.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/fuzz/input.h"

namespace tessera::fuzz {
namespace {

constexpr std::int64_t kSize = 64;

// Operands that are made once, so that a program allocates nothing for them.
struct Operands {
  std::vector<float> a = std::vector<float>(kSize * kSize, 1);
  std::vector<float> b = std::vector<float>(kSize * kSize, 2);
  std::vector<float> d = std::vector<float>(kSize * kSize);
};

Operands& operands() {
  static Operands all;
  return all;
}

tessera_status multiply(const Program& program, tessera_handle handle,
                        const tessera_problem& problem, const tessera_arguments& in) {
  if (!program.by_plan) return tessera_gemm_with(handle, &problem, nullptr, &in);
  tessera_plan plan = nullptr;
  tessera_status status = tessera_plan_create(&plan, handle, &problem, nullptr);
  expect((status == TESSERA_OK) == (plan != nullptr), "a plan without a status, or the opposite");
  if (status == TESSERA_OK) status = tessera_plan_run(plan, &in);
  expect(tessera_plan_destroy(plan) == TESSERA_OK, "a plan is destroyed");
  return status;
}

tessera_status multiply_and_explain(const Program& program, tessera_handle handle) {
  tessera_problem problem{};
  problem.size = sizeof problem;
  problem.m = problem.n = problem.k = kSize;
  problem.type_a = TESSERA_F32;
  problem.memory = program.memory;
  tessera_arguments in{};
  in.size = sizeof in;
  in.alpha = 1;
  Operands& at = operands();
  in.a = at.a.data();
  in.b = at.b.data();
  in.d = at.d.data();
  if (program.memory == TESSERA_DEVICE_MEMORY) {  // at which nobody looks here
    in.workspace = reinterpret_cast<void*>(std::uintptr_t{5} << 44);
    in.workspace_bytes = std::size_t{1} << 30;
  }
  std::fill(at.d.begin(), at.d.end(), 7.0f);
  const tessera_status status = multiply(program, handle, problem, in);
  const bool may_change = status == TESSERA_OK || status == TESSERA_FAILED;
  const bool is_as_before = std::count(at.d.begin(), at.d.end(), 7.0f) == kSize * kSize;
  expect(may_change || is_as_before, "D has changed, but the status is not TESSERA_FAILED");
  if (status != TESSERA_OK) return status;
  char text[2000];
  return tessera_explain_text(handle, &problem, nullptr, text, sizeof text, nullptr);
}

}  // namespace

std::string Program::name() const {
  return "place " + std::to_string(place) + ", memory " + std::to_string(memory) +
         (by_plan ? ", plan" : ", one call");
}

tessera_status run(const Program& program, void (*before_the_end)()) {
  tessera_place place{};
  place.size = sizeof place;
  place.gpu = program.place;
  // WHY: the CPU would take a product as small as this one.
  if (program.place >= 0) place.host_side = TESSERA_GPU_SIDE;
  tessera_handle handle = nullptr;
  tessera_status status = tessera_create(&handle, &place);
  expect((status == TESSERA_OK) == (handle != nullptr), "a handle without a status, or opposite");
  if (status != TESSERA_OK) return status;
  status = multiply_and_explain(program, handle);
  if (before_the_end) before_the_end();
  expect(tessera_destroy(handle) == TESSERA_OK, "a handle is destroyed");
  return status;
}

}  // namespace tessera::fuzz
