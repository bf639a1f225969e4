// Decodes an entry and every function that it can reach into one Kernel.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "vgpu/exec/decode/form.h"
#include "vgpu/program/program.h"
#include "vgpu/ptx/ast.h"

namespace tessera::vgpu {

// Device addresses of the module's global and constant variables.
using GlobalAddresses = std::unordered_map<std::string, std::uint64_t>;

// The value of a pointer to the function; 0 if there is none of this name.
std::uint64_t address_of_function(const ptx::Module& module, const std::string& name);

// Throws Fault: kBadLaunch when there is no such entry, kUnsupported when an instruction that the
// entry may reach is not implemented.
std::unique_ptr<const Kernel> decode_kernel(const ptx::Module& module, const std::string& entry,
                                            const GlobalAddresses& globals,
                                            const OperationSet& operations);

}  // namespace tessera::vgpu
