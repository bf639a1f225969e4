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
  return check_factor(name, value, types);
}

// Checks that the workspace does not overlap an operand.
Status check_apart(const Plan& plan, const Arguments& arguments) {
  const auto bytes = static_cast<std::uint64_t>(plan.workspace_bytes());
  for (const Operand& operand : plan.operands) {
    const std::uint64_t address = arguments.operands[operand.id];
    if (!overlap(address, operand.bytes, arguments.workspace, bytes)) continue;
    return Status::bad_argument("workspace at " + std::to_string(arguments.workspace) +
                                " overlaps " + std::string(operand.name) +
                                ", but must be apart from all operands");
  }
  return {};
}

Status check_packed_operand(const Plan& plan, OperandId operand, bool is_planned,
                            const PackedArgument& packed, const Arguments& arguments) {
  if (packed.address == 0 && !is_planned) return {};
  const std::string name = operand == OperandId::kA ? "packed_a" : "packed_b";
  if (packed.address == 0) {
    if (!plan.operands[operand].is_used()) return {};
    return Status::bad_argument(name + " is null, but the plan is for a packed operand");
  }
  if (!is_planned) {
    return Status::bad_argument(name +
                                " is given, but the plan is for an operand that is not packed");
  }
  const std::string at = name + " at " + std::to_string(packed.address);
  if (packed.address % kWorkspaceAlignment != 0) {
    return Status::bad_argument(at + ", but must be at a multiple of " +
                                std::to_string(kWorkspaceAlignment) + " bytes");
  }
  const auto bytes = static_cast<std::uint64_t>(packed.bytes);
  const std::uint64_t of_d = plan.operands[OperandId::kD].bytes;
  if (overlap(packed.address, bytes, arguments.operands.d, of_d)) {
    return Status::bad_argument(at + " overlaps D, but must be apart from it");
  }
  const auto of_workspace = static_cast<std::uint64_t>(plan.workspace_bytes());
  if (arguments.workspace != 0 &&
      overlap(packed.address, bytes, arguments.workspace, of_workspace)) {
    return Status::bad_argument(at + " overlaps the workspace, but must be apart from it");
  }
  return {};
}

Status check_packed_arguments(const Plan& plan, const Arguments& arguments) {
  const Status of_a =
      check_packed_operand(plan, OperandId::kA, plan.packed.a, arguments.packed_a, arguments);
  if (!of_a.ok()) return of_a;
  return check_packed_operand(plan, OperandId::kB, plan.packed.b, arguments.packed_b, arguments);
}

// Checks that each address is a multiple of the alignment that the plan was made for.
Status check_planned_alignment(const Plan& plan, const Operands& operands) {
  if (plan.problem.batch.kind == BatchKind::kPointers) return {};
  for (const Operand& operand : plan.operands) {
    const std::uint64_t address = operands[operand.id];
    const int planned = plan.alignment[operand.id];  // a power of two
    if (!operand.is_used() || (address & static_cast<std::uint64_t>(planned - 1)) == 0) continue;
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
  if (plan.steps.empty()) return {};  // a plan without steps writes nothing
  const Operands& operands = arguments.operands;
  if (Status s = check_addresses(plan.operands, operands); !s.ok()) return s;
  if (Status s = check_planned_alignment(plan, operands); !s.ok()) return s;
  if (Status s = check_ranges(plan.operands, operands); !s.ok()) return s;
  if (Status s = check_packed_arguments(plan, arguments); !s.ok()) return s;
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
  const DeviceAddress base = [&] {
    switch (planned.slot) {
      case Slot::kWorkspace:
        return arguments.workspace;
      case Slot::kPackedA:
        return arguments.packed_a.address;
      case Slot::kPackedB:
        return arguments.packed_b.address;
      default:
        return arguments.operands[operand_of(planned.slot)];
    }
  }();
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
