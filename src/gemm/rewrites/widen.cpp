#include "gemm/rewrites/widen.h"

#include <utility>

#include "gemm/steps/widen.h"

namespace tessera::gemm {
namespace {

// The operand that is converted: the one with the smaller elements.
OperandId narrow_operand(const Types& types) {
  return size_of(types.a) < size_of(types.b) ? OperandId::kA : OperandId::kB;
}

// The bytes of a copy that takes about as long as the conversion: an estimate.
std::int64_t bytes_moved(const WidenedOperand& operand) {
  return operand.lines * operand.length * operand.products *
         (size_of(ElementType::kBf16) + size_of(ElementType::kF32)) * 5 / 4;
}

}  // namespace

Types widened(const Types& types) {
  constexpr std::pair<ElementType, ElementType> kPairs[] = {
      {ElementType::kBf16, ElementType::kF32}};
  for (const auto& [narrow, wide] : kPairs) {
    const bool is_pair =
        (types.a == narrow && types.b == wide) || (types.b == narrow && types.a == wide);
    if (is_pair) return {wide, wide, types.c, types.d, types.compute};
  }
  return types;
}

Status check_multiplied(const Types& types) {
  Status status = check_has_kernel(types);
  return status.ok() || check_has_kernel(widened(types)).ok() ? Status{} : status;
}

Status add_widen(const Route& from, const DeviceLimits& limits, std::vector<Route>& routes) {
  const Problem& problem = from.product.problem;
  const Types types = widened(problem.types);
  if (types == problem.types) return {};
  const OperandId id = narrow_operand(problem.types);
  Route route = from;
  Problem& wide = route.product.problem;
  wide.types = types;
  route.text += std::string("; ") + (id == OperandId::kA ? "A" : "B") + " widened";
  const bool is_read = reads_ab(problem) && problem.m > 0 && problem.n > 0;
  if (!is_read || problem.batch.count == 0) {
    routes.push_back(std::move(route));
    return {};
  }
  const int temp = static_cast<int>(route.temps.size());
  WidenedOperand operand = widened_operand(problem, id);
  if (Status status = check_extent(operand); !status.ok()) return status;
  operand.from = from.product[id];
  operand.to = address_of_temp(temp);
  route.temps.push_back(bytes_of(operand));
  PlannedAddress& at = route.product[id];
  at = operand.to;
  if (operand.is_list) {
    operand.addresses = at = address_of_temp(temp + 1);
    route.temps.push_back(operand.products * kAddressBytes);
  }
  const bool is_a = id == OperandId::kA;
  (is_a ? wide.lda : wide.ldb) = operand.to_line;
  const bool is_strided = problem.batch.kind == BatchKind::kStrided && operand.products > 1;
  (is_a ? wide.batch.stride_a : wide.batch.stride_b) = is_strided ? operand.to_product : 0;
  (is_a ? route.product.alignment.a : route.product.alignment.b) = kMostAlignment;
  route.before.push_back(widen_step(operand, limits));
  route.cost.repack += cost_of_repacking(bytes_moved(operand), limits);
  routes.push_back(std::move(route));
  return {};
}

}  // namespace tessera::gemm
