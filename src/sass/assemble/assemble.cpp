#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <map>
#include <optional>

#include "sass/assemble/assembly.h"
#include "sass/assemble/assembly_line.h"
#include "sass/assemble/register_names.h"
#include "sass/container/cubin.h"

namespace tessera::sass {
namespace {

struct Line {
  std::size_t number = 0;
  std::string_view text;  // without the comment and the blanks at the end of the line
};

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    line = line.substr(0, line.find("//"));
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back()))) {
      line.remove_suffix(1);
    }
    if (!line.empty()) lines.push_back({number, line});
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

[[noreturn]] void fail(const Line& line, const std::string& what) {
  const std::size_t column = line.text.find_first_not_of(" \t");
  throw AssemblyError(line.number, column + 1, what);
}

bool is_label(std::string_view text) { return text.back() == ':' && text.find(' ') == text.npos; }

// The lines of one kernel in the text: from its head to the line before ".end".
struct KernelLines {
  Line head;
  std::string name;
  std::uint64_t offset = 0;  // in the file
  std::vector<Line> code;
  Names names;
};

class Text {
 public:
  explicit Text(std::string_view text) : lines_(lines_of(text)) {}

  std::vector<std::byte> assemble() {
    read_head();
    std::vector<KernelLines> kernels;
    while (next_ < lines_.size()) {
      const Line line = lines_[next_++];
      if (line.text.starts_with(".kernel ")) {
        kernels.push_back(kernel(line));
      } else if (line.text == ".data") {
        read_data();
      } else {
        fail(line, "expected .kernel or .data");
      }
    }
    check_sizes(kernels);
    for (const KernelLines& kernel : kernels) write(kernel);
    return std::move(bytes_);
  }

 private:
  void read_head() {
    unsigned long long bytes = 0;
    if (lines_.empty()) throw AssemblyError(1, 1, "the text is empty");
    const Line line = lines_[next_++];
    if (std::sscanf(std::string(line.text).c_str(), ".cubin sm_%d bytes %llu", &sm_, &bytes) != 2 ||
        bytes > kMostBytes || sm_ < 75 || sm_ > 90) {
      fail(line, "expected .cubin sm_NN bytes N, for sm_75 to sm_90");
    }
    bytes_.resize(bytes);
  }

  KernelLines kernel(const Line& head) {
    KernelLines kernel{head, {}, 0, {}, {}};
    char name[4096] = "";
    unsigned long long offset = 0;
    if (std::sscanf(std::string(head.text).c_str(), ".kernel %4095s at %llx", name, &offset) != 2) {
      fail(head, "expected .kernel NAME at 0x...");
    }
    kernel.name = name;
    kernel.offset = offset;
    while (true) {
      if (next_ == lines_.size()) fail(head, "the kernel has no .end");
      const Line line = lines_[next_++];
      if (line.text == ".end") return kernel;
      if (is_label(line.text)) {
        add_label(line, kernel);
      } else if (line.text.starts_with(".name ")) {
        for (auto& [name_, reg] : register_names(line.text, line.number)) {
          if (!kernel.names.emplace(name_, reg).second) fail(line, "'" + name_ + "' has a meaning");
        }
      } else {
        kernel.code.push_back(line);
      }
    }
  }

  static void add_label(const Line& line, KernelLines& kernel) {
    const std::size_t start = line.text.find_first_not_of(" \t");
    const std::string name(line.text.substr(start, line.text.size() - start - 1));
    char address[24];
    std::snprintf(address, sizeof address, "0x%zx", kernel.code.size() * kInstructionBytes);
    if (!kernel.names.emplace(name, address).second) fail(line, "'" + name + "' has a meaning");
  }

  void read_data() {
    while (true) {
      if (next_ == lines_.size()) fail(lines_.back(), "the data have no .end");
      const Line line = lines_[next_++];
      if (line.text == ".end") return;
      std::size_t at = 0, digits = 0;
      const char *begin = line.text.data(), *end = begin + line.text.size();
      if (!line.text.starts_with("0x")) fail(line, "expected an address and bytes");
      begin = std::from_chars(begin + 2, end, at, 16).ptr;
      unsigned byte = 0;
      for (; begin < end; ++begin) {
        if (*begin == ' ') continue;
        const char* const found = std::find(kHex.begin(), kHex.end(), *begin);
        if (found == kHex.end() || at >= bytes_.size()) fail(line, "expected bytes of the file");
        byte = byte << 4 | static_cast<unsigned>(found - kHex.begin());
        if (++digits % 2 == 0) bytes_[at++] = static_cast<std::byte>(byte & 0xFF);
      }
      if (digits % 2 != 0) fail(line, "half a byte");
    }
  }

  // Checks that each kernel of the text is a kernel of the cubin that the .data lines hold, with
  // the same offset and length, so that nothing but code is overwritten.
  void check_sizes(const std::vector<KernelLines>& kernels) {
    std::optional<CubinFile> file;
    for (const KernelLines& kernel : kernels) {
      if (!file) file = container(kernel);
      const CubinKernel* const found = file->find(kernel.name);
      if (!found) fail(kernel.head, "the data hold no kernel of that name");
      if (found->code_offset != kernel.offset) fail(kernel.head, "its code is elsewhere");
      if (found->code.size() != kernel.code.size()) {
        fail(kernel.head, "the code keeps its length: " + std::to_string(found->code.size()) +
                              " instructions, here are " + std::to_string(kernel.code.size()));
      }
      registers_[kernel.name] = sets_registers(kernel) ? kMostRegisters : found->registers;
    }
  }

  // Whether the kernel changes the register counts of warps (USETMAXREG), so that a warp may use
  // more registers than it was launched with.
  static bool sets_registers(const KernelLines& kernel) {
    return std::ranges::any_of(kernel.code, [](const Line& line) {
      return line.text.find("USETMAXREG") != std::string_view::npos;
    });
  }

  CubinFile container(const KernelLines& kernel) const {
    try {
      return read_cubin(bytes_);
    } catch (const std::runtime_error& error) {
      fail(kernel.head, std::string("the data are no cubin: ") + error.what());
    }
  }

  void write(const KernelLines& kernel) {
    for (std::size_t i = 0; i < kernel.code.size(); ++i) {
      const Line& line = kernel.code[i];
      const std::uint64_t offset = i * kInstructionBytes;
      const Instruction instruction =
          instruction_of_line(line.text, line.number, offset, sm_, kernel.names);
      check_registers(line, instruction, registers_.at(kernel.name));
      const auto words = std::as_bytes(std::span(&instruction, 1));
      std::ranges::copy(words,
                        bytes_.begin() + static_cast<std::ptrdiff_t>(kernel.offset + offset));
    }
  }

  void check_registers(const Line& line, const Instruction& instruction, int registers) const {
    const Operation operation = decode(instruction, 0, sm_);
    for (const auto& uses : {operation.reads, operation.writes}) {
      for (const RegisterUse& use : uses) {
        if (use.file != RegisterFile::kGeneral || use.first + use.count <= registers) continue;
        fail(line, "R" + std::to_string(use.first + use.count - 1) + " is beyond the kernel's " +
                       std::to_string(registers) + " registers");
      }
    }
  }

  static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 28;
  static constexpr int kMostRegisters = 255;
  static constexpr std::string_view kHex = "0123456789abcdef";
  std::vector<Line> lines_;
  std::size_t next_ = 0;
  int sm_ = 0;
  std::vector<std::byte> bytes_;
  std::map<std::string, int> registers_;
};

}  // namespace

std::vector<std::byte> assemble(std::string_view text) { return Text(text).assemble(); }

}  // namespace tessera::sass
