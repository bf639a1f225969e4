// The code that is checked: a user's file as PTX, and the kernel in it that the user means.
#pragma once

#include <string>
#include <vector>

#include "check/words/tokens.h"
#include "vgpu/report/signature.h"

namespace tessera::checking {

struct Code {
  std::string path;  // the path as the user gave it
  std::string ptx;
};

// Reads a .ptx file, or compiles a .cu file. Throws StatusError.
Code read_code(const std::string& path, const std::vector<std::string>& nvcc_arguments);

// Returns the kernel of this name, written as in the PTX or as in C++: "_Z5scalePfi",
// "scale(float*, int)", "scale", "space::scale<4>". If the name is empty, returns the only kernel.
// Throws a kBadArgument that lists the kernels unless exactly one kernel fits. Enumerators in the
// name are looked up in the source, read with `read`.
const vgpu::KernelSignature& choose_kernel(const std::vector<vgpu::KernelSignature>& kernels,
                                           const std::string& name, const std::string& path,
                                           const ReadOptions& read = {});

// Returns all kernels that the name may mean, without looking into the source: "scale" means all
// instantiations of the template.
std::vector<vgpu::KernelSignature> kernels_named(const std::vector<vgpu::KernelSignature>& kernels,
                                                 const std::string& name);

// Returns "'a', 'b' and 12 more", with the names closest to the wanted one first.
std::string closest_list(const std::string& wanted, std::vector<std::string> names);

// Returns the shortest name that means only this kernel.
std::string short_kernel_name(const std::vector<vgpu::KernelSignature>& kernels,
                              const vgpu::KernelSignature& kernel);

// Returns "scale(float*, int)" for "_Z5scalePfi"; a name that is not mangled is returned unchanged.
std::string plain_kernel_name(const std::string& name);

// Returns the parameter types in the name: "float*" and "int"; nothing if the name has none.
std::vector<std::string> parameter_types(const std::string& name);

// Returns line `number` of a text, counted from 1; "" beyond the end.
std::string line_of(const std::string& text, int number);

}  // namespace tessera::checking
