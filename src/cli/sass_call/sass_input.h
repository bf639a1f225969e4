// The code that "tessera sass" examines: kernels of the catalog, or of any file with GPU code in
// it.
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
  std::string from;  // "11_double_buffer", or the file's path
  int sm = 0;
  sass::CubinKernel kernel;
  std::optional<KernelChoice> choice;  // choice from the catalog, with the build's own code
  const KernelRow* row = nullptr;      // row of the catalog
  std::string_view ptx;                // for the catalog: the PTX that the cubin was made from
};

// `target` is a path or what names kernels of the catalog. `entry` names one of their entries, by
// its whole name or a part of it; empty: all of a file's, and of a catalog kernel the one that
// column-major NN problems take. `sm` keeps those of one architecture of a file; 0: all. Catalog
// kernels are in the code of `gpu`, a file's in whatever it holds. Throws StatusError when nothing
// is found.
std::vector<MachineKernel> machine_kernels(const std::string& target, const std::string& entry,
                                           int sm, const arch::Gpu& gpu);

// All bytes of a file. Throws StatusError when it cannot be read.
std::vector<std::byte> file_bytes(const std::string& path);

// Which code of a patched catalog kernel is meant.
enum class CubinKind { kAsRun, kUnpatched };
// The one cubin of a file (for `sm`, if not 0), or the one that a catalog kernel has for `gpu`. Of
// several images, the one whose entry's name contains `entry`.
std::vector<std::byte> cubin_bytes(const std::string& target, const std::string& entry, int sm,
                                   const arch::Gpu& gpu, CubinKind kind = CubinKind::kAsRun);

}  // namespace tessera::cli
