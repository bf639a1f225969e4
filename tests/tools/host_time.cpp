// What a call costs the host: plan, prepare and execute, and the one-shot call with a warm cache,
// on the stand-in driver, whose launches do nothing. So the figures are our own share.
//   host_time [calls]     beside tests/fake_cuda/libcuda.so.1
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "device/cuda/cuda_device.h"
#include "gemm/call/multiply.h"
#include "tests/support/beside.h"

namespace tessera {
namespace {

struct Times {
  double least, median, p95;
};

template <class Call>
Times microseconds(int calls, Call call) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  for (int i = 0; i < calls; ++i) {
    const Clock::time_point begin = Clock::now();
    call();
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
  }
  std::sort(times.begin(), times.end());
  const auto at = [&](double share) {
    return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
  };
  return {times.front(), at(0.5), at(0.95)};
}

void print(const std::string& what, const Times& t) {
  std::printf("  %-28s %8.2f %8.2f %8.2f\n", what.c_str(), t.least, t.median, t.p95);
}

void measure(Device& device, const Problem& problem, int calls) {
  const gemm::DeviceLimits limits = gemm::limits_of(device.info());
  const gemm::Plan plan = gemm::plan(problem, {}, limits);
  const gemm::Prepared prepared = gemm::prepare(device, plan);
  const Operands operands{std::uint64_t{1} << 40, std::uint64_t{2} << 40, 0,
                          std::uint64_t{3} << 40};
  const gemm::Arguments arguments{operands, 1, 0, std::uint64_t{4} << 40, plan.workspace_bytes()};
  gemm::Handle handle(device);
  std::printf("%lld x %lld x %lld %s: %s, %zu launches\n", static_cast<long long>(problem.m),
              static_cast<long long>(problem.n), static_cast<long long>(problem.k),
              layout_of(problem).c_str(), plan.row().variant.c_str(), plan.steps.size());
  print("plan", microseconds(calls, [&] { gemm::plan(problem, {}, limits); }));
  print("prepare", microseconds(calls, [&] { gemm::prepare(device, plan); }));
  Times execute = microseconds(calls, [&] { gemm::execute(prepared, arguments); });
  print("execute", execute);
  const auto launches = static_cast<double>(plan.steps.size());
  print("execute, a launch",
        {execute.least / launches, execute.median / launches, execute.p95 / launches});
  const auto key = [&] { handle.prepared(problem, gemm::Alignment{}); };
  key();
  print("cache, warm", microseconds(calls, key));
  print("multiply, warm", microseconds(calls, [&] {
          const auto known = handle.prepared(problem, gemm::alignment_of(operands));
          gemm::execute(*known, arguments);
        }));
}

int run(int calls) {
  setenv("FAKE_CUDA_ACCEPT", "1", 1);
  setenv("FAKE_CUDA_MEMORY", "1000000000000", 1);
  const std::string library = fake_driver();
  const auto device = cuda::make_device(library.c_str());
  void* fake = dlopen(library.c_str(), RTLD_NOW);
  reinterpret_cast<void (*)(int)>(dlsym(fake, "fake_cuda_quiet"))(1);
  std::printf("microseconds over %d calls       least   median      p95\n", calls);
  for (const char* layout : {"NT", "NN"}) {
    for (const std::int64_t size : {128, 512, 1000, 4095, 4096, 4097, 8192}) {
      Problem problem{.m = size, .n = size, .k = size};
      set_layout(problem, layout);
      measure(*device, problem, calls);
    }
  }
  return 0;
}

}  // namespace
}  // namespace tessera

int main(int argc, char** argv) { return tessera::run(argc > 1 ? std::atoi(argv[1]) : 2000); }
