#include "sass/container/fatbin.h"

#include <cstring>
#include <stdexcept>

#include "sass/container/elf.h"

namespace tessera::sass {
namespace {

// HW: NVIDIA does not publish the format. These are the offsets that nvcc 13.0 writes in its four
// compression modes: a header of 16 bytes, then entries with headers of their own.
constexpr std::uint32_t kMagic = 0xBA55ED50;
constexpr std::uint64_t kHeaderSize = 6, kContentSize = 8;
constexpr std::uint64_t kKind = 0, kEntryHeaderSize = 4, kEntrySize = 8, kPackedSize = 16;
constexpr std::uint64_t kArchitecture = 28, kEntryFlags = 40, kUnpackedSize = 56;
constexpr std::uint64_t kSmallestEntryHeader = 64;
constexpr int kPtx = 1, kElf = 2;
constexpr std::uint64_t kLz4 = 0x2000, kZstd = 0x8000;

constexpr char kEntryLeaves[] = "Damaged fatbin: an entry leaves the file.";

Bytes unpack(std::span<const std::byte> header, std::span<const std::byte> payload) {
  const auto flags = number_at<std::uint64_t>(header, kEntryFlags);
  if ((flags & (kLz4 | kZstd)) == 0) return {payload.begin(), payload.end()};
  const auto packed =
      slice(payload, 0, number_at<std::uint32_t>(header, kPackedSize), kEntryLeaves);
  const auto size = number_at<std::uint64_t>(header, kUnpackedSize);
  return flags & kZstd ? unpack_zstd(packed, size) : unpack_lz4(packed, size);
}

bool has_elf_magic(std::span<const std::byte> bytes) {
  return bytes.size() > 64 && std::memcmp(bytes.data(), "\x7f\x45LF", 4) == 0;
}

// Adds the code in a fatbin to `found`. Returns the length of the fatbin, header included.
std::uint64_t read_fatbin(std::span<const std::byte> bytes, FoundCode& found) {
  const std::uint64_t header_size = number_at<std::uint16_t>(bytes, kHeaderSize);
  const auto content =
      slice(bytes, header_size, number_at<std::uint64_t>(bytes, kContentSize), kEntryLeaves);
  for (std::uint64_t at = 0; at < content.size();) {
    const std::uint64_t entry_header = number_at<std::uint32_t>(content, at + kEntryHeaderSize);
    if (entry_header < kSmallestEntryHeader)
      throw std::runtime_error("Damaged fatbin: an entry's header is too short.");
    const auto header = slice(content, at, entry_header, kEntryLeaves);
    const auto payload = slice(content.subspan(at), entry_header,
                               number_at<std::uint64_t>(header, kEntrySize), kEntryLeaves);
    const int kind = number_at<std::uint16_t>(header, kKind);
    if (kind == kElf) {
      const int sm = static_cast<int>(number_at<std::uint32_t>(header, kArchitecture));
      found.cubins.push_back({sm, unpack(header, payload)});
    } else if (kind == kPtx) {
      ++found.ptx;
    } else {
      found.skipped.push_back("An entry of unknown kind " + std::to_string(kind) + ".");
    }
    at += entry_header + payload.size();
  }
  return header_size + content.size();
}

bool starts_fatbin(std::span<const std::byte> bytes) {
  return bytes.size() >= 16 && number_at<std::uint32_t>(bytes, 0) == kMagic &&
         number_at<std::uint16_t>(bytes, 4) == 1;
}

// Returns the length of the fatbin at `at`. Throws if a file that begins with a fatbin is damaged.
// Elsewhere in a file the bytes may be no fatbin, so damage is only noted in `found.skipped`.
std::uint64_t fatbin_at(std::span<const std::byte> file, std::uint64_t at, FoundCode& found) {
  try {
    return read_fatbin(file.subspan(at), found);
  } catch (const std::runtime_error& error) {
    if (at == 0) throw;
    found.skipped.push_back(error.what());
    return 16;
  }
}

// Searches the whole file for fatbins, at the alignment that linkers use. This also finds code in a
// program that has lost its section table.
void search_fatbins(std::span<const std::byte> file, FoundCode& found) {
  constexpr std::uint64_t kAlignment = 8;
  for (std::uint64_t at = 0; at + 16 <= file.size();) {
    if (!starts_fatbin(file.subspan(at))) {
      at += kAlignment;
      continue;
    }
    at += (fatbin_at(file, at, found) + kAlignment - 1) / kAlignment * kAlignment;
  }
}

}  // namespace

FoundCode find_code(std::span<const std::byte> file) {
  constexpr std::uint64_t kMachine = 18;
  constexpr std::uint16_t kCudaMachine = 190;
  FoundCode found;
  if (has_elf_magic(file) && number_at<std::uint16_t>(file, kMachine) == kCudaMachine) {
    found.cubins.push_back({0, {file.begin(), file.end()}});
    return found;
  }
  search_fatbins(file, found);
  if (found.cubins.empty() && found.ptx == 0) {
    throw std::runtime_error(
        "No GPU code in this file: it is no cubin and holds no fatbin. (Code that a program packs "
        "in "
        "a way of its own cannot be found.)");
  }
  return found;
}

}  // namespace tessera::sass
