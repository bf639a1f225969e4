// The operations of this folder, for the decoder: asynchronous copies, barrier objects and fences.
// They are compiled only once: vectors of 32 lanes would not make them faster. Addresses are 64-bit
// registers, generic or in the shared window. Op::flags has the flags that precede each operation.
#pragma once

#include "vgpu/program/op.h"

namespace tessera::vgpu {

// ---- mbarrier -----------------------------------------------------------------------------------
constexpr std::uint32_t kInCluster = 1;  // the object may be in another CTA
constexpr std::uint32_t kReturnsState = 2;
constexpr std::uint32_t kExpects = 4;  // .expect_tx: operand 3 is the bytes
constexpr std::uint32_t kDrops = 8;
constexpr std::uint32_t kNoComplete = 16;
constexpr std::uint32_t kParity = 32;          // a wait tests a parity, not a state
constexpr std::uint32_t kNoIncrement = 64;     // cp.async.mbarrier.arrive.noinc
constexpr std::uint32_t kOrdersNothing = 128;  // .relaxed

void mbarrier_init(const Op* first, const Op* last, Lanes& lanes);   // address, count
void mbarrier_inval(const Op* first, const Op* last, Lanes& lanes);  // address
// Operands: state or none, address, count, bytes.
void mbarrier_arrive(const Op* first, const Op* last, Lanes& lanes);
void mbarrier_expect_tx(const Op* first, const Op* last, Lanes& lanes);      // address, bytes
void mbarrier_complete_tx(const Op* first, const Op* last, Lanes& lanes);    // address, bytes
void mbarrier_pending_count(const Op* first, const Op* last, Lanes& lanes);  // count, state

// ---- cp.async -----------------------------------------------------------------------------------
constexpr std::uint32_t kHasSourceBytes = 1;  // operand 2: number of bytes to read
constexpr std::uint32_t kIgnoresSource = 2;   // operand 2: predicate; if true, no byte is read

void copy_async(const Op* first, const Op* last, Lanes& lanes);  // to, from; immediate: bytes
void copy_async_commit(const Op* first, const Op* last, Lanes& lanes);
void copy_async_wait(const Op* first, const Op* last, Lanes& lanes);  // immediate: groups
void copy_async_wait_all(const Op* first, const Op* last, Lanes& lanes);
void copy_async_arrive(const Op* first, const Op* last, Lanes& lanes);  // address

// ---- bulk copies --------------------------------------------------------------------------------
constexpr std::uint32_t kFromShared = 1;
constexpr std::uint32_t kMulticast = 2;
constexpr std::uint32_t kByteMask = 4;
constexpr std::uint32_t kReadOnly = 8;          // wait_group.read
constexpr std::uint32_t kRankShiftOfFlags = 4;  // shift of the rank of a tensor copy
constexpr std::uint32_t kCountShift = 8;        // shift of the number of values of send_async
// Op::immediate is Reduction << 8 | CopyElement.

// Operands: destination in shared memory, source, bytes, mbarrier, mask of CTAs.
void bulk_load(const Op* first, const Op* last, Lanes& lanes);
// Operands: destination in global memory, source in shared memory, bytes, mask of bytes.
void bulk_store(const Op* first, const Op* last, Lanes& lanes);
// Operands: map, destination in shared memory, mbarrier, mask of CTAs. Op::list: coordinates.
void tensor_load(const Op* first, const Op* last, Lanes& lanes);
void tensor_store(const Op* first, const Op* last, Lanes& lanes);  // map, source; list: coordinates
// st.async and red.async. Operands: destination in shared memory, mbarrier, one to four values.
void send_async(const Op* first, const Op* last, Lanes& lanes);

// ---- tensor maps --------------------------------------------------------------------------------
enum class MapField : std::uint32_t {  // field that map_replace sets: Op::flags
  kAddress,
  kRank,
  kBox,
  kSize,
  kStride,
  kElementStride,
  kType,
  kInterleave,
  kSwizzle,
  kFill,
};
void map_replace(const Op* first, const Op* last,
                 Lanes& lanes);                           // map, value; immediate: dimension
void map_publish(const Op* op, const Op*, Lanes& lanes);  // to, from
// ---- groups of bulk copies ----------------------------------------------------------------------
void bulk_commit(const Op* first, const Op* last, Lanes& lanes);
void bulk_wait(const Op* first, const Op* last, Lanes& lanes);  // immediate: groups

}  // namespace tessera::vgpu
