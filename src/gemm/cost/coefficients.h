// The coefficients of the cost model: the costs of the steps of a product. The files in tuning/
// have their values for each GPU, which tools/tune fits to measured times.
#pragma once

namespace tessera::gemm {

// Times are cycles of one SM, and rates are bytes per cycle, unless stated otherwise.

// A persistent grid with a stream-K schedule: the kernels of one family.
struct PersistentCosts {
  double launch;  // microseconds; calls queued one after the other
  // Until the first tile has arrived from device memory, and the bytes of operands that add one
  // cycle to it; operands beyond start_most bytes add nothing.
  double start, start_bytes, start_most;
  double store;  // from a CTA's first stored element to its last
  // The rate at which an SM writes D: to L2 if D fits, else to device memory, if all CTAs store at
  // the same time. D that is not aligned also goes through scratch tiles or shared memory.
  double l2_store_bytes, store_bytes, scratch_bytes, rows_bytes;
  double fetch_bytes;  // of operands from L2 to one SM
  double slice_sums;   // for each group of warps whose sums are added
  // Operands along k that are copied element by element: the share of the product's time that each
  // 128 rows of a tile add, and the least time for 32 elements.
  double transpose_slowdown, transpose_cycles;
  // Operands that are copied element by element: the time for 32 elements of a row, during which
  // fragments cannot be read, and the share of the product's time that they add.
  double copy_cycles, copy_slowdown;
  double add;            // microseconds; the second launch, which starts early
  double partial_bytes;  // of partial sums that one SM reads again
  double alone;  // a CTA that has the SM for itself takes (1 + alone) / (CTAs per SM + alone)
  double unknown_share;  // share of the lanes' peak for a config without a measured rate
  double
      tile_of_batch;  // microseconds; the least time of a tile in a batch, first copy to last store
  // In a batch whose memory time is at least nearly_memory of its multiplying time, this share of
  // the shorter of both is added to the longer.
  double batch_overlap, nearly_memory;
  double fetch_beside;  // a k tile takes the longer of multiplying and fetching, and this share of
                        // the shorter
  double copy_of_16, copy_of_8, copy_of_4,
      copy_of_2;    // per copy of a warp, pieces of 16 ... 2 bytes
  double across_k;  // factor of multiplying, for each operand of 4-byte elements across k
  double k_tile;    // the least time of a k tile, for each CTA of an SM
  double overlap;   // share of the shorter of multiplying and memory that is added to the longer
  double flight_bytes;  // bytes in flight per SM at which memory reaches 0.7 of its speed
  double odd_rows;      // factor of memory if the stride of rows is not a multiple of 32 bytes
  double c_bytes;       // of C that one SM reads
  double c_wait;        // for each output of a thread, which waits for C
  // Long products lower the clock: the additional share of time, reached gradually from about
  // heat_time microseconds on.
  double heat, heat_time;
  // Bytes of operands that L2 holds while all tiles read them; of larger operands, the share of a
  // wave's reads that device memory serves again.
  double l2_held, read_again;
};

// A grid of one block for each tile: rungs, and kernels that need no tensor copies.
struct BlockCosts {
  double start;  // cycles until the first tile of a later block has arrived
};

// Kernels on Hopper's tensor cores with a persistent grid; microseconds.
struct TensorCoreCosts {
  double launch;
  double start;         // until the first products
  double store;         // from the last products to the end of a tile's store
  double tile;          // the least time of a CTA's tile
  double tile_store;    // added to `tile` for each 1024 outputs of two bytes
  double tile_of_pair;  // the share of `tile` in ping-pong kernels
  // The store of 128x128 outputs if tensor copies cannot store D: alone, and while the next tile is
  // multiplied.
  double rows_store, rows_store_beside;
  double overlap;  // share of the shorter of multiplying and memory that is added to the longer
  // Shares of the rate when A comes from registers: with tiles of one warpgroup, and of two.
  double registers_alone, registers;
  // Factors of the number of requests for the same bytes: for row strides that are odd multiples of
  // 16, 32 and 64 bytes, and for rows of A and of B across k.
  double rows_of_16, rows_of_32, rows_of_64, a_across_k, b_across_k;
  double d_rows_of_16;       // the same factor for stores, row strides of 16 bytes
  double l2_bytes;           // per microsecond from L2 to all SMs
  double sm_bytes;           // per microsecond from L2 to one SM
  double k_tile;             // the least time of a k tile
  double latency;            // added to k_tile, divided by the stages of the ring
  double flight_bytes;       // bytes in flight per SM at which memory reaches 0.7 of its speed
  double short_ring_memory;  // factor of memory with several CTAs per SM
  double last_wave;          // share of a last wave's time that does not depend on its tiles
  // Long products lower the clock: the additional share of time, reached gradually from about
  // heat_time microseconds on.
  double heat, heat_time;
  // Bytes of operands that L2 holds while all tiles read them; of larger operands, the share of a
  // wave's reads that device memory serves again.
  double l2_held, read_again;
  double store_more, pair_store_more;  // for each 16 KiB of a tile; the second one with ping-pong
  double rows_store_c;                 // added to rows_store if C is added
  // With several CTAs per SM: the share of reading operands that is not hidden, the wait of each
  // product of a CTA, and a factor of the least time of a tile.
  double short_ring, short_ring_wait, short_ring_tile;
  // C: bytes per microsecond, in addition to multiplying; the same for ping-pong kernels if C does
  // not fit L2; and the wait of a CTA for the C of each tile.
  double c_bytes, large_c_of_pair_bytes, c_wait;
  double write;          // cost of a byte that is written to D, in bytes that are read
  double add;            // the second launch if k is split
  double reduced_bytes;  // partial sums per microsecond, written and read again
  double unknown_rate;   // TFLOP/s, for a config without a measured rate
  // Ping-pong TF32 kernels whose repacked operands have at least many_repacked_bytes take a
  // microsecond more for each of_many_repacked bytes.
  double many_repacked_bytes, of_many_repacked;
};

// Matrix times vector.
struct VectorCosts {
  double launch, start, store, wave;  // microseconds; `wave`: a group of blocks that run together
  double bytes;                       // of the matrix per microsecond, with enough bytes in flight
  double latency;                     // of a load; determines the bytes in flight that are enough
  // Factors of the time with loads of 8, 4 and 2 bytes instead of 16.
  double loads_of_8, loads_of_4, loads_of_2;
  // Shares that are added for each vector after the first on CUDA cores; on tensor cores for 16
  // vectors, and for FP32 operands, which are rounded to TF32 and have fewer loads in flight.
  double more_vectors, sixteen_vectors, rounded_vectors;
};

// Teams of warps that process small products one after the other; microseconds.
struct SmallCosts {
  double launch, start;  // `start`: until a team's first operands have arrived
  double store;          // per output and SM, in addition to multiplying
  double halves_store;   // the same for 16-bit elements, which fill half sectors
  double overlap;  // share of the shorter of multiplying and memory that is added to the longer
  double step;     // of a team, for each step of k
  // Added to `step` for each copy of a lane, of 16 bytes and of single elements.
  double copy_of_16, copy_of_8, copy_of_4, copy_of_2;
  double unknown_share;  // share of the lanes' peak for a config without a measured rate
  // Factors of the time when elements of 2, 4 and 8 bytes are copied one by one.
  double elements_of_2, elements_of_4, elements_of_8;
};

// Launches before and after a product: microseconds, and bytes per microsecond, read and written.
struct PassCosts {
  double next_launch;   // of the host's time, for each launch of a plan after its first
  double early_launch;  // after another launch of its plan
  double repack_launch, repack_bytes;
  double finish_launch, finish_bytes;
};

struct Coefficients {
  double memory_bytes;  // of device memory a microsecond, between read and copy
  PassCosts passes;
  PersistentCosts simt, direct, dmma, mma;
  PersistentCosts tiles;  // of a grid of blocks, what it shares with a persistent one
  BlockCosts blocks;
  TensorCoreCosts wgmma;
  VectorCosts vector;
  SmallCosts small;
};

}  // namespace tessera::gemm
