// Lists the parameters of a module's entry points.
#pragma once

#include "vgpu/ptx/ast.h"
#include "vgpu/report/signature.h"

namespace tessera::vgpu::ptx {

// Returns the signature of every .entry that has a body, in the order of the module.
std::vector<KernelSignature> signatures(const Module& module);

}  // namespace tessera::vgpu::ptx
