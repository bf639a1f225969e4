// An operand in host memory, laid out byte for byte as on the device: a guard band, the strided
// matrix with the gaps between its rows, another guard band. Everything that is not an element
// holds one known NaN, so a stray read poisons the result and a stray write leaves a trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/elements.h"
#include "problem/problem.h"

namespace tessera::lab {

// Returns the bits of guards, gaps and unwritten outputs: for a float a quiet NaN whose payload
// distinguishes it from a computed NaN; for an integer, 0xa5 in every byte.
std::uint64_t poison_of(ElementType type);

// Calls body with a value of the C++ type that a type names: on_type(type, [](auto zero) {...}).
template <class Body>
decltype(auto) on_type(ElementType type, Body&& body) {
  return on_element(type, "a matrix on the host", std::forward<Body>(body));
}

// The lines of adjacent elements in a strided matrix: `count` lines of `length` elements each; line
// i starts at element i * step. If rows_adjacent, a line is a column.
struct Runs {
  bool rows_adjacent = false;
  std::int64_t count = 0, length = 0, step = 0;
  std::int64_t row(std::int64_t run, std::int64_t at) const { return rows_adjacent ? at : run; }
  std::int64_t col(std::int64_t run, std::int64_t at) const { return rows_adjacent ? run : at; }
};
Runs runs_of(const MatrixView& view);

class HostMatrix {
 public:
  // Makes a matrix that holds only poison. The first element is `offset` elements after a 256-byte
  // boundary, with guard_bytes (a multiple of 256) before and after. Throws kUnavailable if there
  // is not enough memory.
  HostMatrix(ElementType type, const MatrixView& view, std::size_t guard_bytes, int offset = 0);

  ElementType type() const { return type_; }
  const MatrixView& view() const { return view_; }
  std::size_t guard_bytes() const { return guard_bytes_; }
  std::size_t front_bytes() const { return front_bytes_; }  // from the start to the first element
  std::size_t total_bytes() const { return total_bytes_; }
  std::byte* bytes() { return storage_.get(); }
  const std::byte* bytes() const { return storage_.get(); }

  template <class T>
  T* elements() {
    return reinterpret_cast<T*>(storage_.get() + front_bytes_);
  }
  template <class T>
  const T* elements() const {
    return reinterpret_cast<const T*>(storage_.get() + front_bytes_);
  }
  double at(std::int64_t r, std::int64_t c) const;
  void set(std::int64_t r, std::int64_t c, double value);
  // set_run() writes adjacent elements from the one at `offset` on, rounded to the type. get_run()
  // reads elements that are `step` apart.
  void set_run(std::int64_t offset, const double* values, std::int64_t count);
  void get_run(std::int64_t offset, std::int64_t step, double* values, std::int64_t count) const;
  HostMatrix clone() const;
  HostMatrix poisoned_like() const;  // same place in memory, nothing but poison

 private:
  struct Release {
    void operator()(std::byte* p) const;
  };
  HostMatrix() = default;
  void acquire();

  ElementType type_ = ElementType::kF32;
  MatrixView view_;
  std::size_t guard_bytes_ = 0, front_bytes_ = 0, total_bytes_ = 0;
  std::unique_ptr<std::byte[], Release> storage_;
};

}  // namespace tessera::lab
