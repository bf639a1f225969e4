// Counts what is allocated by operator new in this test binary, the rooms under test included.
#pragma once

namespace tessera {

long allocations();

}  // namespace tessera
