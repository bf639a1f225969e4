// Formats the output of printf on the host: C's rules, arguments as the compiler packs them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace tessera::vgpu {

// Reads one byte at a generic address of the lane.
using ReadByte = std::function<unsigned char(std::uint64_t)>;

struct Printed {
  std::string text;
  int arguments = 0;  // the return value of printf
};

// `format` and arguments of %s are generic addresses of strings. The arguments begin at
// `arguments`, each at the next multiple of its size.
Printed print_format(std::uint64_t format, std::uint64_t arguments, const ReadByte& read);

std::string read_string(std::uint64_t address, const ReadByte& read);

}  // namespace tessera::vgpu
