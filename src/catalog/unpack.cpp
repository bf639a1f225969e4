#include "catalog/pack.h"

#include <zstd.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace tessera {
namespace {

constexpr std::uint64_t kMaxBytes = 1u << 30;  // limit of all parts together; images are smaller

// Removes `bytes` bytes from the front of `text` and returns them. Throws if `text` is shorter.
std::string_view take(std::string_view& text, std::uint64_t bytes) {
  if (bytes > text.size()) throw std::runtime_error("packed bytes end too early");
  const std::string_view front = text.substr(0, bytes);
  text.remove_prefix(bytes);
  return front;
}

std::uint64_t take_number(std::string_view& text) {
  std::uint64_t number;
  std::memcpy(&number, take(text, sizeof number).data(), sizeof number);
  return number;
}

std::size_t unpacking_result(std::size_t zstd_result) {
  if (ZSTD_isError(zstd_result)) {
    throw std::runtime_error(std::string("packed bytes: ") + ZSTD_getErrorName(zstd_result));
  }
  return zstd_result;
}

}  // namespace

UnpackedParts unpack(std::string_view packed, std::string_view known) {
  const std::uint64_t size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size > kMaxBytes) throw std::runtime_error("packed bytes do not begin as pack() writes them");
  UnpackedParts unpacked{std::make_unique_for_overwrite<char[]>(size), {}};
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(),
                                                                     ZSTD_freeDCtx);
  if (!context) throw std::runtime_error("zstd has no memory");
  if (!known.empty())
    unpacking_result(ZSTD_DCtx_refPrefix(context.get(), known.data(), known.size()));
  if (unpacking_result(ZSTD_decompressDCtx(context.get(), unpacked.bytes.get(), size, packed.data(),
                                           packed.size())) != size) {
    throw std::runtime_error("packed bytes end too early");
  }
  std::string_view rest(unpacked.bytes.get(), size);
  const std::uint64_t count = take_number(rest);
  std::string_view sizes = take(rest, count > size / 8 ? size : count * 8);
  for (std::uint64_t i = 0; i < count; ++i) {
    unpacked.parts.push_back(take(rest, take_number(sizes)));
  }
  return unpacked;
}

}  // namespace tessera
