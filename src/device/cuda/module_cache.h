// The modules of one context. A module is loaded once, and found again by the name of its image.
// Safe to use from several threads; while one image is loaded, only calls that need this image
// wait.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "device/cuda/modules.h"

namespace tessera::cuda {

struct Entry {
  std::string name;
  Function function = nullptr;
  int dynamic_shared_bytes = 0;  // the largest allowed so far; guarded by the cache
};

// Every call expects the context to be current.
class ModuleCache {
 public:
  explicit ModuleCache(const Driver& driver) : driver_(driver) {}

  LoadedImage load(const CodeImage& image, int sm);
  // Returns an entry that exists as long as the cache; its address, name and function never change.
  const Entry& entry(const LoadedImage& image, const std::string& name, const LaunchShape& shape);
  void unload() noexcept;

 private:
  struct Image {
    std::mutex mutex;   // guards the members below
    LoadedModule code;  // null module: not loaded yet
    std::map<std::string, Entry, std::less<>> entries;
  };

  void call(std::string_view name, Result result) const { check(driver_, name, result); }
  std::uint64_t handle_of(std::string_view name);
  Image& image_of(std::uint64_t handle);
  Entry& entry_of(Image& image, const std::string& name);
  void allow_shared(Entry& entry, int bytes);

  const Driver& driver_;
  std::mutex mutex_;
  std::deque<Image> images_;  // handle = index + 1; an image stays where it is
  std::map<std::string, std::uint64_t, std::less<>> handles_;
};

}  // namespace tessera::cuda
