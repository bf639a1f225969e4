// A pass over one product.
#include <tuple>

#include "lab/data/integers.h"
#include "lab/verify/exact_rows.h"
#include "lab/verify/pass.h"

namespace tessera::lab {
namespace {

class SinglePass final : public Pass {
 public:
  SinglePass(const Problem& p, const VerifyOptions& o, bool is_exact)
      : Pass(p, o, is_exact),
        a(p.types.a, view_a(p), kGuardBytes, o.misalign.a),
        b(p.types.b, view_b(p), kGuardBytes, o.misalign.b),
        c(p.types.c, view_c(p), kGuardBytes, o.misalign.c) {
    fill_inputs();
    if (!by_rows()) reference_ = make_reference(problem, a, b, c, reference_options(), vectors());
    if (!problem.epilogue.writes_x()) return;
    reference_x_ = make_reference(problem_of_x(problem), a, b, c, reference_options(), vectors());
  }

  // Whole matrices of integers are too big to be recomputed, but their rows can be checked. After
  // an epilogue, which is not linear, a sample is checked instead.
  bool by_rows() const override {
    return exact && problem.epilogue.is_identity() &&
           !fits_full_reference(problem, options.reference.full_limit);
  }
  const Reference& reference() const override { return reference_; }

 private:
  // Inputs that must not be read are left as poison.
  void fill_inputs() {
    const int nans = exact ? 0 : options.nans;
    const auto prepare = [&](HostMatrix& matrix, std::uint64_t stream, int count) {
      const FillSpec spec = fill_of(stream, 0);
      fill(matrix, spec);
      place(matrix, count, spec.seed);
    };
    if (reads_ab(problem)) {
      prepare(a, 0, nans);
      prepare(b, 1, nans);
    }
    if (problem.beta != 0) prepare(c, kStreamOfC, nans > 0 ? 1 : 0);
  }

  HostMatrix output_before() const {
    if (options.in_place) return c.clone();
    return HostMatrix(problem.types.d, view_d(problem), kGuardBytes, options.misalign.d);
  }

  // Returns why the output on the device is wrong; "" if it is right.
  std::string judge(const HostMatrix& d, Comparison& comparison) const {
    comparison = by_rows() ? compare_rows_exactly(problem, a, b, c, d, options.seed)
                           : compare(d, reference_, bound);
    std::string reason = find_stray_write(d, "D");
    if (reason.empty()) reason = describe(comparison, problem.types.d);
    return reason;
  }

  std::string judge_x(const HostMatrix& x) const {
    if (!problem.epilogue.writes_x()) return {};
    const Comparison comparison = compare(x, reference_x_, bound_x);
    const std::string reason = find_stray_write(x, "X");
    return reason.empty() ? describe(comparison, problem.types.d, "X") : reason;
  }

  Outcome run_and_look(Device& device, const gemm::PlanOptions& how) const override {
    // WHY integers have no guards on the virtual GPU: without guards it stops at the first byte
    // outside an operand. Real data have guards, which show stray accesses on any device.
    const bool guarded = device.info().kind == DeviceKind::kCuda || !exact;
    const bool hide_unread = exact;  // null where the contract lets the caller pass null
    const Uploaded on_a(device, a, guarded), on_b(device, b, guarded), on_c(device, c, guarded);
    const HostMatrix before = output_before();
    const Uploaded on_d(device, before, guarded);
    const HostMatrix x(problem.types.d, view_x(problem), kGuardBytes, options.misalign.d);
    const Uploaded on_x(device, x, guarded);

    Operands operands{on_a.address(), on_b.address(), on_c.address(), on_d.address()};
    if (problem.epilogue.writes_x()) operands.x = on_x.address();
    if (hide_unread && !reads_ab(problem)) operands.a = operands.b = 0;
    if (options.in_place)
      operands.c = operands.d;
    else if (hide_unread && problem.beta == 0)
      operands.c = 0;

    const VectorsOnDevice on_vectors(*this, device, guarded);
    on_vectors.add_to(operands);

    Outcome outcome;
    launch(device, how, operands, gemm::alignment_of(operands), outcome);
    for (const auto& [name, host, on_device] :
         {std::tuple{"A", &a, &on_a}, std::tuple{"B", &b, &on_b}, std::tuple{"C", &c, &on_c}}) {
      if (outcome.reason.empty()) {
        outcome.reason = find_change(on_device->downloaded(*host), *host, name);
      }
    }
    if (outcome.reason.empty()) outcome.reason = on_vectors.find_change();
    const HostMatrix d = on_d.downloaded(before);
    outcome.d_hash = hash_if_wanted(d);
    const std::string wrong = judge(d, outcome.comparison);
    if (outcome.reason.empty()) outcome.reason = wrong;
    if (outcome.reason.empty()) outcome.reason = judge_x(on_x.downloaded(x));
    return outcome;
  }

  HostMatrix a, b, c;
  Reference reference_, reference_x_;
};

}  // namespace

std::unique_ptr<Pass> make_single_pass(const Problem& p, const VerifyOptions& o, bool is_exact) {
  return std::make_unique<SinglePass>(p, o, is_exact);
}

}  // namespace tessera::lab
