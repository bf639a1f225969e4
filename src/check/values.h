// Makes the bytes of arguments when the addresses of the arrays are known.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "check/arguments.h"
#include "vgpu/report/signature.h"

namespace tessera::checking {

// The addresses of the arrays, the addresses of values that PointerArguments point to, and the
// encoded tensor maps, all by the names of their arguments.
struct Placed {
  std::map<std::string, std::uint64_t> arrays, pointees;
  std::map<std::string, std::vector<std::byte>> maps;
};

// Returns the size in bytes. `alignment` is the alignment of the parameter or variable that holds
// the struct, or 0 if unknown; it determines how tensor maps in the struct are aligned.
std::size_t size_of(const StructArgument& structure, std::size_t alignment);

std::vector<std::byte> parameter_bytes(const vgpu::KernelSignature& kernel,
                                       const std::vector<Argument>& arguments,
                                       const Placed& placed);

// Returns the bytes of one argument that is not an array. `alignment` is as for size_of().
std::vector<std::byte> value_bytes(const Argument& argument, const Placed& placed,
                                   std::size_t alignment = 0);
// Returns the addresses in an array of pointers as bytes.
std::vector<std::byte> pointer_bytes(const PointersArgument& pointers, const Placed& placed);

// Calls f for the argument and for all its parts, the innermost first.
void for_each_part(const Argument& argument, const std::function<void(const Argument&)>& f);

// Returns the names of arrays that the argument uses by address, by tensor map or by texture.
std::vector<std::string> arrays_named_by(const Argument& argument);

}  // namespace tessera::checking
