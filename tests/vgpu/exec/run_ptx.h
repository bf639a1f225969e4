// Runs a kernel given as the body of its PTX, on 32-bit words in and out.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/machine.h"

namespace tessera::vgpu {

// The body sees the registers p q (predicates), r0-r31, d0-d7 (64 bits), f0-f7, and `data`, the
// address of the words; `more` stands before the kernel (functions, variables).
inline std::string kernel_text(std::string_view body, std::string_view more = "",
                               std::string_view declarations = "") {
  std::string text = ".version 9.0\n.target sm_90a\n.address_size 64\n";
  text += more;
  text += "\n.visible .entry test(.param .u64 words)\n{\n";
  text += ".reg .pred p, q;\n.reg .b32 r<32>;\n.reg .b64 d<8>, data;\n.reg .f32 f<8>;\n";
  text += declarations;
  text += "\nld.param.u64 data, [words];\n";
  text += body;
  text += "\nret;\n}\n";
  return text;
}

struct Ran {
  std::vector<std::uint32_t> words;
  LaunchReport report;
};

inline Ran run_text(const std::string& text, std::vector<std::uint32_t> words,
                    const LaunchShape& shape, const MachineOptions& options = {}) {
  Machine machine(options);
  const auto program = machine.load(text);
  const std::uint64_t address = machine.allocate(4 * words.size());
  machine.write(address, words.data(), 4 * words.size());
  std::vector<std::byte> params(sizeof address);
  std::memcpy(params.data(), &address, sizeof address);
  Ran ran;
  ran.report = machine.launch(*program, "test", shape, params);
  machine.read(words.data(), address, 4 * words.size());
  ran.words = std::move(words);
  return ran;
}

inline LaunchShape threads(std::uint32_t block, std::uint32_t grid = 1, std::uint32_t shared = 0) {
  LaunchShape shape;
  shape.grid.x = grid;
  shape.block.x = block;
  shape.shared_bytes = shared;
  return shape;
}

// The fault of a launch; a test fails where there is none.
inline Fault fault_of(const std::string& text, std::size_t word_count, const LaunchShape& shape,
                      const MachineOptions& options = {}) {
  try {
    run_text(text, std::vector<std::uint32_t>(word_count), shape, options);
  } catch (const Fault& fault) {
    return fault;
  }
  throw std::runtime_error("a fault was expected");
}

inline bool says(const Fault& fault, std::string_view words) {
  return std::string_view(fault.what()).find(words) != std::string_view::npos;
}

}  // namespace tessera::vgpu
