#include <array>
#include <string>
#include <unordered_map>

#include "sass/decode/decode_operands.h"

namespace tessera::sass {
namespace {

using enum RegisterFile;
constexpr int kAddress = 24;  // first bit of the address register

std::string plus_offset(std::int64_t offset, bool alone) {
  if (offset == 0 && !alone) return "";
  return (alone ? "" : "+") + signed_hex(offset);
}

// Returns the text of an address, [R8+UR4+0x100]: a register of the thread, a uniform register at
// bit `uniform` if the instruction has one, and a signed offset. A zero register is left out next
// to another register and, on sm_80 to sm_89, next to an offset.
std::string address(Decoding& decoding, int uniform, std::int64_t offset, bool scales = true) {
  const bool has_uniform = uniform != 0 && decoding.bit(91);
  std::string text;
  const bool is_zero = register_at(decoding, kGeneral, kAddress) == 255;
  const bool is_hidden = decoding.sm >= 80 && decoding.sm < 90 && !decoding.is_complete;
  if (is_zero && !has_uniform && is_hidden && offset != 0) {
    return "[" + plus_offset(offset, true) + "]";
  }
  if (!has_uniform || !is_zero) {
    text = read_register(decoding, kGeneral, kAddress, 1, 0);
    static constexpr std::array<const char*, 4> kScales = {"", ".X4", ".X8", ".X16"};
    if (scales) text += kScales[decoding.bits(78, 2)];
  }
  if (has_uniform) {
    text += text.empty() ? "" : "+";
    text += read_register(decoding, kUniform, uniform, 1, -1);
  }
  return "[" + text + plus_offset(offset, false) + "]";
}

// Returns the text of an address in global memory, desc[UR4][R2.64+0x10]. The descriptor says how
// the L2 treats the line; disassemblers do not print it before sm_90. On sm_75 the uniform register
// is a part of the address: [UR4+0x10]. Where a thread's register is added to it, bit 90 says
// whether that register has 64 or 32 bits: [R2.64+UR4], [R2.U32+UR4].
std::string global_address(Decoding& decoding, int uniform, bool wide, std::int64_t offset) {
  std::string text;
  const bool has_uniform = decoding.bit(91), is_address = has_uniform && decoding.sm < 80;
  if (has_uniform) {
    const std::string name = read_register(decoding, kUniform, uniform, 2, -1);
    if (is_address) {
      const bool is_alone = register_at(decoding, kGeneral, kAddress) == 255;
      if (is_alone) return "[" + name + plus_offset(offset, false) + "]";
      const bool has_pair = wide && decoding.bit(90);
      text = "[" + read_register(decoding, kGeneral, kAddress, has_pair ? 2 : 1, 0);
      const char* const width = has_pair ? ".64+" : wide ? ".U32+" : "+";
      return text + width + name + plus_offset(offset, false) + "]";
    }
    if (decoding.sm >= 90 || decoding.is_complete) text = "desc[" + name + "]";
  }
  text += "[" + read_register(decoding, kGeneral, kAddress, wide ? 2 : 1, 0);
  if (has_uniform && wide) text += ".64";
  return text + plus_offset(offset, false) + "]";
}

// Prints which other threads see the access (its scope), and its memory order.
void print_order(Decoding& decoding) {
  if (decoding.sm >= 80) {
    static constexpr std::array<const char*, 16> kOrders = {
        "", "", "", "", ".CONSTANT", ".STRONG.SM", "", ".STRONG.GPU", "", "", ".STRONG.SYS"};
    const char* const text = kOrders[decoding.bits(77, 4)];
    return decoding.print(text ? text : ".?");
  }
  static constexpr std::array<const char*, 4> kOrders = {".CONSTANT", "", ".STRONG", ".MMIO"};
  static constexpr std::array<const char*, 4> kScopes = {".CTA", ".SM", ".GPU", ".SYS"};
  decoding.print(kOrders[decoding.bits(79, 2)]);
  decoding.print(kScopes[decoding.bits(77, 2)]);
}

std::int64_t offset_of(const Decoding& decoding) { return signed_bits(decoding, 40, 24); }

template <int uniform>
void print_address(Decoding& decoding) {
  decoding.print(address(decoding, uniform, offset_of(decoding)));
}

template <int uniform>
void print_matrix_address(Decoding& decoding) {
  decoding.print(address(decoding, uniform, offset_of(decoding), false));
}

// Prints a generic address. It has no descriptor and no uniform register, so its offset has 32
// bits.
void print_generic(Decoding& decoding) {
  decoding.print(global_address(decoding, 0, decoding.bit(72), signed_bits(decoding, 32, 32)));
}

// Prints an address in the shared memory of another block of the cluster: [R12.64].
void print_remote(Decoding& decoding) {
  const std::string text = read_register(decoding, kGeneral, kAddress, 2, 0);
  decoding.print("[" + text + ".64" + plus_offset(offset_of(decoding), false) + "]");
}

// Prints the descriptor of an asynchronous copy after the other operands, if the copy has one.
void print_descriptor(Decoding& decoding) {
  if (decoding.bit(76)) {
    decoding.print(", desc[" + read_register(decoding, kUniform, 40, 2, -1) + "]");
  }
}

template <int uniform>
void print_global(Decoding& decoding) {
  constexpr int kWide = 72;
  decoding.print(global_address(decoding, uniform, decoding.bit(kWide), offset_of(decoding)));
}

// Prints the shared memory address of a copy from global to shared memory. Such a copy has two
// addresses, so fewer bits are left for offsets.
void print_copy_target(Decoding& decoding) {
  const std::string text = read_register(decoding, kGeneral, 16, 1, 2);
  decoding.print("[" + text + plus_offset(signed_bits(decoding, 44, 20), false) + "]");
}

void print_copy_target_uniform(Decoding& decoding) {
  const std::string text = read_register(decoding, kGeneral, 16, 1, 2);
  decoding.print("[" + text + "+" + read_register(decoding, kUniform, 64, 1, -1) +
                 plus_offset(signed_bits(decoding, 44, 20), false) + "]");
}

void print_copy_source_plain(Decoding& decoding) {
  const std::string text = read_register(decoding, kGeneral, kAddress, 2, 0);
  decoding.print("[" + text + ".64" + plus_offset(signed_bits(decoding, 32, 12), false) + "]");
}

void print_copy_source(Decoding& decoding) {
  decoding.print(global_address(decoding, 64, true, signed_bits(decoding, 32, 12)));
}

// Prints a constant with a register in its address: c[0x0][R4+0x28].
void print_constant(Decoding& decoding) {
  const std::int64_t offset = signed_bits(decoding, 38, 16);
  const int index = register_at(decoding, kGeneral, kAddress);
  std::string text = "c[" + hex(decoding.bits(54, 5)) + "][";
  if (index != 255 || offset == 0) text += read_register(decoding, kGeneral, kAddress, 1, 0);
  decoding.print(text + plus_offset(offset, index == 255 && offset != 0) + "]");
}

void print_uniform_constant(Decoding& decoding) {
  decoding.print("c[" + hex(decoding.bits(54, 5)) + "][" + hex(decoding.bits(38, 16)) + "]");
}

void print_indexed_constant(Decoding& decoding) {
  const std::string index = read_register(decoding, kUniform, kAddress, 1, -1);
  const std::int64_t offset = signed_bits(decoding, 38, 16);
  decoding.print("c[" + hex(decoding.bits(54, 5)) + "][" + index + plus_offset(offset, false) +
                 "]");
}

}  // namespace

bool print_memory_piece(Decoding& decoding, std::string_view word) {
  static const std::unordered_map<std::string_view, Printer> printers = {
      {"address", print_address<0>},
      {"address32", print_address<32>},
      {"address64", print_address<64>},
      {"global32", print_global<32>},
      {"global64", print_global<64>},
      {".order", print_order},
      {"matrix", print_matrix_address<0>},
      {"matrix32", print_matrix_address<32>},
      {"matrix64", print_matrix_address<64>},
      {"generic", print_generic},
      {"remote", print_remote},
      {"descriptor", print_descriptor},
      {"indexed_constant", print_indexed_constant},
      {"copy_target", print_copy_target},
      {"copy_target64", print_copy_target_uniform},
      {"copy_source", print_copy_source},
      {"copy_source_plain", print_copy_source_plain},
      {"constant", print_constant},
      {"uniform_constant", print_uniform_constant},
  };
  const auto found = printers.find(word);
  if (found == printers.end()) return false;
  found->second(decoding);
  return true;
}

}  // namespace tessera::sass
