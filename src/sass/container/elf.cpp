#include "sass/container/elf.h"

#include <cstring>
#include <stdexcept>
#include <string_view>

namespace tessera::sass {
namespace {

// Field offsets of ELF64, from its specification. The values of e_machine and e_flags were read off
// cubins.
constexpr std::uint64_t kAbiVersion = 8, kMachine = 18, kSectionTable = 40, kElfFlags = 48;
constexpr std::uint64_t kProgramTable = 32, kProgramEntrySize = 54, kProgramCount = 56;
constexpr std::uint64_t kSectionEntrySize = 58, kSectionCount = 60, kNamesIndex = 62;
constexpr std::uint64_t kSectionEntryBytes = 64, kSymbolBytes = 24;
constexpr std::uint16_t kCudaMachine = 190;
constexpr int kCuda12Abi = 7, kCuda13Abi = 8;
constexpr std::uint32_t kSymbolTable = 2, kNoBits = 8;

constexpr char kLeavesTheFile[] = "Not a cubin: a table or section leaves the file.";

[[noreturn]] void refuse_cubin(const std::string& reason) {
  throw std::runtime_error("Not a cubin: " + reason);
}

std::string text_at(std::span<const std::byte> names, std::uint64_t offset) {
  std::string text;
  for (;; ++offset) {
    const char letter = static_cast<char>(number_at<std::uint8_t>(names, offset));
    if (letter == 0) return text;
    text.push_back(letter);
  }
}

void check_header(std::span<const std::byte> file) {
  constexpr std::string_view kMagic("\x7f\x45LF\x02\x01\x01", 7);  // 64 bits, little-endian
  if (file.size() < 64) refuse_cubin("the file is shorter than an ELF header.");
  if (std::memcmp(file.data(), kMagic.data(), kMagic.size()) != 0) refuse_cubin("no ELF64 header.");
  if (number_at<std::uint16_t>(file, kMachine) != kCudaMachine)
    refuse_cubin("the machine is not CUDA.");
  const int abi = number_at<std::uint8_t>(file, kAbiVersion);
  if (abi != kCuda12Abi && abi != kCuda13Abi) {
    refuse_cubin("ABI version " + std::to_string(abi) +
                 "; only 7 (CUDA 12) and 8 (CUDA 13) are known.");
  }
  if (number_at<std::uint16_t>(file, kSectionEntrySize) != kSectionEntryBytes) {
    refuse_cubin("section headers of an unknown size.");
  }
  // The program headers are not needed here, but a file that is too short to hold them is
  // truncated.
  const std::uint64_t bytes = std::uint64_t{number_at<std::uint16_t>(file, kProgramCount)} *
                              number_at<std::uint16_t>(file, kProgramEntrySize);
  slice(file, number_at<std::uint64_t>(file, kProgramTable), bytes, kLeavesTheFile);
}

// One row of the section table, before its name is looked up.
struct Row {
  std::uint32_t name, type, link;
  Section section;
};

std::vector<Row> read_rows(std::span<const std::byte> file) {
  const std::uint64_t count = number_at<std::uint16_t>(file, kSectionCount);
  const auto table = slice(file, number_at<std::uint64_t>(file, kSectionTable),
                           count * kSectionEntryBytes, kLeavesTheFile);
  std::vector<Row> rows;
  for (std::uint64_t at = 0; at < table.size(); at += kSectionEntryBytes) {
    Row row{number_at<std::uint32_t>(table, at),
            number_at<std::uint32_t>(table, at + 4),
            number_at<std::uint32_t>(table, at + 40),
            {}};
    row.section.type = row.type;
    row.section.size = number_at<std::uint64_t>(table, at + 32);
    if (row.type != kNoBits) {
      row.section.bytes =
          slice(file, number_at<std::uint64_t>(table, at + 24), row.section.size, kLeavesTheFile);
    }
    rows.push_back(row);
  }
  return rows;
}

const Row& row_at(const std::vector<Row>& rows, std::size_t index) {
  if (index >= rows.size()) refuse_cubin("a section index leaves the table.");
  return rows[index];
}

}  // namespace

std::span<const std::byte> slice(std::span<const std::byte> bytes, std::uint64_t offset,
                                 std::uint64_t size, const char* refusal) {
  if (offset > bytes.size() || size > bytes.size() - offset) throw std::runtime_error(refusal);
  return bytes.subspan(offset, size);
}

template <class Number>
Number number_at(std::span<const std::byte> bytes, std::uint64_t offset) {
  if (offset > bytes.size() || sizeof(Number) > bytes.size() - offset) {
    refuse_cubin("a number leaves its section.");
  }
  Number number;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}
template std::uint8_t number_at(std::span<const std::byte>, std::uint64_t);
template std::uint16_t number_at(std::span<const std::byte>, std::uint64_t);
template std::uint32_t number_at(std::span<const std::byte>, std::uint64_t);
template std::uint64_t number_at(std::span<const std::byte>, std::uint64_t);

const Section* Elf::find(std::string_view name) const {
  for (const Section& section : sections) {
    if (section.name == name) return &section;
  }
  return nullptr;
}

Elf read_elf(std::span<const std::byte> file) {
  check_header(file);
  Elf elf;
  elf.abi = number_at<std::uint8_t>(file, kAbiVersion);
  // HW: CUDA 12 keeps the architecture in the lowest byte of e_flags, CUDA 13 in the byte above it.
  elf.sm = number_at<std::uint8_t>(file, elf.abi == kCuda12Abi ? kElfFlags : kElfFlags + 1);
  const std::vector<Row> rows = read_rows(file);
  const auto names = row_at(rows, number_at<std::uint16_t>(file, kNamesIndex)).section.bytes;
  for (const Row& row : rows) {
    elf.sections.push_back(row.section);
    elf.sections.back().name = text_at(names, row.name);
    if (row.type != kSymbolTable) continue;
    const auto symbol_names = row_at(rows, row.link).section.bytes;
    for (std::uint64_t at = 0; at < row.section.size; at += kSymbolBytes) {
      elf.symbols.push_back(text_at(symbol_names, number_at<std::uint32_t>(row.section.bytes, at)));
    }
  }
  return elf;
}

}  // namespace tessera::sass
