// The code that is checked: a file of a user, as PTX, and the kernel in it that was meant.
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

// The kernel of this name, as the PTX has it or as C++ does: "_Z5scalePfi", "scale(float*, int)",
// "scale", "space::scale<4>". Empty: the only kernel there is. Throws kBadArgument that lists the
// kernels unless there is exactly one. Enumerators are looked up in the source, read like this.
const vgpu::KernelSignature& choose_kernel(const std::vector<vgpu::KernelSignature>& kernels,
                                           const std::string& name, const std::string& path,
                                           const ReadOptions& read = {});

// All that the name may mean, without the source: "scale" is that of all instantiations.
std::vector<vgpu::KernelSignature> kernels_named(const std::vector<vgpu::KernelSignature>& kernels,
                                                 const std::string& name);

// "'a', 'b' and 12 more": those closest to what was wanted first.
std::string closest_list(const std::string& wanted, std::vector<std::string> names);

// The shortest name that means this kernel alone.
std::string short_kernel_name(const std::vector<vgpu::KernelSignature>& kernels,
                              const vgpu::KernelSignature& kernel);

// "scale(float*, int)" for "_Z5scalePfi"; the name itself where it is not mangled.
std::string plain_kernel_name(const std::string& name);

// "float*" and "int"; empty if the name does not contain them.
std::vector<std::string> parameter_types(const std::string& name);

// Line `number` of a text, from 1; empty beyond its end.
std::string line_of(const std::string& text, int number);

}  // namespace tessera::checking
