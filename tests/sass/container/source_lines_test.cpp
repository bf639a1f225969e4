#include "sass/container/source_lines.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace tessera::sass {
namespace {

using Bytes = std::vector<std::byte>;

void put(Bytes& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<std::byte>(value >> (8 * i) & 0xFF));
}

void put(Bytes& out, std::initializer_list<int> bytes) {
  for (const int byte : bytes) put(out, static_cast<std::uint64_t>(byte), 1);
}

void put(Bytes& out, std::string_view text) {
  for (const char letter : text) put(out, static_cast<std::uint64_t>(letter), 1);
  put(out, 0, 1);
}

// One unit as nvcc 13.0 writes it: line base -5, line range 14, first special opcode 10.
Bytes unit(const Bytes& program, int version = 2) {
  Bytes names;
  put(names, "src");
  put(names, "");
  put(names, "kernel.cu");
  put(names, {1, 0, 0});
  put(names, "/usr/include/other.h");
  put(names, {0, 0, 0});
  put(names, "");
  Bytes header;
  put(header, {1, 1, 0xFB, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1});
  header.insert(header.end(), names.begin(), names.end());
  Bytes out;
  put(out, 2 + 4 + header.size() + program.size(), 4);
  put(out, static_cast<std::uint64_t>(version), 2);
  put(out, header.size(), 4);
  out.insert(out.end(), header.begin(), header.end());
  out.insert(out.end(), program.begin(), program.end());
  return out;
}

// Lines of one kernel: 7 at 0, 9 at 16 by a special opcode, 30 of the other file at 0x100.
Bytes program() {
  Bytes out;
  put(out, {0, 9, 2});
  put(out, 0, 8);                    // set address, patched by the linker
  put(out, {3, 6, 1});               // line 1 + 6, note
  put(out, {10 + 5 + 2 + 14 * 16});  // 16 bytes and 2 lines further
  put(out, {2, 0xF0, 0x01});         // 240 bytes further
  put(out, {4, 2, 3, 21, 1});        // file 2, line 9 + 21, note
  put(out, {0, 1, 1});
  return out;
}

struct Sample {
  Bytes lines, relocations;
  Elf elf;
};

void fill(Sample& sample, const Bytes& lines) {
  sample.lines = lines;
  // The address stands behind the header and three bytes of the first opcode.
  put(sample.relocations, lines.size() - program().size() + 3, 8);
  put(sample.relocations, std::uint64_t{1} << 32 | 2, 8);
  put(sample.relocations, 0, 8);
  sample.elf.symbols = {"", "my_kernel"};
  sample.elf.sections = {{".debug_line", 1, sample.lines.size(), sample.lines},
                         {".rela.debug_line", 4, 24, sample.relocations}};
}

TEST(SourceLines, FollowTheProgram) {
  Sample sample;
  fill(sample, unit(program()));
  const LineTable table = read_source_lines(sample.elf);
  ASSERT_EQ(table.size(), 1u);
  const auto& lines = table.at("my_kernel");
  EXPECT_EQ(lines.at(0), (SourceLine{"src/kernel.cu", 7}));
  EXPECT_EQ(lines.at(16), (SourceLine{"src/kernel.cu", 9}));
  EXPECT_EQ(lines.at(256), (SourceLine{"/usr/include/other.h", 30}));
  EXPECT_EQ(lines.size(), 3u);
}

TEST(SourceLines, OtherVersionsAreNone) {
  Sample sample;
  fill(sample, unit(program(), 5));
  EXPECT_TRUE(read_source_lines(sample.elf).empty());
  EXPECT_TRUE(read_source_lines(Elf{}).empty());
}

TEST(SourceLines, DamageIsAnErrorOrOtherLines) {
  const Bytes whole = unit(program());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    Sample sample;
    fill(sample,
         Bytes(whole.begin(), whole.begin() + static_cast<long>(std::max<std::size_t>(size, 40))));
    try {
      read_source_lines(sample.elf);
    } catch (const std::runtime_error& error) {
      EXPECT_STRNE(error.what(), "");
    }
  }
  for (std::size_t i = 0; i < whole.size(); ++i) {
    Bytes damaged = whole;
    damaged[i] ^= std::byte{0xFF};
    Sample sample;
    fill(sample, damaged);
    try {
      read_source_lines(sample.elf);
    } catch (const std::runtime_error& error) {
      EXPECT_STRNE(error.what(), "");
    }
  }
}

}  // namespace
}  // namespace tessera::sass
