#include "gemm/host/panels.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "gemm/host/copies.h"

namespace tessera::gemm::host {
namespace {

// When a share x of A and of B has arrived, x^2 of the product can be computed, so at first the GPU
// waits for copies. The call takes at least c x' + t (1 - x^2) for every x, where c is the time to
// copy A and B, t is the time to multiply, and x' is x plus one panel. So thin panels are good.
constexpr std::int64_t kLeastPanel = 1024, kMostPanels = 16;
// HW: copies of a panel that is not contiguous reach full speed with lines of 64 KB, nearly full
// speed with 8 KB, and are much slower with 2 to 4 KB (H200, PCIe 5 x16).
// TRIED: 16 panels of 4 KB instead of 8 of 8 KB (BF16, 32768) took longer.
constexpr std::int64_t kLeastLineBytes = 8192;
// A part of D that is longer than kLeastPart is computed in at most kMostParts pieces. Each piece
// is copied out while the next one is computed.
constexpr std::int64_t kLeastPart = 8192, kMostParts = 8;
constexpr std::int64_t kPitchBytes = 256, kPanelMultiple = 256;
// WHY a smaller pitch for short lines: their gaps would be longer than the lines.
constexpr std::int64_t kLongLineBytes = 512, kShortPitchBytes = 16;

// An operand in host memory, and its copy on the device.
struct Both {
  std::uint64_t host = 0;
  DeviceAddress base = 0;  // address of the copy
  MatrixView view;         // the caller's matrix, in rows and columns of op(X)
  MatrixView device;       // the copy
  int element = 0;
  bool is_pinned = true;

  // The rectangle of rows [r0, r1) and columns [c0, c1).
  Rectangle part(std::int64_t r0, std::int64_t r1, std::int64_t c0, std::int64_t c1) const {
    const bool is_along_rows = device.row == 1 && device.col != 1;
    const std::int64_t length = is_along_rows ? r1 - r0 : c1 - c0;
    const std::int64_t lines = is_along_rows ? c1 - c0 : r1 - r0;
    const auto bytes = [&](std::int64_t n) { return static_cast<std::size_t>(n * element); };
    return {
        host + bytes(r0 * view.row + c0 * view.col),
        at(r0, c0),
        {bytes(length), static_cast<std::size_t>(lines), bytes(is_along_rows ? view.col : view.row),
         bytes(is_along_rows ? device.col : device.row)},
        length == (is_along_rows ? view.rows : view.cols)};
  }
  DeviceAddress at(std::int64_t row, std::int64_t col) const {
    return base + static_cast<DeviceAddress>((row * device.row + col * device.col) * element);
  }
  std::int64_t ld() const { return std::max(device.row, device.col); }
};

// The view of a copy: the same index is contiguous as in the caller's matrix, and long lines begin
// at multiples of kPitchBytes.
MatrixView device_view(const MatrixView& view, bool is_along_rows, int element) {
  const std::int64_t length = is_along_rows ? view.rows : view.cols;
  const std::int64_t pitch =
      (length < kLongLineBytes / element ? kShortPitchBytes : kPitchBytes) / element;
  MatrixView copy = view;
  copy.row = is_along_rows ? 1 : std::max<std::int64_t>(2, round_up(view.cols, pitch));
  copy.col = is_along_rows ? std::max<std::int64_t>(2, round_up(view.rows, pitch)) : 1;
  return copy;
}

// WHY a double: padded lines may take more bytes than 63 bits count.
double bytes_of(const MatrixView& copy, int element) {
  const bool along_rows = copy.row == 1;
  return static_cast<double>(along_rows ? copy.cols : copy.rows) *
         static_cast<double>(along_rows ? copy.col : copy.row) * element;
}

// The views of A, B, C and D on the device, in this order.
std::array<MatrixView, 4> device_views(const Problem& p) {
  const Types& t = p.types;
  const bool d_rows = is_along_rows(p.order, Op::kNone);
  return {device_view(view_a(p), is_along_rows(p.order, p.op_a), size_of(t.a)),
          device_view(view_b(p), is_along_rows(p.order, p.op_b), size_of(t.b)),
          device_view(view_c(p), d_rows, size_of(t.c)),
          device_view(view_d(p), d_rows, size_of(t.d))};
}

// A part of D: rows [r0, r1) and columns [c0, c1).
struct Part {
  std::int64_t r0, r1, c0, c1;
};

// One call that multiplies by panels.
class Panels {
 public:
  Panels(Handle& handle, Staging& staging, const Problem& problem, const Operands& operands,
         const PlanOptions& options, void* stream)
      : handle_(handle),
        device_(handle.device()),
        staging_(staging),
        problem_(problem),
        options_(options),
        stream_(stream) {
    const std::array<MatrixView, 4> views = device_views(problem);
    const Types& t = problem.types;
    if (reads_ab(problem)) {
      place(a_, staging.a, operands.a, view_a(problem), views[0], t.a);
      place(b_, staging.b, operands.b, view_b(problem), views[1], t.b);
    }
    if (has_own_c(problem)) {
      place(c_, staging.c, operands.c, view_c(problem), views[2], t.c);
    }
    place(d_, staging.d, operands.d, view_d(problem), views[3], t.d);
    if (problem.beta != 0) c_host_is_pinned_ = is_pinned(operands.c);
    c_host_ = operands.c;
    const bool is_ab_pinned = !reads_ab(problem) || (a_.is_pinned && b_.is_pinned);
    if (!is_ab_pinned || !c_host_is_pinned_) staging.in.reserve(bytes_in());
    if (!d_.is_pinned) staging.out.reserve(bytes_of(d_.device, d_.element));
    reserve_vector(staging.scale, problem.epilogue.scale, scale_type(t));
    reserve_vector(staging.bias, problem.epilogue.bias, bias_type(t));
    cut();
    auto& events = staging.multiplied;
    while (events.size() < 2 * most_parts_) events.emplace_back(device_);
  }

  void run(const Operands& operands) {
    // WHY wait: earlier work of the caller on this stream may still write the operands.
    device_.synchronize(stream_);
    try {
      const Types& t = problem_.types;
      bring_vector(staging_.scale, problem_.epilogue.scale, operands.scale, scale_type(t));
      bring_vector(staging_.bias, problem_.epilogue.bias, operands.bias, bias_type(t));
      for (std::int64_t step = 0; step < count_; ++step) do_step(step);
      take(count_ - 1);
      staging_.out.finish();
      device_.synchronize(stream_);
    } catch (const std::exception& error) {
      abandon();
      // WHY kFailed: any other status means that nothing was launched.
      if (has_launched_) throw StatusError(Status::failed(error.what()));
      throw;
    }
  }

 private:
  // Sets the number of panels, and the most parts of D in a step.
  void cut() {
    const Types& t = problem_.types;
    const int bytes = std::min({size_of(t.a), size_of(t.b), size_of(t.d)});
    const std::int64_t least = std::max(kLeastPanel, kLeastLineBytes / bytes);
    count_ = std::clamp(std::max(problem_.m, problem_.n) / least, std::int64_t{1}, kMostPanels);
    for (std::int64_t step = 0; step < count_; ++step) {
      most_parts_ = std::max(most_parts_, parts_of(step).size());
    }
  }
  // Bytes that are copied to the device through pinned buffers.
  double bytes_in() const {
    double bytes = 0;
    for (const Both* one : {&a_, &b_, &c_}) {
      if (one->element > 0) bytes += bytes_of(one->device, one->element);
    }
    return bytes +
           (problem_.beta != 0 && !has_own_c(problem_) ? bytes_of(d_.device, d_.element) : 0);
  }
  // Waits for all copies. WHY: the next call uses these buffers.
  void abandon() noexcept {
    staging_.in.abandon();
    staging_.out.abandon();
    try {
      device_.synchronize(stream_);
    } catch (const StatusError&) {
      // WHY ignore: a device that failed has already reported the failure.
    }
  }
  void do_step(std::int64_t step) {
    bring(step);
    device_.record(staging_.arrived.get(), staging_.in.stream());
    device_.wait(stream_, staging_.arrived.get());
    multiply_step(step);
    // WHY a step later: the host may have to wait for the result, and the GPU has work meanwhile.
    if (step > 0) take(step - 1);
  }

  bool is_pinned(std::uint64_t address) const {
    return device_.kind_of(address) == AddressKind::kHost;
  }
  void place(Both& both, KeptBuffer& buffer, std::uint64_t host, const MatrixView& view,
             const MatrixView& copy, ElementType type) {
    both.host = host;
    both.view = view;
    both.device = copy;
    both.element = size_of(type);
    both.is_pinned = is_pinned(host);
    both.base = buffer.at_least(static_cast<std::size_t>(bytes_of(copy, size_of(type))));
  }
  std::size_t bytes_of_vector(VectorKind kind, ElementType type) const {
    return static_cast<std::size_t>(view_of(kind, problem_).span() * size_of(type));
  }
  void reserve_vector(KeptBuffer& to, VectorKind kind, ElementType type) {
    if (const std::size_t bytes = bytes_of_vector(kind, type)) to.at_least(bytes);
  }
  // Copies all of a vector. WHY at once: a vector is small, and the first part of D needs it.
  void bring_vector(const KeptBuffer& to, VectorKind kind, std::uint64_t host, ElementType type) {
    const std::size_t bytes = bytes_of_vector(kind, type);
    if (bytes > 0) device_.copy_in(to.address(), reinterpret_cast<const void*>(host), bytes);
  }
  // The address of a vector's elements for rows from r0 on, or columns from c0 on.
  static DeviceAddress vector_at(const KeptBuffer& vector, VectorKind kind, std::int64_t r0,
                                 std::int64_t c0, ElementType type) {
    if (kind == VectorKind::kNone) return 0;
    const std::int64_t first = kind == VectorKind::kPerRow ? r0 : c0;
    return vector.address() + static_cast<DeviceAddress>(first * size_of(type));
  }
  // The first row or column of a step's panels.
  std::int64_t begin_of(std::int64_t extent, std::int64_t step) const {
    if (step == count_) return extent;
    return std::min(extent, round_up(extent / count_ * step, kPanelMultiple));
  }
  std::int64_t row(std::int64_t step) const { return begin_of(problem_.m, step); }
  std::int64_t col(std::int64_t step) const { return begin_of(problem_.n, step); }
  // The event that follows a part of a step. The events of two steps are in use at a time.
  void* multiplied(std::int64_t step, std::size_t part) {
    return staging_.multiplied[static_cast<std::size_t>(step % 2) * most_parts_ + part].get();
  }

  // Copies the panels of a step, and the part of C that is added to their products.
  void bring(std::int64_t step) {
    const std::int64_t m0 = row(step), m1 = row(step + 1), n0 = col(step), n1 = col(step + 1);
    if (reads_ab(problem_)) {
      if (m1 > m0) staging_.in.copy_in(a_.part(m0, m1, 0, problem_.k), a_.is_pinned);
      if (n1 > n0) staging_.in.copy_in(b_.part(0, problem_.k, n0, n1), b_.is_pinned);
    }
    if (problem_.beta == 0) return;
    bring_c(m0, m1, 0, n1);
    bring_c(0, m0, n0, n1);
  }

  void bring_c(std::int64_t r0, std::int64_t r1, std::int64_t c0, std::int64_t c1) {
    if (r1 <= r0 || c1 <= c0) return;
    const Both& copy = has_own_c(problem_) ? c_ : d_;
    Rectangle part = copy.part(r0, r1, c0, c1);
    const MatrixView view = view_c(problem_);
    part.host =
        c_host_ + static_cast<std::uint64_t>((r0 * view.row + c0 * view.col) * copy.element);
    const bool along_rows = copy.device.row == 1;
    part.shape.host_pitch =
        static_cast<std::size_t>((along_rows ? view.col : view.row) * copy.element);
    staging_.in.copy_in(part, c_host_is_pinned_);
  }

  // The parts of D that a step completes: the rows of the step's panel of A, then the columns of
  // the step's panel of B above these rows.
  std::vector<Part> parts_of(std::int64_t step) const {
    const std::int64_t m0 = row(step), m1 = row(step + 1), n0 = col(step), n1 = col(step + 1);
    const auto length = [](std::int64_t all) {
      return std::max(kLeastPart, round_up((all + kMostParts - 1) / kMostParts, kPanelMultiple));
    };
    std::vector<Part> parts;
    for (std::int64_t c = 0; m1 > m0 && c < n1; c += length(n1)) {
      parts.push_back({m0, m1, c, std::min(n1, c + length(n1))});
    }
    for (std::int64_t r = 0; n1 > n0 && r < m0; r += length(m0)) {
      parts.push_back({r, std::min(m0, r + length(m0)), n0, n1});
    }
    return parts;
  }

  void multiply_step(std::int64_t step) {
    const std::vector<Part> parts = parts_of(step);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      multiply_part(parts[i]);
      device_.record(multiplied(step, i), stream_);
    }
  }

  void multiply_part(const Part& of_d) {
    const auto [r0, r1, c0, c1] = of_d;
    Problem part = problem_;
    part.m = r1 - r0;
    part.n = c1 - c0;
    part.lda = reads_ab(problem_) ? a_.ld() : 0;
    part.ldb = reads_ab(problem_) ? b_.ld() : 0;
    part.ldd = d_.ld();
    part.ldc = has_own_c(problem_) ? c_.ld() : part.ldd;
    if (!reads_ab(problem_)) part.k = 0;
    Operands at{.d = d_.at(r0, c0)};
    if (reads_ab(problem_)) {
      at.a = a_.at(r0, 0);
      at.b = b_.at(0, c0);
    }
    if (problem_.beta != 0) at.c = has_own_c(problem_) ? c_.at(r0, c0) : at.d;
    const Epilogue& epilogue = problem_.epilogue;
    at.scale = vector_at(staging_.scale, epilogue.scale, r0, c0, scale_type(problem_.types));
    at.bias = vector_at(staging_.bias, epilogue.bias, r0, c0, bias_type(problem_.types));
    gemm::multiply(handle_, part, at, options_, stream_);
    has_launched_ = true;
  }

  void take(std::int64_t step) {
    const std::vector<Part> parts = parts_of(step);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      device_.wait(staging_.out.stream(), multiplied(step, i));
      staging_.out.copy_out(d_.part(parts[i].r0, parts[i].r1, parts[i].c0, parts[i].c1),
                            d_.is_pinned);
    }
  }

  Handle& handle_;
  Device& device_;
  Staging& staging_;
  const Problem& problem_;
  const PlanOptions& options_;
  void* const stream_;
  Both a_, b_, c_, d_;
  std::size_t most_parts_ = 0;
  std::uint64_t c_host_ = 0;
  bool c_host_is_pinned_ = true;
  bool has_launched_ = false;
  std::int64_t count_ = 1;
};

}  // namespace

Status check_panels(const Problem& problem, const DeviceInfo& device) {
  const std::array<MatrixView, 4> views = device_views(problem);
  const Types& t = problem.types;
  double bytes = bytes_of(views[3], size_of(t.d));
  if (reads_ab(problem)) {
    bytes += bytes_of(views[0], size_of(t.a)) + bytes_of(views[1], size_of(t.b));
  }
  if (has_own_c(problem)) bytes += bytes_of(views[2], size_of(t.c));
  if (bytes <= static_cast<double>(device.memory_bytes)) return {};
  char text[32];
  std::snprintf(text, sizeof text, "%.0f", bytes);
  return Status::unsupported("memory is TESSERA_HOST_MEMORY, and the operands take " +
                             std::string(text) + " bytes, but the GPU has " +
                             std::to_string(device.memory_bytes) +
                             ": problems larger than device memory come later");
}

void multiply_by_panels(Handle& handle, Staging& staging, const Problem& problem,
                        const Operands& operands, const PlanOptions& options, void* stream) {
  std::optional<Panels> panels;
  try {
    panels.emplace(handle, staging, problem, operands, options, stream);
  } catch (const OutOfMemory&) {
    staging.release_above(0);  // buffers of earlier calls, with other sizes
    panels.emplace(handle, staging, problem, operands, options, stream);
  }
  panels->run(operands);
}

}  // namespace tessera::gemm::host
