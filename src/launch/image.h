// Compiled code, as bytes, which the catalog passes to a device. Pure data, so that neither room
// needs the other's headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tessera {

using DeviceAddress = std::uint64_t;

// A cubin for one architecture.
struct Cubin {
  std::string_view arch;  // "sm_86"
  std::span<const std::byte> bytes;
};

// A cubin with machine code that the build has reordered. It is used only if it was made from the
// image's plain cubin.
struct PatchedCubin {
  std::span<const std::byte> bytes;  // empty: there is none
  std::string_view made_from;        // hash_of() its plain cubin (base/hash.h)
  std::string_view note;             // the changes and their proof, or why there are none
};

// Compiled code of kernels, as the catalog holds it: PTX for sm_90a and a cubin made from it, and
// portable PTX with cubins made from that.
struct CodeImage {
  std::string_view name;                       // "07_vector_access__32x32x32"
  std::string_view ptx;                        // for sm_90a; the virtual GPU runs this one
  std::span<const std::byte> cubin;            // made from ptx
  std::string_view cubin_arch;                 // "sm_90a"
  std::string_view portable_ptx;               // for older cards; the driver compiles it
  std::string_view portable_arch;              // "compute_75"
  std::span<const Cubin> further_cubins = {};  // for other GPUs, made from portable_ptx
  PatchedCubin patched = {};                   // made from `cubin`, and preferred to it
};

// The cubin that is meant to run: the patched one if there is one.
inline std::span<const std::byte> best_cubin(const CodeImage& image) {
  return image.patched.bytes.empty() ? image.cubin : image.patched.bytes;
}

}  // namespace tessera
