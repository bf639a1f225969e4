// The rule of cvt. Registers may be wider than the types that a cvt names, and there are no
// registers of 8 bits. So a conversion is a short chain: bring the source into 32 or 64 bits,
// convert it, and truncate or extend the result to its register.
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "vgpu/exec/decode/decoder.h"

namespace tessera::vgpu {
namespace {

struct Step {
  std::string name;
  Options options;
  Scalar result;
};

bool is_integer(const ptx::Type& type) {
  return type.kind == ptx::TypeKind::kSigned || type.kind == ptx::TypeKind::kUnsigned;
}
bool is_signed(const ptx::Type& type) { return type.kind == ptx::TypeKind::kSigned; }

// Returns the format in which a value of the type is kept between the steps.
Scalar container(const ptx::Type& type) {
  if (is_integer(type)) return type.bits == 64 ? Scalar::k64 : Scalar::k32;
  return type.bits == 16 ? Scalar::k16 : type.bits == 32 ? Scalar::kF32 : Scalar::kF64;
}

class Conversion {
 public:
  Conversion(Decoder& decoder, const ptx::Instruction& instruction)
      : decoder_(decoder), instruction_(instruction) {
    const auto& modifiers = instruction.modifiers;
    if (modifiers.size() < 2 || instruction.operands.size() != 2) decoder.unsupported();
    to_word_ = modifiers[modifiers.size() - 2];
    from_word_ = modifiers.back();
    to_ = type_named(to_word_);
    from_ = type_named(from_word_);
    if (to_.bits == 0 || from_.bits == 0) decoder.unsupported();
    options_ = form_of(instruction).options;
  }

  void run() {
    read_source();
    if (is_integer(from_) && is_integer(to_)) {
      between_integers();
    } else if (is_integer(from_)) {
      add("cvt." + to_word_ + "." + from_word_, options_, container(to_));
    } else {
      from_float();
    }
    write_result();
  }

 private:
  void add(std::string name, Options options, Scalar result) {
    steps_.push_back({std::move(name), options, result});
  }

  // Reads the source into its container. Afterwards from_ is the type that the container holds.
  void read_source() {
    const ptx::Operand& operand = instruction_.operands[1];
    const Scalar kept = container(from_);
    Scalar declared = decoder_.declared(operand);
    if (declared == Scalar::kNone) declared = from_.bits == 16 ? Scalar::k16 : kept;
    const int bits = bits_of(declared);
    if (bits < from_.bits) decoder_.unsupported("the source is narrower than its type");
    value_ = decoder_.read(operand, bits == bits_of(kept) ? kept : declared);
    if (is_integer(from_) && from_.bits < 32) {
      add("cvt.take." + from_word_ + "." + std::to_string(bits), kDefault, Scalar::k32);
      from_ = {is_signed(from_) ? ptx::TypeKind::kSigned : ptx::TypeKind::kUnsigned, 32};
      from_word_ = is_signed(from_) ? "s32" : "u32";
    } else if (bits != bits_of(kept)) {
      if (bits != 64 || bits_of(kept) != 32) decoder_.unsupported();
      add("mov.part.b64.2.0", kDefault, Scalar::k32);
    }
  }

  void between_integers() {
    if (options_ & kSat) {
      add("cvt.clamp." + to_word_ + "." + from_word_, kDefault, container(to_));
    } else if (to_.bits == 64) {
      if (from_.bits == 32) spread_to_64(from_);
    } else {
      if (from_.bits == 64) add("mov.part.b64.2.0", kDefault, Scalar::k32);
      if (to_.bits < 32) add("cvt.take." + to_word_ + ".32", kDefault, Scalar::k32);
    }
  }

  // A half that becomes an integer is first converted to FP32, which is exact.
  void from_float() {
    if (from_.bits == 16 && is_integer(to_)) {
      add("cvt.f32." + from_word_, kDefault, Scalar::kF32);
      from_word_ = "f32";
    }
    Form form = form_of(instruction_);
    form.name.replace(form.name.rfind('.') + 1, std::string::npos, from_word_);
    add(form.name, form.options, container(to_));
  }

  void spread_to_64(const ptx::Type& type) {
    add(is_signed(type) ? "cvt.s64.s32" : "cvt.u64.u32", kDefault, Scalar::k64);
  }

  // A wider destination register is filled with the sign or with zeros; a narrower one is an error.
  void write_result() {
    const ptx::Operand& operand = instruction_.operands[0];
    const Scalar declared = decoder_.declared(operand);
    const int bits = declared == Scalar::kNone ? bits_of(container(to_)) : bits_of(declared);
    const int kept = bits_of(container(to_));
    if (bits < to_.bits) decoder_.unsupported("the destination is narrower than its type");
    if (bits == 16 && kept == 32) {
      add("mov.part.b32.2.0", kDefault, Scalar::k16);
    } else if (bits == 64 && kept == 32 && is_integer(to_)) {
      spread_to_64(to_);
    } else if (bits != kept) {
      decoder_.unsupported("the destination has the wrong width");
    }
    if (steps_.empty()) add("mov.b" + std::to_string(bits), kDefault, container(to_));
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const Step& step = steps_[i];
      const auto& operation = decoder_.operation(step.name, step.options);
      const bool is_last = i + 1 == steps_.size();
      const Value to =
          is_last ? decoder_.write(operand, step.result) : decoder_.temporary(step.result);
      decoder_.emit(operation, std::array{to, value_});
      value_ = to;
    }
  }

  Decoder& decoder_;
  const ptx::Instruction& instruction_;
  std::string to_word_, from_word_;
  ptx::Type to_, from_;
  Options options_ = kDefault;
  Value value_ = kNoValue;
  std::vector<Step> steps_;
};

void decode_cvt(Decoder& decoder, const ptx::Instruction& instruction) {
  // cvt.pack and conversions of pairs and tf32 each have an operation of their own.
  const auto is_pair = [](const std::string& word) { return word.ends_with("x2"); };
  const auto& words = instruction.modifiers;
  const auto is_rounding = [](const std::string& word) {
    return word == "rn" || word == "rz" || word == "rna";
  };
  if (words.size() >= 2 && words[words.size() - 2] == "tf32" &&
      std::none_of(words.begin(), words.end(), is_rounding)) {
    decoder.unsupported("a conversion to tf32 names its rounding");
  }
  if (instruction.operands.size() != 2 || has_modifier(instruction, "tf32") ||
      std::any_of(words.begin(), words.end(), is_pair)) {
    return default_rule(decoder, instruction);
  }
  Conversion(decoder, instruction).run();
}

constexpr std::array kRules = {RuleEntry{"cvt", decode_cvt}};

}  // namespace

std::span<const RuleEntry> convert_rules() { return kRules; }

}  // namespace tessera::vgpu
