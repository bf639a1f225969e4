#include "catalog/images.h"

#include <map>
#include <mutex>
#include <string>

#include "catalog/pack.h"

namespace tessera {
namespace {

// An image and what it points to.
struct UnpackedImage {
  explicit UnpackedImage(const PackedImage& row) : parts(unpack(row.packed)) {
    for (std::size_t i = 0; i < row.cubin_archs.size(); ++i) {
      cubins.push_back({row.cubin_archs[i], std::as_bytes(std::span<const char>(parts.at(2 + i)))});
    }
    const Cubin& first = cubins.at(0);
    image = {row.name,
             parts.at(0),
             first.bytes,
             first.arch,
             parts.at(1),
             row.portable_arch,
             std::span<const Cubin>(cubins).subspan(1)};
    if (row.patch.empty()) return;
    patch = unpack(row.patch, parts.at(2));
    image.patched = {std::as_bytes(std::span<const char>(patch.at(0))), patch.at(1), patch.at(2)};
  }
  UnpackedImage(const UnpackedImage&) = delete;
  UnpackedImage& operator=(const UnpackedImage&) = delete;

  std::vector<std::string> parts, patch;
  std::vector<Cubin> cubins;
  CodeImage image;
};

}  // namespace

const CodeImage* find_image(std::string_view kernel_name) {
  static std::mutex mutex;
  static std::map<std::string_view, UnpackedImage> unpacked;
  const std::lock_guard lock(mutex);
  for (const PackedImage& row : embedded_images()) {
    if (row.name == kernel_name) return &unpacked.try_emplace(row.name, row).first->second.image;
  }
  return nullptr;
}

}  // namespace tessera
