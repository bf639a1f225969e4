// The coefficients of the cost model: the costs of the steps of a product. The files in tuning/
// have their values for each GPU, which tools/tune fits to measured times.
#pragma once

namespace tessera::gemm {

// Times are cycles of one SM, and rates are bytes per cycle of one SM, unless stated otherwise.

// A persistent grid with a stream-K schedule: the kernels of one family.
struct PersistentCosts {
  double launch;  // microseconds per launch, when calls are queued one after the other
  // `start`: cycles until the first tile has arrived from device memory. Each start_bytes bytes of
  // A and B add a cycle, up to start_most bytes.
  double start, start_bytes, start_most;
  double store;  // cycles from a CTA's first stored element to its last
  // Rates at which an SM writes D while all CTAs store: to L2 if D fits, else to device memory. If
  // D is not aligned, the stores also go through scratch tiles or through shared memory.
  double l2_store_bytes, store_bytes, scratch_bytes, rows_bytes;
  double fetch_bytes;  // rate at which an SM fetches A and B from L2
  double slice_sums;   // cycles for each group of warps whose sums are added
  // For an operand along k that is copied element by element: the share of the product's time that
  // each 128 rows of a tile add, and the least cycles for 32 elements.
  double transpose_slowdown, transpose_cycles;
  // For an operand across k that is copied element by element: the cycles for 32 elements of a row,
  // in which no fragments are read, and the share of the product's time that the copies add.
  double copy_cycles, copy_slowdown;
  double add;            // microseconds of the second launch, which adds partial sums
  double partial_bytes;  // rate at which an SM reads partial sums again
  // A CTA that is alone on its SM takes (1 + alone) / (CTAs per SM + alone) of its time with
  // others.
  double alone;
  double unknown_share;  // share of the FP32 lanes' peak, for a config without a measured rate
  double tile_of_batch;  // least microseconds of a batch's tile, first copy to last store
  // If the memory time of a batch is at least nearly_memory of the time of multiplying and storing,
  // batch_overlap of the shorter of these times is added.
  double batch_overlap, nearly_memory;
  double fetch_beside;  // share of the shorter of multiplying and fetching, added to the longer
  double copy_of_16, copy_of_8, copy_of_4, copy_of_2;  // cycles per copy of a warp, bytes per lane
  double across_k;  // factor of a k tile's time for each operand of 4-byte elements across k
  double k_tile;    // least cycles of a k tile, times the CTAs per SM
  double overlap;   // share of the shorter of multiplying and memory that is added to the longer
  double flight_bytes;  // bytes in flight per SM at which memory reaches 0.7 of its speed
  double odd_rows;      // factor of memory time if a row stride is not a multiple of 32 bytes
  double c_bytes;       // rate at which an SM reads C
  double c_wait;        // cycles that a tile waits for C, per output of a thread
  // Long products lower the clock. `heat` is the largest share of time that this adds; products of
  // heat_time microseconds get half of it.
  double heat, heat_time;
  // l2_held: bytes of A and B that stay in L2 while all tiles read them. For larger operands,
  // read_again is the share of the repeated reads of a wave that device memory serves.
  double l2_held, read_again;
};

// A grid of one block for each tile: rungs, and kernels that need no tensor copies.
struct BlockCosts {
  double start;  // cycles from the start of a block of a later wave until its first tile is there
};

// Kernels on Hopper's tensor cores with a persistent grid; times in microseconds.
struct TensorCoreCosts {
  double launch;
  double start;         // from the first instruction to the first products
  double store;         // from a tile's last products to the end of its store
  double tile;          // the least time of a CTA's tile
  double tile_store;    // added to `tile` for each 1024 outputs of two bytes
  double tile_of_pair;  // the share of `tile` in ping-pong kernels
  // The store of 128x128 outputs if tensor copies cannot store D: alone, and while the next tile is
  // multiplied.
  double rows_store, rows_store_beside;
  double overlap;  // share of the shorter of multiplying and memory that is added to the longer
  // Shares of the rate if A comes from registers: with tiles of one warpgroup, and of two.
  double registers_alone, registers;
  // Factors of the time for loading A or B, because the copies need more requests: for row strides
  // that are odd multiples of 16, 32 and 64 bytes, and for rows of A and of B across k.
  double rows_of_16, rows_of_32, rows_of_64, a_across_k, b_across_k;
  double d_rows_of_16;       // factor of D's memory time, row strides of odd multiples of 16 bytes
  double l2_bytes;           // per microsecond from L2 to all SMs
  double sm_bytes;           // per microsecond from L2 to one SM
  double k_tile;             // the least time of a k tile
  double latency;            // added to k_tile, divided by the stages of the ring
  double flight_bytes;       // bytes in flight per SM at which memory reaches 0.7 of its speed
  double short_ring_memory;  // factor of memory time with several CTAs per SM
  double last_wave;          // share of a partial wave's time that does not depend on its tiles
  // Long products lower the clock. `heat` is the largest share of time that this adds; products of
  // heat_time microseconds get half of it.
  double heat, heat_time;
  // l2_held: bytes of A and B that stay in L2 while all tiles read them. For larger operands,
  // read_again is the share of the repeated reads of a wave that device memory serves.
  double l2_held, read_again;
  // Stores of tiles that are not hidden, for each 16 KiB of a tile: without and with ping-pong.
  double store_more, pair_store_more;
  double rows_store_c;  // added to rows_store if C is added
  // With several CTAs per SM: the share of reading operands that is not hidden, the wait of each
  // product of a CTA, and a factor of the least time of a tile.
  double short_ring, short_ring_wait, short_ring_tile;
  double listed_tile;  // an SM's time to fetch the tensor maps of a tile of listed matrices
  // If C is added: bytes of C per microsecond; bytes per microsecond in ping-pong kernels if C does
  // not fit L2; and the wait of a CTA for the C of each tile.
  double c_bytes, large_c_of_pair_bytes, c_wait;
  double write;          // cost of a byte that is written to D, in bytes that are read
  double add;            // the second launch if k is split
  double reduced_bytes;  // partial sums per microsecond, written and read again
  double unknown_rate;   // TFLOP/s, for a config without a measured rate
  // Ping-pong TF32 kernels whose repacked operands have more than many_repacked_bytes take a
  // microsecond more for each of_many_repacked bytes.
  double many_repacked_bytes, of_many_repacked;
};

// A matrix times vectors.
struct VectorCosts {
  double launch, start, store, wave;  // microseconds; `wave`: per group of blocks that run together
  double bytes;                       // of the matrix per microsecond, with enough bytes in flight
  double latency;  // microseconds of a load: `bytes` is reached with bytes * latency in flight
  // Factors of the time with loads of 8, 4 and 2 bytes instead of 16.
  double loads_of_8, loads_of_4, loads_of_2;
  // Shares of time that are added: on CUDA cores for each vector after the first; on tensor cores
  // for 16 vectors, and for FP32, which is rounded to TF32 and has fewer loads in flight.
  double more_vectors, sixteen_vectors, rounded_vectors;
};

// Teams of warps that process small products one after the other; times in microseconds.
struct SmallCosts {
  double launch, start;  // `start`: until a team's first operands have arrived
  double store;          // per output of an SM, in addition to multiplying
  double halves_store;   // like `store` for 16-bit elements, which fill half sectors
  double overlap;  // share of the shorter of multiplying and memory that is added to the longer
  double step;     // of a team, for each step of k
  // Added to `step` for each copy of a lane, of 16 bytes or of single elements of 8, 4 or 2 bytes.
  double copy_of_16, copy_of_8, copy_of_4, copy_of_2;
  double unknown_share;  // share of the FP32 lanes' peak, for a config without a measured rate
  // Factors of the time when elements of 2, 4 and 8 bytes are copied one by one.
  double elements_of_2, elements_of_4, elements_of_8;
};

// Launches before and after a product, in microseconds; bytes read and written per microsecond.
struct PassCosts {
  double next_launch;   // of the host's time, for each launch of a plan after its first
  double early_launch;  // of a launch that starts while the previous launch of its plan ends
  double repack_launch, repack_bytes;
  double finish_launch, finish_bytes;
};

struct Coefficients {
  double memory_bytes;  // of device memory per microsecond: between the rates of reads and copies
  PassCosts passes;
  PersistentCosts simt, direct, dmma, mma;
  PersistentCosts tiles;  // costs of a grid of blocks that a persistent grid has, too
  BlockCosts blocks;
  TensorCoreCosts wgmma;
  VectorCosts vector;
  SmallCosts small;
};

}  // namespace tessera::gemm
