// The table of operands: what a problem reads and writes. The checks of legality, addresses,
// overlap and extents loop over this table, so that a new operand needs one row and one address.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "problem/problem.h"

namespace tessera {

enum class OperandId : std::uint8_t { kA, kB, kC, kD, kScale, kBias, kX };
inline constexpr std::size_t kOperands = 7;

// Base addresses. The address of an unused operand may be 0.
struct Operands {
  std::uint64_t a = 0, b = 0, c = 0, d = 0;
  std::uint64_t scale = 0, bias = 0, x = 0;

  std::uint64_t& operator[](OperandId id);
  std::uint64_t operator[](OperandId id) const;
};

// The fields of Operands, in the order of OperandId.
inline constexpr std::array<std::uint64_t Operands::*, kOperands> kAddresses{
    &Operands::a,     &Operands::b,    &Operands::c, &Operands::d,
    &Operands::scale, &Operands::bias, &Operands::x};

inline std::uint64_t& Operands::operator[](OperandId id) {
  return this->*kAddresses[static_cast<std::size_t>(id)];
}
inline std::uint64_t Operands::operator[](OperandId id) const {
  return this->*kAddresses[static_cast<std::size_t>(id)];
}

// The size of one address in a batch's array of addresses.
inline constexpr int kAddressBytes = 8;

enum class Use { kUnused, kRead, kWritten };

struct Operand {
  OperandId id;
  std::string_view name;  // "A", for messages
  ElementType type;
  MatrixView view;              // as the caller means it; a vector is one column
  std::int64_t ld;              // 0 for a vector
  std::int64_t product_stride;  // elements from one product of a strided batch to the next
  Use use;
  std::string_view why_used;  // "A is read"
  bool is_matrix;             // false for a vector of the epilogue, which all products share
  // The number of bytes from the first to the last element, over all products of the batch; for a
  // batch of pointers, the size of the array of addresses. 0 if the operand is not used; the
  // largest number if the size exceeds 64 bits.
  std::uint64_t bytes = 0;

  bool is_used() const { return use != Use::kUnused; }
};

// The operands of a problem, in the order of OperandId. WHY the constructor is implicit: a problem
// can be passed wherever a table is expected; a plan keeps its own table. Expects leading
// dimensions to be filled in.
struct OperandTable {
  OperandTable(const Problem& problem);  // NOLINT(google-explicit-constructor)

  std::array<Operand, kOperands> rows;
  Batch batch;

  const Operand& operator[](OperandId id) const { return rows[static_cast<std::size_t>(id)]; }
  auto begin() const { return rows.begin(); }
  auto end() const { return rows.end(); }
};

// The number of operands that are written.
int outputs_of(const OperandTable& table);

// Whether bytes_a bytes at address a and bytes_b bytes at address b have a byte in common.
constexpr bool overlap(std::uint64_t a, std::uint64_t bytes_a, std::uint64_t b,
                       std::uint64_t bytes_b) {
  return bytes_a > 0 && bytes_b > 0 && (a < b ? b - a < bytes_a : a - b < bytes_b);
}

// Returns an error if the address of a used operand is 0, or not a multiple of the element's size
// (of 8 for an array of addresses).
Status check_addresses(const OperandTable& table, const Operands& operands);

// Returns an error if a used operand extends beyond the end of the address space.
Status check_ranges(const OperandTable& table, const Operands& operands);

// Returns an error if an output shares an element with another output or with an operand that is
// read. D may be C itself if ldd is ldc. The check is exact: sub-blocks of one matrix that
// interleave in memory but share no element are legal. The addresses of a batch of pointers are not
// checked.
Status check_overlap(const OperandTable& table, const Operands& operands);

// Returns `operands` with an address of 0 for each unused operand.
Operands used_operands(const OperandTable& table, const Operands& operands);

// The addresses of product i of a strided batch.
Operands operands_of_product(const OperandTable& table, const Operands& operands, std::int64_t i);

}  // namespace tessera
