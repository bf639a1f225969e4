#include "catalog/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace tessera {

MappedFile::MappedFile(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  int error = file < 0 || fstat(file, &status) != 0 ? errno : 0;
  if (error == 0 && !S_ISREG(status.st_mode)) error = EINVAL;
  // WHY an empty file is not mapped: mmap refuses a length of 0.
  if (error == 0 && status.st_size > 0) {
    const auto size = static_cast<std::size_t>(status.st_size);
    void* const data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (data == MAP_FAILED) {
      error = errno;
    } else {
      data_ = data;
      size_ = size;
    }
  }
  if (file >= 0) close(file);
  if (error != 0) throw std::system_error(error, std::generic_category(), path);
}

MappedFile::~MappedFile() {
  if (data_) munmap(data_, size_);
}

}  // namespace tessera
