// Packs an operand that many calls read (weights) once into the form that kernels read. Only those
// families that would otherwise convert the operand in each call have a packed form.
#pragma once

#include "gemm/call/arguments.h"
#include "gemm/families/shared/family.h"

namespace tessera::gemm {

// How operand A or B of this problem is packed. The packed form does not depend on the size of the
// other operand, and may be read as A or as B. Throws kBadArgument if the problem is illegal or has
// a batch, and kUnsupported if no kernel for the problem's types reads a packed form.
Packing packing_of(const Problem& problem, OperandId operand, const DeviceLimits& limits);

// Launches a kernel that packs `matrix` (aligned to its elements) into `packed` (aligned to 256
// bytes), on stream `on`. Asynchronous if the device is.
void pack(Modules& modules, const Stream& stream, const Packing& packing, OperandId operand,
          DeviceAddress matrix, DeviceAddress packed, void* on = nullptr);

}  // namespace tessera::gemm
