#include "gemm/plan.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "gemm/epilogue/finish.h"
#include "gemm/rewrites/fold.h"

namespace tessera::gemm {
namespace {

// What a plan may depend on: whether alpha and beta are zero, not what they are.
// The layout decides, not the strides: a thin matrix may have a stride of 1 in both directions.
Majors sides_of(const Problem& problem) {
  const bool swapped = problem.order == Order::kColumnMajor;
  const bool a_along_k = swapped ? problem.op_b == Op::kNone : problem.op_a == Op::kNone;
  const bool b_along_n = swapped ? problem.op_a == Op::kNone : problem.op_b == Op::kNone;
  return {a_along_k ? Major::kK : Major::kM, b_along_n ? Major::kN : Major::kK};
}

// Of every product's operand, whose type has so many bytes.
int alignment_in(const Batch& batch, int of_first, std::int64_t stride, ElementType type) {
  if (batch.kind == BatchKind::kPointers) {
    return static_cast<int>(std::min<std::int64_t>(batch.alignment, kMostAlignment));
  }
  if (stride == 0 || batch.count < 2) return of_first;
  // WHY: the bytes of a stride of empty matrices may be more than 63 bits hold.
  const std::uint64_t elements = static_cast<std::uint64_t>(stride);
  const auto divides = std::min<std::uint64_t>(elements & (0 - elements), kMostAlignment);
  return std::min(of_first, static_cast<int>(divides) * size_of(type));
}

Alignment alignment_in_batch(const Problem& p, const Alignment& of_first) {
  const auto of = [&](int first, std::int64_t stride, ElementType type) {
    return alignment_in(p.batch, first, stride, type);
  };
  return {of(of_first.a, p.batch.stride_a, p.types.a), of(of_first.b, p.batch.stride_b, p.types.b),
          of(of_first.c, p.batch.stride_c, p.types.c), of(of_first.d, p.batch.stride_d, p.types.d)};
}

Request request_of(const Problem& problem, const Alignment& given, const DeviceLimits& limits,
                   const PlanOptions& options) {
  const Alignment alignment = alignment_in_batch(problem, given);
  // A column-major problem is the row-major one with its operands exchanged.
  const bool swapped = problem.order == Order::kColumnMajor;
  return {.problem = problem,
          .product = {.params = canonical_params(problem, {}),
                      .a = {swapped ? Slot::kB : Slot::kA},
                      .b = {swapped ? Slot::kA : Slot::kB},
                      .c = {Slot::kC},
                      .d = {Slot::kD}},
          .a_alignment = swapped ? alignment.b : alignment.a,
          .b_alignment = swapped ? alignment.a : alignment.b,
          .d_alignment = alignment.d,
          .majors = sides_of(problem),
          .limits = limits,
          .options = options};
}

// The request for the sums of a problem with an epilogue.
Request request_of_sums(const Problem& problem, const Alignment& alignment,
                        const DeviceLimits& limits, PlanOptions options) {
  const Problem sums = problem_of_sums(problem);
  Alignment of_sums = alignment;
  if (sums.types.d != problem.types.d) of_sums.c = of_sums.d = kMostAlignment;
  options.workspace_limit = std::max<std::int64_t>(
      0, options.workspace_limit - bytes_of_sums(problem, problem.batch.count > 0 ? 1 : 0));
  return request_of(sums, of_sums, limits, options);
}

// The request for a single product of a strided batch.
Request request_of_one(Request request) {
  request.problem.batch = {};
  return request;
}

// Offers to multiply the products of a strided batch one after the other.
Status ask_for_each(const Kernel& kernel, std::string_view variant, const Request& request,
                    std::vector<Offer>& offers) {
  const std::size_t before = offers.size();
  const Request one = request_of_one(request);
  Status status = family_of(kernel).offer(kernel, variant, one, offers);
  for (std::size_t i = before; i < offers.size(); ++i) {
    offers[i].is_for_each = true;
    offers[i].cost = offers[i].cost.times(static_cast<double>(request.problem.batch.count));
    if (request.is_empty()) offers[i].workspace_bytes = 0;
  }
  return status;
}

// Whether a kernel of these types multiplies the problem: one of the problem's own, or, for a
// batch, one that multiplies the same elements with more digits. WHY batches alone: kernels on
// tensor cores take some of them one product after the other, or not at all.
bool multiplies(const Types& kernel, const Problem& problem) {
  if (kernel == problem.types) return true;
  if (problem.batch.kind == BatchKind::kNone) return false;
  Types as_exact = problem.types;
  as_exact.compute = kernel.compute;
  const ComputeFacts& has = facts_of(kernel.compute);
  const ComputeFacts& wanted = facts_of(problem.types.compute);
  return kernel == as_exact && has.sum == wanted.sum && has.operand_digits >= wanted.operand_digits;
}

// The request as such a kernel's family is asked it.
Request request_for(const Kernel& kernel, Request request) {
  request.problem.types = kernel.types;
  return request;
}

// `asked`: the problem itself, where the request is for its sums.
Status ask(const Kernel& kernel, std::string_view variant, const Request& request,
           const Problem& asked, std::vector<Offer>& offers) {
  const bool is_own = kernel.types == request.problem.types;
  if (!is_own && multiplies(kernel.types, request.problem)) {
    return ask(kernel, variant, request_for(kernel, request), asked, offers);
  }
  if (!is_own) {
    const bool is_of_sums = asked.types != request.problem.types;
    return Status::unsupported("type is " + name_of(asked.types) +
                               (is_of_sums ? " with an epilogue (" + describe(asked.epilogue) +
                                                 "), whose sums are kept by kernels of " +
                                                 name_of(request.problem.types)
                                           : "") +
                               ", but " + kernel.name + " multiplies " + name_of(kernel.types));
  }
  const int sm = request.limits.sm;
  if (sm < kernel.first_sm || sm > kernel.last_sm) {
    const std::string needed = "sm_" + std::to_string(kernel.first_sm);
    return Status::unsupported("kernel is " + kernel.name + ", whose code needs " + needed +
                               (kernel.last_sm > kernel.first_sm ? " or later" : "a") +
                               ", but the GPU is sm_" + std::to_string(sm));
  }
  const Family& family = family_of(kernel);
  const Batch& batch = request.problem.batch;
  if (batch.kind == BatchKind::kNone) return family.offer(kernel, variant, request, offers);
  Status status = Status::unsupported("batch is " + describe(batch) + ", but " + kernel.name +
                                      " does not read addresses from device memory");
  if (family.takes(batch)) status = family.offer(kernel, variant, request, offers);
  return batch.kind == BatchKind::kPointers ? status
                                            : ask_for_each(kernel, variant, request, offers);
}

std::vector<Offer> offers_of_named(const KernelChoice& choice, const Request& request,
                                   const Problem& asked) {
  std::vector<Offer> offers;
  require(ask(*choice.kernel, choice.variant, request, asked, offers));
  if (!offers.empty()) return offers;
  throw StatusError(Status::bad_argument("kernel names variant '" + choice.variant + "', which " +
                                         choice.kernel->name + " does not have"));
}

std::vector<Offer> offers_of_all(const Request& request, const Problem& asked) {
  if (!check_has_kernel(request.problem.types).ok()) require(check_has_kernel(asked.types));
  require(check_has_kernel(request.problem.types));
  std::vector<Offer> offers;
  offers.reserve(16);
  for (const Kernel& kernel : all_kernels()) {
    if (!is_rung(kernel) && !kernel.applies_epilogue) ask(kernel, "", request, asked, offers);
  }
  if (!offers.empty()) return offers;
  const Problem& p = request.problem;
  const bool is_batch = p.batch.kind != BatchKind::kNone;
  throw StatusError(Status::unsupported(
      "no kernel takes " + (is_batch ? describe(p.batch) + ", " : "") + "m = " +
      std::to_string(p.m) + ", n = " + std::to_string(p.n) + ", k = " + std::to_string(p.k) +
      " in " + name_of(p.types) + " on an sm_" + std::to_string(request.limits.sm)));
}

// Offers of kernels that apply the epilogue in their store.
std::vector<Offer> fused_offers(const Request& request) {
  std::vector<Offer> offers;
  const std::optional<KernelChoice>& named = request.options.kernel;
  if (named && !is_fused(request.problem.epilogue)) {
    throw StatusError(Status::unsupported("epilogue is " + describe(request.problem.epilogue) +
                                          ", but " + named->kernel->name +
                                          " applies a bias, relu and gelu, and no scale"));
  }
  if (named) return offers_of_named(*named, request, request.problem);
  if (!is_fused(request.problem.epilogue)) return offers;
  for (const Kernel& kernel : all_kernels()) {
    if (kernel.applies_epilogue) ask(kernel, "", request, request.problem, offers);
  }
  return offers;
}

// ... and of all others, for the sums, which a last launch finishes.
std::vector<Offer> finished_offers(const Request& sums, const Problem& problem) {
  std::vector<Offer> offers = sums.options.kernel
                                  ? offers_of_named(*sums.options.kernel, sums, problem)
                                  : offers_of_all(sums, problem);
  for (Offer& offer : offers) add_finish(problem, sums.limits, offer);
  return offers;
}

// Keeps what fits the workspace, the cheapest first.
void rank(std::vector<Offer>& offers, std::int64_t limit) {
  const auto least = std::min_element(
      offers.begin(), offers.end(),
      [](const auto& x, const auto& y) { return x.workspace_bytes < y.workspace_bytes; });
  if (least->workspace_bytes > limit) {
    throw StatusError(Status::bad_argument(
        "workspace_limit is " + std::to_string(limit) + " bytes, but " + least->kernel->name +
        " needs at least " + std::to_string(least->workspace_bytes) + " for this problem"));
  }
  std::erase_if(offers, [&](const Offer& offer) { return offer.workspace_bytes > limit; });
  std::stable_sort(offers.begin(), offers.end(),
                   [](const Offer& x, const Offer& y) { return x.cost.total() < y.cost.total(); });
}

std::vector<Offer> offers_for(const Request& request, const Alignment& alignment) {
  const Problem& problem = request.problem;
  const std::optional<KernelChoice>& named = request.options.kernel;
  if (problem.epilogue.is_identity()) {
    return named ? offers_of_named(*named, request, problem) : offers_of_all(request, problem);
  }
  std::vector<Offer> offers;
  if (!named || named->kernel->applies_epilogue) offers = fused_offers(request);
  if (named && named->kernel->applies_epilogue) return offers;
  const Status possible = check_sums(problem);
  if (!possible.ok() && !offers.empty()) return offers;
  require(possible);
  const Request sums = request_of_sums(problem, alignment, request.limits, request.options);
  for (Offer& offer : finished_offers(sums, problem)) offers.push_back(std::move(offer));
  return offers;
}

}  // namespace

Problem planned_problem(Problem problem) {
  problem = with_default_ld(problem);
  problem.alpha = problem.alpha == 0 ? 0 : 1;
  problem.beta = problem.beta == 0 ? 0 : 1;
  return problem;
}

Plan plan(const Problem& given, const Alignment& alignment, const DeviceLimits& limits,
          const PlanOptions& options) {
  Problem problem = planned_problem(given);
  require(check(problem));
  require(check_supported(problem));
  if (problem.batch.kind == BatchKind::kStrided && problem.batch.count == 1) problem.batch = {};
  std::int64_t products = 1;
  if (const auto one = folded(problem); one && options.fold != Policy::kNever) {
    products = problem.batch.count;
    problem = *one;
  }
  Request request = request_of(problem, alignment, limits, options);
  Plan plan{problem, products, alignment, limits, offers_for(request, alignment), {}};
  rank(plan.offers, options.workspace_limit);
  if (request.is_empty()) return plan;
  const Offer& best = plan.offers.front();
  if (best.is_finished_later) request = request_of_sums(problem, alignment, limits, options);
  if (best.is_for_each) problem.batch = {};
  request = request_for(plan.kernel(), std::move(request));
  plan.launches =
      family_of(plan.kernel()).launches(best, best.is_for_each ? request_of_one(request) : request);
  if (best.is_finished_later) add_finish(problem, best, limits, plan.launches);
  return plan;
}

}  // namespace tessera::gemm
