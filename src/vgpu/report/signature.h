// The entry points of a PTX module and their parameters, for callers that must pass them. Report
// types only: code outside vgpu may include this header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::vgpu {

struct KernelParameter {
  std::string name;       // the name in the PTX, "_Z5scalePfi_param_0"
  std::string type;       // "u64", "b8"
  std::size_t count = 1;  // elements: "b8" and 128 for 128 bytes by value
  std::size_t bytes = 0, alignment = 1;
  std::size_t offset = 0;   // in the parameter space
  bool is_pointer = false;  // whether the PTX marks it as a pointer (.ptr)
};

struct KernelSignature {
  std::string name;  // "_Z5scalePfi"
  std::vector<KernelParameter> parameters;
  std::size_t parameter_bytes = 0;
  int max_threads = 0, required_threads = 0;  // threads per CTA; 0: not in the PTX
};

// A __device__ or __constant__ variable of a module.
struct ModuleVariable {
  std::string name;  // the name in the PTX
  std::uint64_t address = 0;
  std::size_t bytes = 0;
  bool is_constant = false, has_initial_value = false;
};

}  // namespace tessera::vgpu
