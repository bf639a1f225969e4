#include "catalog/manifest.h"

#include <algorithm>

namespace tessera::catalog {
namespace {

constexpr const char* kHead =
    "# What the build compiles: one image for each kernel and config, and the entries in it. "
    "Written\n"
    "# by build/write_manifest from the tables of configs (src/**/config.h); a test compares.\n"
    "#   image NAME source FILE namespace N configs TABLE params TYPE portable ARCH spills COUNT "
    "[shown]\n"
    "#   image NAME patched_from IMAGE [shown]     the same code, its cubin patched\n"
    "#     portable: the lowest compute capability that runs it; 0: sm_90a alone\n"
    "#     spills: loads and stores of local memory that a main loop may have\n"
    "#     shown: of a rung's default config, which `make run` shows\n"
    "#   entry NAME config ROW ...                 ROW of TABLE; the rest is for readers\n"
    "#   helper NAME params TYPE threads COUNT ctas_per_sm COUNT call FUNCTION\n";

ImageContents& contents_of(std::vector<ImageContents>& images, const std::string& name,
                           const Kernel& kernel) {
  const auto known = std::ranges::find(images, name, &ImageContents::name);
  if (known != images.end()) return *known;
  images.push_back({name, &kernel, {}, {}});
  return images.back();
}

// Returns the architecture of the kernel's portable PTX; 0 if the kernel has no portable PTX,
// because its code runs on only one compute capability.
int portable_arch_of(const Kernel& kernel) {
  return kernel.first_sm == kernel.last_sm ? 0 : kernel.first_sm;
}

std::string line_of(const ImageContents& image) {
  const Kernel& kernel = *image.kernel;
  std::string line = "image " + image.name;
  if (kernel.is_patched()) {
    line += " patched_from " + kernel.patched_from + image.name.substr(kernel.name.size());
  } else {
    line += " source " + kernel.source + " namespace " + kernel.name_space + " configs " +
            kernel.configs + " params " + kernel.params + " portable " +
            std::to_string(portable_arch_of(kernel)) + " spills " +
            std::to_string(kernel.known_spills);
  }
  return line + (image.is_shown ? " shown\n" : "\n");
}

std::string line_of(const KernelRow& row, const Kernel& kernel) {
  return "  entry " + row.entry + " config " + std::to_string(&row - kernel.rows.data()) +
         " block " + std::to_string(row.block.m) + "x" + std::to_string(row.block.n) + "x" +
         std::to_string(row.block.k) + " thread " + std::to_string(row.thread.m) + "x" +
         std::to_string(row.thread.n) + " threads " + std::to_string(row.threads * row.threads_y) +
         " shared " + std::to_string(row.shared_bytes) + "\n";
}

std::string line_of(const HelperEntry& helper) {
  return "  helper " + helper.entry + " params " + helper.params + " threads " +
         std::to_string(helper.threads) + " ctas_per_sm " + std::to_string(helper.ctas_per_sm) +
         " call " + helper.call + "\n";
}

}  // namespace

std::vector<ImageContents> all_images() {
  std::vector<ImageContents> images;
  const auto add = [&](const Kernel& kernel) {
    for (const KernelRow& row : kernel.rows) {
      ImageContents& image = contents_of(images, row.image, kernel);
      image.rows.push_back(&row);
      image.is_shown |= is_rung(kernel) && row.variant == kernel.rows.front().variant;
    }
    for (const HelperEntry& helper : kernel.helpers) {
      ImageContents& image = contents_of(images, helper.image, kernel);
      image.helpers.push_back(&helper);
      image.is_shown |= is_rung(kernel) && image.rows.empty();
    }
  };
  for (const Kernel& kernel : all_kernels()) add(kernel);
  for (const Kernel* pass : pass_kernels()) add(*pass);
  return images;
}

std::string manifest_text() {
  std::string text = kHead;
  for (const ImageContents& image : all_images()) {
    text += "\n" + line_of(image);
    if (image.kernel->is_patched()) continue;
    for (const KernelRow* row : image.rows) text += line_of(*row, *image.kernel);
    for (const HelperEntry* helper : image.helpers) text += line_of(*helper);
  }
  return text;
}

}  // namespace tessera::catalog
