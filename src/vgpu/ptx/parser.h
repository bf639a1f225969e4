// PTX text to Module. Unknown directives are skipped; what cannot be read is a PtxError with its
// line.
#pragma once

#include <string_view>

#include "vgpu/ptx/ast.h"

namespace tessera::vgpu::ptx {

// Throws vgpu::Fault of kind kSyntax.
Module parse(std::string_view text);

}  // namespace tessera::vgpu::ptx
