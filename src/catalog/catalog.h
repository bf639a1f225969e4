// The only table of all kernels. Tests, verify, bench, list and docs iterate over it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/config.h"
#include "launch/image.h"
#include "problem/problem.h"

namespace tessera {

// One compiled entry of a kernel: a config under its variant name and majors.
struct KernelRow {
  std::string variant;  // "128x128x8"
  std::string entry;    // "rung_10_general_tile__128x128x8_ak_bn"
  Majors majors;        // kStrided where strides are run-time values
  BlockTile block;
  OutputTile thread = {1, 1};  // outputs of one thread, for the arithmetic of its loads
  int threads = 0;             // threads per block along x
  int threads_y = 1;           // threads per block along y
  // Fields of production kernels. Such a kernel may have several rows with equal majors.
  Loads loads = {Load::kCpAsync4, Load::kCpAsync4};
  TensorBox a_box = {}, b_box = {};  // boxes of the operands that TMA loads
  int shared_bytes = 0;              // dynamic shared memory of a block
  std::string reduce_entry = {};     // entry that adds the partial sums of split tiles
  std::string repack_entry =
      {};                  // brings operands into the form that tensor copies take; may be empty
  int ctas_per_sm = 0;     // CTAs per SM of a persistent grid; 0: one block per tile
  int slices = 1;          // parts of a tile's k, each with its own warps
  std::string image = {};  // name of the image with the entry: "12_warp_tile__staged"
  const void* config = nullptr;  // the family's own Config; may be null
};

// An additional entry of a kernel: a launch before or after the product, with its device function.
struct HelperEntry {
  std::string entry;   // "rung_21_packed_blocks__8x8__pack_a"
  std::string call;    // "pack_a<kernel::kConfigs[0].config>"
  std::string params;  // "tessera::PackParams"
  // Threads per block, and CTAs per SM that registers must allow; 0: no limit is compiled in.
  int threads = 0, ctas_per_sm = 1;
  std::string image = {};  // name of the image with the entry
};

struct Kernel {
  std::string name;  // the rung's folder, "02_coalesced"
  std::string idea;  // the idea of the kernel in one short line
  Types types;
  std::string family;           // its host file is gemm/families/<family>.cpp
  std::vector<KernelRow> rows;  // variant by variant; the first is the default
  std::vector<HelperEntry> helpers;
  // The lowest and the highest compute capability that the kernel's code runs on.
  int first_sm = 0, last_sm = 999;
  // Images, by name, that replace the images of this build. An image with the name "" holds all
  // entries of the kernel.
  std::map<std::string, CodeImage, std::less<>> own_images = {};
  std::string source = {};                     // in src/: "ladder/12_warp_tile/kernel.cu"
  std::string name_space = {};                 // namespace of the source: "tessera::warp_tile"
  std::string configs = "kConfigs";            // name of the config table there
  std::string params = "tessera::GemmParams";  // parameter type of its entries
  // The kernel itself applies the epilogue of a problem. The library chooses the kernel for
  // problems with an epilogue; for problems without an epilogue, the kernel is also correct.
  bool applies_epilogue = false;
  bool writes_x = false;  // applies_epilogue, and writes an auxiliary output
  int known_spills = 0;   // spills that the build allows in main loops
  // The name of the kernel whose patched form this kernel is; "" if this kernel is not patched.
  // Only the cubins of the two kernels differ: source, PTX, entries and plan are the same.
  std::string patched_from = {};
  bool is_patched() const { return !patched_from.empty(); }
};

std::span<const Kernel> all_kernels();
// The kernel that is launched after a product to apply its epilogue. It has an entry for each type
// of D, and no row: it multiplies nothing, so all_kernels() does not contain it.
const Kernel& finish_kernel();
// The kernel that is launched before a product to convert an operand. It has one entry.
const Kernel& widen_kernel();
// The kernel that is launched before a batch of products to make the tensor maps of its matrices.
// It has one entry.
const Kernel& listed_maps_kernel();
// The kernels, without rows, that plans launch before or after the kernel that multiplies.
std::span<const Kernel* const> pass_kernels();
// Returns the entry of finish_kernel() for these types; with `writes_x`, the entry that also writes
// an auxiliary output. Throws kUnsupported, naming both types, if there is no such entry.
const HelperEntry& finish_entry_for(ElementType sum, ElementType d, bool writes_x = false);

// Whether a kernel is a rung: a teaching kernel, whose name has a number. The library never chooses
// a rung; it plans a rung only if the caller names the rung.
bool is_rung(const Kernel& kernel);
std::vector<std::string> variants_of(const Kernel& kernel);  // default first, no repeats

// One kernel variant that choose_kernels() selects. A pattern is a kernel's name, its number, a
// glob, "rungs", "library" (all kernels that are not rungs), "all", or a list of these with commas.
// After a pattern, "/variant" selects variants ("12_warp_tile/staged"; "/all": every variant),
// ":decision" a decision (gemm/decision.h). Throws kBadArgument with the closest names.
struct KernelChoice {
  const Kernel* kernel;
  std::string variant;
  std::string decision = {};  // the name after ":"; empty: the model decides
};
std::vector<KernelChoice> choose_kernels(std::string_view pattern);
const std::string& first_entry_of(const KernelChoice& choice);  // the first entry of its variant

// Returns the rows of one variant, one row for each combination of majors and loads. Throws
// kBadArgument if the kernel has no such variant.
std::span<const KernelRow> rows_of(const Kernel& kernel, std::string_view variant);

// Returns kUnsupported, with a message that names the types, if no kernel multiplies these types at
// any size.
Status check_has_kernel(const Types& types);

// Returns the image that contains an entry of the kernel (of a row or a helper), or an entry of
// one of pass_kernels(). If the image is not compiled,
// throws kUnavailable with the command that compiles it.
const CodeImage& image_of(const Kernel& kernel, std::string_view entry);
// Like image_of(), but returns nullptr if the image is not compiled.
const CodeImage* compiled_image_of(const Kernel& kernel, std::string_view entry);

// The names of the images that hold the kernel's entries, in the order of its rows.
std::vector<std::string> image_names_of(const Kernel& kernel);
// All images that hold the kernel's entries. Throws kUnavailable if one is missing.
std::vector<const CodeImage*> images_of(const Kernel& kernel);

}  // namespace tessera
