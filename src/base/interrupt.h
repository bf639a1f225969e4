// The first Ctrl-C or SIGTERM stops a long run between two kernels and keeps the results so far. A
// second signal ends the process.
#pragma once

namespace tessera {

void keep_results_on_interrupt();
bool interrupted();

}  // namespace tessera
