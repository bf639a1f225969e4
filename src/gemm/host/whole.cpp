#include "gemm/host/whole.h"

#include <algorithm>
#include <array>

#include "gemm/host/copies.h"

namespace tessera::gemm::host {
namespace {

// The most bytes of operands and D in a group of products.
constexpr double kMostBytes = 4 << 20;
// On the device, operands begin at multiples of kBegin bytes and their lines at multiples of
// kLineBytes, as the wide copies of kernels require.
constexpr std::int64_t kBegin = 256, kLineBytes = 16;
// When this many bytes are packed, their copy to the device starts.
constexpr std::int64_t kWorthACopy = 64 << 10;

// One operand of all products: its lines in the caller's memory, and packed.
struct Packed {
  std::uint64_t host = 0;   // address of the first product, or of a list of addresses
  std::int64_t stride = 0;  // elements between two products of the caller
  int element = 1;
  std::int64_t length = 0, lines = 0;  // elements of a line
  std::int64_t host_ld = 0, ld = 0;    // elements from line to line
  std::int64_t begin = 0;              // byte offset of the first packed product
  bool is_list = false, is_shared = false;

  std::int64_t product_elements() const { return lines * ld; }
  std::int64_t bytes(std::int64_t products) const {
    return (is_shared ? 1 : products) * product_elements() * element;
  }
  std::uint64_t host_of(std::int64_t product) const {
    if (is_list) return reinterpret_cast<const std::uint64_t*>(host)[product];
    return host + static_cast<std::uint64_t>(product * stride * element);
  }
};

Packed packed(const MatrixView& view, bool is_along_rows, ElementType type, const Batch& batch,
              std::uint64_t host, std::int64_t stride) {
  Packed out{.host = host, .stride = stride, .element = size_of(type)};
  out.length = is_along_rows ? view.rows : view.cols;
  out.lines = is_along_rows ? view.cols : view.rows;
  out.host_ld = is_along_rows ? view.col : view.row;
  out.ld = round_up(std::max<std::int64_t>(out.length, 1), kLineBytes / out.element);
  out.is_list = batch.kind == BatchKind::kPointers;
  out.is_shared = batch.kind == BatchKind::kStrided && stride == 0 && batch.count > 1;
  return out;
}

// The packed operands of a group of products, one after the other: the inputs, then D.
struct Layout {
  Layout(const Problem& p, const Operands& at) {
    const Batch& batch = p.batch;
    const Types& t = p.types;
    const bool d_rows = is_along_rows(p.order, Op::kNone);
    if (reads_ab(p)) {
      a = packed(view_a(p), is_along_rows(p.order, p.op_a), t.a, batch, at.a, batch.stride_a);
      b = packed(view_b(p), is_along_rows(p.order, p.op_b), t.b, batch, at.b, batch.stride_b);
    }
    if (p.beta != 0) c = packed(view_c(p), d_rows, t.c, batch, at.c, batch.stride_c);
    d = packed(view_d(p), d_rows, t.d, batch, at.d, batch.stride_d);
    if (!has_own_c(p)) c.is_shared = false;  // the copy of D first holds C of each product
    const auto vector = [&](VectorKind kind, ElementType type, std::uint64_t host) {
      Packed out{.host = host, .element = size_of(type)};
      out.length = out.ld = out.host_ld = view_of(kind, p).rows;
      out.lines = out.length > 0 ? 1 : 0;
      out.is_shared = true;
      return out;
    };
    scale = vector(p.epilogue.scale, scale_type(t), at.scale);
    bias = vector(p.epilogue.bias, bias_type(t), at.bias);
  }
  void place(const Problem& p, std::int64_t products) {
    end = 0;
    const auto next = [&](Packed& one) {
      one.begin = end;
      end = round_up(end + one.bytes(products), kBegin);
    };
    for (Packed* one : {&scale, &bias, &a, &b}) next(*one);
    if (has_own_c(p)) next(c);
    next(d);
    if (!has_own_c(p)) c.begin = d.begin;
  }

  Packed a, b, c, d, scale, bias;
  std::int64_t end = 0;
};

class Whole {
 public:
  Whole(Handle& handle, Staging& staging, const Problem& problem, const Operands& operands,
        const PlanOptions& options, void* stream)
      : handle_(handle),
        device_(handle.device()),
        staging_(staging),
        problem_(problem),
        options_(options),
        stream_(stream),
        layout_(problem, operands) {
    layout_.place(problem, 1);
    const double of_one = static_cast<double>(std::max<std::int64_t>(layout_.end, 1));
    products_ = std::clamp(static_cast<std::int64_t>(kMostBytes / of_one), std::int64_t{1},
                           problem.batch.count);
    layout_.place(problem, products_);
    base_ = staging.whole.at_least(static_cast<std::size_t>(layout_.end));
    up_ = staging.up.at_least(static_cast<std::size_t>(layout_.end));
    down_ = staging.down.at_least(static_cast<std::size_t>(layout_.d.bytes(products_)));
  }

  void run() {
    // WHY wait: earlier work of the caller on this stream may still write the operands.
    device_.synchronize(stream_);
    bool has_launched = false;
    try {
      for (std::int64_t first = 0; first < problem_.batch.count; first += products_) {
        const std::int64_t count = std::min(products_, problem_.batch.count - first);
        bring(first, count);
        multiply();
        has_launched = true;
        take(first, count);
      }
    } catch (const std::exception& error) {
      abandon();
      // WHY kFailed: any other status means that nothing was launched.
      if (has_launched) throw StatusError(Status::failed(error.what()));
      throw;
    }
  }

 private:
  void bring(std::int64_t first, std::int64_t count) {
    packed_ = sent_ = 0;
    const Packed* const all[] = {&layout_.scale, &layout_.bias, &layout_.a, &layout_.b, &layout_.c};
    for (const Packed* one : all) {
      if (first == 0 || !one->is_shared) pack(*one, first, count);
    }
    send();
  }

  // Packs an operand into the pinned buffer. WHY send earlier operands first: the host
  // packs while they are copied.
  void pack(const Packed& one, std::int64_t first, std::int64_t count) {
    if (one.lines == 0 || one.length == 0) return;
    const bool is_next = round_up(packed_, kBegin) == one.begin;
    if (!is_next || packed_ - sent_ >= kWorthACopy) {
      send();
      sent_ = one.begin;
    }
    const std::int64_t products = one.is_shared ? 1 : count;
    for (std::int64_t i = 0; i < products; ++i) {
      staging_.threads.copy(
          rows(one, up_ + one.begin + i * one.product_elements() * one.element, first + i));
    }
    packed_ = one.begin + one.bytes(count);
  }

  void send() {
    if (packed_ <= sent_) return;
    const auto bytes = static_cast<std::size_t>(packed_ - sent_);
    device_.copy_in(base_ + static_cast<DeviceAddress>(sent_), up_ + sent_,
                    {bytes, 1, bytes, bytes}, stream_);
    sent_ = packed_;
  }

  static RowCopy rows(const Packed& one, std::byte* packed, std::int64_t product) {
    const auto bytes = [&](std::int64_t elements) {
      return static_cast<std::size_t>(elements * one.element);
    };
    return {packed,
            bytes(one.ld),
            reinterpret_cast<const std::byte*>(one.host_of(product)),
            bytes(one.host_ld),
            bytes(one.length),
            static_cast<std::size_t>(one.lines)};
  }

  // WHY the last group is as large as the others: one kernel multiplies all products,
  // so that a product has the same bits at any place in the batch. Results after the
  // last product are not used.
  void multiply() {
    Problem part = problem_;
    part.lda = layout_.a.ld;
    part.ldb = layout_.b.ld;
    part.ldc = problem_.beta != 0 ? layout_.c.ld : 0;
    part.ldd = layout_.d.ld;
    if (!reads_ab(problem_)) part.k = part.lda = part.ldb = 0;
    part.batch = {};
    if (products_ > 1) {
      const auto stride = [](const Packed& one) {
        return one.is_shared ? 0 : one.product_elements();
      };
      part.batch = {.kind = BatchKind::kStrided,
                    .count = products_,
                    .stride_a = stride(layout_.a),
                    .stride_b = stride(layout_.b),
                    .stride_c = stride(problem_.beta != 0 ? layout_.c : layout_.d),
                    .stride_d = stride(layout_.d)};
    }
    const auto at = [&](const Packed& one) {
      return one.lines > 0 ? base_ + static_cast<DeviceAddress>(one.begin) : 0;
    };
    gemm::multiply(handle_, part,
                   {at(layout_.a), at(layout_.b), at(layout_.c), at(layout_.d), at(layout_.scale),
                    at(layout_.bias)},
                   options_, stream_);
  }

  void take(std::int64_t first, std::int64_t count) {
    const Packed& d = layout_.d;
    const auto bytes = static_cast<std::size_t>(d.bytes(count));
    device_.copy_out(down_, base_ + static_cast<DeviceAddress>(d.begin), {bytes, 1, bytes, bytes},
                     stream_);
    device_.synchronize(stream_);
    for (std::int64_t i = 0; i < count; ++i) {
      const RowCopy in = rows(d, down_ + i * d.product_elements() * d.element, first + i);
      staging_.threads.copy(
          {const_cast<std::byte*>(in.from), in.from_pitch, in.to, in.to_pitch, in.width, in.rows});
    }
  }

  // Waits for all copies. WHY: the next call uses these buffers.
  void abandon() noexcept {
    try {
      device_.synchronize(stream_);
    } catch (const StatusError&) {
      // WHY ignore: a device that failed has already reported the failure.
    }
  }

  Handle& handle_;
  Device& device_;
  Staging& staging_;
  const Problem& problem_;
  const PlanOptions& options_;
  void* const stream_;
  Layout layout_;
  std::int64_t products_ = 1;  // products of a group
  DeviceAddress base_ = 0;
  std::byte *up_ = nullptr, *down_ = nullptr;
  std::int64_t packed_ = 0, sent_ = 0;  // bytes of the layout that are packed, and sent
};

}  // namespace

bool fits_whole(const Problem& p) {
  // WHY doubles: a problem may have more bytes than 63 bits count.
  const auto bytes = [](std::int64_t rows, std::int64_t cols, ElementType type) {
    return static_cast<double>(rows) * static_cast<double>(cols) * size_of(type);
  };
  double all = bytes(p.m, p.n, p.types.d);
  if (reads_ab(p)) all += bytes(p.m, p.k, p.types.a) + bytes(p.k, p.n, p.types.b);
  if (has_own_c(p)) all += bytes(p.m, p.n, p.types.c);
  return all <= kMostBytes;
}

void multiply_whole(Handle& handle, Staging& staging, const Problem& problem,
                    const Operands& operands, const PlanOptions& options, void* stream) {
  Whole(handle, staging, problem, operands, options, stream).run();
}

}  // namespace tessera::gemm::host
