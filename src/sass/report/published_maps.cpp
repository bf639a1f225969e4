#include "sass/report/published_maps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sass/model/reuse.h"
#include "sass/report/report.h"

namespace tessera::sass {
namespace {

using Sums = std::array<std::array<int, 8>, 8>;

// Registers of the sums as a compiler chose them for Volta: row after row.
Sums by_rows() {
  Sums sums;
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) sums[i][j] = 16 + 8 * i + j;
  }
  return sums;
}

// Registers of the sums as chosen by hand: column after column with neighbours exchanged. If both
// factors of a sum have registers of the same parity, the sum's register has the other parity.
Sums by_columns_exchanged() {
  constexpr std::array kOfRow = {17, 16, 19, 18, 21, 20, 23, 22};
  Sums sums;
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) sums[i][j] = 8 * j + kOfRow[i];
  }
  return sums;
}

constexpr Sums kMaxas = {{{3, 2, 11, 10, 19, 18, 27, 26},
                          {7, 6, 15, 14, 23, 22, 31, 30},
                          {1, 0, 9, 8, 17, 16, 25, 24},
                          {5, 4, 13, 12, 21, 20, 29, 28},
                          {35, 34, 43, 42, 51, 50, 59, 58},
                          {39, 38, 47, 46, 55, 54, 63, 62},
                          {33, 32, 41, 40, 49, 48, 57, 56},
                          {37, 36, 45, 44, 53, 52, 61, 60}}};

Operation ffma(int sum, int a, int b) {
  Operation operation{"FFMA"};
  operation.text = fmt::format("FFMA R{}, R{}, R{}, R{}", sum, a, b, sum);
  operation.reads = {{RegisterFile::kGeneral, a, 1, 0},
                     {RegisterFile::kGeneral, b, 1, 1},
                     {RegisterFile::kGeneral, sum, 1, 2}};
  operation.writes = {{RegisterFile::kGeneral, sum, 1}};
  operation.control.stall = 1;
  operation.timing = Timing::kFixed;
  operation.known = true;
  return operation;
}

std::string row_of(const std::array<int, 8>& registers) {
  std::string text;
  for (const int reg : registers) text += fmt::format("{:>5}", fmt::format("R{}", reg));
  return text;
}

std::string map_text(const PublishedMap& map) {
  std::string text = fmt::format("{}: {}\n\n  {:<6}{}  {}\n", map.name, map.from, map.of_rows,
                                 map.of_rows == 'A' ? 'B' : 'A', row_of(map.columns));
  for (std::size_t i = 0; i < 8; ++i) {
    text += fmt::format("  {:<6}C  {}\n", fmt::format("R{}", map.rows[i]), row_of(map.c[i]));
  }
  return text + "\n";
}

std::string clashes_text(const PublishedMap& map) {
  std::vector<Operation> code = multiplies_of(map);
  std::string text = "Sources in one bank:";
  for (const BankModel model : kBankModels) {
    text += fmt::format(" {} {}{}", name_of(model), bank_clashes(code, model).clashes,
                        model == kBankModels.back() ? "" : ",");
  }
  text += fmt::format(
      " of 64 FFMAs (made for {}: C meets A in {}, C meets B in {}, A meets B in {}).\n",
      name_of(map.model), pairs_in_a_bank(map, 2, 0), pairs_in_a_bank(map, 2, 1),
      pairs_in_a_bank(map, 0, 1));
  if (map.order.empty()) return text;
  const std::vector<unsigned> flags = profitable_reuse(code, std::vector<bool>(code.size(), true));
  for (std::size_t i = 0; i < code.size(); ++i) code[i].control.reuse = flags[i];
  const BankClashes counts = bank_clashes(code, map.model);
  text += fmt::format(
      "Its order of FFMAs, by the register of the sum: {}.\nIn this order the reuse cache hides {} "
      "of the {} clashes.\n",
      fmt::join(map.order, " "), counts.hidden, counts.clashes);
  return text;
}

}  // namespace

const std::vector<PublishedMap>& published_maps() {
  constexpr std::array kVoltaRows = {80, 81, 82, 83, 4, 5, 6, 7};
  constexpr std::array kVoltaColumns = {12, 13, 14, 15, 8, 9, 10, 11};
  static const std::vector<PublishedMap> maps = {
      {"volta",
       "as a compiler gave them for Volta",
       BankModel::kVolta2,
       'B',
       kVoltaRows,
       kVoltaColumns,
       by_rows(),
       {}},
      {"volta-remapped",
       "the same, renamed by hand",
       BankModel::kVolta2,
       'B',
       kVoltaRows,
       kVoltaColumns,
       by_columns_exchanged(),
       {}},
      {"maxas",
       "the hand-scheduled SGEMM of maxas for Maxwell",
       BankModel::kMaxwell4,
       'A',
       {64, 65, 66, 67, 68, 69, 70, 71},
       {72, 73, 74, 75, 76, 77, 78, 79},
       kMaxas,
       {1,  0,  2,  3,  5,  4,  6,  7,  33, 32, 34, 35, 37, 36, 38, 39, 45, 44, 46, 47, 41, 40,
        42, 43, 13, 12, 14, 15, 9,  8,  10, 11, 17, 16, 18, 19, 21, 20, 22, 23, 49, 48, 50, 51,
        53, 52, 54, 55, 61, 60, 62, 63, 57, 56, 58, 59, 29, 28, 30, 31, 25, 24, 26, 27}}};
  return maps;
}

std::vector<Operation> multiplies_of(const PublishedMap& map) {
  std::vector<Operation> code;
  for (std::size_t i = 0; i < 8; ++i) {
    for (std::size_t j = 0; j < 8; ++j) {
      const bool is_a = map.of_rows == 'A';
      code.push_back(ffma(map.c[i][j], is_a ? map.rows[i] : map.columns[j],
                          is_a ? map.columns[j] : map.rows[i]));
    }
  }
  if (map.order.empty()) return code;
  std::vector<Operation> ordered;
  for (const int sum : map.order) {
    ordered.push_back(*std::ranges::find_if(
        code, [sum](const Operation& one) { return one.writes.front().first == sum; }));
  }
  return ordered;
}

int pairs_in_a_bank(const PublishedMap& map, int operand, int other) {
  const auto bank = [&](const Operation& one, int at) {
    return bank_of(one.reads[static_cast<std::size_t>(at)].first, map.model);
  };
  return static_cast<int>(std::ranges::count_if(multiplies_of(map), [&](const Operation& one) {
    return bank(one, operand) == bank(one, other);
  }));
}

std::string published_text() {
  std::string text = "Register maps of 8 x 8 sums that others have published: C += A * B.\n";
  for (const PublishedMap& map : published_maps()) {
    text += "\n" + map_text(map) + clashes_text(map);
  }
  return text;
}

}  // namespace tessera::sass
