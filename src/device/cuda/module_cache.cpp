#include "device/cuda/module_cache.h"

#include <fmt/format.h>

#include <limits>

namespace tessera::cuda {

std::uint64_t ModuleCache::handle_of(std::string_view name) {
  const std::lock_guard lock(mutex_);
  if (const auto known = handles_.find(name); known != handles_.end()) return known->second;
  images_.emplace_back();
  handles_.emplace(name, images_.size());
  return images_.size();
}

LoadedImage ModuleCache::load(const CodeImage& image, int sm) {
  const std::uint64_t handle = handle_of(image.name);
  Image& place = image_of(handle);
  const std::lock_guard lock(place.mutex);
  LoadedModule& code = place.code;
  if (!code.module) code = load_module(driver_, image, sm);
  return {handle, code.description, code.code, code.is_patched};
}

// HW: clusters of more than 8 thread blocks are not portable, and must be allowed for each kernel
// (CUDA C++ Programming Guide, clusters).
const Entry& ModuleCache::entry(const LoadedImage& image, const std::string& name,
                                const LaunchShape& shape) {
  if (shape.grid < 1 || shape.grid > std::numeric_limits<int>::max()) {
    throw StatusError(Status::bad_argument(
        fmt::format("grid of {} is {} blocks; a launch has 1 to 2^31 - 1", name, shape.grid)));
  }
  Image& place = image_of(image.handle);
  const std::lock_guard lock(place.mutex);
  Entry& entry = entry_of(place, name);
  allow_shared(entry, shape.shared_bytes);
  if (shape.cluster[0] * shape.cluster[1] * shape.cluster[2] > 8) {
    call("cuFuncSetAttribute", driver_.func_set_attribute(entry.function, kNonPortableCluster, 1));
  }
  return entry;
}

// WHY results are ignored: after a fault of a kernel, every call reports the kernel's fault.
void ModuleCache::unload() noexcept {
  for (const Image& image : images_) {
    if (image.code.module) driver_.module_unload(image.code.module);
  }
}

ModuleCache::Image& ModuleCache::image_of(std::uint64_t handle) {
  const std::lock_guard lock(mutex_);
  if (handle == 0 || handle > images_.size()) {
    throw StatusError(Status::bad_argument(
        fmt::format("image handle {} is not one that this device loaded", handle)));
  }
  return images_[handle - 1];
}

Entry& ModuleCache::entry_of(Image& image, const std::string& name) {
  const auto known = image.entries.find(name);
  if (known != image.entries.end()) return known->second;
  Entry entry{.name = name};
  const Result result =
      driver_.module_get_function(&entry.function, image.code.module, name.c_str());
  if (result == kNotFound) {
    throw StatusError(Status::bad_argument(
        fmt::format("entry {} is not in the image ({})", name, image.code.description)));
  }
  call("cuModuleGetFunction", result);
  return image.entries.emplace(name, entry).first->second;
}

// HW: only this attribute gives a block more than 48 KB of dynamic shared memory (CUDA C++
// Programming Guide, shared memory). Static shared memory also counts, so the attribute is set for
// any size.
void ModuleCache::allow_shared(Entry& entry, int bytes) {
  if (bytes <= entry.dynamic_shared_bytes) return;
  call("cuFuncSetAttribute",
       driver_.func_set_attribute(entry.function, kMaxDynamicSharedBytes, bytes));
  entry.dynamic_shared_bytes = bytes;
}

}  // namespace tessera::cuda
