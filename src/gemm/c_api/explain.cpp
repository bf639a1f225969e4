#include "gemm/c_api/explain.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>

#include "gemm/c_api/run.h"
#include "gemm/c_api/side.h"
#include "gemm/host/batch.h"
#include "gemm/host/cpu.h"
#include "gemm/overlay/call_text.h"
#include "gemm/overlay/overlay_file.h"
#include "gemm/plan/tuned.h"
#include "gemm/rewrites/fold.h"

namespace tessera::gemm::c_api {
namespace {

// A choice is called faster only if it takes less than this share of the time of the one taken.
constexpr double kWorthSaying = 0.98;
// HW: bytes per microsecond of PCIe 5 x16 in each direction, from or to pinned memory (H200 host).
constexpr double kHostBytesPerUs = 50e3;

template <std::size_t n>
void put(char (&to)[n], const std::string& text) {
  std::memset(to, 0, n);
  std::memcpy(to, text.data(), std::min(text.size(), n - 1));
}

std::string microseconds(double us) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f us", us);
  return text;
}

std::string name_of(const Offer& offer) { return offer.kernel->name + "/" + offer.row->variant; }

tessera_bound bound_of(const Cost& cost) {
  const double work = cost.memory_bound() ? cost.memory : cost.multiply + cost.store;
  if (work < cost.total() / 2) return TESSERA_BOUND_LAUNCH;
  return cost.memory_bound() ? TESSERA_BOUND_MEMORY : TESSERA_BOUND_ARITHMETIC;
}

tessera_choice choice_of(const Candidate& offer) {
  const Cost& cost = offer.cost;
  tessera_choice choice{};
  choice.size = sizeof choice;
  put(choice.kernel, name_of(offer));
  put(choice.decision, offer.decision_text());
  choice.total_us = cost.total();
  choice.launch_us = cost.launch;
  choice.repack_us = cost.repack;
  choice.start_us = cost.start;
  choice.multiply_us = cost.multiply;
  choice.store_us = cost.store;
  choice.memory_us = cost.memory;
  choice.reduce_us = cost.add + cost.finish;
  choice.remainder_us = cost.remainder;
  choice.workspace_bytes = offer.workspace_bytes();
  choice.bound = bound_of(cost);
  put(choice.plan, offer.name());
  return choice;
}

// A change of the call, and the kernel and the time in microseconds that it makes possible.
struct Faster {
  std::string condition;
  double us;
  std::string kernel;
};

std::optional<Faster> faster_if(const std::string& condition, const Problem& problem,
                                const Alignment& alignment, const DeviceLimits& limits,
                                const PlanOptions& options, double than_us) {
  try {
    const Plan better = plan(problem, alignment, limits, options);
    const double us = better.offers.front().cost.total();
    if (us >= than_us * kWorthSaying) return {};
    return Faster{condition, us, name_of(better.offers.front())};
  } catch (const StatusError&) {
    return {};
  }
}

// HW: tensor copies of rows at odd multiples of 16 or 32 bytes take more requests of the L2.
constexpr int kLineBytes = 64;

// The problem with leading dimensions rounded up to multiples of kLineBytes. A leading dimension
// that would overflow is rounded down: only a matrix of one line can have it, and does not use
// it.
Problem with_aligned_lines(Problem p) {
  p = with_default_ld(p);
  const auto round = [](std::int64_t& ld, ElementType type) {
    const std::int64_t unit = std::max(1, kLineBytes / size_of(type));
    const std::int64_t below = ld / unit * unit;
    const bool has_one_above = below <= std::numeric_limits<std::int64_t>::max() - unit;
    ld = below == ld || !has_one_above ? below : below + unit;
  };
  round(p.lda, p.types.a);
  round(p.ldb, p.types.b);
  round(p.ldc, p.types.c);
  round(p.ldd, p.types.d);
  return p;
}

std::optional<Faster> best_refused(const Plan& taken, const Options& options) {
  const Problem& p = taken.problem;
  const Problem padded = with_aligned_lines(p);
  PlanOptions unlimited = options.plan;
  unlimited.workspace_limit = kAnyWorkspace;
  const double us = taken.offers.front().cost.total();
  const Alignment aligned;
  const std::optional<Faster> all[] = {
      faster_if("with addresses aligned to 16 bytes", p, aligned, taken.limits, options.plan, us),
      faster_if("with leading dimensions that are multiples of 64 bytes", padded, options.alignment,
                taken.limits, options.plan, us),
      faster_if("with a larger workspace", p, options.alignment, taken.limits, unlimited, us),
      faster_if("with aligned addresses, leading dimensions that are multiples of 64 bytes and any "
                "workspace",
                padded, aligned, taken.limits, unlimited, us)};
  std::optional<Faster> best;
  for (const auto& one : all) {
    if (one && (!best || one->us < best->us * kWorthSaying)) best = one;
  }
  return best;
}

// The kernels for the problem's types whose code this GPU cannot run, as text.
std::string kernels_of_other_gpus(const Plan& taken) {
  std::string names;
  for (const Kernel& kernel : all_kernels()) {
    const bool is_rung = kernel.name.front() >= '0' && kernel.name.front() <= '9';
    const int sm = taken.limits.sm;
    if (is_rung || kernel.types != taken.problem.types) continue;
    if (sm >= kernel.first_sm && sm <= kernel.last_sm) continue;
    names +=
        (names.empty() ? "" : ", ") + kernel.name + " needs sm_" + std::to_string(kernel.first_sm);
  }
  return names.empty() ? names : names + ", but the GPU is sm_" + std::to_string(taken.limits.sm);
}

void say_why_not(const Plan& taken, const Options& options, tessera_explanation& to) {
  if (const auto faster = best_refused(taken, options)) {
    to.faster_us = faster->us;
    return put(to.why_not,
               faster->condition + ", " + faster->kernel + " takes " + microseconds(faster->us));
  }
  put(to.why_not, kernels_of_other_gpus(taken));
}

// A sentence that says that a batch was folded into one product; else empty.
std::string folded_text(const Plan& taken) {
  if (!taken.is_folded()) return "";
  const Problem& p = taken.problem;
  return "Folded: the batch of " + std::to_string(taken.folded_products) + " is one product, " +
         std::to_string(p.m) + " x " + std::to_string(p.n) + " x " + std::to_string(p.k);
}

Explained on_gpu(const tessera_handle_s& owner, const Asked& asked, const Options& options) {
  const bool by_panels = asked.memory == Memory::kHost;
  const Plan taken = plan(asked.problem, options.alignment, tuned_limits_of(*owner.info),
                          within_memory(owner, options.plan));
  Explained out{};
  for (const Candidate& offer : taken.offers) out.choices.push_back(choice_of(offer));
  tessera_explanation& to = out.summary;
  to.where = by_panels ? TESSERA_ON_GPU_BY_PANELS : TESSERA_ON_GPU;
  to.bound = out.choices.front().bound;
  to.launches = static_cast<std::int32_t>(taken.steps.size());
  to.deterministic = 1;
  to.folded = static_cast<std::int32_t>(std::min<std::int64_t>(
      taken.is_folded() ? taken.folded_products : 0, std::numeric_limits<std::int32_t>::max()));
  out.folded = folded_text(taken);
  out.costs = taken.limits.costs->gpu->name;
  out.tuned = tuned_text(taken);
  put(to.kernel, name_of(taken.offers.front()));
  to.total_us = out.choices.front().total_us;
  to.workspace_bytes = out.choices.front().workspace_bytes;
  say_why_not(taken, options, to);
  if (by_panels) {
    const Problem& p = taken.problem;
    const double in = static_cast<double>(p.m) * static_cast<double>(p.k) * size_of(p.types.a) +
                      static_cast<double>(p.k) * static_cast<double>(p.n) * size_of(p.types.b);
    if (in / kHostBytesPerUs > to.total_us) to.bound = TESSERA_BOUND_HOST;
  }
  return out;
}

Explained on_cpu(const tessera_handle_s& owner, const Asked& asked) {
  require(check(asked.problem));
  require(host::check_cpu(asked.problem));
  Explained out{};
  out.choices.push_back({});
  out.choices.front().size = sizeof(tessera_choice);
  out.choices.front().bound = TESSERA_BOUND_HOST;
  put(out.choices.front().kernel, host::cpu_library());
  put(out.choices.front().decision, "-");
  out.summary.where = TESSERA_ON_CPU;
  out.summary.bound = TESSERA_BOUND_HOST;
  out.summary.deterministic = 1;
  put(out.summary.kernel, host::cpu_library());
  if (owner.has_gpu()) return out;
  const std::string& why = owner.why_on_cpu;
  put(out.summary.why_not, "a GPU, but " + (why.empty() ? "the handle is for the CPU" : why));
  return out;
}

// Explains a product of operands in host memory, for a handle with a GPU.
Explained on_chosen_side(const tessera_handle_s& owner, Asked asked, const Options& options) {
  require(check(asked.problem));
  const Problem one = host_problem(owner, asked.problem);
  const ChosenSide side = choose_side(owner, one);
  // WHY: the lists are in host memory, from where the GPU gets copies of the products.
  if (side.is_gpu && one.batch.kind == BatchKind::kPointers) {
    asked.problem = host::product_of(asked.problem);
  }
  Explained out = side.is_gpu ? on_gpu(owner, asked, options) : on_cpu(owner, asked);
  out.side = text_of(side);
  out.summary.deterministic = side.us.cpu == 0 ? 1 : 0;  // gemm/host/side.h says why
  if (side.is_gpu) return out;
  out.summary.total_us = out.choices.front().total_us = side.us.cpu;
  put(out.summary.why_not, out.side);
  return out;
}

// The call as the log ends with it, for `tessera tune --from`: "; call type=f32 ...". Without these
// words for a call that cannot be tuned.
std::string logged_call(const Plan& plan) {
  const std::string call = gemm::text_of({plan.problem, plan.alignment, plan.workspace_limit});
  return (plan.tuned.is_taken() ? ", tuned" : "") + (call.empty() ? call : "; call " + call);
}

const char* text_of_bound(std::int32_t bound) {
  constexpr const char* kTexts[] = {"arithmetic", "device memory", "launches, start and end",
                                    "host memory"};
  return kTexts[bound];
}

const char* text_of_where(std::int32_t where) {
  constexpr const char* kTexts[] = {"on the GPU", "on the GPU, copied by panels from host memory",
                                    "on the CPU"};
  return kTexts[where];
}

}  // namespace

Explained explain(const tessera_handle_s& owner, const Asked& given, const Options& options) {
  Asked asked = given;
  asked.problem = with_default_ld(given.problem);
  if (!owner.has_gpu() && asked.memory == Memory::kDevice) asked.memory = Memory::kHost;
  Explained out = !owner.has_gpu()                ? on_cpu(owner, asked)
                  : asked.memory == Memory::kHost ? on_chosen_side(owner, asked, options)
                                                  : on_gpu(owner, asked, options);
  out.summary.size = sizeof out.summary;
  out.summary.choices = static_cast<std::int32_t>(out.choices.size());
  return out;
}

std::string text_of(const Explained& explained) {
  const tessera_explanation& all = explained.summary;
  std::string text = explained.folded.empty() ? "" : explained.folded + "\n";
  for (const tessera_choice& choice : explained.choices) {
    const bool is_taken = &choice == &explained.choices.front();
    text += (is_taken ? "runs " : "instead of ") + std::string(choice.kernel);
    if (all.where == TESSERA_ON_CPU) continue;
    text += ": " + microseconds(choice.total_us) + " by the costs of an " + explained.costs +
            ", workspace " + std::to_string(choice.workspace_bytes) + " bytes, " + choice.decision +
            ", bound by " + text_of_bound(is_taken ? all.bound : choice.bound);
    text += is_taken ? std::string(", ") + text_of_where(all.where) + "\n" : "\n";
  }
  if (all.where == TESSERA_ON_CPU) text += std::string(" ") + text_of_where(all.where) + "\n";
  if (!explained.tuned.empty()) text += "tuned: " + explained.tuned + "\n";
  if (!explained.side.empty()) text += "side: " + explained.side + "\n";
  const bool is_repeated = explained.side == all.why_not;
  if (!is_repeated && all.why_not[0] != '\0') text += "faster: " + std::string(all.why_not) + "\n";
  return text;
}

std::string line_of(const Plan& plan) {
  const Problem& p = plan.problem;
  const Candidate& taken = plan.offers.front();
  return "planned " + std::to_string(p.m) + " x " + std::to_string(p.n) + " x " +
         std::to_string(p.k) + " in " + tessera::name_of(p.types) + " " + layout_of(p) + ": " +
         name_of(taken) + ", " + microseconds(taken.cost.total()) + ", workspace " +
         std::to_string(taken.workspace_bytes()) + " bytes" + logged_call(plan);
}

}  // namespace tessera::gemm::c_api
