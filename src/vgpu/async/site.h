// The origin of an asynchronous operation, one instruction of one lane; access to its operands.
#pragma once

#include <cstdint>
#include <string>

#include "vgpu/program/op.h"
#include "vgpu/report/fault.h"
#include "vgpu/report/observer.h"

namespace tessera::vgpu {

class AsyncCluster;

constexpr const char* kNoMap = "there is no tensor map at this address";
constexpr const char* kNoMapHint =
    "Give the address of a tensor map that was encoded on the host: a const __grid_constant__ "
    "parameter, or one that was copied to constant or global memory.";

struct Site {
  AsyncWarp* warp = nullptr;
  const Op* op = nullptr;
  int lane = 0;

  Actor actor() const;  // this lane alone
  AsyncCluster& cluster() const;
  [[noreturn]] void fault(FaultKind kind, const std::string& message) const;
  [[noreturn]] void fault_at(FaultKind kind, const std::string& message,
                             std::uint64_t address) const;
  // Throws a fault with this hint. For kinds of faults that have no hint of their own.
  [[noreturn]] void fault_with(FaultKind kind, const std::string& message, const std::string& hint,
                               const std::uint64_t* address = nullptr) const;
  // Reports an error that does not stop the kernel.
  void notice(const char* check, const std::string& message, const std::string& hint) const;
};

inline Site site_of(const Lanes& lanes, const Op& op, int lane) { return {lanes.warp, &op, lane}; }

// The value of register operand number `operand` in one lane.
template <class T>
T& register_of(const Lanes& lanes, const Op& op, int operand, int lane) {
  return reinterpret_cast<T*>(lanes.registers + op.operand[operand])[lane];
}
inline std::uint32_t word(const Lanes& lanes, const Op& op, int operand, int lane) {
  return register_of<std::uint32_t>(lanes, op, operand, lane);
}
inline bool predicate_of_lane(const Lanes& lanes, const Op& op, int operand, int lane) {
  const auto bits = *reinterpret_cast<const std::uint32_t*>(lanes.registers + op.operand[operand]);
  return (bits >> lane & 1) != 0;
}

// A place in the shared memory of a CTA of the cluster.
struct SharedPlace {
  std::uint32_t owner = 0;   // rank
  std::uint32_t offset = 0;  // in its shared memory
  std::byte* host = nullptr;
};
// `address` is generic or in the shared window. Faults if the bytes are out of bounds, misaligned,
// in an exited CTA, or in another CTA although `cluster` is false.
SharedPlace shared_place(const Site& site, std::uint64_t address, std::uint64_t bytes,
                         std::uint64_t alignment, bool cluster);
// Returns the host memory of these bytes of global memory. Faults if there are none.
std::byte* global_place(const Site& site, std::uint64_t address, std::uint64_t bytes,
                        std::uint64_t alignment);

template <class F>
void for_each_lane(std::uint32_t mask, F f) {
  for (; mask != 0; mask &= mask - 1) f(__builtin_ctz(mask));
}

}  // namespace tessera::vgpu
