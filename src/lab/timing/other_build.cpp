#include "lab/timing/other_build.h"

namespace tessera::lab {
namespace {

bool has_entry(const CodeImage& image, const std::string& entry) {
  return image.ptx.find(".entry " + entry + "(") != std::string_view::npos;
}

}  // namespace

OtherBuild::OtherBuild(std::string folder, std::string_view option)
    : files_(std::move(folder), option) {}

const Kernel& OtherBuild::copy_of(const Kernel& kernel) {
  for (const Kernel& known : kernels_) {
    if (known.name == kernel.name) return known;
  }
  const std::string& code = kernel.is_patched() ? kernel.patched_from : kernel.name;
  const bool runs_patched = !image_of(kernel).patched.made_from.empty();
  const CodeImage& image = files_.find(code, runs_patched);
  kernels_.push_back(kernel);
  kernels_.back().own_image = image;
  return kernels_.back();
}

KernelChoice OtherBuild::with_its_code(const KernelChoice& choice) {
  const Kernel& kernel = copy_of(*choice.kernel);
  for (const KernelRow& row : kernel.rows) {
    if (row.variant != choice.variant) continue;
    for (const std::string& entry : {row.entry, row.reduce_entry, row.repack_entry}) {
      if (entry.empty() || has_entry(*kernel.own_image, entry)) continue;
      throw StatusError(
          Status::unsupported("entry " + entry + " is not in the images of " + files_.folder()));
    }
  }
  return {&kernel, choice.variant};
}

}  // namespace tessera::lab
