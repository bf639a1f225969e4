// The body of a function: from its '{' to the matching '}'.
#pragma once

#include <functional>
#include <string_view>

#include "vgpu/ptx/ast.h"
#include "vgpu/ptx/cursor.h"

namespace tessera::vgpu::ptx {

// Names of the module that a body may use: its variables and functions.
using IsModuleName = std::function<bool(std::string_view)>;

// Fills variables, body, labels and tables; the parameters must be there already.
void parse_body(Cursor& cursor, Function& function, const IsModuleName& is_module_name);

}  // namespace tessera::vgpu::ptx
