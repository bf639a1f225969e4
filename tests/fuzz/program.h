// What faults are tried on: a program that makes a handle, multiplies once and asks why so.
#pragma once

#include <cstdint>
#include <string>

#include "tessera/gemm.h"

namespace tessera::fuzz {

struct Program {
  std::int32_t place, memory;
  bool by_plan;

  std::string name() const;
};

inline constexpr Program kPrograms[] = {
    {TESSERA_CPU, TESSERA_HOST_MEMORY, false}, {TESSERA_CPU, TESSERA_HOST_MEMORY, true},
    {0, TESSERA_DEVICE_MEMORY, false},         {0, TESSERA_DEVICE_MEMORY, true},
    {0, TESSERA_HOST_MEMORY, false},           {TESSERA_ANY_PLACE, TESSERA_DETECT_MEMORY, true}};

// Runs it to its end or to the first status that is not ok, which is given back; all handles and
// plans are destroyed. Stops where D has changed although the status says that it has not.
// `before_the_end` is called before the handle is destroyed.
tessera_status run(const Program& program, void (*before_the_end)() = nullptr);

}  // namespace tessera::fuzz
