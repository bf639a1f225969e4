#include "lab/data/matrix.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>

#include "lab/data/host_memory.h"
#include "lab/data/parallel.h"

namespace tessera::lab {
namespace {

constexpr std::size_t kAlignment = 4096;
constexpr std::int64_t kBytesAThread = 1 << 20;

[[noreturn]] void refuse_memory(const MatrixView& view, double bytes) {
  throw StatusError(Status::unavailable(
      fmt::format("a {} x {} matrix needs {:.1f} GB of host memory, and {:.1f} "
                  "GB are free",
                  view.rows, view.cols, bytes * 1e-9, available_host_memory() * 1e-9)));
}

// Fills the bytes with the poison pattern, beginning at the boundary of an element.
void poison(std::byte* bytes, std::size_t count, ElementType type) {
  std::uint64_t pattern = poison_of(type);
  for (int have = size_of(type); have < 8; have *= 2) pattern |= pattern << 8 * have;
  const auto fill_range = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) std::memcpy(bytes + i * 8, &pattern, 8);
  };
  parallel_for(count / 8, kBytesAThread / 8, fill_range);
  std::memcpy(bytes + count / 8 * 8, &pattern, count % 8);
}

}  // namespace

std::uint64_t poison_of(ElementType type) {
  constexpr std::uint64_t kMark = 0xa5a5a5a5a5a5a5a5;
  return on_type(type, [&]<class T>(T) -> std::uint64_t {
    const int fraction = facts_of(type).digits - 1;
    if constexpr (std::is_integral_v<T>) {
      return kMark >> (64 - 8 * sizeof(T));
    } else {
      const T nan = element_of<T>(std::numeric_limits<double>::quiet_NaN());
      std::uint64_t bits = 0;
      std::memcpy(&bits, &nan, sizeof nan);
      // kMark is put only into bits that are well below the bit that makes a NaN quiet.
      return fraction < 4 ? bits : bits | (kMark & ((std::uint64_t{1} << (fraction - 4)) - 1));
    }
  });
}

Runs runs_of(const MatrixView& view) {
  const bool down = view.row == 1 && (view.col != 1 || view.cols == 1);
  if (down) return {true, view.cols, view.rows, view.col};
  return {false, view.rows, view.cols, view.row};
}

void HostMatrix::Release::operator()(std::byte* p) const { std::free(p); }

HostMatrix::HostMatrix(ElementType type, const MatrixView& view, std::size_t guard_bytes,
                       int offset)
    : type_(type), view_(view), guard_bytes_(guard_bytes) {
  const std::size_t element = size_of(type);
  front_bytes_ = guard_bytes + offset * element;
  if (view.span() > std::int64_t{1} << 56) refuse_memory(view, view.span() * 8.0);
  total_bytes_ = front_bytes_ + view.span() * element + guard_bytes;
  acquire();
  poison(storage_.get(), total_bytes_, type);
}

// WHY check first: Linux hands out memory that it does not have and kills the process later.
void HostMatrix::acquire() {
  constexpr std::size_t kWorthAsking = std::size_t{64} << 20;
  if (total_bytes_ > kWorthAsking && total_bytes_ > available_host_memory()) {
    refuse_memory(view_, static_cast<double>(total_bytes_));
  }
  const std::size_t rounded = (total_bytes_ / kAlignment + 1) * kAlignment;
  storage_.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded)));
  if (!storage_) refuse_memory(view_, static_cast<double>(total_bytes_));
}

double HostMatrix::at(std::int64_t r, std::int64_t c) const {
  return on_type(type_, [&](auto zero) -> double {
    return static_cast<double>(elements<decltype(zero)>()[r * view_.row + c * view_.col]);
  });
}

void HostMatrix::set(std::int64_t r, std::int64_t c, double value) {
  on_type(type_, [&](auto zero) {
    using T = decltype(zero);
    elements<T>()[r * view_.row + c * view_.col] = element_of<T>(value);
  });
}

void HostMatrix::set_run(std::int64_t offset, const double* values, std::int64_t count) {
  on_type(type_, [&]<class T>(T) {
    T* to = elements<T>() + offset;
    for (std::int64_t i = 0; i < count; ++i) to[i] = element_of<T>(values[i]);
  });
}

void HostMatrix::get_run(std::int64_t offset, std::int64_t step, double* values,
                         std::int64_t count) const {
  on_type(type_, [&]<class T>(T) {
    const T* from = elements<T>() + offset;
    for (std::int64_t i = 0; i < count; ++i) values[i] = static_cast<double>(from[i * step]);
  });
}

HostMatrix HostMatrix::clone() const {
  HostMatrix copy;
  copy.type_ = type_;
  copy.view_ = view_;
  copy.guard_bytes_ = guard_bytes_;
  copy.front_bytes_ = front_bytes_;
  copy.total_bytes_ = total_bytes_;
  copy.acquire();
  parallel_for(total_bytes_, kBytesAThread, [&](std::int64_t begin, std::int64_t end) {
    std::memcpy(copy.bytes() + begin, bytes() + begin, end - begin);
  });
  return copy;
}

HostMatrix HostMatrix::poisoned_like() const {
  const std::size_t offset = (front_bytes_ - guard_bytes_) / size_of(type_);
  return HostMatrix(type_, view_, guard_bytes_, static_cast<int>(offset));
}

}  // namespace tessera::lab
