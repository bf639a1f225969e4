// Operands in host memory where C has another type than D, so that it is a matrix of its own on the
// device; and the number of copies that bring large ones. Small integers, so every type holds them.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/elements.h"
#include "device/virtual/virtual_device.h"
#include "gemm/host/panels.h"
#include "gemm/host/whole.h"
#include "tests/support/late_device.h"

namespace tessera::gemm {
namespace {

struct Stored {
  Stored(const MatrixView& of, ElementType type, int seed)
      : view(of), element(type), bytes(static_cast<std::size_t>(of.span() * size_of(type))) {
    for (std::int64_t i = 0; i < of.span(); ++i) {
      store_element(type, static_cast<double>((i * 7 + seed) % 11 - 5), at(i));
    }
  }
  std::byte* at(std::int64_t i) { return bytes.data() + i * size_of(element); }
  double get(std::int64_t row, std::int64_t col) {
    return load_element(element, at(row * view.row + col * view.col));
  }
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(bytes.data()); }
  MatrixView view;
  ElementType element;
  std::vector<std::byte> bytes;
};

void expect_right(Handle& handle, host::Staging& staging, const Problem& p, bool by_panels) {
  Stored a(view_a(p), p.types.a, 1), b(view_b(p), p.types.b, 4), c(view_c(p), p.types.c, 9),
      d(view_d(p), p.types.d, 6);
  const Operands at{a.address(), b.address(), c.address(), d.address()};
  if (by_panels) {
    host::multiply_by_panels(handle, staging, p, at, {}, nullptr);
  } else {
    host::multiply_whole(handle, staging, p, at, {}, nullptr);
  }
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      double sum = p.beta * c.get(i, j);
      for (std::int64_t l = 0; l < p.k; ++l) sum += a.get(i, l) * b.get(l, j);
      wrong += d.get(i, j) != (p.epilogue.is_identity() ? sum : std::max(sum, 0.0));
    }
  }
  EXPECT_EQ(wrong, 0) << name_of(p.types) << " " << p.m << " " << layout_of(p) << by_panels;
}

TEST(HostTypes, COfAnotherTypeThanD) {
  const std::unique_ptr<Device> gpu = make_virtual_gpu(75);
  LateDevice device(*gpu, 2);
  Handle handle(device);
  host::Staging staging(device);
  for (const ElementType narrow : {ElementType::kBf16, ElementType::kF16}) {
    for (const bool is_c_wide : {false, true}) {
      for (const auto& [m, n] : {std::pair{2100, 5}, {7, 2070}, {33, 70}}) {
        for (const char* layout : {"NN", "TT"}) {
          for (const Order order : {Order::kColumnMajor, Order::kRowMajor}) {
            Problem p{.m = m, .n = n, .k = 3, .order = order};
            p.types = {narrow, narrow, is_c_wide ? ElementType::kF32 : narrow,
                       is_c_wide ? narrow : ElementType::kF32, ComputeType::kF32};
            set_layout(p, layout);
            p.beta = 2;
            p.epilogue = parse_epilogue("relu");  // whose launch reads C, of any type
            p = with_default_ld(p);
            p.ldc += 3;
            p.ldd += 1;
            expect_right(handle, staging, p, true);
            if (m == 33) expect_right(handle, staging, p, false);
          }
        }
      }
    }
  }
}

// A large C goes in by about eight parts: fewer leave the bus idle at the ends, and more cost a
// launch each.
TEST(HostTypes, LargeOperandsGoInByAFewParts) {
  const std::unique_ptr<Device> gpu = make_virtual_gpu(75);
  for (const std::int64_t n : {1200, 2400, 4800}) {
    LateDevice device(*gpu, 2);
    Handle handle(device);
    host::Staging staging(device);
    Problem p{.m = 1000, .n = n, .k = 1, .types = kF32Types};
    p.beta = 1;
    expect_right(handle, staging, with_default_ld(p), true);
    EXPECT_GE(device.copies_in, 8) << n;
    EXPECT_LE(device.copies_in, 8 + 2 * 8) << n;  // and A and B, by panels
  }
}

}  // namespace
}  // namespace tessera::gemm
