// The hot operations are compiled twice, into the namespaces avx2 and avx512; one set is chosen at
// run time. All definitions of an operation file are in this namespace. Otherwise the linker could
// merge functions of both sets, and a host without AVX-512 could run a function compiled for it.
#pragma once

#ifndef TESSERA_VGPU_ISA
#define TESSERA_VGPU_ISA avx2
#endif
