// Every allocation of a call in turn fails: the status says that memory is short, nothing is left,
// and the next call works. fuzz_c_api --faults
#include "tests/fuzz/faults.h"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <utility>
#include <vector>

#include "tests/fuzz/session.h"

namespace {

thread_local long until_failure = 0;  // 0: none fails

}  // namespace

void* operator new(std::size_t bytes) {
  if (until_failure > 0 && --until_failure == 0) throw std::bad_alloc();
  if (void* memory = std::malloc(bytes ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  if (until_failure > 0 && --until_failure == 0) return nullptr;
  return std::malloc(bytes ? bytes : 1);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace tessera::fuzz {
namespace {

struct Program {
  std::int32_t place, memory;
  bool by_plan;
};

// A handle, a product, an explanation: the first status that is not ok.
tessera_status run(const Program& program) {
  static std::vector<float> a(64 * 64, 1), b(64 * 64, 2), d(64 * 64);
  tessera_place place{};
  place.size = sizeof place;
  place.gpu = program.place;
  tessera_handle handle = nullptr;
  tessera_status status = tessera_create(&handle, &place);
  if (status != TESSERA_OK) return status;
  tessera_problem problem{};
  problem.size = sizeof problem;
  problem.m = problem.n = problem.k = 64;
  problem.type_a = TESSERA_F32;
  problem.memory = program.memory;
  tessera_arguments in{};
  in.size = sizeof in;
  in.alpha = 1;
  in.a = a.data();
  in.b = b.data();
  in.d = d.data();
  if (program.memory == TESSERA_DEVICE_MEMORY) {  // at which nobody looks here
    in.workspace = reinterpret_cast<void*>(std::uintptr_t{5} << 44);
    in.workspace_bytes = std::size_t{1} << 30;
  }
  if (program.by_plan) {
    tessera_plan plan = nullptr;
    status = tessera_plan_create(&plan, handle, &problem, nullptr);
    if (status == TESSERA_OK) status = tessera_plan_run(plan, &in);
    expect(tessera_plan_destroy(plan) == TESSERA_OK, "a plan is destroyed");
  } else {
    status = tessera_gemm_with(handle, &problem, nullptr, &in);
  }
  char text[2000];
  if (status == TESSERA_OK) {
    status = tessera_explain_text(handle, &problem, nullptr, text, sizeof text, nullptr);
  }
  const long left = std::exchange(until_failure, 0);  // the end of a handle needs no memory
  expect(tessera_destroy(handle) == TESSERA_OK, "a handle is destroyed");
  until_failure = left;
  return status;
}

// How many allocations there are to fail.
long fail_each(const Program& program) {
  for (long n = 1, count = 1;; n += 1 + n / 100, ++count) {  // the later ones in steps: seconds
    until_failure = n;
    const tessera_status status = run(program);
    const bool has_failed = std::exchange(until_failure, 0) == 0;
    expect(FakeDriver::loaded().live() == 0, "something of the driver's is left");
    if (!has_failed) {
      expect(status == TESSERA_OK, tessera_last_message());
      return count - 1;
    }
    expect(status == TESSERA_OK || status == TESSERA_OUT_OF_MEMORY, tessera_last_message());
    if (status != TESSERA_OK)
      expect(*tessera_last_message() != '\0', "a status without a sentence");
    expect(n < 100000, "this has no end");
  }
}

}  // namespace

void fail_every_allocation() {
  setenv("FAKE_CUDA_ACCEPT", "1", 1);
  setenv("FAKE_CUDA_MEMORY", "100000000000", 1);
  const Program programs[] = {
      {TESSERA_CPU, TESSERA_HOST_MEMORY, false}, {TESSERA_CPU, TESSERA_HOST_MEMORY, true},
      {0, TESSERA_DEVICE_MEMORY, false},         {0, TESSERA_DEVICE_MEMORY, true},
      {0, TESSERA_HOST_MEMORY, false},           {TESSERA_ANY_PLACE, TESSERA_DETECT_MEMORY, true}};
  for (const Program& program : programs) {
    const tessera_status first = run(program);  // what is made once is there from now on
    expect(first == TESSERA_OK, tessera_last_message());
    const long count = fail_each(program);
    std::printf("place %d, memory %d, %s: %ld allocations failed in turn\n", program.place,
                program.memory, program.by_plan ? "plan" : "one call", count);
    std::fflush(stdout);
    expect(count > 5, "too few allocations to be true");
  }
}

}  // namespace tessera::fuzz
