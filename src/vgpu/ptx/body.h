// The body of a function: from its '{' to the matching '}'.
#pragma once

#include "vgpu/ptx/ast.h"
#include "vgpu/ptx/cursor.h"
#include "vgpu/ptx/operand.h"

namespace tessera::vgpu::ptx {

// Fills variables, body, labels and tables; the parameters must be there already.
void parse_body(Cursor& cursor, Function& function, const IsModuleName& is_module_name);

}  // namespace tessera::vgpu::ptx
