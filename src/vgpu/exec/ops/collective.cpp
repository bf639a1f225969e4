// Operations that the lanes of a warp run together: shuffles, votes, matches, reductions,
// elections. Each lane has its own member mask, so several groups of one warp may run an
// instruction at once.
#include "vgpu/exec/ops/lift.h"
#include "vgpu/exec/ops/tables.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {
namespace {

// Calls f(lane) for each active lane, in order.
template <class F>
void for_each_lane(u32 mask, F f) {
  for (; mask != 0; mask &= mask - 1) f(__builtin_ctz(mask));
}

// ---- shfl.sync d|p, a, b, c, members ------------------------------------------------------------

enum class Shuffle { kUp, kDown, kButterfly, kIndex };

// Finds the lane that `lane` reads from. Returns false if it is outside the segment; then `lane`
// keeps its own value.
template <Shuffle mode>
bool source_lane(int lane, u32 b, u32 c, int& from) {
  const int segment = int(c >> 8 & 31), clamp = int(c & 31), by = int(b & 31);
  const int first = lane & segment, last = first | (clamp & ~segment);
  if (mode == Shuffle::kUp) return (from = lane - by) >= last;
  if (mode == Shuffle::kDown) from = lane + by;
  if (mode == Shuffle::kButterfly) from = lane ^ by;
  if (mode == Shuffle::kIndex) from = first | (by & ~segment);
  return from <= last;
}

template <Shuffle mode>
void shuffle(const Op* op, const Op*, Lanes& lanes) {
  const u32* a = lanes_of<u32>(lanes, op->operand[2]);
  const u32* b = lanes_of<u32>(lanes, op->operand[3]);
  const u32* c = lanes_of<u32>(lanes, op->operand[4]);
  const u32* members = lanes_of<u32>(lanes, op->operand[5]);
  alignas(64) u32 values[kLanes] = {};
  u32 inside = 0;
  for_each_lane(lanes.mask, [&](int lane) {
    int from = lane;
    const bool in_range = source_lane<mode>(lane, b[lane], c[lane], from);
    values[lane] = a[in_range ? from : lane];
    inside |= u32(in_range) << lane;
    // PTX ISA, shfl.sync: the value is undefined if the source lane does not take part.
    if (!in_range || (members[lane] & lanes.mask) >> from & 1) return;
    lanes.read_outside |= u32(1) << lane;
    if (lanes.fills_outside) values[lane] = lanes.outside;
  });
  blend(lanes_of<u32>(lanes, op->operand[0]), values, lanes.mask);
  write_predicate(lanes, op->operand[1], inside);
}

// ---- operations over the members of each lane ---------------------------------------------------

// Sets d to f(lane, active members of the lane), a 32-bit result.
template <class F>
void per_lane(const Op& op, Lanes& lanes, u32 to, u32 member_operand, F f) {
  const u32* members = lanes_of<u32>(lanes, op.operand[member_operand]);
  alignas(64) u32 values[kLanes] = {};
  for_each_lane(lanes.mask, [&](int lane) { values[lane] = f(lane, members[lane] & lanes.mask); });
  blend(lanes_of<u32>(lanes, to), values, lanes.mask);
}
template <class F>
void per_lane_predicate(const Op& op, Lanes& lanes, u32 to, u32 member_operand, F f) {
  const u32* members = lanes_of<u32>(lanes, op.operand[member_operand]);
  u32 bits = 0;
  for_each_lane(lanes.mask,
                [&](int lane) { bits |= u32(f(lane, members[lane] & lanes.mask)) << lane; });
  write_predicate(lanes, to, bits);
}

void ballot(const Op* op, const Op*, Lanes& lanes) {
  const u32 a = predicate_of(lanes, op->operand[1]);
  per_lane(*op, lanes, op->operand[0], 2, [a](int, u32 members) { return a & members; });
}
void vote_all(const Op* op, const Op*, Lanes& lanes) {
  const u32 a = predicate_of(lanes, op->operand[1]);
  per_lane_predicate(*op, lanes, op->operand[0], 2,
                     [a](int, u32 members) { return (a & members) == members; });
}
void vote_any(const Op* op, const Op*, Lanes& lanes) {
  const u32 a = predicate_of(lanes, op->operand[1]);
  per_lane_predicate(*op, lanes, op->operand[0], 2,
                     [a](int, u32 members) { return (a & members) != 0; });
}
void vote_uni(const Op* op, const Op*, Lanes& lanes) {
  const u32 a = predicate_of(lanes, op->operand[1]);
  per_lane_predicate(*op, lanes, op->operand[0], 2, [a](int, u32 members) {
    return (a & members) == 0 || (a & members) == members;
  });
}

// Returns the members whose value equals that of the lane.
template <class T>
u32 equal_lanes(const T* a, int lane, u32 members) {
  u32 same = 0;
  for_each_lane(members, [&](int other) { same |= u32(a[other] == a[lane]) << other; });
  return same;
}
template <class T>
void match_any(const Op* op, const Op*, Lanes& lanes) {
  const T* a = lanes_of<T>(lanes, op->operand[1]);
  per_lane(*op, lanes, op->operand[0], 2,
           [a](int lane, u32 members) { return equal_lanes(a, lane, members); });
}
template <class T>
void match_all(const Op* op, const Op*, Lanes& lanes) {
  alignas(64) T a[kLanes];  // a copy: the destination may be the same registers
  const T* registers = lanes_of<T>(lanes, op->operand[2]);
  for (int l = 0; l < kLanes; ++l) a[l] = registers[l];
  const auto all_equal = [&a](int lane, u32 members) {
    return equal_lanes(a, lane, members) == members;
  };
  per_lane_predicate(*op, lanes, op->operand[1], 3, all_equal);
  per_lane(*op, lanes, op->operand[0], 3,
           [&](int lane, u32 members) { return all_equal(lane, members) ? members : 0; });
}

enum class Reduce { kAdd, kMin, kMax, kAnd, kOr, kXor };

template <Reduce how, class T>
T combine(T a, T b) {
  switch (how) {
    case Reduce::kAdd:
      return T(u32(a) + u32(b));
    case Reduce::kMin:
      return a < b ? a : b;
    case Reduce::kMax:
      return a > b ? a : b;
    case Reduce::kAnd:
      return a & b;
    case Reduce::kOr:
      return a | b;
    case Reduce::kXor:
      return a ^ b;
  }
  return a;
}
template <Reduce how, class T>
void reduce(const Op* op, const Op*, Lanes& lanes) {
  const T* a = lanes_of<T>(lanes, op->operand[1]);
  per_lane(*op, lanes, op->operand[0], 2, [a](int, u32 members) {
    T sum = a[__builtin_ctz(members)];
    for_each_lane(members & (members - 1), [&](int lane) { sum = combine<how, T>(sum, a[lane]); });
    return u32(sum);
  });
}

// Sets d to the elected lane, and p to whether the lane is elected. The lowest member is elected.
void elect(const Op* op, const Op*, Lanes& lanes) {
  per_lane_predicate(*op, lanes, op->operand[1], 2,
                     [](int lane, u32 members) { return lane == __builtin_ctz(members); });
  per_lane(*op, lanes, op->operand[0], 2,
           [](int, u32 members) { return u32(__builtin_ctz(members)); });
}

void activemask(const Op* first, const Op* last, Lanes& lanes) {
  for (; first != last; ++first) {
    write_lanes<u32>(lanes, first->operand[0], [mask = lanes.mask](int) { return mask; });
  }
}

// ---- the table ----------------------------------------------------------------------------------

constexpr Scalar kP = Scalar::kPredicate, kW = Scalar::k32, kL = Scalar::k64;
constexpr Signature kShuffle = {2, 6, {kW, kP, kW, kW, kW, kW}};
constexpr Signature kVote = {1, 3, {kP, kP, kW}};
constexpr Signature kReduce = {1, 3, {kW, kW, kW}};

constexpr Rows<10> kVotes = {{
    {"shfl.sync.up.b32", kDefault, shuffle<Shuffle::kUp>, kShuffle},
    {"shfl.sync.down.b32", kDefault, shuffle<Shuffle::kDown>, kShuffle},
    {"shfl.sync.bfly.b32", kDefault, shuffle<Shuffle::kButterfly>, kShuffle},
    {"shfl.sync.idx.b32", kDefault, shuffle<Shuffle::kIndex>, kShuffle},
    {"vote.sync.all.pred", kDefault, vote_all, kVote},
    {"vote.sync.any.pred", kDefault, vote_any, kVote},
    {"vote.sync.uni.pred", kDefault, vote_uni, kVote},
    {"vote.sync.ballot.b32", kDefault, ballot, {1, 3, {kW, kP, kW}}},
    {"activemask.b32", kDefault, activemask, {1, 1, {kW}}},
    {"elect.sync", kDefault, elect, {2, 3, {kW, kP, kW}}},
}};

constexpr Rows<4> kMatches = {{
    {"match.any.sync.b32", kDefault, match_any<u32>, kReduce},
    {"match.any.sync.b64", kDefault, match_any<u64>, {1, 3, {kW, kL, kW}}},
    {"match.all.sync.b32", kDefault, match_all<u32>, {2, 4, {kW, kP, kW, kW}}},
    {"match.all.sync.b64", kDefault, match_all<u64>, {2, 4, {kW, kP, kL, kW}}},
}};

constexpr Rows<9> kReductions = {{
    {"redux.sync.add.u32", kDefault, reduce<Reduce::kAdd, u32>, kReduce},
    {"redux.sync.add.s32", kDefault, reduce<Reduce::kAdd, s32>, kReduce},
    {"redux.sync.min.u32", kDefault, reduce<Reduce::kMin, u32>, kReduce},
    {"redux.sync.min.s32", kDefault, reduce<Reduce::kMin, s32>, kReduce},
    {"redux.sync.max.u32", kDefault, reduce<Reduce::kMax, u32>, kReduce},
    {"redux.sync.max.s32", kDefault, reduce<Reduce::kMax, s32>, kReduce},
    {"redux.sync.and.b32", kDefault, reduce<Reduce::kAnd, u32>, kReduce},
    {"redux.sync.or.b32", kDefault, reduce<Reduce::kOr, u32>, kReduce},
    {"redux.sync.xor.b32", kDefault, reduce<Reduce::kXor, u32>, kReduce},
}};

constexpr auto kCollectiveRows = kVotes + kMatches + kReductions;

}  // namespace

const OperationTable kCollectiveTable = table(kCollectiveRows);

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
