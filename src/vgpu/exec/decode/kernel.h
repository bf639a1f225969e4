// Decodes an entry, and all functions that it can reach, into one Kernel.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "vgpu/exec/decode/form.h"
#include "vgpu/program/program.h"
#include "vgpu/ptx/ast.h"

namespace tessera::vgpu {

// The device addresses of the module's global and constant variables.
using GlobalAddresses = std::unordered_map<std::string, std::uint64_t>;

// Returns the value of a pointer to the function; 0 if there is no function of this name.
std::uint64_t address_of_function(const ptx::Module& module, const std::string& name);

// Throws a Fault: kBadLaunch if there is no such entry, kUnsupported if an instruction that the
// entry may reach is not implemented.
std::unique_ptr<const Kernel> decode_kernel(const ptx::Module& module, const std::string& entry,
                                            const GlobalAddresses& globals,
                                            const OperationSet& operations);

}  // namespace tessera::vgpu
