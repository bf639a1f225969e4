// A way to stop long runs on the virtual GPU: the request is checked between launches.
#pragma once

#include <exception>
#include <functional>

#include "gemm/call/prepare.h"

namespace tessera::lab {

// Returns true to end the work, which then throws Stopped.
using Stop = std::function<bool()>;
class Stopped : public std::exception {
 public:
  const char* what() const noexcept override { return "stopped between two launches"; }
};

// Like gemm::execute(), but checks `stop` before each launch.
inline void execute(const gemm::Prepared& prepared, const gemm::Arguments& arguments,
                    const Stop& stop) {
  require(check(prepared.plan(), arguments));
  for (std::size_t i = 0; i < prepared.launches(); ++i) {
    if (stop && stop()) throw Stopped();
    prepared.launch(i, arguments);
  }
}

}  // namespace tessera::lab
