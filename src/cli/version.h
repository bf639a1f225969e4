// The program's version and commit, for --version and for the records it writes.
#pragma once

namespace tessera::cli {

inline constexpr const char* kVersion = "0.1.0";

// "1a2b3c4d5e6f", "1a2b3c4d5e6f-dirty" where sources differ from that commit, "unknown" outside a
// checkout. Its definition is written by the build (cmake/commit.cmake).
const char* build_commit();

}  // namespace tessera::cli
