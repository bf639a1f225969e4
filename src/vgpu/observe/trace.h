// Every access of a launch, or of one thread block, in the order in which it ran: for pictures and
// for questions about one word of memory. Report types only: other rooms may include this page.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace tessera::vgpu {

// One issue of one memory instruction by one warp, or one range of bytes of a bulk copy, which
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
  // Addresses of the lanes in the mask; for a bulk copy, that of the range, at [0]. In shared
  // memory: bytes from the start of the CTA's shared memory.
  std::array<std::uint64_t, 32> address = {};

  bool has_lane(std::uint32_t lane) const { return mask >> lane & 1; }
  // Whether this lane touches a byte of [begin, end).
  bool touches(std::uint32_t lane, std::uint64_t begin, std::uint64_t end) const {
    return has_lane(lane) && address[lane] < end && address[lane] + bytes > begin;
  }
};

// The recorded accesses. Use: set it up, attach it to this thread by a Tracing, launch, read it. A
// trace of several launches continues where the last one ended.
class AccessTrace {
 public:
  std::optional<std::uint64_t> cta;  // only this CTA is traced, and its cluster runs
  // Accesses to these bytes of global memory alone; both 0: to any memory.
  std::uint64_t begin = 0, end = 0;
  std::size_t most = 1 << 20;  // accesses that are kept

  const std::vector<TracedAccess>& accesses() const { return accesses_; }
  bool is_full() const { return is_full_; }
  void begin_launch() { ++launches_; }
  // Keeps the access if it is wanted; may be called by any thread.
  void add(TracedAccess access);

 private:
  bool wants(const TracedAccess& access) const;

  std::vector<TracedAccess> accesses_;
  bool is_full_ = false;
  std::uint32_t launches_ = 0;
  std::mutex mutex_;
};

// While it lives, the launches of this thread are traced.
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
