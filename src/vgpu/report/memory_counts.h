// The memory traffic of a launch. A request is one issue of one instruction with at least one
// active lane. Report types only: other rooms may include this page. docs/counts.md defines every
// count.
#pragma once

#include <cstdint>

namespace tessera::vgpu {

constexpr int kSectorBytes = 32;
constexpr int kLineBytes = 128;

// Global or local memory. A sector is 32 aligned bytes, a line 4 sectors.
struct GlobalCounts {
  std::uint64_t requests = 0;
  std::uint64_t lanes = 0;            // active ones, summed over the requests
  std::uint64_t requested_bytes = 0;  // over all lanes, duplicates included
  std::uint64_t distinct_bytes = 0;   // each byte once a request
  std::uint64_t sectors = 0;          // each sector once a request
  std::uint64_t partial_sectors = 0;  // stores and atomics: those of which bytes stay untouched
  std::uint64_t lines = 0;            // each line once per request
  std::uint64_t tag_wavefronts = 0;   // model: a request resolves 4 lines per wavefront
  // A model, calibrated on an H200: cycles in L1 of loads that hit there. A request takes the
  // larger of its tag wavefronts and the wavefronts that its addresses would take in shared memory
  // (plain).
  std::uint64_t data_wavefronts = 0;
  // Atomics: lanes at the address that most lanes of a request use, summed over the requests.
  std::uint64_t same_address_lanes = 0;

  std::uint64_t sector_bytes() const { return sectors * kSectorBytes; }
  double sectors_per_request() const { return ratio(sectors, requests); }
  // The share of distinct bytes among those that the sectors move, 0 to 1; 0 if there are none.
  double efficiency() const { return ratio(distinct_bytes, sector_bytes()); }
  GlobalCounts& operator+=(const GlobalCounts& more);

 private:
  static double ratio(std::uint64_t a, std::uint64_t b) {
    return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
  }
};

// Shared memory under one model of its banks. A pass serves a group of lanes together; it takes as
// many wavefronts as its busiest bank has distinct words.
struct BankCounts {
  std::uint64_t passes = 0;  // with an active lane: what an access without conflicts takes
  std::uint64_t wavefronts = 0;

  std::uint64_t excess() const { return wavefronts - passes; }
  BankCounts& operator+=(const BankCounts& more);
};

struct SharedCounts {
  std::uint64_t requests = 0;
  std::uint64_t lanes = 0;
  std::uint64_t requested_bytes = 0;  // over all lanes, duplicates included
  // plain: 32 lanes per pass up to 32 bits per lane, 16 at 64 bits, 8 at 128 bits. pair: as plain,
  // but wide loads whose lanes agree in pairs take half the passes. `pair` is what an H200 does.
  BankCounts plain, pair;
  std::uint64_t same_address_lanes = 0;  // defined as for global memory

  SharedCounts& operator+=(const SharedCounts& more);
};

// The mechanism that moves the bytes of an instruction.
enum class Traffic : std::uint8_t {
  kNone,
  kLoad,
  kStore,
  kAtomic,     // atom and red
  kCopyIn,     // asynchronous, global to shared memory: cp.async, bulk and tensor copies
  kCopyOut,    // asynchronous, shared to global memory: bulk and tensor stores
  kCopyReduce  // asynchronous, shared onto global memory: cp.reduce.async
};

// The counts of one instruction. A generic address may reach several memories: each access is
// counted in the memory that it reaches. Asynchronous copies: a bulk copy is one request, and its
// shared side is not counted, nor are the operands that wgmma fetches (it is not documented how the
// hardware serves them).
struct MemoryCounts {
  Traffic traffic = Traffic::kNone;
  GlobalCounts global;
  SharedCounts shared;
  GlobalCounts local;  // spills and arrays of a thread; model: lanes interleaved word by word

  MemoryCounts& operator+=(const MemoryCounts& more);  // keeps its own traffic
};

// Distinct sectors of global memory in the whole launch: what a perfect cache would move.
struct Footprint {
  bool known = false;
  bool estimated = false;          // for a sample: estimated from the overlap of its halves
  std::uint64_t read_sectors = 0;  // atomics count as both
  std::uint64_t written_sectors = 0;
  // Distinct sectors of each cluster, summed over the clusters: the traffic of an SM that caches
  // everything that its own cluster touches.
  std::uint64_t cluster_read_sectors = 0;
  std::uint64_t cluster_written_sectors = 0;

  std::uint64_t read_bytes() const { return read_sectors * kSectorBytes; }
  std::uint64_t written_bytes() const { return written_sectors * kSectorBytes; }
  std::uint64_t bytes() const { return read_bytes() + written_bytes(); }
};

// The counts of a launch's memory traffic, by kind.
struct LaunchMemory {
  bool counted = false;  // Observation::memory was on
  MemoryCounts loads, stores, atomics, copies_in, copies_out, copies_reduce;
  Footprint footprint;

  // Global traffic of every kind.
  GlobalCounts global() const;
};

}  // namespace tessera::vgpu
