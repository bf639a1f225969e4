// Ctrl-C or SIGTERM stops a long run between two kernels and keeps what was measured; a second one
// ends it.
#pragma once

namespace tessera {

void keep_results_on_interrupt();
bool interrupted();

}  // namespace tessera
