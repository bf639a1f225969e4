// A file that is mapped into memory. The system reads a page only when the program touches it: of
// all compiled kernels, a program reads only the few that it needs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tessera {

// The file must not be written to while it is mapped. A new version of the file may replace it by
// a rename.
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
