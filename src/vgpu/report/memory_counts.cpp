#include "vgpu/report/memory_counts.h"

#include <initializer_list>

namespace tessera::vgpu {

GlobalCounts& GlobalCounts::operator+=(const GlobalCounts& more) {
  requests += more.requests;
  lanes += more.lanes;
  requested_bytes += more.requested_bytes;
  distinct_bytes += more.distinct_bytes;
  sectors += more.sectors;
  partial_sectors += more.partial_sectors;
  lines += more.lines;
  tag_wavefronts += more.tag_wavefronts;
  data_wavefronts += more.data_wavefronts;
  same_address_lanes += more.same_address_lanes;
  return *this;
}

BankCounts& BankCounts::operator+=(const BankCounts& more) {
  passes += more.passes;
  wavefronts += more.wavefronts;
  return *this;
}

SharedCounts& SharedCounts::operator+=(const SharedCounts& more) {
  requests += more.requests;
  lanes += more.lanes;
  requested_bytes += more.requested_bytes;
  plain += more.plain;
  pair += more.pair;
  same_address_lanes += more.same_address_lanes;
  return *this;
}

MemoryCounts& MemoryCounts::operator+=(const MemoryCounts& more) {
  global += more.global;
  shared += more.shared;
  local += more.local;
  return *this;
}

GlobalCounts LaunchMemory::global() const {
  GlobalCounts sum;
  for (const MemoryCounts* part :
       {&loads, &stores, &atomics, &copies_in, &copies_out, &copies_reduce}) {
    sum += part->global;
  }
  return sum;
}

}  // namespace tessera::vgpu
