// Turns the text of an instruction into bits. No second table is needed: the words of a row
// (decode.h) say which fields they read and what they print, so the fields are filled in until the
// same words print the same text. Whatever the decoder prints can be encoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "sass/decode/operation.h"

namespace tessera::sass {

// `column` counts characters of the instruction's text from 0: up to where it can be understood.
struct EncodingError : std::runtime_error {
  EncodingError(std::size_t at, const std::string& what) : std::runtime_error(what), column(at) {}
  std::size_t column = 0;
};

struct EncodedText {
  Instruction instruction;
  Instruction shown;  // a 1 for each bit that follows from the text
};

// The instruction whose assembly_of() is `text`. Reuse flags are those of the text; the rest of the
// control field is `control`'s. Fields that the text does not show are as in usual_bits(). Throws
// EncodingError if no instruction of this architecture reads so, std::invalid_argument on a control
// field that the hardware does not have.
EncodedText encode(std::string_view text, const Control& control, std::uint64_t offset, int sm);

}  // namespace tessera::sass
