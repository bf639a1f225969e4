#include "gemm/call/arguments.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

namespace tessera::gemm {
namespace {

std::string text_of(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

Status check_scale(const char* name, double value, double planned, const Types& types) {
  if ((value == 0) != (planned == 0)) {
    return Status::bad_argument(std::string(name) + " is " + text_of(value) +
                                ", but the plan is for one that is " +
                                (planned == 0 ? "0" : "not 0"));
  }
  Problem scaled{.types = types};
  (name[0] == 'a' ? scaled.alpha : scaled.beta) = value;
  return check(with_default_ld(scaled));
}

// The workspace is apart from all operands.
Status check_apart(const Plan& plan, const Arguments& arguments) {
  const auto bytes = static_cast<std::uint64_t>(plan.workspace_bytes());
  for (const Operand& operand : plan.operands) {
    const std::uint64_t begin = arguments.operands[operand.id];
    const std::uint64_t of_operand = bytes_spanned(plan.operands, operand);
    if (of_operand == 0 || begin + (of_operand - 1) < arguments.workspace ||
        arguments.workspace + bytes <= begin) {
      continue;
    }
    return Status::bad_argument("workspace at " + std::to_string(arguments.workspace) +
                                " overlaps " + std::string(operand.name) +
                                ", but must be apart from all operands");
  }
  return {};
}

// The alignment that kernels were chosen for.
Status check_planned_alignment(const Plan& plan, const Operands& operands) {
  if (plan.problem.batch.kind == BatchKind::kPointers) return {};
  for (const Operand& operand : plan.operands) {
    const std::uint64_t address = operands[operand.id];
    const int planned = plan.alignment[operand.id];
    if (!operand.is_used() || address % static_cast<std::uint64_t>(planned) == 0) continue;
    return Status::bad_argument("address of " + std::string(operand.name) + " is " +
                                std::to_string(address) + ", but the plan is for a multiple of " +
                                std::to_string(planned) + " bytes");
  }
  return {};
}

}  // namespace

Status check_workspace(const Plan& plan, const Arguments& arguments) {
  const std::int64_t needed = plan.workspace_bytes();
  const std::int64_t given = arguments.workspace == 0 ? 0 : arguments.workspace_bytes;
  if (given < needed) {
    const bool is_null = arguments.workspace == 0;
    return Status::bad_argument(
        (is_null ? "workspace is null" : "workspace_bytes is " + std::to_string(given)) + ", but " +
        plan.kernel().name + " needs " + std::to_string(needed) + " bytes for this plan");
  }
  if (needed == 0) return {};
  if (arguments.workspace % kWorkspaceAlignment == 0) return check_apart(plan, arguments);
  return Status::bad_argument("address of the workspace is " + std::to_string(arguments.workspace) +
                              ", but must be a multiple of " + std::to_string(kWorkspaceAlignment) +
                              " bytes");
}

Status check_operands(const Plan& plan, const Arguments& arguments) {
  const Problem& p = plan.problem;
  if (Status s = check_scale("alpha", arguments.alpha, p.alpha, p.types); !s.ok()) return s;
  if (Status s = check_scale("beta", arguments.beta, p.beta, p.types); !s.ok()) return s;
  if (plan.steps.empty()) return {};  // nothing is written
  const Operands& operands = arguments.operands;
  if (Status s = check_addresses(plan.operands, operands); !s.ok()) return s;
  if (Status s = check_planned_alignment(plan, operands); !s.ok()) return s;
  if (Status s = check_ranges(plan.operands, operands); !s.ok()) return s;
  return check_overlap(plan.operands, operands);
}

Status check(const Plan& plan, const Arguments& arguments) {
  Status status = check_operands(plan, arguments);
  return status.ok() ? check_workspace(plan, arguments) : status;
}

Arguments of_round(const Plan& plan, const Arguments& of_batch, std::size_t product) {
  Arguments arguments = of_batch;
  arguments.operands =
      operands_of_product(plan.operands, of_batch.operands, static_cast<std::int64_t>(product));
  return arguments;
}

DeviceAddress address_of(const PlannedAddress& planned, const Arguments& arguments) {
  const DeviceAddress base = planned.slot == Slot::kWorkspace
                                 ? arguments.workspace
                                 : arguments.operands[operand_of(planned.slot)];
  return base == 0 ? 0 : base + static_cast<DeviceAddress>(planned.delta);
}

void patch(const Step& launch, const Arguments& arguments, std::span<std::byte> params) {
  for (const AddressPatch& address : launch.addresses) {
    const DeviceAddress value = address_of(address.address, arguments);
    std::memcpy(params.data() + address.offset, &value, sizeof value);
  }
  for (const ScalePatch& scale : launch.scales) {
    const double value = scale.scale == Scale::kAlpha ? arguments.alpha : arguments.beta;
    std::memcpy(params.data() + scale.offset, &value, sizeof value);
  }
}

}  // namespace tessera::gemm
