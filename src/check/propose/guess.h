// Guesses arguments for a kernel's parameters: types from the kernel's name and source, values and
// extents from a launch in the same file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/propose/evaluate.h"
#include "lab/data/elements.h"
#include "vgpu/report/signature.h"

namespace tessera::checking {

enum class ParameterRole : std::uint8_t { kArray, kPointers, kNumber, kStruct, kTexture };

struct FieldGuess {
  std::string name;
  bool is_array = false;
  ElementType type = ElementType::kS32;
  std::int64_t count = 1;
  int lanes = 1;  // lanes of a vector, "float4"
};

struct ParameterGuess {
  std::string name;  // the name in the source, else "p0"
  ParameterRole role = ParameterRole::kNumber;
  ElementType type = ElementType::kS32;  // type of the number, or of the array's elements
  bool is_constant = false;              // the kernel only reads the array
  bool is_sorted = false;                // neighbours are read: begin and end of a row
  bool is_counted = true;                // atomics may count in the array: begins with zeros
  bool is_opaque = false;                // an array of structs: zeros
  std::size_t bytes = 0;                 // size of a struct
  std::vector<FieldGuess> fields;        // fields of a struct; empty: not known
};

std::vector<ParameterGuess> guess_parameters(const vgpu::KernelSignature& kernel,
                                             const HostSource& source);

// A kernel's name in parts: "gemm" and {"128", "float"} of "void space::gemm<128, float>(float*)".
struct KernelWords {
  std::string name;
  std::vector<std::string> template_arguments;
};
KernelWords words_of_kernel(const std::string& mangled);

// Whether the launch starts this kernel. Binds names in the launch's template arguments whose
// values only the kernel's name reveals, as in a function template that launches several kernels.
enum class IsLaunch : std::uint8_t { kNo, kPerhaps, kYes };
IsLaunch launches(const HostSource& source, const LaunchSite& site, const KernelWords& kernel,
                  Evaluator& evaluator, Scope& scope);

// The number of elements that the program allocates for a pointer argument of the launch; nothing
// if no allocation is found.
struct Allocated {
  std::int64_t elements = 0;
  bool is_certain =
      false;         // the only allocation for that name, and every word of its size has a value
  std::string text;  // "rows * sizeof(float)"
};
std::optional<Allocated> allocated(const HostSource& source, Evaluator& evaluator,
                                   TokenRange argument, const Scope& scope, int bytes_of_element);

}  // namespace tessera::checking
