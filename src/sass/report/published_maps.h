// Register maps of 8 x 8 accumulators that others have published, each with an order of the
// multiplies. The counts show why hand-scheduled code chooses registers and order as it does.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "sass/decode/operation.h"
#include "sass/model/banks.h"

namespace tessera::sass {

// Published registers for one k of a thread's 8 x 8 sums, C(row, column) += A * B.
struct PublishedMap {
  std::string_view name, from;
  BankModel model;  // bank model of the card that the map was made for
  char of_rows;     // the factor of a row: 'A' or 'B'; a column has the other factor
  std::array<int, 8> rows, columns;     // registers of the factors
  std::array<std::array<int, 8>, 8> c;  // by row, then column
  std::vector<int> order;               // registers of C as they are multiplied; empty: by rows
};
const std::vector<PublishedMap>& published_maps();

// Returns the 64 FFMAs in the map's order, "FFMA Rc, Ra, Rb, Rc", without reuse flags.
std::vector<Operation> multiplies_of(const PublishedMap& map);
// Returns how many of the 64 FFMAs have the two given operands in one bank: 0 is A, 1 is B, 2 is C.
int pairs_in_a_bank(const PublishedMap& map, int operand, int other);

// Returns all maps as text: registers by row and column, bank conflicts by each rule, and how many
// of the conflicts the reuse cache hides in the map's order.
std::string published_text();

}  // namespace tessera::sass
