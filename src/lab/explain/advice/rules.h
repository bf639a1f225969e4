// The rules behind advise(): each looks only at counts and returns an advice or nothing.
#pragma once

#include <string_view>

#include "lab/explain/advice/parts.h"

namespace tessera::lab {

// Names of rules that the verdict looks up.
inline constexpr std::string_view kBankConflicts = "bank-conflicts";
inline constexpr std::string_view kScatteredAccess = "scattered-access";
inline constexpr std::string_view kScalarAccess = "scalar-access";
inline constexpr std::string_view kUncoalescedAccess = "uncoalesced-access";
inline constexpr std::string_view kAtomicContention = "atomic-contention";
inline constexpr std::string_view kDeviceMemory = "device-memory";
inline constexpr std::string_view kDivergence = "divergence";
inline constexpr std::string_view kSmallLaunch = "small-launch";

// Rules on single accesses, for any kernel.
Found bank_conflicts(const Evidence& e);
Found scattered_access(const Evidence& e);
Found scalar_access(const Evidence& e);
Found spills(const Evidence& e);
// Rules for kernels that multiply nothing and are limited by L2 or device memory: bytes that their
// lanes load and do not use.
Found uncoalesced_access(const Evidence& e);
Found misaligned_access(const Evidence& e);

// Rules on contention between the lanes of a warp.
Found atomic_contention(const Evidence& e);
Found divergence(const Evidence& e);
// Finds the kind of atomics that takes longest and has a site whose lanes share addresses, and
// returns its longest such site; null if there is none. Such a site is the cause to name.
const Site* contended_site(const Evidence& e);
// Returns the least time of updates whose lanes share an address within a warp, with all SMs busy.
double contention_ms(const Evidence& e);

// Rules on how full the GPU is.
Found few_warps(const Evidence& e);
Found small_launch(const Evidence& e);
Found short_blocks(const Evidence& e);

// Rules with one version for kernels that multiply matrices and one for others.
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

// Returns "56 % of the issued instructions are integer arithmetic, moves and branches, ...".
std::string mix_of(const Evidence& e);

}  // namespace tessera::lab
