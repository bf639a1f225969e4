// The coefficients of the cost model: the costs of the steps of a product on one GPU. Each has a
// value for each GPU, in tuning/, which tools/tune fits to measured times.
#pragma once

namespace tessera::gemm {

// Times are cycles of one SM, and rates are bytes per cycle, unless stated otherwise.

// A persistent grid that walks a stream-K schedule: the kernels of one family.
struct PersistentCosts {
  double launch;              // microseconds; calls queued one after the other
  double start;               // until the first tile has arrived from device memory
  double start_bytes;         // bytes of operands that add one cycle to it
  double start_most;          // bytes of operands beyond which nothing is added
  double store;               // a CTA's first element to its last store
  double l2_store_bytes;      // of an SM, while D fits the L2,
  double store_bytes;         // and where it does not: nothing is written while all multiply
  double scratch_bytes;       // and more where D is not aligned: through scratch tiles,
  double rows_bytes;          // or through shared memory
  double fetch_bytes;         // of an SM, from the L2 and the L1
  double slice_sums;          // for each group of warps whose sums are added
  double transpose_slowdown;  // share of a product with an operand along k, by elements, for each
                              // 128 rows of its tile,
  double transpose_cycles;    // and the least time for 32 of these elements;
  double copy_cycles;         // for 32 elements of a row: of what reads fragments, too
  double copy_slowdown;       // share of a product whose operands come element by element
  double add;                 // microseconds; the second launch, begun early
  double partial_bytes;       // of an SM: partials that are read again
  double alone;               // (1 + this) / (CTAs per SM + this): time of a CTA that has the SM
  double unknown_share;       // of the lanes' peak, for a row without a rate
  double tile_of_batch;       // microseconds; the least time of a CTA's tile in a batch, from its
                              // first copies to its last store
  double batch_overlap;       // share of the shorter of multiplying and memory that shows in a
                              // batch,
  double nearly_memory;       // whose memory takes at least so much of its multiplying
  // A k tile takes the longer of multiplying and fetching, and this share of the shorter;
  double fetch_beside;
  // and more cycles for each copy of a warp, by pieces of 16, 8, 4 and 2 bytes;
  double copy_of_16, copy_of_8, copy_of_4, copy_of_2;
  double across_k;      // times multiplying, for each operand of 4-byte elements across k;
  double k_tile;        // the least time of a k tile, for each CTA of an SM
  double overlap;       // share of the shorter of multiplying and memory that shows
  double flight_bytes;  // bytes in flight per SM at which memory reaches 0.7 of its speed
  double odd_rows;      // times memory, where the stride of rows is no multiple of 32 bytes
  double c_bytes;       // of an SM: C that is added,
  double c_wait;        // and for each output of a thread, which waits for it
  double heat;          // share more of long products, whose clock falls,
  double heat_time;     // from about this many microseconds on
  double l2_held;       // bytes of operands that the L2 holds while all tiles read them,
  double read_again;    // and else share of what its waves read again
};

// A grid of one block for each tile: rungs, and kernels that need no tensor copies.
struct BlockCosts {
  double start;  // cycles until a later block's first tile is there
};

// Kernels on Hopper's tensor cores, one persistent CTA per SM; microseconds.
struct TensorCoreCosts {
  double launch;
  double start;         // to the first products,
  double store;         // and from the last ones to the end of a tile's store
  double tile;          // the least time of a CTA's tile,
  double tile_store;    // and more for each 1024 outputs of two bytes;
  double tile_of_pair;  // share of it of a pair of warpgroups that take turns
  // The store, if tensor copies do not take D: of 128x128 outputs, alone and while the next tile is
  // multiplied.
  double rows_store, rows_store_beside;
  double overlap;  // share of the shorter of multiplying and memory that shows
  // Shares of the rate when A comes from registers: with tiles of one warpgroup, and of two.
  double registers_alone, registers;
  // Requests for the same bytes, where the stride of rows is an odd multiple of 16, 32 and 64
  // bytes, and where rows of A and of B are across k.
  double rows_of_16, rows_of_32, rows_of_64, a_across_k, b_across_k;
  double d_rows_of_16;       // the same of stores
  double l2_bytes;           // a microsecond, that all SMs read from the L2 together,
  double sm_bytes;           // and one SM
  double k_tile;             // the least time of a k tile,
  double latency;            // and more, shared by the stages of the ring
  double flight_bytes;       // bytes in flight per SM at which memory reaches 0.7 of its speed
  double short_ring_memory;  // time of memory, with several CTAs per SM
  double last_wave;          // of a last wave: share that does not depend on how full it is
  double heat;               // share more of long products, whose clock falls,
  double heat_time;          // from about this many microseconds on
  double l2_held;            // bytes of operands that the L2 holds while all tiles read them,
  double read_again;         // and else share of what its waves read again
  double store_more, pair_store_more;  // microseconds for each 16 KiB of a tile
  double rows_store_c;                 // more where C is added
  double short_ring;             // of several CTAs per SM: share of reading operands that shows,
  double short_ring_wait;        // and what each product of a CTA waits;
  double short_ring_tile;        // times the least time of a tile
  double c_bytes;                // of C a microsecond: what adding them takes beside multiplying,
  double large_c_of_pair_bytes;  // and with pairs of warpgroups, where C does not fit the L2,
  double c_wait;                 // and what a CTA waits for the C of each tile
  double write;                  // of a byte of D, in bytes that are read
  double add;                    // the second launch where k is split,
  double reduced_bytes;          // a microsecond: partial sums, written and read again
  double unknown_rate;           // TFLOP/s, for a row without a rate
  double many_repacked_bytes;    // from so many repacked bytes of TF32 on, by pairs of warpgroups,
  double of_many_repacked;       // so many bytes take a microsecond more
};

// Matrix times vector.
struct VectorCosts {
  double launch, start, store, wave;  // microseconds; `wave`: of blocks that run at the same time
  double bytes;    // of the matrix a microsecond, where enough of them are on their way,
  double latency;  // as many as a load takes
  double loads_of_8, loads_of_4, loads_of_2;  // of its time, where loads are of so many bytes
  // More of its time: for each vector after the first on CUDA cores, and for 16 on tensor cores.
  double more_vectors, sixteen_vectors;
};

// Teams of warps that take small products one after the other; microseconds.
struct SmallCosts {
  double launch, start;  // until a team's first operands have arrived
  double store;          // an output and SM, what storing takes beside multiplying;
  double halves_store;   // of 16-bit elements, half sectors each
  double overlap;        // share of the shorter of multiplying and memory that shows
  double step;           // of a team for each step of k,
  // and more for each copy of a lane in it, of 16 bytes and of single elements.
  double copy_of_16, copy_of_8, copy_of_4, copy_of_2;
  double unknown_share;  // of the lanes' peak, for a row without a rate
  // Shares of its time, when elements of 2, 4 and 8 bytes are copied one by one.
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
