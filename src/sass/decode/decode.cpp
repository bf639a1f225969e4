#include "sass/decode/decode.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <stdexcept>
#include <unordered_map>
#include <vector>

namespace tessera::sass {
namespace {

// Returns every key of a row: its one key, or one key for each form.
std::vector<int> keys_of(const Row& row) {
  if (row.forms.empty()) return {row.code};
  std::vector<int> keys;
  for (const char form : row.forms) {
    const int source = form - '0';
    const int key = row.code | source << 9;
    keys.push_back(source >= 6 ? u(key) : key);
  }
  return keys;
}

std::unordered_map<int, const Row*> index_rows() {
  std::unordered_map<int, const Row*> index;
  for (const auto rows : {float_rows(), integer_rows(), memory_rows(), async_rows(), tensor_rows(),
                          uniform_rows(), control_rows()}) {
    for (const Row& row : rows) {
      for (const int key : keys_of(row)) {
        if (!index.emplace(key, &row).second) {
          throw std::logic_error("Two rows for one opcode: " + std::string(row.pattern));
        }
      }
    }
  }
  return index;
}

const std::unordered_map<int, const Row*>& rows_by_key() {
  static const auto index = index_rows();
  return index;
}

// Prints a pattern: text as it is, and for each word in braces the field that it names.
void print_pattern(Decoding& decoding, std::string_view pattern) {
  while (!pattern.empty()) {
    const std::size_t open = pattern.find('{');
    decoding.print(pattern.substr(0, open));
    if (open == std::string_view::npos) return;
    const std::size_t close = pattern.find('}', open);
    if (close == std::string_view::npos) throw std::logic_error("A brace is not closed.");
    print_piece(decoding, pattern.substr(open + 1, close - open - 1));
    pattern.remove_prefix(close + 1);
  }
}

// HW: FP64 arithmetic has a fixed latency on sm_90: in the code of ptxas 13.0, FP64 instructions
// never set a scoreboard on sm_90a, but set scoreboards on sm_75, sm_80, sm_86 and sm_89.
Timing timing_of(const Row& row, int sm) {
  const bool has_fixed_fp64 = sm == 90;
  const bool is_fp64 = row.pattern.starts_with("D") && row.timing == Timing::kFixed;
  return is_fp64 && !has_fixed_fp64 ? Timing::kVariable : row.timing;
}

std::string unknown_name(const Instruction& instruction) {
  char text[16];
  std::snprintf(text, sizeof text, "op_0x%x", static_cast<unsigned>(instruction.key()));
  return text;
}

std::string_view width_suffix(const Instruction& instruction) {
  static constexpr std::array<std::string_view, 8> kWidths = {".8",  ".8",  ".16",  ".16",
                                                              ".32", ".64", ".128", ".?"};
  return kWidths[instruction.bits(73, 3)];
}

}  // namespace

const Row* find_row(int key) {
  const auto found = rows_by_key().find(key);
  return found == rows_by_key().end() ? nullptr : found->second;
}

std::span<const int> all_keys() {
  static const std::vector<int> keys = [] {
    std::vector<int> all;
    for (const auto& [key, row] : rows_by_key()) all.push_back(key);
    std::ranges::sort(all);
    return all;
  }();
  return keys;
}

void print_guard(Decoding& decoding, Guard guard) {
  const auto number = static_cast<int>(decoding.bits(12, 3));
  const bool negated = decoding.bit(15);
  if (number == 7 && !negated) return;
  const bool warp = guard == Guard::kWarp;
  const std::string name = number == 7 ? "T" : std::to_string(number);
  decoding.print(std::string(negated ? "@!" : "@") + (warp ? "UP" : "P") + name + " ");
  if (number == 7) return;
  decoding.operation.reads.push_back(
      {warp ? RegisterFile::kUniformPredicate : RegisterFile::kPredicate, number, 1, -1});
}

std::string_view row_name(const Row& row) {
  return row.pattern.substr(0, row.pattern.find_first_of("{ "));
}

bool row_has_width(const Row& row) { return row.pattern.find("{.size") != std::string_view::npos; }

std::string name_of(const Instruction& instruction) {
  const Row* row = find_row(instruction.key());
  if (!row) return unknown_name(instruction);
  std::string name(row_name(*row));
  if (row_has_width(*row)) name += width_suffix(instruction);
  return name;
}

namespace {

Operation decode(const Instruction& instruction, std::uint64_t offset, int sm, bool is_complete) {
  Operation operation;
  operation.name = name_of(instruction);
  operation.control = control_of(instruction);
  Decoding decoding{instruction, offset, sm, operation, nullptr, is_complete};
  const Row* row = find_row(instruction.key());
  print_guard(decoding, row ? row->guard : Guard::kThread);
  if (row) {
    print_pattern(decoding, row->pattern);
    if (row_name(*row) == "REDG" && sm < 90)
      operation.text.erase(operation.text.find("REDG") + 3, 1);
    operation.timing = timing_of(*row, sm);
    operation.known = true;
  } else {
    decoding.print(operation.name);
  }
  return operation;
}

}  // namespace

Operation decode(const Instruction& instruction, std::uint64_t offset, int sm) {
  return decode(instruction, offset, sm, false);
}

std::string assembly_of(const Instruction& instruction, std::uint64_t offset, int sm) {
  return decode(instruction, offset, sm, true).text;
}

}  // namespace tessera::sass
