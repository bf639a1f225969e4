// Checks whether the given arguments fit a kernel, and describes how a call should look.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/arguments.h"
#include "vgpu/report/signature.h"

namespace tessera::checking {

// Puts the arguments into the order of the parameters. Arguments are assigned by name if every
// argument has the name of a parameter in the PTX or, if the source is known, in the source;
// otherwise by position. Throws kBadArgument if a name of the source is at another position and
// arguments are missing before it or have no name.
std::vector<Argument> in_order_of(const vgpu::KernelSignature& kernel,
                                  std::vector<Argument> arguments,
                                  const std::vector<std::string>& source_names = {});

// Returns one sentence on what does not fit, or "". Element types of arrays are checked if they are
// known before the arrays are made.
std::string misfit(const vgpu::KernelSignature& kernel, const std::vector<Argument>& arguments);

// Like misfit, for an incomplete list: arguments may still be missing.
std::string misfit_of_given(const vgpu::KernelSignature& kernel,
                            const std::vector<Argument>& arguments);

// Returns the element type of "float const*" or "float"; nullopt if arrays cannot have this type.
std::optional<ElementType> element_of(std::string cpp);

// Returns a table of the parameters: index, name, type, size, and the argument given for each.
std::string parameter_table(const vgpu::KernelSignature& kernel,
                            const std::vector<Argument>& arguments);

// Returns arguments for a call, {"a=f32[4096]:uniform", "n=i32:64"}, as exact as the kernel's name
// and PTX allow. Given arguments that fit are kept.
std::vector<std::string> example_arguments(const vgpu::KernelSignature& kernel,
                                           const std::vector<Argument>& arguments,
                                           const std::vector<std::string>& source_names = {});

}  // namespace tessera::checking
