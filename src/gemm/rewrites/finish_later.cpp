#include "gemm/rewrites/finish_later.h"

#include <algorithm>

#include "base/divide.h"
#include "gemm/rewrites/bias_as_c.h"
#include "gemm/steps/finish.h"

namespace tessera::gemm {
namespace {

constexpr std::int64_t kLine = 32;  // sums, which are 128 bytes or more

// Whether D holds the sums until the last step finishes them.
bool stay_in_d(const Types& types) {
  return types.d == facts_of(types.compute).sum && types.c == types.d;
}

std::int64_t length_of_line(const Problem& p) { return p.order == Order::kRowMajor ? p.n : p.m; }
std::int64_t lines_of(const Problem& p) { return p.order == Order::kRowMajor ? p.m : p.n; }

std::int64_t bytes_of_sums(const Problem& sums) {
  const std::int64_t elements = (sums.batch.count - 1) * sums.batch.stride_d + view_d(sums).span();
  return elements * size_of(sums.types.d);
}

// Bytes that the last step reads and writes.
double bytes_to_finish(const Problem& p) {
  const bool in_place = stay_in_d(p.types);
  const int bytes = size_of(facts_of(p.types.compute).sum) + size_of(p.types.d) +
                    (reads_c(p) && !in_place ? size_of(p.types.c) : 0);
  return static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.batch.count) *
         bytes;
}

}  // namespace

Problem problem_of_sums(const Problem& problem) {
  Problem sums = problem;
  sums.epilogue = {};
  if (stay_in_d(problem.types)) return sums;
  sums.types.c = sums.types.d = facts_of(problem.types.compute).sum;
  sums.beta = 0;
  sums.ldc = sums.ldd = round_up(std::max<std::int64_t>(length_of_line(problem), 1), kLine);
  if (sums.batch.kind != BatchKind::kStrided) return sums;
  sums.batch.stride_c = 0;
  sums.batch.stride_d = sums.ldd * std::max<std::int64_t>(lines_of(problem), 1);
  return sums;
}

Status check_sums(const Problem& problem) {
  const bool in_d = stay_in_d(problem.types);
  if (Status status = check_finish(problem, in_d); !status.ok() || in_d) return status;
  const std::string of = "epilogue is " + describe(problem.epilogue) + ", and sums of D in " +
                         std::string(name_of(problem.types.d)) + " are in the workspace, but ";
  if (problem.batch.kind == BatchKind::kPointers) {
    return Status::unsupported(of + "no kernel reads " + describe(problem.batch) +
                               " and writes these");
  }
  // WHY 128 bits: the number of sums may exceed 63 bits.
  const std::int64_t length = length_of_line(problem), lines = lines_of(problem);
  constexpr __int128 kMost = __int128{1} << 60;
  if (length > kMost || (static_cast<__int128>(length) + kLine) * lines > kMost ||
      (static_cast<__int128>(length) + kLine) * lines * problem.batch.count > kMost) {
    return Status::unsupported(of + "there are more than 2^60 of them");
  }
  return {};
}

Status add_finish_later(const Route& from, const DeviceLimits& limits, std::vector<Route>& routes) {
  const Problem& problem = from.product.problem;
  if (problem.epilogue.is_identity() || is_bias_as_c(problem)) return {};
  if (Status status = check_sums(problem); !status.ok()) return status;
  Route route = from;
  route.product.problem = problem_of_sums(problem);
  route.text += "; epilogue in a later launch";
  const Problem& of_sums = route.product.problem;
  Sums sums{.are_in_d = stay_in_d(problem.types),
            .at = {},
            .row = of_sums.ldd,
            .product = of_sums.batch.stride_d};
  if (!sums.are_in_d) {
    sums.at = address_of_temp(static_cast<int>(route.temps.size()));
    route.product[OperandId::kD] = sums.at;
    route.product.alignment.c = route.product.alignment.d = kMostAlignment;
  }
  if (problem.m > 0 && problem.n > 0 && problem.batch.count > 0) {
    if (!sums.are_in_d) route.temps.push_back(bytes_of_sums(of_sums));
    route.after.insert(route.after.begin(), finish_step(from.product, sums, limits));
    route.cost.finish += cost_of_finishing(bytes_to_finish(problem), limits);
  }
  routes.push_back(std::move(route));
  return {};
}

}  // namespace tessera::gemm
