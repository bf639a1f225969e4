#include "sass/container/source_lines.h"

#include <array>
#include <stdexcept>

namespace tessera::sass {
namespace {

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes, std::uint64_t at = 0)
      : bytes_(bytes), at_(at) {}

  template <class Number>
  Number number() {
    const auto value = number_at<Number>(bytes_, at_);
    at_ += sizeof(Number);
    return value;
  }

  std::uint64_t leb() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = number<std::uint8_t>();
      if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
  }

  std::int64_t signed_leb() {
    std::uint64_t value = 0;
    for (int shift = 0;;) {
      const auto byte = number<std::uint8_t>();
      if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      shift += 7;
      if (byte >= 0x80) continue;
      if ((byte & 0x40) != 0 && shift < 64) value |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(value);
    }
  }

  std::string text() {
    std::string text;
    while (const auto letter = number<std::uint8_t>()) text.push_back(static_cast<char>(letter));
    return text;
  }

  std::uint64_t at() const { return at_; }
  void go_to(std::uint64_t at) { at_ = at; }

 private:
  std::span<const std::byte> bytes_;
  std::uint64_t at_;
};

// Returns the kernel to which each part of the line table belongs. Addresses in the table are zero;
// the linker's relocations name the kernels by position.
std::map<std::uint64_t, std::string> owners_of(const Elf& elf) {
  std::map<std::uint64_t, std::string> owners;
  const Section* table = elf.find(".rela.debug_line");
  constexpr std::uint64_t kEntry = 24;
  for (std::uint64_t at = 0; table && at + kEntry <= table->bytes.size(); at += kEntry) {
    const auto symbol = number_at<std::uint64_t>(table->bytes, at + 8) >> 32;
    if (symbol < elf.symbols.size()) {
      owners[number_at<std::uint64_t>(table->bytes, at)] = elf.symbols[symbol];
    }
  }
  return owners;
}

struct Header {
  std::uint64_t end = 0;      // end of the unit
  std::uint64_t program = 0;  // start of the unit's line program
  int version = 0, step = 1, line_base = 0, line_range = 1, first_special = 1;
  std::array<std::uint8_t, 256> operands = {};
  std::vector<std::string> files = {""};  // numbered from 1
};

Header read_header(Reader& reader) {
  Header header;
  const auto length = reader.number<std::uint32_t>();
  header.end = reader.at() + length;
  header.version = reader.number<std::uint16_t>();
  const auto header_length = reader.number<std::uint32_t>();
  header.program = reader.at() + header_length;
  header.step = reader.number<std::uint8_t>();
  reader.number<std::uint8_t>();  // whether lines start statements
  header.line_base = static_cast<std::int8_t>(reader.number<std::uint8_t>());
  header.line_range = reader.number<std::uint8_t>();
  header.first_special = reader.number<std::uint8_t>();
  for (int i = 1; i < header.first_special; ++i) header.operands[i] = reader.number<std::uint8_t>();
  std::vector<std::string> folders = {""};
  for (std::string folder; !(folder = reader.text()).empty();) folders.push_back(folder + "/");
  for (std::string name; !(name = reader.text()).empty();) {
    const std::uint64_t folder = reader.leb();
    reader.leb();  // time
    reader.leb();  // size
    const bool is_relative = !name.starts_with('/') && folder < folders.size();
    header.files.push_back(is_relative ? folders[folder] + name : name);
  }
  return header;
}

class LineMachine {
 public:
  LineMachine(Reader& reader, const Header& header,
              const std::map<std::uint64_t, std::string>& owners, LineTable& table)
      : reader_(reader), header_(header), owners_(owners), table_(table) {}

  void run() {
    reader_.go_to(header_.program);
    while (reader_.at() < header_.end) step(reader_.number<std::uint8_t>());
  }

 private:
  // HW: opcodes of the line program, as section 6.2.5 of the DWARF 2 standard numbers them.
  enum : int { kExtended, kCopy, kAdvance, kAdvanceLine, kSetFile, kAddConst = 8, kAddFixed = 9 };
  enum : int { kEndSequence = 1, kSetAddress = 2 };

  void step(int opcode) {
    if (opcode >= header_.first_special) return special(opcode - header_.first_special);
    switch (opcode) {
      case kExtended:
        return extended();
      case kCopy:
        return note();
      case kAdvance:
        address_ += reader_.leb() * header_.step;
        return;
      case kAdvanceLine:
        line_ += reader_.signed_leb();
        return;
      case kSetFile:
        file_ = reader_.leb();
        return;
      case kAddConst:
        address_ += (255 - header_.first_special) / header_.line_range * header_.step;
        return;
      case kAddFixed:
        address_ += reader_.number<std::uint16_t>();
        return;
      default:
        for (int i = 0; i < header_.operands[opcode]; ++i) reader_.leb();
    }
  }

  void special(int value) {
    address_ += static_cast<std::uint64_t>(value / header_.line_range) * header_.step;
    line_ += header_.line_base + value % header_.line_range;
    note();
  }

  void extended() {
    const std::uint64_t length = reader_.leb(), end = reader_.at() + length;
    const int opcode = length == 0 ? 0 : reader_.number<std::uint8_t>();
    if (opcode == kEndSequence) {
      owner_.clear();
      address_ = 0;
      file_ = line_ = 1;
    } else if (opcode == kSetAddress) {
      const auto owner = owners_.find(reader_.at());
      owner_ = owner == owners_.end() ? "" : owner->second;
      address_ = reader_.number<std::uint64_t>();
    }
    reader_.go_to(end);
  }

  void note() {
    if (owner_.empty() || file_ >= header_.files.size() || line_ < 0) return;
    table_[owner_][address_] = {header_.files[file_], static_cast<int>(line_)};
  }

  Reader& reader_;
  const Header& header_;
  const std::map<std::uint64_t, std::string>& owners_;
  LineTable& table_;
  std::string owner_;
  std::uint64_t address_ = 0, file_ = 1;
  std::int64_t line_ = 1;
};

}  // namespace

LineTable read_source_lines(const Elf& elf) {
  const Section* section = elf.find(".debug_line");
  LineTable table;
  if (!section) return table;
  const auto owners = owners_of(elf);
  Reader reader(section->bytes);
  while (reader.at() + 4 < section->bytes.size()) {
    const Header header = read_header(reader);
    if (header.version != 2 || header.line_range == 0) return {};
    LineMachine(reader, header, owners, table).run();
    reader.go_to(header.end);
  }
  return table;
}

}  // namespace tessera::sass
