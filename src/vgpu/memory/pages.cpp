#include "vgpu/memory/pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <new>

namespace tessera::vgpu {
namespace {

// From this size in bytes on, huge pages cost less than small pages.
constexpr std::size_t kHuge = 4 << 20;

// WHY 16 MB: a process may have only 65530 mappings, so pieces must not be smaller, and a piece
// must be filled once, so it should not be larger.
constexpr std::size_t kPiece = 16 << 20;
constexpr std::size_t kLarge = 4 * kPiece;

constexpr int kProtection = PROT_READ | PROT_WRITE;

// Returns an anonymous file of kPiece bytes 0xff, or -1 on failure.
int filled_piece() {
  const int file = memfd_create("filled", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, kPiece) != 0) return -1;
  void* data = mmap(nullptr, kPiece, kProtection, MAP_SHARED, file, 0);
  if (data == MAP_FAILED) return -1;
  std::memset(data, 0xff, kPiece);
  munmap(data, kPiece);
  return file;
}

int filled_piece_of_process() {
  static const int file = filled_piece();
  return file;
}

}  // namespace

std::byte* map_filled(std::size_t bytes) {
  const int piece = bytes < kLarge ? -1 : filled_piece_of_process();
  const bool in_pieces = piece >= 0;
  const int reserve = in_pieces ? MAP_NORESERVE : 0;
  void* data = mmap(nullptr, bytes, kProtection, MAP_PRIVATE | MAP_ANONYMOUS | reserve, -1, 0);
  if (data == MAP_FAILED) return nullptr;
  auto* host = static_cast<std::byte*>(data);
  std::size_t at = 0;
  // All mappings share the pages of the file until a page is written.
  for (; in_pieces && at + kPiece <= bytes; at += kPiece) {
    const int flags = MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE;
    if (mmap(host + at, kPiece, kProtection, flags, piece, 0) != MAP_FAILED) continue;
    munmap(data, bytes);
    return nullptr;
  }
  std::memset(host + at, 0xff, bytes - at);
  return host;
}

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
