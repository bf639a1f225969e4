#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <stdexcept>

#include "sass/assemble/assembly.h"
#include "sass/assemble/assembly_line.h"
#include "sass/assemble/letters.h"
#include "sass/container/cubin.h"

namespace tessera::sass {
namespace {

constexpr std::size_t kBytesALine = 32;

// Returns the position of address `target` at the end of the text; npos if the text ends otherwise.
std::size_t address_in(const std::string& text, std::uint64_t target) {
  const std::string address = padded_hex(target);
  const std::size_t at = text.rfind(address);
  const bool is_last = at != std::string::npos && at + address.size() == text.size();
  return is_last ? at : std::string::npos;
}

// Returns the instructions that contain the address of another instruction of their kernel.
std::map<std::size_t, std::uint64_t> targets_of(const CubinKernel& kernel, int sm) {
  constexpr int kCall = 0x944, kJoin = 0x945, kCallRegister = 0x344, kReturn = 0x950;
  std::map<std::size_t, std::uint64_t> targets;
  const std::uint64_t size = kernel.code.size() * kInstructionBytes;
  for (std::size_t at = 0; at < kernel.code.size(); ++at) {
    const int key = kernel.code[at].key();
    const bool names = branch_target(kernel.code[at], 0, sm) || key == kCall || key == kJoin ||
                       key == kCallRegister || key == kReturn;
    if (!names) continue;
    const std::string text = assembly_of(kernel.code[at], at * kInstructionBytes, sm);
    const std::size_t blank = text.find_last_of(' ');
    if (text.compare(blank + 1, 2, "0x") != 0) continue;
    const std::uint64_t target = std::stoull(text.substr(blank + 1), nullptr, 16);
    if (target < size && target % kInstructionBytes == 0) targets[at] = target;
  }
  return targets;
}

class KernelText {
 public:
  KernelText(const CubinKernel& kernel, int sm) : kernel_(kernel), sm_(sm) {
    targets_ = targets_of(kernel, sm);
    std::set<std::uint64_t> places;
    for (const auto& [at, target] : targets_) places.insert(target);
    for (const std::uint64_t place : places) {
      labels_[place] = "L" + std::to_string(labels_.size() + 1);
    }
  }

  std::string text() const {
    std::string text = "\n.kernel " + kernel_.name + " at " + padded_hex(kernel_.code_offset) +
                       " // " + std::to_string(kernel_.registers) + " registers\n" +
                       "// address st Y w  r  wait\n";
    for (std::size_t at = 0; at < kernel_.code.size(); ++at) text += line(at);
    return text + ".end\n";
  }

 private:
  std::string line(std::size_t at) const {
    const std::uint64_t offset = at * kInstructionBytes;
    const auto label = labels_.find(offset);
    std::string text = label == labels_.end() ? "" : label->second + ":\n";
    return text + "  " + padded_hex(offset, 5) + "  " + control_text(control_of(kernel_.code[at])) +
           depth(at) + instruction(at, offset) + "\n";
  }

  // Returns a text with one bar for each loop that the instruction is in.
  std::string depth(std::size_t at) const {
    std::size_t depth = 0;
    for (const Loop& loop : kernel_.loops) {
      depth += std::ranges::binary_search(loop.members, at) ? 1 : 0;
    }
    return "  " + std::string(depth, '|') + std::string(depth < 3 ? 3 - depth : 1, ' ');
  }

  std::string instruction(std::size_t at, std::uint64_t offset) const {
    std::string text = instruction_text(kernel_.code[at], offset, sm_);
    const auto target = targets_.find(at);
    if (target == targets_.end()) return text;
    const std::size_t place = address_in(text, target->second);
    if (place != std::string::npos) text.replace(place, text.size(), labels_.at(target->second));
    return text;
  }

  const CubinKernel& kernel_;
  int sm_;
  std::map<std::size_t, std::uint64_t> targets_;
  std::map<std::uint64_t, std::string> labels_;
};

// Returns the bytes as lines of 32 bytes each. Lines of zeros are left out.
std::string data_text(std::span<const std::byte> bytes) {
  std::string text = "\n.data\n";
  for (std::size_t at = 0; at < bytes.size(); at += kBytesALine) {
    const auto line = bytes.subspan(at, std::min(kBytesALine, bytes.size() - at));
    if (std::ranges::all_of(line, [](std::byte byte) { return byte == std::byte{0}; })) continue;
    text += padded_hex(at, 6) + " ";
    for (std::size_t i = 0; i < line.size(); ++i) {
      char digits[4];
      std::snprintf(digits, sizeof digits, "%s%02x", i % 8 == 0 ? " " : "",
                    std::to_integer<unsigned>(line[i]));
      text += digits;
    }
    text += "\n";
  }
  return text + ".end\n";
}

}  // namespace

std::string assembly_text(std::span<const std::byte> cubin, std::string_view part) {
  const CubinFile file = read_cubin(cubin);
  std::vector<std::byte> rest(cubin.begin(), cubin.end());
  std::string text =
      "// Every line of this text is in the cubin that \"tessera sass --assemble FILE -o OUT\" "
      "makes of "
      "it.\n.cubin sm_" +
      std::to_string(file.sm) + " bytes " + std::to_string(cubin.size()) + "\n";
  bool is_any = false;
  for (const CubinKernel& kernel : file.kernels) {
    if (kernel.name.find(part) == std::string::npos) continue;
    is_any = true;
    text += KernelText(kernel, file.sm).text();
    const std::size_t bytes = kernel.code.size() * kInstructionBytes;
    std::fill_n(rest.begin() + static_cast<std::ptrdiff_t>(kernel.code_offset), bytes,
                std::byte{0});
  }
  if (!is_any) {
    throw std::runtime_error(file.kernels.empty() ? "the cubin has no code"
                                                  : "no kernel of that name");
  }
  return text + data_text(rest);
}

}  // namespace tessera::sass
