// Whether the arguments given fit what a kernel takes, and what a call should look like.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/arguments.h"
#include "vgpu/report/signature.h"

namespace tessera::checking {

// Arguments belong to the parameters in their order. They belong to them by name if every argument
// has the name of a parameter in the PTX, or in the source if its names are known. Throws
// kBadArgument if a name of the source is elsewhere, and another argument has no name or arguments
// before it are left out.
std::vector<Argument> in_order_of(const vgpu::KernelSignature& kernel,
                                  std::vector<Argument> arguments,
                                  const std::vector<std::string>& source_names = {});

// One sentence on what does not fit, or nothing. The element types of arrays are judged where they
// are known before the arrays are made.
std::string misfit(const vgpu::KernelSignature& kernel, const std::vector<Argument>& arguments);

// The same for incomplete arguments: some may still be missing.
std::string misfit_of_given(const vgpu::KernelSignature& kernel,
                            const std::vector<Argument>& arguments);

// The element of "float const*", or "float" itself; nothing for types that arrays do not have.
std::optional<ElementType> element_of(std::string cpp);

// A table of the parameters with index, name, type and size, and what was given for each.
std::string parameter_table(const vgpu::KernelSignature& kernel,
                            const std::vector<Argument>& arguments);

// {"a=f32[4096]:uniform", "n=i32:64"} for a kernel, as exact as its name and PTX allow. Given
// arguments that fit stay.
std::vector<std::string> example_arguments(const vgpu::KernelSignature& kernel,
                                           const std::vector<Argument>& arguments,
                                           const std::vector<std::string>& source_names = {});

}  // namespace tessera::checking
