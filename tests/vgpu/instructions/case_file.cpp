// Reads the comments of an instruction test.
#include "tests/vgpu/instructions/case_file.h"

#include <cctype>
#include <charconv>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace tessera::vgpu {
namespace {

std::vector<std::string> split(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

class Reader {
 public:
  explicit Reader(const std::filesystem::path& path) : path_(path) {}

  CaseFile run() {
    std::ifstream file(path_);
    if (!file) fail("cannot be read");
    for (std::string line; std::getline(file, line);) {
      ++line_;
      read_line(line);
      result_.text += line + '\n';
    }
    if (result_.block == 0) fail("has no '// grid: ... block: ...' line");
    if (result_.output.empty() && !result_.expects_fault()) fail("expects nothing");
    return std::move(result_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw std::runtime_error(path_.string() + ":" + std::to_string(line_) + ": " + message);
  }

  void read_line(const std::string& line) {
    if (line.find("// <- fault") != std::string::npos) result_.fault_line = line_;
    if (line.starts_with(".target ")) result_.target = split(line).at(1);
    if (!line.starts_with("// ")) return;
    const std::vector<std::string> words = split(line.substr(3));
    if (words.empty()) return;
    const std::string& key = words.front();
    if (key == "grid:") read_shape(words);
    if (key == "case:") read_case(words);
    if (key == "map:") read_map(words);
    if (key == "tolerance:") result_.tolerance_ulp = std::stoull(words.at(1));
    if (key == "approximate:") append(result_.approximate_forms, words);
    if (key == "silicon:") result_.on_silicon = words.at(1) != "no";
    if (key == "fault:") append(result_.fault_words, words);
  }

  static void append(std::vector<std::string>& list, const std::vector<std::string>& words) {
    list.insert(list.end(), words.begin() + 1, words.end());
  }

  void read_shape(const std::vector<std::string>& words) {
    for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
      const int value = std::stoi(words[i + 1]);
      if (words[i] == "grid:") {
        result_.grid = value;
      } else if (words[i] == "block:") {
        result_.block = value;
      } else if (words[i] == "shared:") {
        result_.shared_bytes = value;
      } else {
        fail("unknown word " + words[i]);
      }
    }
  }

  TensorType tensor_type(const std::string& name) const {
    constexpr const char* kNames[] = {"u8",  "u16", "u32",  "s32",     "u64",  "s64",     "f16",
                                      "f32", "f64", "bf16", "f32.ftz", "tf32", "tf32.ftz"};
    for (int i = 0; i < 13; ++i) {
      if (name == kNames[i]) return static_cast<TensorType>(i);
    }
    fail("unknown type " + name);
  }

  void read_map(const std::vector<std::string>& words) {
    CaseFile::Map& map = result_.maps.emplace_back();
    map.of_output = words.at(1) == "out";
    map.desc.type = tensor_type(words.at(2));
    std::string key;
    std::size_t at = 0;
    for (std::size_t i = 3; i < words.size(); ++i) {
      if (std::isalpha(static_cast<unsigned char>(words[i][0])) && words[i] != "nan") {
        key = words[i];
        at = 0;
        continue;
      }
      set_map(map.desc, key, at++, words[i]);
    }
  }

  void set_map(TensorMapDesc& desc, const std::string& key, std::size_t at,
               const std::string& word) const {
    const std::uint64_t value = word == "nan" ? 0 : std::stoull(word);
    if (key == "sizes") {
      desc.sizes.at(at) = value;
      desc.rank = static_cast<int>(at) + 1;
    } else if (key == "strides") {
      desc.strides.at(at) = value;
    } else if (key == "box") {
      desc.box.at(at) = static_cast<std::uint32_t>(value);
    } else if (key == "steps") {
      desc.element_strides.at(at) = static_cast<std::uint32_t>(value);
    } else if (key == "swizzle") {
      desc.swizzle = value == 128  ? TensorSwizzle::k128B
                     : value == 64 ? TensorSwizzle::k64B
                     : value == 32 ? TensorSwizzle::k32B
                                   : TensorSwizzle::kNone;
    } else if (key == "fill") {
      desc.fill = word == "nan" ? TensorFill::kNans : TensorFill::kZeros;
    } else {
      fail("unknown word " + key);
    }
  }

  void read_case(const std::vector<std::string>& words) {
    bool is_output = false;
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (words[i] == "->") {
        is_output = true;
        continue;
      }
      const ExpectedWord word = read_word(words[i]);
      if (is_output) {
        result_.output.push_back(word);
      } else {
        for (int byte = 0; byte < word.bytes; ++byte) {
          result_.input.push_back(static_cast<std::byte>(word.value >> (8 * byte)));
        }
      }
    }
  }

  ExpectedWord read_word(const std::string& text) const {
    ExpectedWord word;
    word.bytes = static_cast<int>(text.size() / 2);
    word.line = line_;
    if (text.size() != 2 && text.size() != 4 && text.size() != 8 && text.size() != 16) {
      fail("a word has 2, 4, 8 or 16 digits: " + text);
    }
    if (text[0] == '.') {
      word.expect = Expect::kAnything;
    } else if (text[0] == 'n') {
      word.expect = Expect::kNan;
    } else {
      const char* end = text.data() + text.size();
      if (std::from_chars(text.data(), end, word.value, 16).ptr != end) fail("not hex: " + text);
    }
    return word;
  }

  std::filesystem::path path_;
  CaseFile result_;
  int line_ = 0;
};

// What a NaN looks like by width; 16-bit words are taken as f16.
bool is_nan(int bytes, std::uint64_t bits) {
  switch (bytes) {
    case 2:
      return (bits & 0x7FFF) > 0x7C00;
    case 4:
      return (bits & 0x7FFFFFFF) > 0x7F800000;
    default:
      return (bits & ~(std::uint64_t{1} << 63)) > 0x7FF0000000000000;
  }
}

// Floating-point words as integers in the order of their values, so that neighbours differ by one.
std::int64_t ordered(int bytes, std::uint64_t bits) {
  const std::uint64_t sign = std::uint64_t{1} << (8 * bytes - 1);
  const auto magnitude = static_cast<std::int64_t>(bits & (sign - 1));
  return (bits & sign) != 0 ? -magnitude : magnitude;
}

}  // namespace

std::size_t CaseFile::output_bytes() const {
  std::size_t bytes = 0;
  for (const ExpectedWord& word : output) bytes += word.bytes;
  return bytes;
}

CaseFile read_case_file(const std::filesystem::path& path) { return Reader(path).run(); }

bool matches(const ExpectedWord& word, std::uint64_t actual, std::uint64_t tolerance_ulp) {
  if (word.expect == Expect::kAnything) return true;
  if (word.expect == Expect::kNan) return is_nan(word.bytes, actual);
  if (actual == word.value) return true;
  if (tolerance_ulp == 0 || is_nan(word.bytes, actual) || is_nan(word.bytes, word.value)) {
    return false;
  }
  const std::int64_t distance = ordered(word.bytes, actual) - ordered(word.bytes, word.value);
  return static_cast<std::uint64_t>(distance < 0 ? -distance : distance) <= tolerance_ulp;
}

}  // namespace tessera::vgpu
