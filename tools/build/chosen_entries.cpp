// Which entries of the library plans choose. An entry costs seconds of every build, and the library
// has a budget of them (docs/build.md); one that no plan chooses makes room for another.
//
// chosen_entries [PROBLEMS]   for each GPU and type, seeded: any sizes, thin, deep, odd, aligned;
//                             any layout, order, leading dimension, alignment and workspace
//   Prints, for each variant, how often a plan takes it and what the next best would cost on
//   average by the model; then each entry that no plan launches.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>

#include "arch/gpus.h"
#include "base/types.h"
#include "catalog/catalog.h"
#include "gemm/plan/plan.h"

namespace tessera {
namespace {

using Random = std::mt19937_64;

std::int64_t below(Random& random, std::int64_t end) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
}

// From 1 to 2^bits, each power of two as likely as another; whole multiples of 128, 8 and 1.
std::int64_t size(Random& random, int bits) {
  const std::int64_t top = std::int64_t{1} << below(random, bits + 1);
  const std::int64_t any = top + below(random, top);
  const std::int64_t multiples[] = {1, 1, 8, 64, 128, 256};
  const std::int64_t of = multiples[below(random, 6)];
  return std::max(std::int64_t{1}, any / of * of);
}

// Squares, and problems with one or two short sides.
void draw_sizes(Random& random, Problem& p) {
  p.m = p.n = p.k = size(random, 14);
  const std::int64_t kind = below(random, 4);
  if (kind == 0) return;
  p.m = size(random, kind == 1 ? 7 : 14);
  p.n = size(random, kind == 2 ? 7 : 14);
  p.k = size(random, kind == 3 ? 17 : 14);
}

Problem draw_problem(Random& random, const Types& types) {
  Problem p{.types = types, .beta = static_cast<double>(below(random, 2))};
  draw_sizes(random, p);
  p.order = below(random, 2) == 0 ? Order::kColumnMajor : Order::kRowMajor;
  p.op_a = below(random, 2) == 0 ? Op::kNone : Op::kTranspose;
  p.op_b = below(random, 2) == 0 ? Op::kNone : Op::kTranspose;
  p = with_default_ld(p);
  for (std::int64_t* ld : {&p.lda, &p.ldb, &p.ldc, &p.ldd}) {
    const std::int64_t gaps[] = {0, 0, 0, 16, 1, 3};
    *ld += gaps[below(random, 6)];
  }
  return p;
}

gemm::Alignment draw_alignment(Random& random, const Types& types) {
  const auto draw = [&](ElementType type) {
    return below(random, 3) > 0 ? gemm::kMostAlignment
                                : std::max(static_cast<int>(size_of(type)), 1 << below(random, 5));
  };
  return {draw(types.a), draw(types.b), draw(types.c), draw(types.d)};
}

// How often a variant was taken, and by which factor the next variant is dearer, summed.
struct Taken {
  int plans = 0;
  double next = 0;
  int alone = 0;  // plans without another offer
};

struct Counts {
  std::map<std::string, Taken> variants;
  std::map<std::string, int> entries;
  int plans = 0;
};

std::string name_of_variant(const gemm::Candidate& offer) {
  return offer.kernel->name + "/" + offer.row->variant;
}

void count(const gemm::Plan& plan, Counts& counts) {
  ++counts.plans;
  for (const gemm::Step& launch : plan.steps) ++counts.entries[launch.launch.entry];
  Taken& taken = counts.variants[name_of_variant(plan.offers.front())];
  ++taken.plans;
  if (plan.offers.size() == 1) {
    ++taken.alone;
  } else {
    taken.next += plan.offers[1].cost.total() / plan.offers[0].cost.total();
  }
}

// The library's types, once each.
std::vector<Types> all_types() {
  std::vector<Types> types;
  for (const KernelChoice& choice : choose_kernels("library")) {
    const Types& of = choice.kernel->types;
    if (std::find(types.begin(), types.end(), of) == types.end()) types.push_back(of);
  }
  return types;
}

void plan_all(const gemm::DeviceLimits& limits, const Types& types, int problems, Counts& counts) {
  Random random(1);
  for (int i = 0; i < problems; ++i) {
    const Problem problem = draw_problem(random, types);
    const gemm::Alignment alignment = draw_alignment(random, types);
    const std::int64_t workspaces[] = {gemm::kAnyWorkspace, 64 << 20, 64 << 20, 0};
    const gemm::PlanOptions options{.workspace_limit = workspaces[below(random, 4)]};
    try {
      count(gemm::plan(problem, alignment, limits, options), counts);
    } catch (const StatusError&) {
      // No kernel of the GPU multiplies the type, or none within the workspace.
    }
  }
}

void print(const Counts& counts) {
  std::printf("%d plans\n%9s  %10s  %7s  variant\n", counts.plans, "taken", "next costs", "alone");
  for (const KernelChoice& choice : choose_kernels("library/all")) {
    const std::string name = choice.kernel->name + "/" + choice.variant;
    const auto found = counts.variants.find(name);
    const Taken taken = found == counts.variants.end() ? Taken{} : found->second;
    const int compared = taken.plans - taken.alone;
    std::printf("%9d  %10.3f  %7d  %s\n", taken.plans, compared ? taken.next / compared : 0.0,
                taken.alone, name.c_str());
  }
  int never = 0, all = 0;
  const auto show = [&](const std::string& entry) {
    ++all;
    if (counts.entries.contains(entry)) return;
    ++never;
    std::printf("never  %s\n", entry.c_str());
  };
  for (const KernelChoice& choice : choose_kernels("library")) {
    for (const KernelRow& row : choice.kernel->rows) show(row.entry);
    for (const HelperEntry& helper : choice.kernel->helpers) show(helper.entry);
  }
  for (const Kernel* pass : pass_kernels()) {
    for (const HelperEntry& helper : pass->helpers) show(helper.entry);
  }
  std::printf("%d of %d entries are never launched; no problem drawn here has an epilogue\n", never,
              all);
}

}  // namespace
}  // namespace tessera

int main(int argc, char** argv) {
  using namespace tessera;
  const int problems = argc > 1 ? std::atoi(argv[1]) : 2000;
  if (problems <= 0 || argc > 2) {
    std::fprintf(stderr,
                 "usage: chosen_entries [PROBLEMS]   of each type and GPU, 2000 by default\n");
    return 2;
  }
  Counts counts;
  for (const arch::Gpu& gpu : arch::kGpus) {
    const gemm::DeviceLimits limits{gpu.sm, gpu.sms, std::int64_t{gpu.l2_kib} * 1024};
    for (const Types& types : all_types()) plan_all(limits, types, problems, counts);
  }
  print(counts);
}
