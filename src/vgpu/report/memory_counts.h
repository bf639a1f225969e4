// The memory traffic of a launch. A request is one issue of one instruction with at least one
// active lane. docs/counts.md defines every count. Report types only: code outside vgpu may include
// this header.
#pragma once

#include <cstdint>

namespace tessera::vgpu {

constexpr int kSectorBytes = 32;
constexpr int kLineBytes = 128;

// Counts of global or local memory. A sector is 32 aligned bytes; a line is 4 sectors, 128 bytes.
struct GlobalCounts {
  std::uint64_t requests = 0;
  std::uint64_t lanes = 0;            // active ones, summed over the requests
  std::uint64_t requested_bytes = 0;  // over all lanes, duplicates included
  std::uint64_t distinct_bytes = 0;   // each byte once a request
  std::uint64_t sectors = 0;          // each sector once a request
  std::uint64_t partial_sectors = 0;  // stores and atomics: sectors not written completely
  std::uint64_t lines = 0;            // each line once per request
  std::uint64_t tag_wavefronts = 0;   // model: a request resolves 4 lines per wavefront
  // A model, calibrated on an H200: the L1 cycles of loads that hit in L1. A request takes its tag
  // wavefronts, or the wavefronts that its addresses would take in shared memory (`plain` below),
  // whichever are more.
  std::uint64_t data_wavefronts = 0;
  // Atomics: in each request, the lanes at its most used address; summed over the requests.
  std::uint64_t same_address_lanes = 0;

  std::uint64_t sector_bytes() const { return sectors * kSectorBytes; }
  double sectors_per_request() const { return ratio(sectors, requests); }
  // Distinct bytes per byte of the moved sectors, 0 to 1; 0 if no sector was moved.
  double efficiency() const { return ratio(distinct_bytes, sector_bytes()); }
  GlobalCounts& operator+=(const GlobalCounts& more);

 private:
  static double ratio(std::uint64_t a, std::uint64_t b) {
    return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
  }
};

// Counts of shared memory under one model of its banks. A pass serves a group of lanes together and
// takes as many wavefronts as its busiest bank has distinct words.
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
  // `plain`: a pass serves 32 lanes of up to 32 bits, 16 of 64 bits or 8 of 128 bits. `pair`: like
  // `plain`, but wide loads whose lanes agree in pairs take half the passes, as on an H200.
  BankCounts plain, pair;
  std::uint64_t same_address_lanes = 0;  // defined as for global memory

  SharedCounts& operator+=(const SharedCounts& more);
};

// How an instruction moves bytes.
enum class Traffic : std::uint8_t {
  kNone,
  kLoad,
  kStore,
  kAtomic,     // atom and red
  kCopyIn,     // asynchronous, global to shared memory: cp.async, bulk and tensor copies
  kCopyOut,    // asynchronous, shared to global memory: bulk and tensor stores
  kCopyReduce  // asynchronous, shared onto global memory: cp.reduce.async
};

// The counts of one instruction. If its generic addresses reach several memories, each access is
// counted in the memory that it reaches. A bulk copy is one request; its side in shared memory is
// not counted. Neither are the operands that wgmma fetches: how the hardware serves them is not
// documented.
struct MemoryCounts {
  Traffic traffic = Traffic::kNone;
  GlobalCounts global;
  SharedCounts shared;
  GlobalCounts local;  // spills and arrays of a thread; model: lanes interleaved word by word

  MemoryCounts& operator+=(const MemoryCounts& more);  // keeps its own traffic
};

// Distinct sectors of global memory in the whole launch: the traffic of a perfect cache.
struct Footprint {
  bool known = false;
  bool estimated = false;          // for a sample: estimated from the overlap of its halves
  std::uint64_t read_sectors = 0;  // atomics count as both
  std::uint64_t written_sectors = 0;
  // Distinct sectors of each cluster, summed over the clusters: the traffic if each SM caches
  // everything that its cluster touches.
  std::uint64_t cluster_read_sectors = 0;
  std::uint64_t cluster_written_sectors = 0;

  std::uint64_t read_bytes() const { return read_sectors * kSectorBytes; }
  std::uint64_t written_bytes() const { return written_sectors * kSectorBytes; }
  std::uint64_t bytes() const { return read_bytes() + written_bytes(); }
};

// The counts of a launch's memory traffic, by kind of instruction.
struct LaunchMemory {
  bool counted = false;  // Observation::memory was on
  MemoryCounts loads, stores, atomics, copies_in, copies_out, copies_reduce;
  Footprint footprint;

  // The sum of the global traffic of all kinds.
  GlobalCounts global() const;
};

}  // namespace tessera::vgpu
