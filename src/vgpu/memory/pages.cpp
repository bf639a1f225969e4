#include "vgpu/memory/pages.h"

#include <sys/mman.h>

#include <new>

namespace tessera::vgpu {
namespace {

// From here on, few large pages cost less than many small ones.
constexpr std::size_t kHuge = 4 << 20;

}  // namespace

Pages::Pages(std::size_t bytes) : bytes_(bytes) {
  data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
               -1, 0);
  if (data_ == MAP_FAILED) throw std::bad_alloc();
  if (bytes >= kHuge) madvise(data_, bytes, MADV_HUGEPAGE);  // a hint; it may be refused
}

Pages::~Pages() {
  if (data_) munmap(data_, bytes_);
}

}  // namespace tessera::vgpu
