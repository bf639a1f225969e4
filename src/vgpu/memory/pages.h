// Zeroed memory of which only touched pages take physical memory: for notes about each byte of an
// array, even if a kernel touches only a part of the array.
#pragma once

#include <cstddef>
#include <utility>

namespace tessera::vgpu {

class Pages {
 public:
  Pages() = default;
  explicit Pages(std::size_t bytes);  // throws std::bad_alloc
  ~Pages();
  Pages(Pages&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Pages& operator=(Pages&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  void* data() const { return data_; }  // null: none

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Returns memory that holds 0xff bytes; null if there is not enough. Of a large block, only pages
// that are written take physical memory. The caller frees it with munmap.
std::byte* map_filled(std::size_t bytes);

}  // namespace tessera::vgpu
