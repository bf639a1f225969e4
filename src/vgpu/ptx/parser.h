// Converts PTX text to a Module. Unknown directives are skipped. Other text that cannot be read is
// an error that names its line.
#pragma once

#include <string_view>

#include "vgpu/ptx/ast.h"

namespace tessera::vgpu::ptx {

// Throws a Fault of kind kSyntax.
Module parse(std::string_view text);

}  // namespace tessera::vgpu::ptx
