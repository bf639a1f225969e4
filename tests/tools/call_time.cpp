// What a call of the C interface costs the host, on the stand-in driver, whose launches do nothing:
// a plan's run, by launch, and the one-shot call with a warm cache, beyond the run.
//   call_time [calls]     beside libtessera.so.0 and tests/fake_cuda/libcuda.so.1
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tessera/gemm.h"
#include "tests/support/beside.h"

namespace {

void* address(int i) { return reinterpret_cast<void*>(static_cast<std::uint64_t>(i) << 40); }

struct Times {
  double median, p99;
};

template <class Call>
Times microseconds(int calls, Call call) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  for (int i = 0; i < calls; ++i) {
    const Clock::time_point begin = Clock::now();
    if (call() != TESSERA_OK) std::printf("%s\n", tessera_last_message()), std::exit(1);
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
  }
  std::sort(times.begin(), times.end());
  const auto at = [&](double share) {
    return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
  };
  return {at(0.5), at(0.99)};
}

void measure(tessera_handle handle, std::int64_t size, std::int32_t type, int calls) {
  tessera_problem problem{};
  problem.size = sizeof problem;
  problem.m = problem.n = problem.k = size;
  problem.type_a = type;
  tessera_arguments in{};
  in.size = sizeof in;
  in.alpha = 1;
  in.a = address(1);
  in.b = address(2);
  in.d = address(4);
  const Times once = microseconds(calls, [&] {
    return tessera_gemm(handle, &problem, 1, in.a, in.b, 0, nullptr, in.d, nullptr);
  });
  tessera_plan plan = nullptr;
  if (tessera_plan_create(&plan, handle, &problem, nullptr) != TESSERA_OK) std::exit(1);
  in.workspace = address(5);
  in.workspace_bytes = std::size_t{1} << 38;
  const Times run = microseconds(calls, [&] { return tessera_plan_run(plan, &in); });
  tessera_explanation why{};
  why.size = sizeof why;
  tessera_explain(handle, &problem, nullptr, &why, nullptr, 0);
  std::printf(
      "%6lld %-40s %d launches  run a launch %6.2f  p99 %6.2f   one-shot + %6.2f  p99 %6.2f\n",
      static_cast<long long>(size), why.kernel, why.launches, run.median / why.launches,
      run.p99 / why.launches, once.median - run.median, once.p99 - run.p99);
  tessera_plan_destroy(plan);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = std::filesystem::path(tessera::fake_driver()).parent_path();
  const char* path = std::getenv("LD_LIBRARY_PATH");
  if (!path || !std::string(path).starts_with(folder)) {
    setenv("LD_LIBRARY_PATH", (folder + ":" + (path ? path : "")).c_str(), 1);
    execv("/proc/self/exe", argv);
  }
  const int calls = argc > 1 ? std::atoi(argv[1]) : 20000;
  setenv("FAKE_CUDA_ACCEPT", "1", 1);
  setenv("FAKE_CUDA_MEMORY", "1000000000000", 1);
  void* const fake = dlopen(tessera::fake_driver().c_str(), RTLD_NOW);
  if (!fake) return std::printf("no stand-in driver\n"), 1;
  tessera_handle handle = nullptr;
  tessera_place place{};
  place.size = sizeof place;
  if (tessera_create(&handle, &place) != TESSERA_OK) return 1;
  reinterpret_cast<void (*)(int)>(dlsym(fake, "fake_cuda_quiet"))(1);
  std::printf("microseconds, median and 99th percentile of %d calls\n", calls);
  for (const std::int32_t type : {TESSERA_F32, TESSERA_F64, TESSERA_BF16}) {
    for (const std::int64_t size : {128, 1000, 4096, 4097}) measure(handle, size, type, calls);
  }
  return tessera_destroy(handle);
}
