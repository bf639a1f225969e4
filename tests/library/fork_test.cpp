// A fork before the first handle is harmless; in the child of one after it, calls return a status
// and do not touch the driver.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/library/library.h"

namespace {

// Runs the child's part and returns its exit code.
int in_child(const std::function<int()>& part) {
  const pid_t child = fork();
  if (child == 0) _exit(part());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

TEST_F(Library, AChildOfAForkGetsAStatus) {
  tessera_plan plan = nullptr;
  ASSERT_EQ(tessera_plan_create(&plan, handle_, &problem_, nullptr), TESSERA_OK);
  const int failed = in_child([&] {
    fake<void()>("fake_cuda_clear")();
    const tessera_arguments in = arguments();
    if (multiply(problem_) != TESSERA_UNAVAILABLE) return 1;
    if (!says(tessera_last_message(), "child of a fork")) return 2;
    if (tessera_plan_run(plan, &in) != TESSERA_UNAVAILABLE) return 3;
    if (made() || !says(tessera_last_message(), "child of a fork")) return 4;
    std::int32_t count = 0;
    if (tessera_device_count(&count) != TESSERA_UNAVAILABLE) return 5;
    if (tessera_plan_destroy(plan) != TESSERA_OK) return 6;
    if (tessera_destroy(handle_) != TESSERA_OK) return 7;
    if (!calls().empty()) return 8;
    // The CPU works there.
    const tessera_handle cpu = made(TESSERA_CPU);
    double a = 2, b = 3, d = 0;
    tessera_problem one = {.size = sizeof one, .m = 1, .n = 1, .k = 1, .type_a = TESSERA_F64};
    one.memory = TESSERA_HOST_MEMORY;
    if (tessera_gemm(cpu, &one, 1, &a, &b, 0, nullptr, &d, nullptr) != TESSERA_OK) return 9;
    return d == 6 ? 0 : 10;
  });
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(multiply(problem_), TESSERA_OK) << "the parent goes on";
  EXPECT_EQ(tessera_plan_destroy(plan), TESSERA_OK);
}

// Threads that use the library at the moment of the fork leave nothing locked in the child.
TEST_F(Library, AForkBesideOtherThreads) {
  std::atomic<bool> is_over = false;
  std::thread busy([&] {
    while (!is_over) {
      const tessera_handle handle = made();
      tessera_destroy(handle);
    }
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(in_child([&] {
                alarm(20);
                return multiply(problem_) == TESSERA_UNAVAILABLE ? 0 : 1;
              }),
              0);
  }
  is_over = true;
  busy.join();
}

}  // namespace
