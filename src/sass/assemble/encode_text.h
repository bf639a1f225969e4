// Turns the text of an instruction into bits. No second table is needed: the words of a row
// (decode.h) say which fields they read and what they print, so the encoder tries values for the
// fields until the same words print the same text. Whatever the decoder prints can be encoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "sass/decode/operation.h"

namespace tessera::sass {

// `column` is the first character of the instruction's text that cannot be understood; it counts
// from 0.
struct EncodingError : std::runtime_error {
  EncodingError(std::size_t at, const std::string& what) : std::runtime_error(what), column(at) {}
  std::size_t column = 0;
};

struct EncodedText {
  Instruction instruction;
  Instruction shown;  // a 1 for each bit that follows from the text
};

// Returns the instruction whose assembly_of() is `text`. Reuse flags come from the text, the rest
// of the control field from `control`. Fields that the text does not show have the values of
// usual_bits(). Throws EncodingError if no instruction of this architecture has this text, and
// std::invalid_argument if the hardware does not have this control field.
EncodedText encode(std::string_view text, const Control& control, std::uint64_t offset, int sm);

}  // namespace tessera::sass
