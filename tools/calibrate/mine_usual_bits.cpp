// Which values ptxas gives to fields that no text shows. Reads cubins, fatbins, programs and
// libraries, and writes src/sass/assemble/usual_rows.cpp: mine_usual_bits FILE... > usual_rows.cpp
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

#include "sass/assemble/encode_text.h"
#include "sass/container/cubin.h"
#include "sass/container/fatbin.h"

using namespace tessera::sass;

namespace {

constexpr int kOldest = 75, kNewest = 90;
constexpr int kMostOfAKind = 400;  // of one opcode and architecture: more tell nothing new

// How often each bit was not shown, and how often it was a 1 then.
struct Hidden {
  std::array<int, 105> times{}, ones{};
};
using Table = std::map<int, std::map<int, Hidden>>;  // by key and architecture

void count(const Instruction& instruction, std::uint64_t offset, int sm, Hidden& hidden) {
  const std::string text = assembly_of(instruction, offset, sm);
  Instruction shown;
  try {
    shown = encode(text, control_of(instruction), offset, sm).shown;
  } catch (const std::runtime_error&) {
    return;  // the text has no way back
  }
  for (std::size_t bit = 0; bit < hidden.times.size(); ++bit) {
    if (shown.bits(static_cast<int>(bit), 1) != 0) continue;
    ++hidden.times[bit];
    hidden.ones[bit] += static_cast<int>(instruction.bits(static_cast<int>(bit), 1));
  }
}

void read(const char* path, Table& table) {
  static std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  static std::map<std::pair<int, int>, int> taken;
  std::ifstream stream(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  for (const FoundCubin& found : find_code(std::as_bytes(std::span(bytes))).cubins) {
    const CubinFile file = read_cubin(found.bytes);
    if (file.sm < kOldest || file.sm > kNewest) continue;
    for (const CubinKernel& kernel : file.kernels) {
      for (std::size_t at = 0; at < kernel.code.size(); ++at) {
        const Instruction& instruction = kernel.code[at];
        const int key = instruction.key();
        if (!decode(instruction, 0, file.sm).known) continue;
        if (!seen.insert({instruction.low, instruction.high}).second) continue;
        if (++taken[{key, file.sm}] > kMostOfAKind) continue;
        count(instruction, at * kInstructionBytes, file.sm, table[key][file.sm]);
      }
    }
  }
}

Instruction most(int key, const Hidden& hidden) {
  Instruction bits{static_cast<std::uint64_t>(key & 0xFFF), static_cast<std::uint64_t>(key >> 12)
                                                                << (91 - 64)};
  for (std::size_t bit = 0; bit < hidden.times.size(); ++bit) {
    if (2 * hidden.ones[bit] <= hidden.times[bit]) continue;
    (bit < 64 ? bits.low : bits.high) |= std::uint64_t{1} << bit % 64;
  }
  return bits;
}

// One row for neighbouring architectures that agree; the last one holds for those after it.
void print(int key, const std::map<int, Hidden>& by_sm) {
  std::vector<std::pair<int, Instruction>> rows;
  for (const auto& [sm, hidden] : by_sm) {
    const Instruction bits = most(key, hidden);
    const bool is_same =
        !rows.empty() && rows.back().second.low == bits.low && rows.back().second.high == bits.high;
    if (!is_same) rows.emplace_back(sm, bits);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const int last = i + 1 < rows.size() ? rows[i + 1].first - 1 : kNewest;
    std::printf("      {0x%x, %d, %d, 0x%llx, 0x%llx},\n", static_cast<unsigned>(key),
                rows[i].first, last, static_cast<unsigned long long>(rows[i].second.low),
                static_cast<unsigned long long>(rows[i].second.high));
  }
}

}  // namespace

int main(int count, char** files) {
  Table table;
  for (int i = 1; i < count; ++i) {
    try {
      read(files[i], table);
    } catch (const std::runtime_error& error) {
      std::fprintf(stderr, "%s: %s\n", files[i], error.what());
    }
  }
  std::puts(
      "// Written by tools/calibrate/mine_usual_bits from what ptxas 13.0 makes of this\n"
      "// repository's kernels, and from libraries of CUDA 13.\n"
      "#include \"sass/assemble/usual_bits.h\"\n\nnamespace tessera::sass {\n\n"
      "std::span<const UsualBits> usual_rows() {\n  static const UsualBits rows[] = {");
  for (const auto& [key, by_sm] : table) print(key, by_sm);
  std::puts("  };\n  return rows;\n}\n\n}  // namespace tessera::sass");
}
