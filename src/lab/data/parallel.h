// Splits host work on big matrices, which are the indices [0, count), over the cores. Results must
// not depend on the number of cores, so a body writes only data that belongs to its own range.
#pragma once

#include <cstdint>
#include <functional>

namespace tessera::lab {

int host_threads();

// Calls body(begin, end) on disjoint ranges that cover [0, count). Ranges of fewer than `grain`
// indices are not split further. If a body throws, the exception is rethrown in the caller's
// thread.
void parallel_for(std::int64_t count, std::int64_t grain,
                  const std::function<void(std::int64_t, std::int64_t)>& body);

}  // namespace tessera::lab
