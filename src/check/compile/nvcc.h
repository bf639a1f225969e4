// Compiles CUDA sources to PTX with the nvcc of this machine.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::checking {

// Finds nvcc: in NVCC, CUDACXX, CUDA_HOME, PATH, /usr/local/cuda*, or in the folder of this
// program, where tools/ci/setup installs nvcc. Throws a kUnavailable that says how to get nvcc.
std::string find_nvcc();

// Returns the PTX of a source file, for sm_90a with line numbers unless `arguments` name an
// architecture. The compiler's messages go to stderr. Throws kBadArgument if the compiler refuses
// the file.
std::string compile_to_ptx(const std::string& source, const std::vector<std::string>& arguments);

enum class Messages { kShown, kHidden };  // whether messages about refused text are shown

// Returns the cubin of a PTX text for an architecture ("sm_75"). Throws like compile_to_ptx, and
// kUnsupported if the assembler refuses the text for that architecture.
std::vector<std::byte> assemble_ptx(std::string_view ptx, const std::string& arch,
                                    Messages messages = Messages::kShown);

// Returns "sm_90a" for ".target sm_90a, debug"; the default for .cu files if the PTX has no target.
std::string target_of(std::string_view ptx);

}  // namespace tessera::checking
