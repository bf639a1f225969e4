#include "sass/decode/decode.h"

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
      {0x381, "", kVariable, "LDG{.e}{.cache}{.lines}{.size}{.order} {d:s}, {global32}"},
      {0x981, "", kVariable, "LDG{.e}{.cache}{.lines}{.size}{.order} {d:s}, {global32}"},
      {u(0x981), "", kVariable, "LDG{.e}{.cache}{.lines}{.size}{.order} {d:s}, {global32}"},
      {0x386, "", kVariable, "STG{.e}{.cache}{.size}{.order} {global64}, {r32:s}"},
      {0x986, "", kVariable, "STG{.e}{.cache}{.size}{.order} {global64}, {r32:s}"},
      {u(0x986), "", kVariable, "STG{.e}{.cache}{.size}{.order} {global64}, {r32:s}"},
      {0x980, "", kVariable, "LD{.e}{.cache_generic}{.size}{.order} {d:s}, {generic}"},
      {u(0x980), "", kVariable, "LD{.e}{.cache_generic}{.size}{.order} {d:s}, {global32}"},
      {0x385, "", kVariable, "ST{.e}{.cache_generic}{.size}{.order} {generic}, {r64:s}"},
      {u(0x985), "", kVariable, "ST{.e}{.cache_generic}{.size}{.order} {global64}, {r32:s}"},
      // Loads and stores of matrices of 8x8 elements of 16 bits, whose elements are spread over the
      // warp.
      {0x83b, "", kVariable, "LDSM{'.16}{.transposed}{.matrices} {d:x}, {matrix}"},
      {u(0x83b), "", kVariable, "LDSM{'.16}{.transposed}{.matrices} {d:x}, {matrix32}"},
      {0x844, "", kVariable, "STSM{'.16}{.transposed}{.matrices} {matrix}, {r32:x}"},
      {u(0x844), "", kVariable, "STSM{'.16}{.transposed}{.matrices} {matrix64}, {r32:x}"},
      // Atomic instructions, which read, change and write at once. REDG returns nothing; before
      // sm_90 its text is RED.
      {0x38c, "", kVariable, "ATOMS{.atom}{.number} {d:n}, {address}, {r32:n}"},
      {u(0x98c), "", kVariable, "ATOMS{.atom}{.number} {d:n}, {address64}, {r32:n}"},
      {0x98e, "", kVariable, "REDG{.e}{.reduction}{.number}{.order} {global64}, {r32:n}"},
      {u(0x98e), "", kVariable, "REDG{.e}{.reduction}{.number}{.order} {global64}, {r32:n}"},
      {u(0x9a6), "", kVariable, "REDG{.e}{.reduction}{.float_sum}{.order} {global64}, {r32:N}"},
      {u(0x9a8), "", kVariable,
       "ATOMG{.e}{.atom}{.number}{.order} {p81}, {d:n}, {global64}, {r32:n}"},
      {0x38d, "", kVariable,
       "ATOMS{.compare_and_swap}{.number} {d:n}, {address}, {r32:n}, {r64:n}"},
      {u(0xf8c), "", kVariable, "ATOMS{'.POPC.INC.32} {d}, {address64}"},
      {0x3a8, "", kVariable, "ATOMG{.e}{.atom}{.number}{.order} {p81}, {d:n}, {global64}, {r32:n}"},
      {0x3a9, "", kVariable,
       "ATOMG{.e}{.compare_and_swap}{.number}{.order} {p81}, {d:n}, {global64}, {r32:n}, {r64:n}"},
      {u(0x9a3), "", kVariable,
       "ATOMG{.e}{.reduction}{.float_sum}{.order} {p81}, {d:N}, {global64}, {r32:N}"},
      {0x38a, "", kVariable, "ATOM{.e}{.atom}{.number}{.order} {p81}, {d:n}, {global64}, {r32:n}"},
      {u(0x98a), "", kVariable,
       "ATOM{.e}{.atom}{.number}{.order} {p81}, {d:n}, {global64}, {r32:n}"},
      {0x38b, "", kVariable,
       "ATOM{.e}{.compare_and_swap}{.number}{.order} {p81}, {d:n}, {global64}, {r32:n}, {r64:n}"},
      {u(0x9a2), "", kVariable,
       "ATOM{.e}{.reduction}{.float_sum}{.order} {p81}, {d:N}, {global64}, {r32:N}"},
      // Stores and reductions in the shared memory of another block of the cluster.
      {u(0xdbd), "", kVariable, "STAS{.size} {remote}, {r32:s}"},
      {u(0xdbe), "", kVariable, "REDAS{'.ADD} {remote}, {r32}"},
      {0x3aa, "", kVariable, "QSPC{.e}{.space} {p81}, {d}, {global64}"},
      {u(0x9aa), "", kVariable, "QSPC{.e}{.space} {p81}, {d}, {global32}"},
      {0x389, "", kVariable, "SHFL{.shuffle} {p81}, {d}, {r24}, {r32}, {r64}"},
      {0x589, "", kVariable, "SHFL{.shuffle} {p81}, {d}, {r24}, {r32}, {hex13@40}"},
      {0x989, "", kVariable, "SHFL{.shuffle} {p81}, {d}, {r24}, {hex5@53}, {r64}"},
      {0xf89, "", kVariable, "SHFL{.shuffle} {p81}, {d}, {r24}, {hex5@53}, {hex13@40}"},
      {0x98f, "", kVariable, "CCTL{cache_control}"},
  };
  return rows;
}

// Opcodes of asynchronous copies and of the mbarriers in shared memory that count them.
std::span<const Row> async_rows() {
  constexpr auto kVariable = Timing::kVariable, kControl = Timing::kControl;
  constexpr auto kWarp = Guard::kWarp;
  static const Row rows[] = {
      {0xfae, "", kVariable,
       "LDGSTS{.e70}{.bypass}{.lines71}{.size}{.zero_fill} {copy_target}, "
       "{copy_source}{copy_condition}"},
      {u(0xfae), "", kVariable,
       "LDGSTS{.e70}{.bypass}{.lines71}{.size}{.zero_fill} {copy_target}, "
       "{copy_source}{copy_condition}"},
      // The form with a uniform register in the shared memory address and without a descriptor.
      {u(0xdae), "", kVariable,
       "LDGSTS{.e70}{.bypass}{.lines71}{.size}{.zero_fill} {copy_target64}, "
       "{copy_source_plain}{copy_condition}"},
      {0x9af, "", kVariable, "LDGDEPBAR"},
      {0x91a, "", kControl, "DEPBAR{depbar}"},
      {u(0x5b2), "", kVariable, "SYNCS.EXCH{'.64} {ud:2}, {sync_warp_address}, {u32:2}", kWarp},
      {u(0x5a7), "", kVariable, "SYNCS.PHASECHK{'.TRANS64}{.trywait} {p81}, {sync_address}, {r32}"},
      {u(0x9a7), "", kVariable,
       "SYNCS.ARRIVE{'.TRANS64}{.red}{.opt_out}{.arrival} {d}, {sync_address}, {r32}"},
      {u(0x5b4), "", kVariable, "UTMALDG{.dimensions} [{u32:D}], [{u24:2}]{descriptor}", kWarp},
      {u(0x3b4), "", kVariable,
       "UTMALDG{.dimensions}{.multicast} [{u32:D}], [{u24:2}], {u64}{descriptor}", kWarp},
      {u(0x3b5), "", kVariable, "UTMASTG{.dimensions} [{u32:E}], [{u24:2}]", kWarp},
      {u(0x3ba), "", kVariable, "UBLKCP{.ways}{.multicast} [{u32:2}], [{u24:W}], {u64}{descriptor}",
       kWarp},
      {0x9b7, "", kVariable, "UTMACMDFLUSH", kWarp},
      {u(0x9b9), "", kVariable, "UTMACCTL{.map_action} [{u24:2}]", kWarp},
      {u(0x3b6), "", kVariable, "UTMAREDG{.dimensions}{.reduction} [{u32:E}], [{u24:2}]", kWarp},
      {u(0x5b8), "", kVariable, "UTMAPF{'.L2}{.dimensions} [{u32:E}], [{u24:2}]", kWarp},
      {u(0x3bb), "", kVariable, "UBLKRED{.ways}{.reduction}{.copied} [{u32:2}], [{u24:W}], {u64}",
       kWarp},
      {u(0x3bc), "", kVariable, "UBLKPF{'.L2} [{u24:2}], {u64}", kWarp},
      {u(0x9b0), "", kVariable, "ARRIVES{'.LDGSTSBAR.64}{.barrier_count} {sync_address}"},
      {u(0x9b1), "", kVariable, "SYNCS.CCTL{'.IV} {sync_address}"},
      {0x3c6, "", kVariable, "FENCE{'.VIEW.ASYNC}{.view}"},
  };
  return rows;
}

}  // namespace tessera::sass
