// CUDA sources to PTX, with the nvcc of this machine.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::checking {

// NVCC, CUDACXX, CUDA_HOME, PATH, /usr/local/cuda*, or what tools/ci/setup fetched into the folder
// of this program. Throws kUnavailable with how to get one.
std::string find_nvcc();

// The PTX of a source file, for sm_90a with line numbers unless `arguments` name an architecture.
// Messages of the compiler go to stderr. Throws kBadArgument if it refuses the file.
std::string compile_to_ptx(const std::string& source, const std::vector<std::string>& arguments);

enum class Messages { kShown, kHidden };  // messages of the assembler about refused text

// The cubin of a PTX text for "sm_75". Throws like the above; kUnsupported when the assembler
// refuses the text for that architecture.
std::vector<std::byte> assemble_ptx(std::string_view ptx, const std::string& arch,
                                    Messages messages = Messages::kShown);

// "sm_90a" from ".target sm_90a, debug"; without a target, the default for .cu files.
std::string target_of(std::string_view ptx);

}  // namespace tessera::checking
