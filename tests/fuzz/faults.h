#pragma once

namespace tessera::fuzz {

// Stops at the first call that does not say so, or that leaves something behind.
void fail_every_allocation();

}  // namespace tessera::fuzz
