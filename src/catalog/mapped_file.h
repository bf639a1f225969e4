// A file in memory, whose pages are read when they are touched: of 20 MB of compiled kernels a
// program needs a few.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tessera {

// The file must not be written to while it is mapped. A new version that replaces it by a rename
// does no harm.
class MappedFile {
 public:
  MappedFile() = default;
  // Throws std::system_error if `path` is not a file that can be read.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return {static_cast<const char*>(data_), size_}; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tessera
