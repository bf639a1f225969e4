// A cubin becomes text and the same cubin again; edited texts become what they say, or are refused.
#include "sass/assemble/assembly.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <random>
#include <set>

#include "sass/assemble/assembly_line.h"
#include "sass/assemble/encode_text.h"
#include "tests/sass/programs.h"

namespace tessera::sass {
namespace {

Instruction without_control(Instruction instruction) {
  constexpr std::uint64_t kControl = ((std::uint64_t{1} << 21) - 1) << (105 - 64);
  instruction.high &= ~kControl;
  return instruction;
}

std::string line_of(const Instruction& instruction, std::uint64_t offset, int sm) {
  return control_text(control_of(instruction)) + "  " + instruction_text(instruction, offset, sm);
}

void expect_same(const Instruction& again, const Instruction& real, const std::string& line) {
  EXPECT_TRUE(again.low == real.low && again.high == real.high) << line;
}

// Distinct ones: control fields have a test of their own below.
TEST(Assembly, EveryInstructionOfEveryImageComesBack) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  std::size_t with_bits = 0;
  for (const CodeImage* image : images_of_catalog()) {
    const CubinFile file = read_cubin(image->cubin);
    for (const CubinKernel& kernel : file.kernels) {
      for (std::size_t at = 0; at < kernel.code.size(); ++at) {
        const Instruction& real = kernel.code[at];
        const Instruction bare = without_control(real);
        const std::uint64_t reuse = real.bits(109, 1) != 0 ? real.bits(122, 3) << 41 : 0;
        if (!seen.insert({bare.low, bare.high | reuse}).second) continue;
        const std::uint64_t offset = at * kInstructionBytes;
        const std::string plain = assembly_of(real, offset, file.sm);
        const Instruction again = encode(plain, control_of(real), offset, file.sm).instruction;
        if (again.low == real.low && again.high == real.high) continue;
        const std::string line = line_of(real, offset, file.sm);
        ASSERT_EQ(line.find(".word"), line.npos) << line;
        ++with_bits;
        expect_same(instruction_of_line(line, 1, offset, file.sm, {}), real, line);
      }
    }
  }
  std::printf("%zu distinct instructions, %zu of them with bits that no text shows\n", seen.size(),
              with_bits);
  EXPECT_GT(seen.size(), 10'000u);
  EXPECT_LT(with_bits, seen.size() / 100);
}

TEST(Assembly, EveryControlFieldComesBack) {
  std::set<std::uint64_t> seen;
  for (const CodeImage* image : images_of_catalog()) {
    const CubinFile file = read_cubin(image->cubin);
    for (const CubinKernel& kernel : file.kernels) {
      for (const Instruction& real : kernel.code) {
        const bool yields = real.bits(109, 1) == 0;
        const std::uint64_t field = real.bits(105, yields ? 21 : 17);
        if (!seen.insert(field).second) continue;
        const Control control = control_of(real);
        const std::string line = control_text(control) + "  NOP";
        const Instruction again = instruction_of_line(line, 1, 0, file.sm, {});
        EXPECT_EQ(again.bits(105, yields ? 21 : 17), field) << line;
      }
    }
  }
  EXPECT_GT(seen.size(), 300u);
}

// The first image whose name begins so.
const CodeImage& image_named(std::string_view name) {
  for (const CodeImage* image : images_of_catalog()) {
    if (image->name.starts_with(name)) return *image;
  }
  throw std::runtime_error("no such image");
}

TEST(Assembly, WholeCubinsComeBack) {
  for (const std::string_view name : {"01_strided", "12_warp_tile__128", "mma_tf32__64x64"}) {
    const auto cubin = image_named(name).cubin;
    const std::string text = assembly_text(cubin);
    EXPECT_TRUE(std::ranges::equal(assemble(text), cubin)) << name;
  }
  const auto cubin = image_named("wgmma_").cubin;  // one kernel as code, the others as data
  const std::string one = read_cubin(cubin).kernels.front().name;
  EXPECT_TRUE(std::ranges::equal(assemble(assembly_text(cubin, one)), cubin));
}

// Where a text is refused; {0, 0} if it is not.
std::pair<std::size_t, std::size_t> refused_at(const std::string& text) {
  try {
    assemble(text);
  } catch (const AssemblyError& error) {
    return {error.line, error.column};
  }
  return {0, 0};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}

class SmallText : public testing::Test {
 protected:
  std::string text_ = assembly_text(image_named("01_strided").cubin);
  // Line and column of the first occurrence, from 1.
  std::pair<std::size_t, std::size_t> place_of(const std::string& part) const {
    const std::size_t at = text_.find(part);
    const auto lines = static_cast<std::size_t>(
        std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    const std::size_t start = text_.rfind('\n', at);
    return {lines + 1, at - start};
  }
};

TEST_F(SmallText, MistakesAreRefusedByLineAndColumn) {
  const auto [line, column] = place_of("S2R ");
  EXPECT_EQ(refused_at(replaced(text_, "S2R ", "S2Q ")), std::pair(line, column));
  const auto [fma, fma_column] = place_of("FFMA R");
  const auto moved = refused_at(replaced(text_, "FFMA R", "FFMA.SOON R"));
  EXPECT_EQ(moved, std::pair(fma, fma_column + 4));
  EXPECT_EQ(refused_at(replaced(text_, "FFMA R", "FFMA R999, R")).first, fma);
  EXPECT_NE(refused_at(replaced(text_, " w0 ", " w6 ")).first, 0u);
  EXPECT_NE(refused_at(replaced(text_, "  EXIT\n", "\n")).first, 0u) << "a line is missing";
  EXPECT_NE(refused_at(replaced(text_, ".end", "")).first, 0u);
  EXPECT_NE(refused_at(replaced(text_, "bytes ", "bytes 1")).first, 1u);
  EXPECT_NE(refused_at("").first, 0u);
}

// A register beyond those that the file promises would belong to another warp.
TEST_F(SmallText, RegistersBeyondTheKernelsAreRefused) {
  const auto [line, column] = place_of("FFMA R");
  const std::size_t at = text_.find("FFMA R"), end = text_.find(',', at);
  std::string text = text_;
  EXPECT_EQ(refused_at(text.replace(at, end - at, "FFMA R200")).first, line);
}

TEST_F(SmallText, LabelsAndNamesStandForPlacesAndRegisters) {
  ASSERT_NE(text_.find("BRA L"), text_.npos);
  const std::size_t begin = text_.find(".kernel"), end = text_.find('\n', begin);
  std::string text = text_;
  text.insert(end + 1, ".name pair0-pair1 = R4-R5\n.name zero_sum = R9\n");
  std::string named = text;
  for (std::size_t at = end; (at = named.find("R4,", at)) != named.npos;) {
    if (named[at - 1] != 'U') named.replace(at, 2, "pair0");
    at += 3;
  }
  EXPECT_NE(named, text);
  EXPECT_TRUE(std::ranges::equal(assemble(named), image_named("01_strided").cubin));
  EXPECT_NE(refused_at(replaced(text, "R4-R5", "R4-R6")).first, 0u) << "2 names, 3 registers";
  EXPECT_NE(refused_at(replaced(text, "zero_sum", "pair0")).first, 0u) << "twice";
}

TEST(Assembly, UnusualBitsAreNamedAndTaken) {
  const Names none;
  const std::string line = " 1 - w- r- ------  FFMA R1, R2, R3, R4";
  const Instruction plain = instruction_of_line(line, 1, 0, 90, none);
  const Instruction with =
      instruction_of_line(line + " ; bits 102 = 0x1, 84-85 = 0x2", 1, 0, 90, none);
  EXPECT_EQ(with.bits(102, 1), 1u);
  EXPECT_EQ(with.bits(84, 2), 2u);
  EXPECT_EQ(with.low, plain.low);
  EXPECT_EQ(instruction_text(with, 0, 90), "FFMA R1, R2, R3, R4 ; bits 85 = 0x1, 102 = 0x1");
  EXPECT_THROW(instruction_of_line(line + " ; bits 102 = 0x2", 1, 0, 90, none), AssemblyError);
  EXPECT_THROW(instruction_of_line(line + " ; soon", 1, 0, 90, none), AssemblyError);
}

TEST(Assembly, OtherNamesOfImadFollowFromItsOperands) {
  const Names none;
  const std::string control = " 1 - w- r- ------  ";
  for (const char* text : {"IMAD.MOV.U32 R1, RZ, RZ, R2", "IMAD.SHL.U32 R1, R2, 0x4, RZ",
                           "IMAD.IADD R1, R2, 0x1, R3", "IMAD R1, R2, R3, R4"}) {
    const Instruction made = instruction_of_line(control + text, 1, 0, 90, none);
    EXPECT_EQ(assembly_of(made, 0, 90), text);
  }
  for (const char* text :
       {"IMAD.MOV.U32 R1, R5, RZ, R2", "IMAD.SHL.U32 R1, R2, 0x5, RZ", "IMAD R1, R2, 0x1, R3"}) {
    EXPECT_THROW(instruction_of_line(control + text, 1, 0, 90, none), AssemblyError) << text;
  }
}

// What an editor may do to one field: another number, another sign, a modifier more or less.
std::string edited(std::string line, std::mt19937& random) {
  static constexpr std::array<const char*, 12> kWords = {
      ".FTZ", ".SAT", ".U32", ".X", ".64", ".128", ".E", ".reuse", ".RZ", ".WIDE", ".HI", "!"};
  std::vector<std::size_t> numbers, words;
  for (std::size_t at = 1; at < line.size(); ++at) {
    const bool digit = std::isdigit(static_cast<unsigned char>(line[at])) != 0;
    if (digit && std::isdigit(static_cast<unsigned char>(line[at - 1])) == 0) numbers.push_back(at);
    if (line[at] == '.' || line[at] == ',') words.push_back(at);
  }
  const auto pick = [&](const auto& all) { return all[random() % all.size()]; };
  if (numbers.empty() && words.empty()) return line + ".X";
  if (!numbers.empty() && (random() % 4 != 0 || words.empty())) {
    const std::size_t at = pick(numbers);
    std::size_t end = at;
    while (end < line.size() && std::isdigit(static_cast<unsigned char>(line[end])) != 0) ++end;
    return line.replace(at, end - at, std::to_string(random() % (random() % 2 != 0 ? 8 : 300)));
  }
  const std::size_t at = pick(words);
  if (line[at] == '.' && random() % 2 != 0)
    return line.erase(at, line.find_first_of("., ", at + 1) - at);
  return line.insert(at, pick(kWords));
}

// The same line as the assembler writes it.
std::string squeezed(const std::string& line) {
  std::string text;
  for (const char letter : line) {
    if (letter != ' ' || !text.ends_with(' ')) text += letter;
  }
  return text.substr(text.find_first_not_of(' '));
}

TEST(Assembly, RandomEditsBecomeWhatTheySayOrAreRefused) {
  constexpr int kEdits = 1000;
  std::mt19937 random(12);
  const std::vector<const CodeImage*> images = images_of_catalog();
  std::vector<CubinFile> files;
  for (int i = 0; i < 10; ++i) {
    files.push_back(read_cubin(images[random() % images.size()]->cubin));
  }
  int taken = 0;
  for (int i = 0; i < kEdits; ++i) {
    const CubinFile& file = files[random() % files.size()];
    const CubinKernel& kernel = file.kernels[random() % file.kernels.size()];
    const std::size_t at = random() % kernel.code.size();
    const std::uint64_t offset = at * kInstructionBytes;
    const std::string line = edited(line_of(kernel.code[at], offset, file.sm), random);
    try {
      const Instruction made = instruction_of_line(line, 1, offset, file.sm, {});
      // Another bit than usual may be named with its usual value.
      const bool has_bits = line.find(';') != line.npos;
      if (!has_bits) {
        EXPECT_EQ(squeezed(line_of(made, offset, file.sm)), squeezed(line));
      }
      ++taken;
    } catch (const AssemblyError& error) {
      EXPECT_GE(error.column, 1u);
      EXPECT_LE(error.column, line.size() + 1) << line;
    }
  }
  std::printf("%d of %d edits taken, the others refused\n", taken, kEdits);
  EXPECT_GT(taken, kEdits / 4);
  EXPECT_LT(taken, kEdits);
}

}  // namespace
}  // namespace tessera::sass
