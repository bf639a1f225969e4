// A pass over a batch. Its products use three different sets of operands again and again. So few
// references serve a batch of any length, and products with the same operands must have the same
// bits wherever they are.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "lab/verify/pass.h"

namespace tessera::lab {
namespace {

constexpr std::int64_t kDifferent = 3;  // products

// All matrices of one operand as they are in memory. For a batch of pointers, the matrices are in
// reverse order, at addresses that are odd multiples of the stated alignment.
class Matrices {
 public:
  Matrices(const Batch& batch, ElementType type, const MatrixView& view, std::int64_t stride,
           int misalign)
      : batch_(batch),
        view_(view),
        runs_(runs_of(view)),
        element_(size_of(type)),
        stride_(stride),
        memory_(type, {1, elements(), std::max<std::int64_t>(elements(), 1), 1}, kGuardBytes,
                batch.kind == BatchKind::kPointers ? 0 : misalign) {}

  HostMatrix& memory() { return memory_; }
  const HostMatrix& memory() const { return memory_; }
  // Returns the bytes from the memory's first element to the first element of a product's matrix.
  std::int64_t offset(std::int64_t product) const {
    if (batch_.kind == BatchKind::kStrided) return product * stride_ * element_;
    const std::int64_t place = batch_.count - 1 - product;
    return place * place_bytes() + batch_.alignment;
  }

  void put(std::int64_t product, const HostMatrix& matrix) {
    copy_runs(memory_, offset(product), matrix, 0);
  }
  // Returns a product's matrix, copied from `memory`, which is laid out like memory().
  HostMatrix take(const HostMatrix& memory, std::int64_t product) const {
    HostMatrix matrix(memory.type(), view_, 0);
    copy_runs(matrix, 0, memory, offset(product));
    return matrix;
  }
  // Overwrites a product's matrix with poison.
  void wipe(HostMatrix& memory, std::int64_t product) const {
    copy_runs(memory, offset(product), HostMatrix(memory.type(), view_, 0), 0);
  }

 private:
  std::int64_t place_bytes() const {
    const std::int64_t unit = std::max<std::int64_t>(2 * batch_.alignment, 8);
    return (view_.span() * element_ + batch_.alignment + unit - 1) / unit * unit;
  }
  std::int64_t elements() const {
    if (batch_.count == 0 || view_.span() == 0) return 0;
    if (batch_.kind == BatchKind::kPointers) return batch_.count * place_bytes() / element_;
    return (batch_.count - 1) * stride_ + view_.span();
  }
  void copy_runs(HostMatrix& to, std::int64_t to_at, const HostMatrix& from,
                 std::int64_t from_at) const {
    if (view_.span() == 0) return;
    for (std::int64_t run = 0; run < runs_.count; ++run) {
      const std::int64_t at = run * runs_.step * element_;
      std::memcpy(to.bytes() + to.front_bytes() + to_at + at,
                  from.bytes() + from.front_bytes() + from_at + at,
                  static_cast<std::size_t>(runs_.length * element_));
    }
  }

  Batch batch_;
  MatrixView view_;
  Runs runs_;
  std::int64_t element_, stride_;
  HostMatrix memory_;
};

class BatchPass final : public Pass {
 public:
  BatchPass(const Problem& p, const VerifyOptions& o, bool is_exact)
      : Pass(p, o, is_exact),
        one_(p),
        a_(p.batch, p.types.a, view_a(p), p.batch.stride_a, o.misalign.a),
        b_(p.batch, p.types.b, view_b(p), p.batch.stride_b, o.misalign.b),
        c_(p.batch, p.types.c, view_c(p), p.batch.stride_c, o.misalign.c),
        d_(p.batch, p.types.d, view_d(p), p.batch.stride_d, o.misalign.d),
        x_(p.batch, p.types.d, view_x(p), p.batch.stride_x, o.misalign.d) {
    one_.batch = {};
    if (p.batch.count == 0) return;
    for (std::int64_t i = 0; i < different(); ++i) add_product(i);
    const auto put = [&](Matrices& to, const std::vector<HostMatrix>& from, std::int64_t stride) {
      const std::int64_t count = shares(stride) ? 1 : p.batch.count;
      for (std::int64_t i = 0; i < count; ++i) to.put(i, from[i % different()]);
    };
    put(a_, products_a_, p.batch.stride_a);
    put(b_, products_b_, p.batch.stride_b);
    put(c_, products_c_, p.batch.stride_c);
  }

  const Reference& reference() const override {
    static const Reference kNone;
    return references_.empty() ? kNone : references_.front();
  }

 private:
  std::int64_t different() const { return std::min(problem.batch.count, kDifferent); }
  bool shares(std::int64_t stride) const {
    return problem.batch.kind == BatchKind::kStrided && stride == 0;
  }

  // WHY only the last different product has NaNs: no NaN may reach the D of another product.
  HostMatrix made(ElementType type, const MatrixView& view, std::uint64_t stream,
                  std::int64_t product, std::int64_t stride, bool is_read) const {
    HostMatrix matrix(type, view, 0);
    if (!is_read) return matrix;
    const FillSpec spec = fill_of(stream, static_cast<std::uint64_t>(shares(stride) ? 0 : product));
    fill(matrix, spec);
    const bool has_nans =
        !exact && options.nans > 0 && !shares(stride) && product + 1 == different();
    if (has_nans) place(matrix, stream == kStreamOfC ? 1 : options.nans, spec.seed);
    return matrix;
  }

  void add_product(std::int64_t i) {
    const Types& types = problem.types;
    const Batch& batch = problem.batch;
    const bool is_read = reads_ab(problem);
    products_a_.push_back(made(types.a, view_a(problem), 0, i, batch.stride_a, is_read));
    products_b_.push_back(made(types.b, view_b(problem), 1, i, batch.stride_b, is_read));
    products_c_.push_back(
        made(types.c, view_c(problem), kStreamOfC, i, batch.stride_c, problem.beta != 0));
    references_.push_back(make_reference(one_, products_a_.back(), products_b_.back(),
                                         products_c_.back(), reference_options(), vectors()));
    if (!problem.epilogue.writes_x()) return;
    references_x_.push_back(make_reference(problem_of_x(one_), products_a_.back(),
                                           products_b_.back(), products_c_.back(),
                                           reference_options(), vectors()));
  }

  // What an output must hold, product by product.
  struct Wanted {
    std::string_view name;
    const Matrices& matrices;
    const std::vector<Reference>& references;
    const Bound& bound;
  };

  // Returns why the output on the device is wrong; "" if it is right.
  std::string judge(const Wanted& wanted, const HostMatrix& after, const HostMatrix& before,
                    Comparison& comparison) const {
    HostMatrix rest = after.clone(), blank = before.clone();
    std::vector<HostMatrix> first;  // D of the first product with each set of operands
    std::string reason;
    for (std::int64_t i = 0; i < problem.batch.count; ++i) {
      const HostMatrix d = wanted.matrices.take(after, i);
      const Comparison one = compare(d, wanted.references[i % different()], wanted.bound);
      comparison.checked += one.checked;
      comparison.bad += one.bad;
      comparison.max_error_ratio = std::max(comparison.max_error_ratio, one.max_error_ratio);
      if (!comparison.first) comparison.first = one.first;
      if (reason.empty() && !one.ok()) {
        reason = fmt::format("product {}: {}", i, describe(one, problem.types.d, wanted.name));
      }
      wanted.matrices.wipe(rest, i);
      wanted.matrices.wipe(blank, i);
      if (i < different()) {
        first.push_back(d.clone());
      } else if (reason.empty() &&
                 std::memcmp(d.bytes(), first[i % different()].bytes(), d.total_bytes()) != 0) {
        reason = fmt::format("products {} and {} have the same operands, but not the same bits",
                             i % different(), i);
      }
    }
    const bool is_touched = std::memcmp(rest.bytes(), blank.bytes(), rest.total_bytes()) != 0;
    if (!is_touched) return reason;
    return fmt::format("{} was written outside the elements of its products", wanted.name);
  }

  // The argument for a plan: the operand itself, or an array of the addresses of its matrices.
  class OnDevice {
   public:
    OnDevice(Device& device, const Batch& batch, const Matrices& matrices, const HostMatrix& memory,
             bool guarded)
        : memory_(device, memory, guarded) {
      if (batch.kind != BatchKind::kPointers) return;
      std::vector<DeviceAddress> addresses;
      for (std::int64_t i = 0; i < batch.count; ++i) {
        addresses.push_back(memory_.address() + static_cast<DeviceAddress>(matrices.offset(i)));
      }
      array_ = DeviceBuffer(device, std::max<std::size_t>(addresses.size(), 1) * 8);
      if (!addresses.empty()) {
        device.copy_in(array_.address(), addresses.data(), addresses.size() * 8);
      }
    }
    DeviceAddress address() const { return array_.bytes() ? array_.address() : memory_.address(); }
    const Uploaded& memory() const { return memory_; }

   private:
    Uploaded memory_;
    DeviceBuffer array_;
  };

  Outcome run_and_look(Device& device, const gemm::PlanOptions& how) const override {
    const bool guarded = device.info().kind == DeviceKind::kCuda || !exact;
    const Batch& batch = problem.batch;
    const HostMatrix before = options.in_place ? c_.memory().clone() : d_.memory().clone();
    const OnDevice on_a(device, batch, a_, a_.memory(), guarded),
        on_b(device, batch, b_, b_.memory(), guarded),
        on_c(device, batch, c_, c_.memory(), guarded), on_d(device, batch, d_, before, guarded),
        on_x(device, batch, x_, x_.memory(), guarded);
    Operands operands{on_a.address(), on_b.address(), on_c.address(), on_d.address()};
    if (problem.epilogue.writes_x()) operands.x = on_x.address();
    if (exact && !reads_ab(problem)) operands.a = operands.b = 0;
    if (options.in_place)
      operands.c = operands.d;
    else if (exact && problem.beta == 0)
      operands.c = 0;

    const VectorsOnDevice on_vectors(*this, device, guarded);
    on_vectors.add_to(operands);

    Outcome outcome;
    launch(device, how, operands, gemm::alignment_of(operands), outcome);
    for (const auto& [name, host, on_device] : {std::tuple{"A", &a_.memory(), &on_a.memory()},
                                                std::tuple{"B", &b_.memory(), &on_b.memory()},
                                                std::tuple{"C", &c_.memory(), &on_c.memory()}}) {
      if (outcome.reason.empty()) {
        outcome.reason = find_change(on_device->downloaded(*host), *host, name);
      }
    }
    if (outcome.reason.empty()) outcome.reason = on_vectors.find_change();
    const HostMatrix d = on_d.memory().downloaded(before);
    outcome.d_hash = hash_if_wanted(d);
    const std::string wrong = judge({"D", d_, references_, bound}, d, before, outcome.comparison);
    if (outcome.reason.empty()) outcome.reason = wrong;
    if (outcome.reason.empty() && problem.epilogue.writes_x()) {
      Comparison of_x;
      outcome.reason = judge({"X", x_, references_x_, bound_x},
                             on_x.memory().downloaded(x_.memory()), x_.memory(), of_x);
    }
    return outcome;
  }

  Problem one_;  // without the batch
  Matrices a_, b_, c_, d_, x_;
  std::vector<HostMatrix> products_a_, products_b_, products_c_;
  std::vector<Reference> references_, references_x_;
};

}  // namespace

std::unique_ptr<Pass> make_batch_pass(const Problem& p, const VerifyOptions& o, bool is_exact) {
  return std::make_unique<BatchPass>(p, o, is_exact);
}

}  // namespace tessera::lab
