// Operands of asynchronous operations, as async/operations.h takes them.
#pragma once

#include "vgpu/exec/decode/decoder.h"

namespace tessera::vgpu {

// The operand in [ ], as one 64-bit value.
Value async_address(Decoder& decoder, const ptx::Operand& operand, Window window);
// kShared where the instruction names shared memory, else kGeneric.
Window shared_or_generic(const ptx::Instruction& instruction);

// cp.async.bulk and cp.reduce.async.bulk in all forms; st.async and red.async.
void decode_bulk(Decoder& decoder, const ptx::Instruction& instruction);
void decode_send(Decoder& decoder, const ptx::Instruction& instruction);

}  // namespace tessera::vgpu
