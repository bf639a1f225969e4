// Finds the compiled code of an entry.
#include <algorithm>

#include "catalog/catalog.h"
#include "catalog/image_pack.h"

namespace tessera {
namespace {

const std::string& image_name_of(const Kernel& kernel, std::string_view entry) {
  for (const KernelRow& row : kernel.rows) {
    if (row.entry == entry) return row.image;
  }
  for (const HelperEntry& helper : kernel.helpers) {
    if (helper.entry == entry) return helper.image;
  }
  throw StatusError(
      Status::bad_argument("kernel " + kernel.name + " has no entry '" + std::string(entry) + "'"));
}

// Returns the one image that holds all entries of a kernel (key "" of own_images); null if there is
// no such image. A kernel of this build has no such image.
const CodeImage* only_image_of(const Kernel& kernel) {
  const auto all = kernel.own_images.find("");
  return all == kernel.own_images.end() ? nullptr : &all->second;
}

const CodeImage* find_image(const Kernel& kernel, const std::string& name) {
  if (kernel.own_images.empty()) return own_images().find(name);
  const auto found = kernel.own_images.find(name);
  return found == kernel.own_images.end() ? only_image_of(kernel) : &found->second;
}

const CodeImage& image_named(const Kernel& kernel, const std::string& name) {
  if (const CodeImage* image = find_image(kernel, name)) return *image;
  if (!kernel.own_images.empty()) {
    throw StatusError(Status::unavailable("image " + name + " is not among those of " +
                                          std::string(kernel.own_images.begin()->second.name)));
  }
  throw StatusError(Status::unavailable("image " + name + " of kernel " + kernel.name +
                                        " is not compiled yet: it is not in '" +
                                        own_images().path() + "'; 'make library' compiles all"));
}

// Returns the kernel that has the entry. Entries of other passes belong to separate kernels,
// which all other kernels use.
const Kernel& owner_of(const Kernel& kernel, std::string_view entry) {
  for (const Kernel* pass : pass_kernels()) {
    const std::vector<HelperEntry>& all = pass->helpers;
    if (std::ranges::find(all, entry, &HelperEntry::entry) != all.end()) return *pass;
  }
  return kernel;
}

}  // namespace

const CodeImage& image_of(const Kernel& multiplies, std::string_view entry) {
  const Kernel& kernel = owner_of(multiplies, entry);
  if (const CodeImage* all = only_image_of(kernel)) return *all;
  return image_named(kernel, image_name_of(kernel, entry));
}

const CodeImage* compiled_image_of(const Kernel& multiplies, std::string_view entry) {
  const Kernel& kernel = owner_of(multiplies, entry);
  if (const CodeImage* all = only_image_of(kernel)) return all;
  return find_image(kernel, image_name_of(kernel, entry));
}

std::vector<std::string> image_names_of(const Kernel& kernel) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const KernelRow& row : kernel.rows) add(row.image);
  for (const HelperEntry& helper : kernel.helpers) add(helper.image);
  return names;
}

std::vector<const CodeImage*> images_of(const Kernel& kernel) {
  if (const CodeImage* all = only_image_of(kernel)) return {all};
  std::vector<const CodeImage*> images;
  for (const std::string& name : image_names_of(kernel)) {
    images.push_back(&image_named(kernel, name));
  }
  return images;
}

}  // namespace tessera
