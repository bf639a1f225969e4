// Host work on big matrices: splits [0, count) over the cores. Results must not depend on how many
// there are, so bodies write only what their own range owns.
#pragma once

#include <cstdint>
#include <functional>

namespace tessera::lab {

int host_threads();

// Calls body(begin, end) on disjoint ranges that cover [0, count). Ranges of fewer than `grain`
// indices are not split further; an exception of a body is thrown again by the caller's thread.
void parallel_for(std::int64_t count, std::int64_t grain,
                  const std::function<void(std::int64_t, std::int64_t)>& body);

}  // namespace tessera::lab
