#include "problem/operands.h"

#include <algorithm>
#include <limits>

namespace tessera {
namespace {

Operand matrix_row(OperandId id, std::string_view name, ElementType type, const MatrixView& view,
                   std::int64_t ld, std::int64_t stride, bool is_read, std::string_view why) {
  return {id, name, type, view, ld, stride, is_read ? Use::kRead : Use::kUnused, why, true};
}

Operand vector_row(OperandId id, std::string_view name, ElementType type, VectorKind kind,
                   const Problem& p, std::string_view why) {
  const Use use = kind == VectorKind::kNone ? Use::kUnused : Use::kRead;
  return {id, name, type, view_of(kind, p), 0, 0, use, why, false};
}

bool is_list(const OperandTable& table, const Operand& operand) {
  return operand.is_matrix && table.batch.kind == BatchKind::kPointers;
}

// Operand::bytes of a row whose other fields are set. WHY 128 bits: the problem may not be checked
// yet.
std::uint64_t bytes_of(const OperandTable& table, const Operand& operand) {
  if (!operand.is_used()) return 0;
  using Wide = unsigned __int128;
  const auto count = static_cast<Wide>(operand.is_matrix ? table.batch.count : 1);
  if (is_list(table, operand)) return static_cast<std::uint64_t>(count * kAddressBytes);
  const MatrixView& view = operand.view;
  if (count == 0 || view.rows == 0 || view.cols == 0) return 0;
  const auto distance = [](Wide number, std::int64_t step) {
    return (number - 1) * static_cast<Wide>(step);
  };
  const Wide elements = distance(count, operand.product_stride) +
                        distance(static_cast<Wide>(view.rows), view.row) +
                        distance(static_cast<Wide>(view.cols), view.col) + 1;
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const auto size = static_cast<std::uint64_t>(size_of(operand.type));
  return elements > most / size ? most : static_cast<std::uint64_t>(elements) * size;
}

std::string address_text(const Operand& operand, std::uint64_t address) {
  return "address of " + std::string(operand.name) + " is " + std::to_string(address);
}

}  // namespace

OperandTable::OperandTable(const Problem& p) : batch(p.batch) {
  const Types& t = p.types;
  const bool ab = reads_ab(p);
  using enum OperandId;
  rows = {
      matrix_row(kA, "A", t.a, view_a(p), p.lda, batch.stride_a, ab, "A is read"),
      matrix_row(kB, "B", t.b, view_b(p), p.ldb, batch.stride_b, ab, "B is read"),
      matrix_row(kC, "C", t.c, view_c(p), p.ldc, batch.stride_c, reads_c(p),
                 "C is read where beta is not 0"),
      matrix_row(kD, "D", t.d, view_d(p), p.ldd, batch.stride_d, true, "D is written"),
      vector_row(kScale, "scale", scale_type(t), p.epilogue.scale, p, "the epilogue has a scale"),
      vector_row(kBias, "bias", bias_type(t), p.epilogue.bias, p, "the epilogue has a bias"),
      matrix_row(kX, "X", t.d, view_x(p), p.ldx, batch.stride_x, p.epilogue.writes_x(),
                 "the epilogue has an auxiliary output")};
  rows[static_cast<std::size_t>(kD)].use = Use::kWritten;
  if (p.epilogue.writes_x()) rows[static_cast<std::size_t>(kX)].use = Use::kWritten;
  for (Operand& row : rows) row.bytes = bytes_of(*this, row);
}

int outputs_of(const OperandTable& table) {
  return static_cast<int>(std::count_if(table.begin(), table.end(), [](const Operand& operand) {
    return operand.use == Use::kWritten;
  }));
}

Status check_addresses(const OperandTable& table, const Operands& operands) {
  for (const Operand& operand : table) {
    if (!operand.is_used() || operands[operand.id] != 0) continue;
    return Status::bad_argument(address_text(operand, 0) + ", but " +
                                std::string(operand.why_used));
  }
  for (const Operand& operand : table) {
    const std::uint64_t address = operands[operand.id];
    const bool is_array = is_list(table, operand);
    const int bytes = is_array ? kAddressBytes : size_of(operand.type);  // powers of two
    if (!operand.is_used() || (address & static_cast<std::uint64_t>(bytes - 1)) == 0) continue;
    return Status::bad_argument(address_text(operand, address) + ", but " +
                                (is_array ? "an array of addresses begins at a multiple of "
                                          : "must be a multiple of its element's bytes, ") +
                                std::to_string(bytes) + (is_array ? " bytes" : ""));
  }
  return {};
}

Status check_ranges(const OperandTable& table, const Operands& operands) {
  for (const Operand& operand : table) {
    const std::uint64_t address = operands[operand.id];
    if (operand.bytes == 0 || address + (operand.bytes - 1) >= address) continue;
    return Status::bad_argument(address_text(operand, address) + ", and its " +
                                std::to_string(operand.bytes) +
                                " bytes end beyond the address space");
  }
  return {};
}

Operands used_operands(const OperandTable& table, const Operands& operands) {
  Operands used;
  for (const Operand& operand : table) {
    if (operand.is_used()) used[operand.id] = operands[operand.id];
  }
  return used;
}

Operands operands_of_product(const OperandTable& table, const Operands& operands, std::int64_t i) {
  Operands product = operands;
  if (i == 0) return product;
  for (const Operand& operand : table) {
    if (operands[operand.id] == 0) continue;
    // WHY unsigned: a matrix that is not read may have any stride, so this product may overflow.
    product[operand.id] += static_cast<std::uint64_t>(i) *
                           static_cast<std::uint64_t>(operand.product_stride) *
                           static_cast<unsigned>(size_of(operand.type));
  }
  return product;
}

}  // namespace tessera
