#include "sass/decode.h"

namespace tessera::sass {

std::span<const Row> memory_rows() {
  constexpr auto kVariable = Timing::kVariable;
  static const Row rows[] = {
      {0xb82, "", kVariable, "LDC{.constant_size} {d:s}, {constant}"},
      {0x984, "", kVariable, "LDS{.unsafe}{.size} {d:s}, {address}"},
      {u(0x984), "", kVariable, "LDS{.unsafe}{.size} {d:s}, {address32}"},
      {0x388, "", kVariable, "STS{.size} {address}, {r32:s}"},
      {u(0x988), "", kVariable, "STS{.size} {address64}, {r32:s}"},
      {0x983, "", kVariable, "LDL{.cache}{.size} {d:s}, {address}"},
      {u(0x983), "", kVariable, "LDL{.cache}{.size} {d:s}, {address32}"},
      {0x387, "", kVariable, "STL{.cache}{.size} {address}, {r32:s}"},
      {u(0x987), "", kVariable, "STL{.cache}{.size} {address64}, {r32:s}"},
      {0x381, "", kVariable, "LDG{.e}{.cache}{.size}{.order} {d:s}, {global32}"},
      {0x981, "", kVariable, "LDG{.e}{.cache}{.size}{.order} {d:s}, {global32}"},
      {u(0x981), "", kVariable, "LDG{.e}{.cache}{.size}{.order} {d:s}, {global32}"},
      {0x386, "", kVariable, "STG{.e}{.cache}{.size}{.order} {global64}, {r32:s}"},
      {0x986, "", kVariable, "STG{.e}{.cache}{.size}{.order} {global64}, {r32:s}"},
      {u(0x986), "", kVariable, "STG{.e}{.cache}{.size}{.order} {global64}, {r32:s}"},
      {0x980, "", kVariable, "LD{.e}{.cache_generic}{.size}{.order} {d:s}, {global32}"},
      {u(0x980), "", kVariable, "LD{.e}{.cache_generic}{.size}{.order} {d:s}, {global32}"},
      {0x385, "", kVariable, "ST{.e}{.cache_generic}{.size}{.order} {global64}, {r32:s}"},
      {u(0x985), "", kVariable, "ST{.e}{.cache_generic}{.size}{.order} {global64}, {r32:s}"},
      // Matrices of 8x8 elements of 16 bits, spread over the warp.
      {0x83b, "", kVariable, "LDSM{'.16}{.transposed}{.matrices} {d:x}, {address}"},
      {u(0x83b), "", kVariable, "LDSM{'.16}{.transposed}{.matrices} {d:x}, {address32}"},
      {0x844, "", kVariable, "STSM{'.16}{.transposed}{.matrices} {address}, {r32:x}"},
      {u(0x844), "", kVariable, "STSM{'.16}{.transposed}{.matrices} {address64}, {r32:x}"},
      // Read, change and write at once. REDG gives nothing back.
      {0x38c, "", kVariable, "ATOMS{.atom}{.number} {d}, {address}, {r32}"},
      {u(0x98c), "", kVariable, "ATOMS{.atom}{.number} {d}, {address64}, {r32}"},
      {u(0x98e), "", kVariable, "REDG{.e}{.reduction}{.number}{.order} {global64}, {r32:n}"},
      {u(0x9a6), "", kVariable, "REDG{.e}{.reduction}{.float_sum}{.order} {global64}, {r32}"},
      {u(0x9a8), "", kVariable,
       "ATOMG{.e}{.atom}{.number}{.order} {p81}, {d:n}, {global64}, {r32:n}"},
      {0xf89, "", kVariable, "SHFL{.shuffle} {p81}, {d}, {r24}, {hex5@53}, {hex13@40}"},
      {0x98f, "", kVariable, "CCTL{'.IVALL}"},
  };
  return rows;
}

// Copies that run beside the thread, and the objects in shared memory that count them.
std::span<const Row> async_rows() {
  constexpr auto kVariable = Timing::kVariable, kControl = Timing::kControl;
  constexpr auto kWarp = Guard::kWarp;
  static const Row rows[] = {
      {0xfae, "", kVariable,
       "LDGSTS{.e70}{.bypass}{.size} {copy_target}, {copy_source}{copy_condition}"},
      {u(0xfae), "", kVariable,
       "LDGSTS{.e70}{.bypass}{.size} {copy_target}, {copy_source}{copy_condition}"},
      {0x9af, "", kVariable, "LDGDEPBAR"},
      {0x91a, "", kControl, "DEPBAR{depbar}"},
      {u(0x5b2), "", kVariable, "SYNCS.EXCH{'.64} {ud:2}, {sync_warp_address}, {u32:2}", kWarp},
      {u(0x5a7), "", kVariable, "SYNCS.PHASECHK{'.TRANS64}{.trywait} {p81}, {sync_address}, {r32}"},
      {u(0x9a7), "", kVariable, "SYNCS.ARRIVE{'.TRANS64}{.red}{.a1t0} {d}, {sync_address}, {r32}"},
      {u(0x5b4), "", kVariable, "UTMALDG{.dimensions} [{u32:D}], [{u24:2}]", kWarp},
      {u(0x3b4), "", kVariable, "UTMALDG{.dimensions}{.multicast} [{u32:D}], [{u24:2}], {u64}",
       kWarp},
      {u(0x3b5), "", kVariable, "UTMASTG{.dimensions} [{u32:D}], [{u24:2}]", kWarp},
      {u(0x3ba), "", kVariable, "UBLKCP{.ways}{.multicast} [{u32:2}], [{u24:2}], {u64}", kWarp},
      {0x9b7, "", kVariable, "UTMACMDFLUSH", kWarp},
      {u(0x9b9), "", kVariable, "UTMACCTL{'.IV} [{u24:2}]", kWarp},
      {0x3c6, "", kVariable, "FENCE{'.VIEW.ASYNC.S}"},
  };
  return rows;
}

}  // namespace tessera::sass
