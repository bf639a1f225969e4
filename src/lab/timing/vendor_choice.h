// Chooses which of the vendor's calls are timed: cuBLAS' default and the fastest cuBLASLt
// candidate.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "lab/timing/measure.h"
#include "lab/timing/vendor.h"

namespace tessera::lab {

// Returns the operands of call number i.
using OperandsOf = std::function<const Operands&(std::int64_t)>;

// The candidate is valid only as long as the call and the operands.
Candidate candidate_of(const VendorCall& call, const OperandsOf& operands);

// Returns the index of the fastest candidate, from index `first` on; nullopt if none was timed.
std::optional<std::size_t> fastest(const std::vector<Samples>& samples, std::size_t first = 0);

// Chooses at most two of the calls that run without an error: first the default, if there is one,
// then the fastest cuBLASLt candidate, measured by `how` in bursts.
std::vector<VendorCall> choose_vendor_calls(Device& device, Timer& timer,
                                            std::vector<VendorCall> calls,
                                            const OperandsOf& operands, const MeasureOptions& how);

}  // namespace tessera::lab
