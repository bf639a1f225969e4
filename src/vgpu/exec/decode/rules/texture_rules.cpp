// tex[.level].{1d,2d,3d}.v4.TYPE.COORDINATES {r, g, b, a}, [handle, {x, y, z, z}][, level]
#include <array>
#include <string>
#include <vector>

#include "vgpu/exec/decode/async_operands.h"
#include "vgpu/exec/texture/texture.h"

namespace tessera::vgpu {
namespace {

// Returns the dimensions; 0 for forms not implemented: layers, cubes, gradients, samplers.
int rank_of(const std::vector<std::string>& modifiers) {
  if (modifiers.size() != 4 || modifiers[1] != "v4") return 0;
  return modifiers[0] == "1d" ? 1 : modifiers[0] == "2d" ? 2 : modifiers[0] == "3d" ? 3 : 0;
}

void decode_texture(Decoder& decoder, const ptx::Instruction& instruction) {
  std::vector<std::string> modifiers = instruction.modifiers;
  // These textures have only one mip level, and a requested level is clamped to it.
  const bool names_level = !modifiers.empty() && modifiers[0] == "level";
  if (names_level) modifiers.erase(modifiers.begin());
  const int rank = rank_of(modifiers);
  const auto& operands = instruction.operands;
  if (rank == 0 || operands.size() != (names_level ? 3u : 2u)) decoder.unsupported();
  const std::string& result = modifiers[2];
  const std::string& coordinate = modifiers[3];
  const bool by_integers = coordinate == "s32", floats = result == "f32";
  if ((!by_integers && coordinate != "f32") || (!floats && result != "s32" && result != "u32")) {
    decoder.unsupported();
  }
  const ptx::Operand& from = operands[1];
  if (operands[0].elements.size() != 4 || from.elements.size() < static_cast<std::size_t>(rank)) {
    decoder.unsupported("a texture is read with four results and a coordinate a dimension");
  }
  std::array<Value, kMaxOperands> values{};
  ptx::Operand handle = from;
  handle.elements.clear();
  values[4] = async_address(decoder, handle, Window::kGlobal);
  for (std::size_t d = 0; d < static_cast<std::size_t>(rank); ++d) {
    values[5 + d] = decoder.read(from.elements[d], by_integers ? Scalar::k32 : Scalar::kF32);
  }
  for (std::size_t c = 0; c < 4; ++c) {
    values[c] = decoder.write(operands[0].elements[c], floats ? Scalar::kF32 : Scalar::k32);
  }
  DraftOp& op = decoder.emit_run(texture_fetch,
                                 std::span(values.data(), 5 + static_cast<std::size_t>(rank)), 4);
  op.op.flags = (by_integers ? kIntegerCoordinates : 0) | (floats ? kFloatResults : 0) |
                static_cast<std::uint32_t>(rank) << kTextureRankShift;
  // Only filtered fetches are approximate. Whether this one is filtered is not known yet.
  if (!by_integers && floats) decoder.mark_approximate();
}

constexpr std::array kRules = {RuleEntry{"tex", decode_texture}};

}  // namespace

std::span<const RuleEntry> texture_rules() { return kRules; }

}  // namespace tessera::vgpu
