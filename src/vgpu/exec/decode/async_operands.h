// Decodes operands of asynchronous operations into the values that async/operations.h expects.
#pragma once

#include "vgpu/exec/decode/decoder.h"

namespace tessera::vgpu {

// Returns the address in [ ] as one 64-bit value, with its offset added.
Value async_address(Decoder& decoder, const ptx::Operand& operand, Window window);
// Returns kShared if the instruction names shared memory, else kGeneric.
Window shared_or_generic(const ptx::Instruction& instruction);

// Decode cp.async.bulk and cp.reduce.async.bulk in all forms; st.async and red.async.
void decode_bulk(Decoder& decoder, const ptx::Instruction& instruction);
void decode_send(Decoder& decoder, const ptx::Instruction& instruction);

}  // namespace tessera::vgpu
