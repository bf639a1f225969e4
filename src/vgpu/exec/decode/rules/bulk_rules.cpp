// Rules of cp.async.bulk, cp.reduce.async.bulk, their tensor forms, st.async and red.async.
#include <algorithm>
#include <array>
#include <utility>

#include "vgpu/async/operations.h"
#include "vgpu/async/reduction.h"
#include "vgpu/exec/decode/async_operands.h"

namespace tessera::vgpu {
namespace {

constexpr std::array<std::pair<std::string_view, Reduction>, 8> kReductions = {{
    {"add", Reduction::kAdd},
    {"min", Reduction::kMin},
    {"max", Reduction::kMax},
    {"inc", Reduction::kInc},
    {"dec", Reduction::kDec},
    {"and", Reduction::kAnd},
    {"or", Reduction::kOr},
    {"xor", Reduction::kXor},
}};

constexpr std::array<std::pair<std::string_view, CopyElement>, 11> kElements = {{
    {"b32", CopyElement::kU32},
    {"u32", CopyElement::kU32},
    {"s32", CopyElement::kS32},
    {"b64", CopyElement::kU64},
    {"u64", CopyElement::kU64},
    {"s64", CopyElement::kS64},
    {"f16", CopyElement::kF16},
    {"bf16", CopyElement::kBf16},
    {"f32", CopyElement::kF32},
    {"f64", CopyElement::kF64},
    {"u8", CopyElement::kU8},
}};

Reduction reduction_of(const ptx::Instruction& instruction) {
  for (const auto& [word, reduction] : kReductions) {
    if (has_modifier(instruction, word)) return reduction;
  }
  return Reduction::kNone;
}

CopyElement element_named(Decoder& decoder, std::string_view word) {
  for (const auto& [name, element] : kElements) {
    if (name == word) return element;
  }
  decoder.unsupported();
}

std::int64_t immediate_of(Reduction reduction, CopyElement element) {
  return std::int64_t{static_cast<int>(reduction)} << 8 | static_cast<int>(element);
}

// Whether a modifier has no effect here: completion mechanism, cache hint, or plain load mode.
bool is_known(std::string_view word) {
  constexpr std::array<std::string_view, 16> kWords = {"async",
                                                       "bulk",
                                                       "reduce",
                                                       "tensor",
                                                       "tile",
                                                       "bulk_group",
                                                       "mbarrier::complete_tx::bytes",
                                                       "global",
                                                       "shared::cta",
                                                       "shared::cluster",
                                                       "multicast::cluster",
                                                       "cp_mask",
                                                       "noftz",
                                                       "L2::cache_hint",
                                                       "relaxed",
                                                       "weak"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

void check_words(Decoder& decoder, const ptx::Instruction& instruction) {
  for (const std::string& word : instruction.modifiers) {
    if (word.starts_with("im2col") || word.starts_with("cta_group") || word.starts_with("tile::")) {
      decoder.unsupported("." + word + " is not implemented");
    }
    const bool rank = word.size() == 2 && word[1] == 'd';
    const auto is_named = [&](const auto& named) { return named.first == word; };
    const bool reduction = std::any_of(kReductions.begin(), kReductions.end(), is_named) ||
                           std::any_of(kElements.begin(), kElements.end(), is_named);
    if (!rank && !reduction && !is_known(word)) decoder.unsupported();
  }
}

// Returns a 16-bit mask as a 32-bit value.
Value mask_of(Decoder& decoder, const ptx::Operand& operand) {
  if (decoder.declared(operand) != Scalar::k16) return decoder.read(operand, Scalar::k32);
  const Value wide = decoder.temporary(Scalar::k32);
  decoder.emit("mov.pack.b32.2",
               {wide, decoder.read(operand, Scalar::k16), decoder.constant(Scalar::k16, 0)});
  return wide;
}

// Whether the destination is shared memory. The destination's state space is named first.
bool is_load(const ptx::Instruction& instruction) {
  const auto& words = instruction.modifiers;
  const auto space = std::find_if(words.begin(), words.end(), [](const std::string& word) {
    return word == "global" || word.starts_with("shared");
  });
  return space != words.end() && *space != "global";
}

// Returns the mask after the operands that every form has. A cache policy is dropped.
std::vector<Value> extras(Decoder& decoder, const ptx::Instruction& instruction,
                          std::size_t first) {
  const bool policy = has_modifier(instruction, "L2::cache_hint");
  std::size_t last = instruction.operands.size();
  std::vector<Value> values;
  // The policy comes before a byte mask, but after a mask of CTAs.
  const bool bytes = has_modifier(instruction, "cp_mask");
  if (policy && !bytes) --last;
  if (policy && bytes) ++first;
  for (; first < last; ++first) values.push_back(mask_of(decoder, instruction.operands[first]));
  const bool wanted = bytes || has_modifier(instruction, "multicast::cluster");
  if (values.size() != (wanted ? 1u : 0u)) decoder.unsupported("wrong operand count");
  return values;
}

std::uint32_t flags_of(const ptx::Instruction& instruction) {
  std::uint32_t flags = 0;
  if (has_modifier(instruction, "multicast::cluster")) flags |= kMulticast;
  if (has_modifier(instruction, "cp_mask")) flags |= kByteMask;
  return flags;
}

std::int64_t run_immediate(Decoder& decoder, const ptx::Instruction& instruction) {
  const Reduction reduction = reduction_of(instruction);
  if (reduction == Reduction::kNone) return 0;
  const CopyElement element = element_named(decoder, instruction.modifiers.back());
  if (!find_reduce(reduction, element)) decoder.unsupported();
  return immediate_of(reduction, element);
}

// Decodes copies of contiguous bytes: [to], [from], bytes{, [object]}{, mask}{, policy}.
void decode_run(Decoder& decoder, const ptx::Instruction& instruction) {
  const auto& operands = instruction.operands;
  const bool loads = is_load(instruction);
  const bool from_shared =
      has_modifier(instruction, "shared::cta") && !has_modifier(instruction, "global");
  const Window to = loads ? Window::kShared : Window::kGlobal;
  const Window from = loads && !from_shared ? Window::kGlobal : Window::kShared;
  std::vector<Value> values = {async_address(decoder, operands.at(0), to),
                               async_address(decoder, operands.at(1), from),
                               decoder.read(operands.at(2), Scalar::k32)};
  if (loads) values.push_back(async_address(decoder, operands.at(3), Window::kShared));
  for (Value extra : extras(decoder, instruction, values.size())) values.push_back(extra);
  DraftOp& op = decoder.emit_run(loads ? bulk_load : bulk_store, values, 0);
  op.op.flags = flags_of(instruction) | (from_shared ? kFromShared : 0);
  op.op.immediate = run_immediate(decoder, instruction);
}

std::uint32_t rank_of(Decoder& decoder, const ptx::Instruction& instruction) {
  for (const std::string& word : instruction.modifiers) {
    if (word.size() == 2 && word[1] == 'd' && word[0] >= '1' && word[0] <= '5') {
      return static_cast<std::uint32_t>(word[0] - '0');
    }
  }
  decoder.unsupported();
}

// Decodes a load: [to], [map, {coordinates}], [object]{, mask}{, policy};
// or a store: [map, {coordinates}], [from]{, policy}.
void decode_tensor(Decoder& decoder, const ptx::Instruction& instruction) {
  const auto& operands = instruction.operands;
  const bool loads = is_load(instruction);
  const ptx::Operand& map = operands.at(loads ? 1 : 0);
  const ptx::Operand& shared = operands.at(loads ? 0 : 1);
  const std::uint32_t rank = rank_of(decoder, instruction);
  if (map.elements.size() != rank) decoder.unsupported("wrong number of coordinates");
  std::vector<Value> values = {async_address(decoder, map, Window::kGeneric),
                               async_address(decoder, shared, Window::kShared)};
  if (loads) values.push_back(async_address(decoder, operands.at(2), Window::kShared));
  for (Value extra : extras(decoder, instruction, values.size())) values.push_back(extra);
  std::vector<Value> coordinates;
  for (const ptx::Operand& coordinate : map.elements) {
    coordinates.push_back(decoder.read(coordinate, Scalar::k32));
  }
  DraftOp& op = decoder.emit_run(loads ? tensor_load : tensor_store, values, 0);
  op.list = std::move(coordinates);
  op.op.flags = flags_of(instruction) | rank << kRankShiftOfFlags;
  op.op.immediate = immediate_of(reduction_of(instruction), CopyElement::kU8);
}

void do_nothing(const Op*, const Op*, Lanes&) {}

}  // namespace

void decode_bulk(Decoder& decoder, const ptx::Instruction& instruction) {
  if (has_modifier(instruction, "commit_group")) {
    decoder.emit_run(bulk_commit, {}, 0);
  } else if (has_modifier(instruction, "wait_group")) {
    DraftOp& op = decoder.emit_run(bulk_wait, {}, 0);
    op.op.immediate = instruction.operands.at(0).integer;
    op.op.flags = has_modifier(instruction, "read") ? kReadOnly : 0;
  } else if (has_modifier(instruction, "prefetch")) {
    decoder.emit_run(do_nothing, {}, 0);
  } else {
    check_words(decoder, instruction);
    if (has_modifier(instruction, "tensor")) return decode_tensor(decoder, instruction);
    decode_run(decoder, instruction);
  }
}

// Decodes {st,red}.async...{.v2,.v4}.type [to], value, [object].
void decode_send(Decoder& decoder, const ptx::Instruction& instruction) {
  const auto& operands = instruction.operands;
  if (!has_modifier(instruction, "mbarrier::complete_tx::bytes")) decoder.unsupported();
  const CopyElement element = element_named(decoder, instruction.modifiers.back());
  const Reduction reduction =
      instruction.opcode == "red" ? reduction_of(instruction) : Reduction::kNone;
  if (reduction != Reduction::kNone && !find_reduce(reduction, element)) decoder.unsupported();
  std::vector<Value> values = {async_address(decoder, operands.at(0), Window::kShared),
                               async_address(decoder, operands.at(2), Window::kShared)};
  const bool wide = bytes_of(element) == 8, is_float = element == CopyElement::kF32;
  const Scalar scalar = element == CopyElement::kF64 ? Scalar::kF64
                        : wide                       ? Scalar::k64
                        : is_float                   ? Scalar::kF32
                                                     : Scalar::k32;
  const ptx::Operand& from = operands.at(1);
  if (from.kind == ptx::OperandKind::kVector) {
    for (const auto& one : from.elements) values.push_back(decoder.read(one, scalar));
  } else {
    values.push_back(decoder.read(from, scalar));
  }
  DraftOp& op = decoder.emit_run(send_async, values, 0);
  op.op.flags = static_cast<std::uint32_t>(values.size() - 2) << kCountShift;
  op.op.immediate = immediate_of(reduction, element);
}

}  // namespace tessera::vgpu
