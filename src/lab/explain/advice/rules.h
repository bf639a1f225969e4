// The rules behind advise(): each looks at counts alone and returns an advice or nothing.
#pragma once

#include <string_view>

#include "lab/explain/advice/parts.h"

namespace tessera::lab {

// Rules that a verdict looks for.
inline constexpr std::string_view kBankConflicts = "bank-conflicts";
inline constexpr std::string_view kScatteredAccess = "scattered-access";
inline constexpr std::string_view kScalarAccess = "scalar-access";
inline constexpr std::string_view kUncoalescedAccess = "uncoalesced-access";
inline constexpr std::string_view kAtomicContention = "atomic-contention";
inline constexpr std::string_view kDeviceMemory = "device-memory";
inline constexpr std::string_view kDivergence = "divergence";
inline constexpr std::string_view kSmallLaunch = "small-launch";

// Access by access, of any kernel.
Found bank_conflicts(const Evidence& e);
Found scattered_access(const Evidence& e);
Found scalar_access(const Evidence& e);
Found spills(const Evidence& e);
// For kernels that multiply nothing and are limited by L2 or device memory: bytes that their lanes
// fetch and do not use.
Found uncoalesced_access(const Evidence& e);
Found misaligned_access(const Evidence& e);

// Contention between the lanes of a warp.
Found atomic_contention(const Evidence& e);
Found divergence(const Evidence& e);
// The place whose lanes share addresses and take longest, of the longest kind of atomics that has
// one; nothing else may be blamed for them.
const Site* contended_site(const Evidence& e);
// The least time of updates of one address within a warp, with every SM busy.
double contention_ms(const Evidence& e);

// How full the GPU is.
Found few_warps(const Evidence& e);
Found small_launch(const Evidence& e);
Found short_blocks(const Evidence& e);

// The same rules, for a kernel that multiplies matrices and for one that does not.
Found shared_traffic(const Evidence& e);
Found no_sharing(const Evidence& e);
Found barriers(const Evidence& e);
Found issue_overhead(const Evidence& e);
Found at_the_pipe(const Evidence& e);
Found memory_bound(const Evidence& e);
Found plain_shared_traffic(const Evidence& e);
Found plain_no_sharing(const Evidence& e);
Found plain_barriers(const Evidence& e);
Found plain_issue_overhead(const Evidence& e);
Found plain_at_the_pipe(const Evidence& e);
Found plain_memory_bound(const Evidence& e);

// "56 % of the issued instructions are integer arithmetic, moves and branches, ...".
std::string mix_of(const Evidence& e);

}  // namespace tessera::lab
