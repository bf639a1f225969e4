#include "catalog/pack.h"

#include <zstd.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace tessera {
namespace {

// TRIED: level 19 makes rung 12 18 % smaller (326 instead of 397 kB) in 2.1 instead of 0.14 s.
constexpr int kLevel = 12;
constexpr std::uint64_t kMaxBytes = 1u << 30;  // of all parts: far above any image

// Before compression: the number of parts, their sizes, then their bytes.
std::string joined(const std::vector<std::string_view>& parts) {
  std::string text;
  const auto append = [&](std::uint64_t number) {
    text.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  append(parts.size());
  for (const std::string_view part : parts) append(part.size());
  for (const std::string_view part : parts) text += part;
  return text;
}

// Takes bytes off the front of a text; throws when there are not enough.
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

std::size_t checked(std::size_t zstd_result) {
  if (ZSTD_isError(zstd_result)) {
    throw std::runtime_error(std::string("packed bytes: ") + ZSTD_getErrorName(zstd_result));
  }
  return zstd_result;
}

}  // namespace

std::string pack(const std::vector<std::string_view>& parts) {
  const std::string text = joined(parts);
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  if (context == nullptr) throw std::runtime_error("zstd has no memory");
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  const std::size_t size =
      ZSTD_compress2(context, packed.data(), packed.size(), text.data(), text.size());
  ZSTD_freeCCtx(context);
  packed.resize(checked(size));
  return packed;
}

std::vector<std::string> unpack(std::string_view packed) {
  const std::uint64_t size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size > kMaxBytes) throw std::runtime_error("packed bytes do not begin as pack() writes them");
  std::string text(size, '\0');
  if (checked(ZSTD_decompress(text.data(), size, packed.data(), packed.size())) != size) {
    throw std::runtime_error("packed bytes end too early");
  }
  std::string_view rest = text;
  const std::uint64_t count = take_number(rest);
  std::string_view sizes = take(rest, count > size / 8 ? size : count * 8);
  std::vector<std::string> parts;
  for (std::uint64_t i = 0; i < count; ++i) parts.emplace_back(take(rest, take_number(sizes)));
  return parts;
}

}  // namespace tessera
