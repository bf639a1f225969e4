// .npy files that NumPy wrote, files that this program wrote, and thousands that nobody should have
// written.
#include "cli/files/npy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

namespace tessera::cli {
namespace {

const std::string kData = TESSERA_SOURCE_DIR "/tests/cli/data/";

std::string file_text(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// A file of format version 1 with this header text and this many bytes of data.
std::string file_with(const std::string& header, std::size_t data_bytes, char version = 1) {
  std::string file = "\x93NUMPY";
  file += {version, '\0', static_cast<char>(header.size() & 255),
           static_cast<char>(header.size() >> 8)};
  if (version > 1) file += std::string(2, '\0');
  return file + header + std::string(data_bytes, '\0');
}

// What parse_npy says against the file; empty when it takes it.
std::string refusal(const std::string& file) {
  try {
    parse_npy(file, "A (a.npy)");
  } catch (const StatusError& error) {
    EXPECT_EQ(error.status().code, StatusCode::kBadArgument);
    EXPECT_TRUE(error.status().message.starts_with("A (a.npy) ")) << error.what();
    return error.what();
  }
  return "";
}

#define EXPECT_REFUSED(file, part) \
  EXPECT_NE(refusal(file).find(part), std::string::npos) << "said: " << refusal(file)

double element(const NpyFile& file, std::int64_t r, std::int64_t c) {
  const NpyHeader& h = file.header();
  const std::int64_t at = h.fortran_order ? c * h.rows + r : r * h.cols + c;
  if (h.type == ElementType::kF64) {
    double value;
    std::memcpy(&value, file.data() + 8 * at, 8);
    return value;
  }
  float value;
  std::memcpy(&value, file.data() + 4 * at, 4);
  return value;
}

TEST(Npy, ReadsAllVersionsOfTheFormat) {
  for (const char* name : {"version1.npy", "version2.npy", "version3.npy"}) {
    const NpyFile file = NpyFile::read(kData + name, "A");
    EXPECT_EQ(file.header().rows, 2) << name;
    EXPECT_EQ(file.header().cols, 3) << name;
    for (int i = 0; i < 6; ++i) EXPECT_EQ(element(file, i / 3, i % 3), i) << name;
  }
}

TEST(Npy, ReadsBothOrdersAlike) {
  const NpyFile c = NpyFile::read(kData + "a_f32.npy", "A");
  const NpyFile fortran = NpyFile::read(kData + "a_f32_fortran.npy", "A");
  EXPECT_FALSE(c.header().fortran_order);
  EXPECT_TRUE(fortran.header().fortran_order);
  ASSERT_EQ(c.header().rows, 17);
  ASSERT_EQ(c.header().cols, 33);
  for (int r = 0; r < 17; ++r) {
    for (int k = 0; k < 33; ++k) EXPECT_EQ(element(c, r, k), element(fortran, r, k));
  }
}

TEST(Npy, WritesTheBytesThatNumPyWrites) {
  for (const char* name : {"a_f32.npy", "a_f32_fortran.npy", "a_f64.npy", "b_f64_fortran.npy",
                           "one_f32.npy", "empty.npy"}) {
    const NpyFile read = NpyFile::read(kData + name, "A");
    const NpyHeader& h = read.header();
    NpyFile made = NpyFile::make(h.type, h.rows, h.cols, h.fortran_order);
    std::memcpy(made.data(), read.data(), h.data_bytes());
    EXPECT_EQ(made.bytes().size(), read.bytes().size()) << name;
    EXPECT_EQ(made.data() - made.bytes().data(), read.data() - read.bytes().data()) << name;
    EXPECT_EQ(refusal(made.bytes()), "") << name;
    EXPECT_EQ(made.bytes(), file_text(kData + name)) << name;
  }
}

// NumPy's float16 is read and written; BF16 has no word of NumPy's and is refused by name.
TEST(Npy, KnowsHalvesAndNoBfloats) {
  const NpyFile half = NpyFile::read(kData + "half.npy", "A");
  EXPECT_EQ(half.header().type, ElementType::kF16);
  EXPECT_EQ(half.header().data_bytes(), 8u);
  EXPECT_EQ(refusal(NpyFile::make(ElementType::kF16, 3, 4, true).bytes()), "");
  EXPECT_THROW(NpyFile::make(ElementType::kBf16, 3, 4, true), StatusError);
}

TEST(Npy, RefusesWhatIsNoMatrixOfFloats) {
  EXPECT_REFUSED(file_text(kData + "int.npy"), "holds type '<i8'; it must hold");
  EXPECT_REFUSED(file_text(kData + "big_endian.npy"), "holds type '>f4'");
  EXPECT_REFUSED(file_text(kData + "records.npy"), "holds records");
  EXPECT_REFUSED(file_text(kData + "vector.npy"), "has 1 dimensions; a matrix has 2");
  EXPECT_REFUSED(file_text(kData + "cube.npy"), "has 3 dimensions");
  EXPECT_REFUSED(file_text(kData + "scalar.npy"), "has 0 dimensions");
}

TEST(Npy, RefusesEveryTruncation) {
  const std::string whole = file_text(kData + "version2.npy");
  ASSERT_EQ(refusal(whole), "");
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    EXPECT_NE(refusal(whole.substr(0, bytes)), "") << bytes;
  }
  EXPECT_REFUSED(whole.substr(0, whole.size() - 1), "is truncated: a 2 x 3 matrix of f32 needs 24");
  EXPECT_REFUSED(whole + "x", "is too long");
}

TEST(Npy, RefusesMalformedHeaders) {
  const auto header = [](const std::string& shape) {
    return "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }\n";
  };
  EXPECT_EQ(refusal(file_with(header("(2, 3)"), 24)), "");
  EXPECT_EQ(refusal(file_with("{\"shape\":(2,3),\"descr\":\"<f4\",\"fortran_order\":True}", 24)),
            "");
  EXPECT_EQ(refusal(file_with(header("(2L, 3L)"), 24)), "");
  EXPECT_REFUSED(file_with(header("(2, -3)"), 24), "negative");
  EXPECT_REFUSED(file_with(header("(2, 3"), 24), "lacks");
  EXPECT_REFUSED(file_with(header("(2 3)"), 24), "lacks a comma in 'shape'");
  EXPECT_REFUSED(file_with("{'shape\x1b\x7f': (2, 3)}", 24), "has an unknown key 'shape?\?'");
  EXPECT_REFUSED(file_with(header("(99999999999999999999, 1)"), 24), "beyond 64 bits");
  EXPECT_REFUSED(file_with(header("(4611686018427387904, 4)"), 24), "beyond 64-bit addresses");
  EXPECT_REFUSED(file_with(header("(1000000000, 1000000000)"), 24), "is truncated");
  EXPECT_REFUSED(file_with("{'descr': '<f4', 'shape': (2, 3)}", 24), "lacks 'descr'");
  EXPECT_REFUSED(file_with("{'descr': '<f4', 'descr': '<f8'}", 24), "gives 'descr' twice");
  EXPECT_REFUSED(file_with("{'descr': '<f4', 'color': 'red'}", 24), "unknown key 'color'");
  EXPECT_REFUSED(file_with("{'descr': '<f4", 24), "without closing quote");
  EXPECT_REFUSED(file_with("{'fortran_order': Maybe}", 24), "neither True nor False");
  EXPECT_REFUSED(file_with(header("(2, 3)") + "more", 24), "after the closing brace");
  EXPECT_REFUSED(file_with("", 24), "is not a .npy file");
  EXPECT_REFUSED(file_with(header("(2, 3)"), 24, 4), "has .npy format version 4");
  EXPECT_REFUSED(std::string("PK\x03\x04 a zip file of arrays"), "magic word");
  EXPECT_REFUSED(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff{}", 14),
                 "is truncated: its header");
}

// Damaged files are refused or read, and reading never leaves the file.
TEST(Npy, SurvivesDamage) {
  const std::string whole = file_text(kData + "version1.npy");
  std::mt19937 random(1);
  const std::string alphabet = std::string("{}()',:0123456789TrueFals<f84 \n") + '\0' + '\xff';
  int taken = 0;
  for (int i = 0; i < 200000; ++i) {
    std::string file = whole;
    const int damages = 1 + static_cast<int>(random() % 4);
    for (int d = 0; d < damages; ++d) {
      const std::size_t at = random() % 128;
      switch (random() % 3) {
        case 0:
          file[at] = alphabet[random() % alphabet.size()];
          break;
        case 1:
          file.erase(at, 1 + random() % 8);
          break;
        default:
          file.insert(at, 1 + random() % 8, alphabet[random() % alphabet.size()]);
      }
    }
    if (refusal(file).empty()) {
      const NpyHeader header = parse_npy(file, "A (a.npy)");
      ASSERT_EQ(header.data_offset + header.data_bytes(), file.size());
      ++taken;
    }
  }
  EXPECT_GT(taken, 0);
  EXPECT_LT(taken, 100000);
}

TEST(Npy, NamesFilesThatCannotBeRead) {
  const auto said = [](const std::string& path) {
    try {
      NpyFile::read(path, "B");
    } catch (const StatusError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(said("/no/such.npy"), "B (/no/such.npy) cannot be read: there is no such file");
  EXPECT_EQ(said(kData), "B (" + kData + ") is not a regular file");
}

TEST(Npy, RefusesResultsThatNoMemoryHolds) {
  try {
    NpyFile::make(ElementType::kF64, std::int64_t{1} << 28, std::int64_t{1} << 28, false);
    FAIL();
  } catch (const StatusError& error) {
    EXPECT_EQ(error.status().code, StatusCode::kUnavailable);
    EXPECT_NE(std::string(error.what()).find("of host memory"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace tessera::cli
