#include "tests/fuzz/operands.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>

#include "base/elements.h"

namespace tessera::fuzz {
namespace {

constexpr std::int64_t kMostElements = 1 << 19;
constexpr std::int64_t kMostProducts = 1 << 20;  // of which each is made here, too: slowly

constexpr ElementType kElements[] = {ElementType::kF64,  ElementType::kF32,  ElementType::kF16,
                                     ElementType::kBf16, ElementType::kE4m3, ElementType::kE5m2,
                                     ElementType::kS8,   ElementType::kS32};

ElementType element_type(std::int32_t type) { return kElements[type - TESSERA_F64]; }

bool is_known(std::int32_t type) { return type >= TESSERA_F64 && type <= TESSERA_S32; }

}  // namespace

void* no_memory() {
  static void* const page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return page;
}

int bytes_of_type(std::int32_t type) { return is_known(type) ? size_of(element_type(type)) : 0; }

__int128 Extent::elements() const {
  if (lines <= 0 || line <= 0) return 0;
  const __int128 one = static_cast<__int128>(lines - 1) * ld + line;
  if (is_list) return one;
  return count <= 0 ? 0 : static_cast<__int128>(count - 1) * stride + one;
}

Extent extent_of(const tessera_problem& p, char operand) {
  const bool is_a = operand == 'A', is_b = operand == 'B', is_c = operand == 'C';
  const std::int64_t rows = is_b ? p.k : p.m, cols = is_a ? p.k : p.n;
  const bool is_transposed = (is_a && p.op_a == TESSERA_T) || (is_b && p.op_b == TESSERA_T);
  Extent e;
  const std::int32_t type = is_a ? p.type_a : is_b ? p.type_b : is_c ? p.type_c : p.type_d;
  e.type = type == TESSERA_AS_A ? p.type_a : type;
  e.is_row_major = (p.order == TESSERA_ROW_MAJOR) != is_transposed;
  e.lines = e.is_row_major ? rows : cols;
  e.line = e.is_row_major ? cols : rows;
  const std::int64_t ld = is_a ? p.lda : is_b ? p.ldb : is_c ? p.ldc : p.ldd;
  e.ld = ld != 0 ? ld : std::max<std::int64_t>(1, e.line);
  e.count = p.batch == TESSERA_NO_BATCH ? 1 : p.batch_count;
  e.stride = is_a ? p.stride_a : is_b ? p.stride_b : is_c ? p.stride_c : p.stride_d;
  e.is_list = p.batch == TESSERA_POINTERS;
  return e;
}

bool can_be_tried(const tessera_problem& p) {
  constexpr __int128 most = std::numeric_limits<std::int64_t>::max();
  bool is_beyond = p.m < 0 || p.n < 0 || p.k < 0, is_large = false;
  for (const char operand : {'A', 'B', 'C', 'D'}) {
    const Extent e = extent_of(p, operand);
    if (e.ld < e.line || e.stride < 0 || e.count < 0) is_beyond = true;
    if (e.elements() > most) is_beyond = true;
    if (e.elements() > kMostElements || e.count > 8) is_large = true;
  }
  if (is_beyond) return true;
  const __int128 products =
      static_cast<__int128>(p.m) * p.n * std::max<std::int64_t>(1, std::min(p.k, kMostProducts));
  return !is_large && products <= kMostProducts;
}

Operands::Matrices::Place Operands::Matrices::place_of(std::int64_t matrix, std::int64_t row,
                                                       std::int64_t col) const {
  std::int64_t at = extent.is_row_major ? row * extent.ld + col : col * extent.ld + row;
  if (!extent.is_list) at += matrix * extent.stride;
  return {static_cast<std::size_t>(extent.is_list ? matrix : 0),
          offset + static_cast<std::size_t>(at * element_bytes)};
}

double Operands::Matrices::was(std::int64_t matrix, std::int64_t row, std::int64_t col) const {
  const Place at = place_of(matrix, row, col);
  return load_element(element_type(extent.type), before[at.memory].data() + at.byte);
}

void* Operands::Matrices::address() {
  before = memory;
  list.clear();
  for (auto& one : memory) list.push_back(one.data() + offset);
  if (is_missing) return instead;
  if (extent.is_list) return list.data();
  return memory[0].data() + offset;
}

void Operands::make(Matrices& one, char operand, bool is_read, Input& input) {
  one.extent = extent_of(problem_, operand);
  one.element_bytes = std::max(1, bytes_of_type(one.extent.type));
  one.is_missing = !is_read && input.one_in(2);
  one.instead = input.one_in(2) ? no_memory() : nullptr;
  const bool is_odd = input.one_in(32);
  one.offset = is_odd ? static_cast<std::size_t>(input.below(16)) : 0;
  __int128 elements = one.extent.elements();
  if (elements < 0 || elements > kMostElements) elements = 1;  // must be refused
  const auto bytes =
      static_cast<std::size_t>(elements) * static_cast<std::size_t>(one.element_bytes);
  const std::int64_t count =
      one.extent.is_list ? std::clamp<std::int64_t>(one.extent.count, 0, 8) : 1;
  std::uint32_t state = static_cast<std::uint32_t>(input.byte()) * 2654435761u + 1;
  for (std::int64_t i = 0; i < count; ++i) {
    std::vector<unsigned char> memory(bytes + one.offset, 0x5a);
    for (std::size_t at = one.offset;
         at + static_cast<std::size_t>(one.element_bytes) <= memory.size();
         at += static_cast<std::size_t>(one.element_bytes)) {
      state = state * 1664525u + 1013904223u;
      if (!is_known(one.extent.type)) break;
      store_element(element_type(one.extent.type), static_cast<int>(state >> 24) % 5 - 2,
                    memory.data() + at);
    }
    one.memory.push_back(std::move(memory));
  }
}

Operands::Operands(const tessera_problem& problem, double alpha, double beta, Input& input)
    : problem_(problem), alpha_(alpha), beta_(beta) {
  const bool reads_ab = alpha != 0 && problem.k > 0;
  make(a_, 'A', reads_ab, input);
  make(b_, 'B', reads_ab, input);
  make(c_, 'C', beta != 0, input);
  make(d_, 'D', true, input);
  const Extent &c = c_.extent, &d = d_.extent;
  is_in_place_ = !c_.is_missing && c.type == d.type && c.ld == d.ld && c.stride == d.stride &&
                 c_.offset == d_.offset && input.one_in(2);
}

void Operands::put_into(tessera_arguments& to) {
  if (is_in_place_) c_.memory = d_.memory;
  to.a = a_.address();
  to.b = b_.address();
  to.c = c_.address();
  to.d = d_.address();
  if (is_in_place_) to.c = to.d;
}

void Operands::check_untouched() const {
  for (const Matrices* one : {&a_, &b_, &c_, &d_}) {
    expect(one->memory == one->before, "a call that was refused has changed an operand");
  }
}

double Operands::product(std::int64_t matrix, std::int64_t row, std::int64_t col) const {
  double sum = 0;
  for (std::int64_t l = 0; alpha_ != 0 && l < problem_.k; ++l) {
    sum += a_.was(matrix, row, l) * b_.was(matrix, l, col);
  }
  return (alpha_ != 0 ? alpha_ * sum : 0) + (beta_ != 0 ? beta_ * c_.was(matrix, row, col) : 0);
}

void Operands::check_done(bool is_computed) const {
  for (const Matrices* one : {&a_, &b_, &c_}) {
    expect(one->memory == one->before, "a call has changed an input");
  }
  auto expected = d_.before;
  for (std::int64_t matrix = 0; matrix < d_.extent.count; ++matrix) {
    for (std::int64_t row = 0; row < problem_.m; ++row) {
      for (std::int64_t col = 0; col < problem_.n; ++col) {
        const auto at = d_.place_of(matrix, row, col);
        unsigned char* const to = expected[at.memory].data() + at.byte;
        std::memcpy(to, d_.memory[at.memory].data() + at.byte,
                    static_cast<std::size_t>(d_.element_bytes));
        if (!is_computed) continue;
        const ElementType type = element_type(d_.extent.type);
        const double value = rounded_to(type, product(matrix, row, col));
        if (load_element(type, to) != value) store_element(type, value, to);  // 0 and -0 are equal
      }
    }
  }
  if (d_.memory != expected) {
    std::fprintf(stderr, "alpha %g, beta %g%s: ", alpha_, beta_, is_in_place_ ? ", in place" : "");
  }
  expect(d_.memory == expected,
         is_computed ? "D is not the product" : "a call has written beyond the elements of D");
}

}  // namespace tessera::fuzz
