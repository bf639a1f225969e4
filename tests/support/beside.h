// Files of the build that tests start or load: they lie beside the test's own binary, so that the
// folder also works under another path or on another machine.
#pragma once

#include <filesystem>
#include <string>

namespace tessera {

inline std::string beside_test(const std::string& name) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / name).string();
}

inline std::string fake_driver() { return beside_test("tests/fake_cuda/libcuda.so.1"); }

}  // namespace tessera
