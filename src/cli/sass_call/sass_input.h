// The code that "tessera sass" examines: kernels of the catalog, or kernels in any
// file that contains GPU code.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arch/gpu.h"
#include "catalog/catalog.h"
#include "sass/container/cubin.h"

namespace tessera::cli {

struct MachineKernel {
  std::string from;  // "11_double_buffer", or the path of the file
  int sm = 0;
  sass::CubinKernel kernel;
  std::optional<KernelChoice> choice;  // for a catalog kernel with the build's own code
  const KernelRow* row = nullptr;      // for a catalog kernel: the row
  std::string_view ptx;                // for a catalog kernel: the PTX that the cubin was made from
};

// The kernels that `target` names: the path of a file, or kernels of the catalog. `entry` selects
// entries by name or by a part of the name. If `entry` is empty, a file gives all entries, and a
// catalog kernel the entry for column-major NN problems. `sm` selects one architecture in a file
// (0: all); for catalog kernels, the code for `gpu` is taken. Throws StatusError if nothing is
// found.
std::vector<MachineKernel> machine_kernels(const std::string& target, const std::string& entry,
                                           int sm, const arch::Gpu& gpu);

// All bytes of a file. Throws StatusError if the file cannot be read.
std::vector<std::byte> file_bytes(const std::string& path);

// For a catalog kernel with a patched cubin: the patched cubin, or the cubin before patching.
enum class CubinKind { kAsRun, kUnpatched };
// The only cubin in a file (for architecture `sm`, unless 0), or the cubin of a catalog kernel for
// `gpu`: if there are several, the cubin with the first entry whose name contains `entry`.
std::vector<std::byte> cubin_bytes(const std::string& target, const std::string& entry, int sm,
                                   const arch::Gpu& gpu, CubinKind kind = CubinKind::kAsRun);

}  // namespace tessera::cli
