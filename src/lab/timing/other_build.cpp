#include "lab/timing/other_build.h"

#include <map>

#include "base/renamed.h"

namespace tessera::lab {
namespace {

// The entries of an image under their names of today: an older build may call them otherwise.
std::map<std::string, std::string> entries_of(const CodeImage& image) {
  constexpr std::string_view kEntry = ".entry ";
  std::map<std::string, std::string> entries;
  for (std::size_t at = image.ptx.find(kEntry); at != image.ptx.npos;
       at = image.ptx.find(kEntry, at + 1)) {
    const std::size_t begin = at + kEntry.size();
    const std::string name(image.ptx.substr(begin, image.ptx.find('(', begin) - begin));
    entries[with_current_names(name)] = name;
  }
  return entries;
}

// Empty where the image has none.
std::string name_in(const std::map<std::string, std::string>& entries, const std::string& entry) {
  const auto at = entries.find(entry);
  return at == entries.end() ? std::string() : at->second;
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
  Kernel copy = kernel;
  copy.own_image = image;
  const auto entries = entries_of(image);
  for (KernelRow& row : copy.rows) {
    for (std::string* entry : {&row.entry, &row.reduce_entry, &row.repack_entry}) {
      if (const std::string name = name_in(entries, *entry); !name.empty()) *entry = name;
    }
  }
  return kernels_.emplace_back(std::move(copy));
}

KernelChoice OtherBuild::with_its_code(const KernelChoice& choice) {
  const Kernel& kernel = copy_of(*choice.kernel);
  const auto entries = entries_of(*kernel.own_image);
  for (const KernelRow& row : choice.kernel->rows) {
    if (row.variant != choice.variant) continue;
    for (const std::string& entry : {row.entry, row.reduce_entry, row.repack_entry}) {
      if (entry.empty() || entries.contains(entry)) continue;
      throw StatusError(
          Status::unsupported("entry " + entry + " is not in the images of " + files_.folder()));
    }
  }
  return {&kernel, choice.variant};
}

}  // namespace tessera::lab
