// The registers that an instruction reads and writes, by name, and the parameters of calls.
#pragma once

#include <string>
#include <vector>

#include "vgpu/ptx/ast.h"

namespace tessera::vgpu {

struct Effects {
  std::vector<std::string> reads, writes;  // without the guard
};
Effects effects_of(const ptx::Instruction& instruction);

}  // namespace tessera::vgpu
