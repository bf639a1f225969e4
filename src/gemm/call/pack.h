// Operands in the form that kernels read, written once and read by many calls: weights. Only
// families that would otherwise bring an operand into such a form in each call have one.
#pragma once

#include "gemm/call/arguments.h"
#include "gemm/families/shared/family.h"

namespace tessera::gemm {

// How operand A or B of such problems is packed. It does not depend on the size of the other
// operand, and a packed matrix may be read as A and as B. Throws kBadArgument for an illegal
// problem or a batch, kUnsupported where no kernel of the problem's types reads a packed form.
Packing packing_of(const Problem& problem, OperandId operand, const DeviceLimits& limits);

// Launches the packing: it reads `matrix`, at a multiple of its element's bytes, and writes
// `packed`, at a multiple of 256. Asynchronous if the device is.
void pack(Modules& modules, const Stream& stream, const Packing& packing, OperandId operand,
          DeviceAddress matrix, DeviceAddress packed, void* on = nullptr);

}  // namespace tessera::gemm
