#include "lab/bench/other_build.h"

#include <vector>

#include "base/renamed.h"

namespace tessera::lab {
namespace {

// Returns the entries of an image by their present names: an older build may have other names.
std::map<std::string, std::string> entries_of(const CodeImage& image) {
  constexpr std::string_view kEntry = ".entry ";
  std::map<std::string, std::string> entries;
  const std::string_view ptx = image.ptx;
  for (std::size_t at = ptx.find(kEntry); at != ptx.npos; at = ptx.find(kEntry, at + 1)) {
    const std::size_t begin = at + kEntry.size();
    const std::string name(ptx.substr(begin, ptx.find('(', begin) - begin));
    entries[with_current_names(name)] = name;
  }
  return entries;
}

// Returns the names under which another build may have the image: it may have one image for all
// configs of the kernel, and the patched cubin under the unpatched kernel's name.
std::vector<std::string> names_of(const Kernel& kernel, const std::string& image) {
  std::vector<std::string> names = {image, kernel.name};
  if (kernel.is_patched()) {
    names.push_back(kernel.patched_from + image.substr(kernel.name.size()));
    names.push_back(kernel.patched_from);
  }
  return names;
}

const CodeImage* find_image(ImageFiles& files, const Kernel& kernel, const std::string& image,
                            bool runs_patched) {
  for (const std::string& name : names_of(kernel, image)) {
    if (const CodeImage* found = files.find(name, runs_patched)) return found;
  }
  return nullptr;
}

using Names = std::map<std::string, std::string>;

void rename(std::string& entry, const Names& names) {
  if (const auto theirs = names.find(entry); theirs != names.end()) entry = theirs->second;
}

}  // namespace

OtherBuild::OtherBuild(std::string path, std::string_view option)
    : files_(std::move(path), option) {}

const OtherBuild::Copy& OtherBuild::copy_of(const Kernel& kernel) {
  for (const Copy& known : copies_) {
    if (known.kernel.name == kernel.name) return known;
  }
  Copy copy{kernel, {}};
  const std::string& first = kernel.rows.front().entry;
  const bool runs_patched = !image_of(kernel, first).patched.made_from.empty();
  for (const std::string& name : image_names_of(kernel)) {
    const CodeImage* image = find_image(files_, kernel, name, runs_patched);
    if (!image) continue;
    copy.kernel.own_images.emplace(name, *image);
    copy.entries.merge(entries_of(*image));
  }
  for (KernelRow& row : copy.kernel.rows) {
    for (std::string* entry : {&row.entry, &row.reduce_entry, &row.repack_entry}) {
      rename(*entry, copy.entries);
    }
  }
  for (HelperEntry& helper : copy.kernel.helpers) rename(helper.entry, copy.entries);
  return copies_.emplace_back(std::move(copy));
}

KernelChoice OtherBuild::with_its_code(const KernelChoice& choice) {
  const Copy& copy = copy_of(*choice.kernel);
  for (const KernelRow& row : choice.kernel->rows) {
    if (row.variant != choice.variant) continue;
    if (!copy.kernel.own_images.contains(row.image)) {
      throw StatusError(
          Status::unsupported("there is no image of " + row.image + " in " + files_.path()));
    }
    for (const std::string& entry : {row.entry, row.reduce_entry, row.repack_entry}) {
      if (entry.empty() || copy.entries.contains(entry)) continue;
      throw StatusError(
          Status::unsupported("entry " + entry + " is not in the images of " + files_.path()));
    }
  }
  return {&copy.kernel, choice.variant};
}

}  // namespace tessera::lab
