// The program's version, for --version and for the records it writes.
#pragma once

namespace tessera::cli {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace tessera::cli
