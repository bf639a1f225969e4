// The operations of this folder, for the decoder: asynchronous copies, barrier objects and fences.
// They are compiled only once: they would not profit from 32 lanes at a time. Addresses are 64-bit
// registers, in the shared window or generic; Op::flags holds the flags of each.
#pragma once

#include "vgpu/program/op.h"

namespace tessera::vgpu {

// ---- mbarrier -----------------------------------------------------------------------------------
constexpr std::uint32_t kInCluster = 1;  // the object may be another CTA's
constexpr std::uint32_t kReturnsState = 2;
constexpr std::uint32_t kExpects = 4;  // a number of bytes
constexpr std::uint32_t kDrops = 8;
constexpr std::uint32_t kNoComplete = 16;
constexpr std::uint32_t kParity = 32;          // flag: a wait by parity, not by state
constexpr std::uint32_t kNoIncrement = 64;     // flag of cp.async.mbarrier.arrive
constexpr std::uint32_t kOrdersNothing = 128;  // .relaxed

void mbarrier_init(const Op* first, const Op* last, Lanes& lanes);   // address, count
void mbarrier_inval(const Op* first, const Op* last, Lanes& lanes);  // address
// state or nothing, address, count, bytes
void mbarrier_arrive(const Op* first, const Op* last, Lanes& lanes);
void mbarrier_expect_tx(const Op* first, const Op* last, Lanes& lanes);      // address, bytes
void mbarrier_complete_tx(const Op* first, const Op* last, Lanes& lanes);    // address, bytes
void mbarrier_pending_count(const Op* first, const Op* last, Lanes& lanes);  // count, state

// ---- cp.async -----------------------------------------------------------------------------------
constexpr std::uint32_t kHasSourceBytes = 1;  // operand 2: how many are read
constexpr std::uint32_t kIgnoresSource = 2;   // operand 2: predicate, reads nothing

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
constexpr std::uint32_t kRankShiftOfFlags = 4;  // position of the dimensions of a tensor copy
constexpr std::uint32_t kCountShift = 8;        // position of the number of values of send_async
// Op::immediate: Reduction << 8 | CopyElement.

// to shared, from, bytes, object, mask of CTAs
void bulk_load(const Op* first, const Op* last, Lanes& lanes);
// to global, from shared, bytes, mask of bytes
void bulk_store(const Op* first, const Op* last, Lanes& lanes);
// map, to shared, object, mask of CTAs; list: coordinates
void tensor_load(const Op* first, const Op* last, Lanes& lanes);
void tensor_store(const Op* first, const Op* last, Lanes& lanes);  // map, from shared; the same
// to shared, object, one to four values: st.async and red.async
void send_async(const Op* first, const Op* last, Lanes& lanes);

// ---- tensor maps --------------------------------------------------------------------------------
enum class MapField : std::uint32_t {  // Op::flags of map_replace
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
