// The library finds the driver by itself, so its tests start again with the stand-in driver in the
// library path. They need no GPU and use none.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/support/beside.h"

int main(int argc, char** argv) {
  const std::string folder = std::filesystem::path(tessera::fake_driver()).parent_path();
  const char* path = std::getenv("LD_LIBRARY_PATH");
  if (!path || !std::string(path).starts_with(folder)) {
    setenv("LD_LIBRARY_PATH", (folder + ":" + (path ? path : "")).c_str(), 1);
    execv("/proc/self/exe", argv);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
