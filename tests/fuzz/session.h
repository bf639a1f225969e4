// One input as a program that uses the C interface: handles, plans and calls, with the stand-in
// driver failing where it is told to. After it nothing may be left.
#pragma once

#include <array>

#include "tessera/gemm.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/operands.h"

namespace tessera::fuzz {

// What the stand-in driver can be told (tests/fake_cuda/libcuda.cpp).
struct FakeDriver {
  static const FakeDriver& loaded();

  void (*clear)();
  void (*fail_at)(int call, int result);
  void (*lose_at)(int call, int result);
  int (*calls_made)();
  int (*launches_made)();
  void (*leave_contexts)();
  std::size_t (*live)();
  std::size_t (*pending)();
};

class Session {
 public:
  explicit Session(Input& input) : input_(input) {}
  void run();

 private:
  struct Handle {
    tessera_handle name = nullptr;
    std::int32_t place = TESSERA_CPU;
    bool is_live = false;
  };
  struct Call {
    tessera_problem problem{};
    tessera_plan_options options{};
    tessera_arguments arguments{};
    bool is_exact = true;    // the product can be told without rounding
    bool may_repeat = true;  // a second run gives the same D
  };

  void step();
  void create();
  void destroy();
  void multiply();
  void explain();
  void ask_devices();
  void fail_somewhere();

  Handle& handle() { return handles_[static_cast<std::size_t>(input_.below(3))]; }
  tessera_problem problem(const Handle& on);
  void spoil(tessera_problem& problem);
  Call call(const Handle& on);
  tessera_status run_call(const Handle& on, const Call& call);
  tessera_status run_plan(const Handle& on, const Call& call);
  // Every status has its sentence.
  tessera_status checked(tessera_status status);

  Input& input_;
  std::array<Handle, 3> handles_;
  bool is_failing_ = false;
};

}  // namespace tessera::fuzz
