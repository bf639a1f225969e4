// Parses the body of a function, from its '{' to the matching '}'.
#pragma once

#include "vgpu/ptx/ast.h"
#include "vgpu/ptx/cursor.h"
#include "vgpu/ptx/operand.h"

namespace tessera::vgpu::ptx {

// Fills variables, body, labels and tables of `function`. Its parameters must be set before.
void parse_body(Cursor& cursor, Function& function, const IsModuleName& is_module_name);

}  // namespace tessera::vgpu::ptx
