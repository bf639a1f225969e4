#include "lab/data/matrix.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

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

void poison(std::byte* bytes, std::size_t count, DataType type) {
  on_type(type, [&](auto zero) {
    using T = decltype(zero);
    const auto pattern = type == DataType::kF64 ? kPoison64 : std::uint64_t{kPoison32};
    const auto fill_range = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        std::memcpy(bytes + i * sizeof(T), &pattern, sizeof(T));
      }
    };
    parallel_for(count / sizeof(T), kBytesAThread / sizeof(T), fill_range);
  });
}

}  // namespace

Runs runs_of(const MatrixView& view) {
  const bool down = view.row == 1 && (view.col != 1 || view.cols == 1);
  if (down) return {true, view.cols, view.rows, view.col};
  return {false, view.rows, view.cols, view.row};
}

void HostMatrix::Release::operator()(std::byte* p) const { std::free(p); }

HostMatrix::HostMatrix(DataType type, const MatrixView& view, std::size_t guard_bytes, int offset)
    : type_(type), view_(view), guard_bytes_(guard_bytes) {
  const std::size_t element = size_of(type);
  front_bytes_ = guard_bytes + offset * element;
  if (view.span() > std::int64_t{1} << 56) refuse_memory(view, view.span() * 8.0);
  total_bytes_ = front_bytes_ + view.span() * element + guard_bytes;
  acquire();
  poison(storage_.get(), total_bytes_, type);
}

// WHY: Linux hands out memory it does not have and kills the process later; so ask first.
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
    return elements<decltype(zero)>()[r * view_.row + c * view_.col];
  });
}

void HostMatrix::set(std::int64_t r, std::int64_t c, double value) {
  on_type(type_, [&](auto zero) {
    using T = decltype(zero);
    elements<T>()[r * view_.row + c * view_.col] = static_cast<T>(value);
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
