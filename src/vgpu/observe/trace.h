// The accesses of a launch or of one CTA, in the order in which they ran: for pictures, and for
// questions about one word. Report types only: code outside vgpu may include this header.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace tessera::vgpu {

// One execution of a memory instruction by a warp; or a range of bytes of a bulk copy, which
// belongs to no warp.
struct TracedAccess {
  enum class Kind : std::uint8_t { kLoad, kStore, kAtomic };
  Kind kind = Kind::kLoad;
  bool is_shared = false;         // else global memory
  bool is_copy = false;           // by cp.async, or by a bulk copy (then mask is 0)
  std::uint32_t launch = 0;       // since the trace was set up, from 0
  std::uint64_t cta = 0;          // linear
  std::uint32_t warp = 0;         // number in the CTA
  std::uint32_t mask = 0;         // lanes
  std::uint32_t instruction = 0;  // InstructionReport::index
  std::uint64_t bytes = 0;        // per lane, or of the stretch
  // The addresses of the lanes in the mask. For a bulk copy, [0] is the address of the range. In
  // shared memory: bytes from the start of the CTA's shared memory.
  std::array<std::uint64_t, 32> address = {};

  bool has_lane(std::uint32_t lane) const { return mask >> lane & 1; }
  // Whether this lane accesses a byte of [begin, end).
  bool touches(std::uint32_t lane, std::uint64_t begin, std::uint64_t end) const {
    return has_lane(lane) && address[lane] < end && address[lane] + bytes > begin;
  }
};

// Recorded accesses. To use it: set the fields, attach it to this thread with a Tracing, launch,
// and read accesses(). Further launches add to the trace.
class AccessTrace {
 public:
  std::optional<std::uint64_t> cta;  // only this CTA is traced, and its cluster runs
  // Only accesses to these bytes of global memory are recorded. If both are 0, all accesses are.
  std::uint64_t begin = 0, end = 0;
  std::size_t most = 1 << 20;  // accesses that are kept

  const std::vector<TracedAccess>& accesses() const { return accesses_; }
  bool is_full() const { return is_full_; }
  void begin_launch() { ++launches_; }
  // Adds the access if the trace wants it. Any thread may call it.
  void add(TracedAccess access);

 private:
  bool wants(const TracedAccess& access) const;

  std::vector<TracedAccess> accesses_;
  bool is_full_ = false;
  std::uint32_t launches_ = 0;
  std::mutex mutex_;
};

// As long as this object exists, the launches of its thread are traced.
class Tracing {
 public:
  explicit Tracing(AccessTrace& trace);
  ~Tracing();
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;

 private:
  AccessTrace* before_;
};

}  // namespace tessera::vgpu
