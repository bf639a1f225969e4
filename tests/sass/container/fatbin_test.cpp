// Fatbins as nvcc writes them, made here around a cubin of the catalog: plain, packed, inside of a
// program, cut off and damaged.
#include "sass/container/fatbin.h"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

#include "catalog/catalog.h"
#include "sass/container/cubin.h"

namespace tessera::sass {
namespace {

Bytes some_cubin() {
  const auto bytes = images_of(all_kernels().front()).front()->cubin;
  return {bytes.begin(), bytes.end()};
}

void put(Bytes& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<std::byte>(value >> (8 * i) & 0xFF));
}

void put(Bytes& out, const Bytes& more) { out.insert(out.end(), more.begin(), more.end()); }

// A zstd frame of stored blocks.
Bytes packed_by_zstd(const Bytes& bytes) {
  constexpr std::size_t kBlock = 1 << 17;
  Bytes out;
  put(out, 0xFD2FB528, 4);
  put(out, 0xA0, 1);  // one segment, and its size in 4 bytes
  put(out, bytes.size(), 4);
  for (std::size_t at = 0; at < bytes.size(); at += kBlock) {
    const std::size_t size = std::min(kBlock, bytes.size() - at);
    put(out, size << 3 | (at + size == bytes.size() ? 1 : 0), 3);
    out.insert(out.end(), bytes.begin() + static_cast<long>(at),
               bytes.begin() + static_cast<long>(at + size));
  }
  return out;
}

void put_lz4_length(Bytes& out, std::size_t length) {
  for (length -= 15; length >= 255; length -= 255) put(out, 255, 1);
  put(out, length, 1);
}

void put_lz4_run(Bytes& out, const Bytes& literals, std::size_t distance, std::size_t match) {
  const std::size_t copied = distance ? match - 4 : 0;
  put(out, std::min<std::size_t>(literals.size(), 15) << 4 | std::min<std::size_t>(copied, 15), 1);
  if (literals.size() >= 15) put_lz4_length(out, literals.size());
  put(out, literals);
  if (!distance) return;
  put(out, distance, 2);
  if (copied >= 15) put_lz4_length(out, copied);
}

// Only repetitions of one byte become copies; cubins are full of zeros.
Bytes packed_by_lz4(const Bytes& bytes) {
  Bytes out, literals;
  for (std::size_t at = 0; at < bytes.size();) {
    literals.push_back(bytes[at++]);
    std::size_t same = 0;
    while (at + same < bytes.size() && bytes[at + same] == bytes[at - 1]) ++same;
    if (same < 4 || at + same == bytes.size()) continue;
    put_lz4_run(out, literals, 1, same);
    literals.clear();
    at += same;
  }
  put_lz4_run(out, literals, 0, 0);
  return out;
}

constexpr std::uint64_t kPlain = 0x11, kLz4 = 0x2011, kZstd = 0x8011;

Bytes entry(int kind, const Bytes& payload, std::uint64_t flags, std::size_t unpacked) {
  const std::size_t padded = (payload.size() + 7) / 8 * 8;
  Bytes out;
  put(out, static_cast<std::uint64_t>(kind) | 0x101 << 16, 4);
  put(out, 64, 4);
  put(out, padded, 8);
  put(out, flags == kPlain ? 0 : payload.size(), 8);
  put(out, 0, 4);
  put(out, 90, 8);
  put(out, 0, 4);
  put(out, flags, 8);
  put(out, 0, 8);
  put(out, unpacked, 8);
  put(out, payload);
  out.resize(64 + padded);
  return out;
}

Bytes fatbin(const std::vector<Bytes>& entries) {
  Bytes content, out;
  for (const Bytes& part : entries) put(content, part);
  put(out, 0xBA55ED50, 4);
  put(out, 1, 2);
  put(out, 16, 2);
  put(out, content.size(), 8);
  put(out, content);
  return out;
}

Bytes all_ways() {
  const Bytes cubin = some_cubin();
  return fatbin({entry(2, cubin, kPlain, 0), entry(1, Bytes(40), kPlain, 0),
                 entry(2, packed_by_zstd(cubin), kZstd, cubin.size()),
                 entry(2, packed_by_lz4(cubin), kLz4, cubin.size())});
}

TEST(Fatbin, CubinsComeOutAsTheyWentIn) {
  const FoundCode found = find_code(all_ways());
  ASSERT_EQ(found.cubins.size(), 3u);
  EXPECT_EQ(found.ptx, 1);
  for (const FoundCubin& cubin : found.cubins) {
    EXPECT_EQ(cubin.sm, 90);
    EXPECT_TRUE(cubin.bytes == some_cubin());
    EXPECT_FALSE(read_cubin(cubin.bytes).kernels.empty());
  }
}

TEST(Fatbin, ProgramsHoldThemAnywhere) {
  Bytes program(128);
  put(program, all_ways());
  program.resize((program.size() + 15) / 8 * 8);
  put(program, all_ways());
  EXPECT_EQ(find_code(program).cubins.size(), 6u);
  EXPECT_EQ(find_code(some_cubin()).cubins.size(), 1u) << "a cubin is found in itself";
}

TEST(Fatbin, FilesWithoutCodeAreErrors) {
  for (const Bytes& file : {Bytes(), Bytes(15), Bytes(10'000), fatbin({})}) {
    EXPECT_THROW(find_code(file), std::runtime_error);
  }
}

TEST(Fatbin, TruncatedFilesAreErrors) {
  const Bytes file = all_ways();
  for (std::size_t size = 0; size < file.size(); size += 61) {
    const Bytes part(file.begin(), file.begin() + static_cast<long>(size));
    EXPECT_THROW(find_code(part), std::runtime_error) << size;
  }
}

TEST(Fatbin, DamageIsAnErrorOrOtherCodeButNeverACrash) {
  const Bytes file = all_ways();
  const std::size_t last_entry = file.size() - packed_by_lz4(some_cubin()).size() - 80;
  std::mt19937 random(11);
  int errors = 0;
  for (int i = 0; i < 2000; ++i) {
    Bytes damaged = file;
    const std::size_t start = i % 2 ? last_entry : 0;
    for (int flips = 0; flips < 1 + i % 4; ++flips) {
      damaged[start + random() % (i % 4 < 2 ? 80 : file.size() - start)] ^=
          static_cast<std::byte>(1 << random() % 8);
    }
    try {
      for (const FoundCubin& cubin : find_code(damaged).cubins) read_cubin(cubin.bytes);
    } catch (const std::runtime_error& error) {
      EXPECT_STRNE(error.what(), "");
      ++errors;
    }
  }
  EXPECT_GT(errors, 100);
}

}  // namespace
}  // namespace tessera::sass
