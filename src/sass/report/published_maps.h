// Register maps of 8 x 8 accumulators that others have published, and an order of multiplies: a
// reader sees by count why hand-scheduled code gives registers and order as it does.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "sass/decode/operation.h"
#include "sass/model/banks.h"

namespace tessera::sass {

// A thread's 64 sums of one step in k, by their registers: C(row, column) += A * B.
struct PublishedMap {
  std::string_view name, from;
  BankModel model;  // bank model of the card that the map was made for
  char of_rows;     // the factor that a row has: 'A' or 'B'; a column has the other
  std::array<int, 8> rows, columns;     // registers of the factors
  std::array<std::array<int, 8>, 8> c;  // by row, then column
  std::vector<int> order;               // registers of C as they are multiplied; empty: by rows
};
const std::vector<PublishedMap>& published_maps();

// The 64 FFMAs in the map's order, "FFMA Rc, Ra, Rb, Rc", without reuse flags.
std::vector<Operation> multiplies_of(const PublishedMap& map);
// How many of them have two given operands in one bank: 0 is A, 1 is B, 2 is C.
int pairs_in_a_bank(const PublishedMap& map, int operand, int other);

// All maps as text: registers by row and column, clashes by each rule, and what reuse hides in the
// map's order.
std::string published_text();

}  // namespace tessera::sass
