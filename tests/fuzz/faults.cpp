// Every allocation in turn fails, every call of the driver, every image; or there is no driver. The
// status says what it was, nothing is left, D is as it was, and the next call works.
// fuzz_c_api --faults
#include "tests/fuzz/faults.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>
#include <string>
#include <utility>

#include "tests/fuzz/program.h"
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

long left_at_the_end = -1;

// The end of a handle needs no memory.
void stop_failing() { left_at_the_end = std::exchange(until_failure, 0); }

// How many allocations there are to fail.
long fail_each(const Program& program) {
  for (long n = 1, count = 1;; n += 1 + n / 40, ++count) {  // the later ones in steps: seconds
    FakeDriver::loaded().fail_at(0, 0);                     // counts launches anew
    until_failure = n;
    left_at_the_end = -1;
    const tessera_status status = run(program, stop_failing);
    if (left_at_the_end < 0) stop_failing();
    expect(FakeDriver::loaded().live() == 0, "something of the driver's is left");
    if (left_at_the_end > 0) {
      expect(status == TESSERA_OK, tessera_last_message());
      return count - 1;
    }
    // After a launch any failure is TESSERA_FAILED.
    const bool may_fail = status == TESSERA_FAILED && FakeDriver::loaded().launches_made() > 0;
    expect(status == TESSERA_OK || status == TESSERA_OUT_OF_MEMORY || may_fail,
           tessera_last_message());
    if (status != TESSERA_OK)
      expect(*tessera_last_message() != '\0', "a status without a sentence");
    expect(n < 100000, "this has no end");
  }
}

// What the driver says, at one call or at all from then on, and the status that says the same;
// TESSERA_FAILED, too, where something had been launched before.
struct DriverFault {
  int result;
  bool is_lost;
  tessera_status status;
};
constexpr DriverFault kDriverFaults[] = {
    {2, false, TESSERA_OUT_OF_MEMORY},
    {719, true, TESSERA_FAILED},       // a kernel has failed: nothing works any more
    {46, false, TESSERA_UNAVAILABLE},  // the GPU is unavailable
    {999, true, TESSERA_UNAVAILABLE},  // unknown: what a GPU says that has fallen off its bus
};

// Each call of the driver fails in turn: that one alone, or with all that follow. How many.
int fail_each_call(const Program& program, const DriverFault& fault) {
  const FakeDriver& driver = FakeDriver::loaded();
  for (int n = 1;; ++n) {
    (fault.is_lost ? driver.lose_at : driver.fail_at)(n, fault.result);
    const tessera_status status = run(program);
    const bool has_failed = driver.calls_made() >= n;
    driver.fail_at(0, 0);
    expect(driver.live() == 0, "something of the driver's is left");
    expect(driver.pending() == 0, "copies are on their way after the call");
    driver.leave_contexts();
    if (!has_failed) {
      expect(status == TESSERA_OK, tessera_last_message());
      return n - 1;
    }
    if (status == TESSERA_OK) continue;  // where something is given back, nobody listens
    expect(status == fault.status || status == TESSERA_FAILED, tessera_last_message());
    const bool names_call = std::strstr(tessera_last_message(), "cu") != nullptr;
    expect(names_call, tessera_last_message());
    expect(n < 10000, "this has no end");
  }
}

}  // namespace

void fail_every_allocation() {
  for (const Program& program : kPrograms) {
    const tessera_status first = run(program);  // what is made once is there from now on
    expect(first == TESSERA_OK, tessera_last_message());
    const long count = fail_each(program);
    std::printf("%s: %ld allocations failed in turn\n", program.name().c_str(), count);
    std::fflush(stdout);
    expect(count > 5, "too few allocations to be true");
  }
}

void fail_every_driver_call() {
  for (const Program& program : kPrograms) {
    if (program.place == TESSERA_CPU || program.place == TESSERA_ANY_PLACE) continue;
    int count = 0;
    for (const DriverFault& fault : kDriverFaults) count = fail_each_call(program, fault);
    std::printf("%s: %d calls of the driver failed in turn\n", program.name().c_str(), count);
    std::fflush(stdout);
    expect(count > 20, "too few calls to be true");
    expect(run(program) == TESSERA_OK, tessera_last_message());
  }
}

// The driver takes no code.
void reject_every_image() {
  unsetenv("FAKE_CUDA_ACCEPT");
  for (const Program& program : kPrograms) {
    const bool needs_gpu = program.place != TESSERA_CPU;
    expect(run(program) == (needs_gpu ? TESSERA_UNAVAILABLE : TESSERA_OK), tessera_last_message());
    expect(FakeDriver::loaded().live() == 0, "something of the driver's is left");
    if (!needs_gpu) continue;
    const std::string said = tessera_last_message();
    expect(said.find("image ") == 0 && said.find("cannot be loaded by this GPU") != said.npos,
           said.c_str());
  }
  setenv("FAKE_CUDA_ACCEPT", "1", 1);
  for (const Program& program : kPrograms) {
    expect(run(program) == TESSERA_OK, tessera_last_message());
  }
  std::printf("%zu programs without an image that loads\n", std::size(kPrograms));
}

// In a process that finds no driver, or none that it can use.
void use_no_driver(const char* words) {
  for (const Program& program : kPrograms) {
    const bool needs_gpu = program.place >= 0;
    expect(run(program) == (needs_gpu ? TESSERA_UNAVAILABLE : TESSERA_OK), tessera_last_message());
    if (!needs_gpu) continue;
    expect(std::strstr(tessera_last_message(), words) != nullptr, tessera_last_message());
  }
  std::int32_t count = -1;
  expect(tessera_device_count(&count) == TESSERA_OK && count == 0, "no GPU is counted");
  expect(std::strstr(tessera_last_message(), words) != nullptr, tessera_last_message());
  tessera_device device{};
  device.size = sizeof device;
  expect(tessera_device_info(0, &device) == TESSERA_UNAVAILABLE, tessera_last_message());
}

}  // namespace tessera::fuzz
