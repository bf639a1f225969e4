// The hot operations are compiled twice, into the namespaces avx2 and avx512, and one set is chosen
// at run time. Everything that an operation file defines is in this namespace, so that the
// linker can never put a function made for AVX-512 in place of the other one.
#pragma once

#ifndef TESSERA_VGPU_ISA
#define TESSERA_VGPU_ISA avx2
#endif
