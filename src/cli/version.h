// The version and the commit of the program, for --version and for the records of results.
#pragma once

namespace tessera::cli {

inline constexpr const char* kVersion = "0.1.0";

// "1a2b3c4d5e6f"; "1a2b3c4d5e6f-dirty" if the sources differ from that commit; "unknown" outside a
// checkout. The build writes the definition (cmake/commit.cmake).
const char* build_commit();

}  // namespace tessera::cli
