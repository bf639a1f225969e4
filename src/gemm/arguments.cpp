#include "gemm/arguments.h"

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

// No kernel reads an element at an address that is not a multiple of its bytes.
Status check_alignment(std::string_view name, std::uint64_t address, int planned,
                       ElementType type) {
  planned = std::max(planned, size_of(type));
  if (address % static_cast<std::uint64_t>(planned) == 0) return {};
  return Status::bad_argument("address of " + std::string(name) + " is " + std::to_string(address) +
                              ", but the plan is for a multiple of " + std::to_string(planned) +
                              " bytes");
}

Status check_workspace(const Plan& plan, const Arguments& arguments) {
  const std::int64_t needed = plan.workspace_bytes();
  const std::int64_t given = arguments.workspace == 0 ? 0 : arguments.workspace_bytes;
  if (given < needed) {
    const bool is_null = arguments.workspace == 0;
    return Status::bad_argument(
        (is_null ? "workspace is null" : "workspace_bytes is " + std::to_string(given)) + ", but " +
        plan.kernel().name + " needs " + std::to_string(needed) + " bytes for this plan");
  }
  if (needed == 0 || arguments.workspace % kWorkspaceAlignment == 0) return {};
  return Status::bad_argument("address of the workspace is " + std::to_string(arguments.workspace) +
                              ", but must be a multiple of " + std::to_string(kWorkspaceAlignment) +
                              " bytes");
}

Status check_null(const Problem& problem, const Operands& operands) {
  const auto missing = [](const char* name, const char* why) {
    return Status::bad_argument("address of " + std::string(name) + " is 0, but " + why);
  };
  if (reads_ab(problem) && operands.a == 0) return missing("A", "A is read");
  if (reads_ab(problem) && operands.b == 0) return missing("B", "B is read");
  if (problem.beta != 0 && operands.c == 0) return missing("C", "C is read where beta is not 0");
  if (operands.d == 0) return missing("D", "D is written");
  const Epilogue& epilogue = problem.epilogue;
  if (epilogue.scale != VectorKind::kNone && operands.scale == 0) {
    return missing("scale", "the epilogue has a scale");
  }
  if (epilogue.bias != VectorKind::kNone && operands.bias == 0) {
    return missing("bias", "the epilogue has a bias");
  }
  return {};
}

// Arrays of addresses: what they hold is in device memory, and nobody can look.
constexpr int kAddressBytes = 8;

Status check_arrays(const Problem& p, const Operands& operands) {
  const struct {
    char name;
    std::uint64_t address;
    bool is_used;
  } arrays[] = {{'A', operands.a, reads_ab(p)},
                {'B', operands.b, reads_ab(p)},
                {'C', operands.c, p.beta != 0},
                {'D', operands.d, true}};
  for (const auto& [name, address, is_used] : arrays) {
    if (!is_used || address % kAddressBytes == 0) continue;
    return Status::bad_argument(std::string("address of ") + name + " is " +
                                std::to_string(address) +
                                ", but an array of addresses begins at a multiple of 8 bytes");
  }
  return {};
}

// The operands whose addresses matter, aligned as planned.
Status check_alignments(const Plan& plan, const Operands& operands) {
  const Problem& p = plan.problem;
  constexpr int kOfElement = 1;
  if (p.epilogue.scale != VectorKind::kNone) {
    Status s = check_alignment("scale", operands.scale, kOfElement, scale_type(p.types));
    if (!s.ok()) return s;
  }
  if (p.epilogue.bias != VectorKind::kNone) {
    Status s = check_alignment("bias", operands.bias, kOfElement, bias_type(p.types));
    if (!s.ok()) return s;
  }
  if (p.batch.kind == BatchKind::kPointers) return check_arrays(p, operands);
  if (reads_ab(p)) {
    if (Status s = check_alignment("A", operands.a, plan.alignment.a, p.types.a); !s.ok()) return s;
    if (Status s = check_alignment("B", operands.b, plan.alignment.b, p.types.b); !s.ok()) return s;
  }
  if (p.beta != 0) {
    if (Status s = check_alignment("C", operands.c, plan.alignment.c, p.types.c); !s.ok()) return s;
  }
  return check_alignment("D", operands.d, plan.alignment.d, p.types.d);
}

}  // namespace

Status check(const Plan& plan, const Arguments& arguments) {
  const Problem& p = plan.problem;
  if (Status s = check_scale("alpha", arguments.alpha, p.alpha, p.types); !s.ok()) return s;
  if (Status s = check_scale("beta", arguments.beta, p.beta, p.types); !s.ok()) return s;
  if (plan.launches.empty()) return {};  // nothing is written
  if (Status s = check_null(p, arguments.operands); !s.ok()) return s;
  if (Status s = check_alignments(plan, arguments.operands); !s.ok()) return s;
  if (Status s = check_workspace(plan, arguments); !s.ok()) return s;
  return check_overlap(p, arguments.operands);
}

Arguments of_round(const Plan& plan, const Arguments& of_batch, std::size_t product) {
  Arguments arguments = of_batch;
  if (product == 0) return arguments;
  const auto move = [product](std::uint64_t& address, std::int64_t stride, ElementType type) {
    // WHY: unsigned. The stride of matrices that are not read may be any number.
    const auto bytes = static_cast<std::uint64_t>(stride) * static_cast<unsigned>(size_of(type));
    if (address != 0) address += product * bytes;
  };
  const Batch& batch = plan.problem.batch;
  const Types& types = plan.problem.types;
  move(arguments.operands.a, batch.stride_a, types.a);
  move(arguments.operands.b, batch.stride_b, types.b);
  move(arguments.operands.c, batch.stride_c, types.c);
  move(arguments.operands.d, batch.stride_d, types.d);
  return arguments;
}

DeviceAddress address_of(const Place& place, const Arguments& arguments) {
  const Operands& operands = arguments.operands;
  const DeviceAddress bases[] = {operands.a,          operands.b,     operands.c,   operands.d,
                                 arguments.workspace, operands.scale, operands.bias};
  const DeviceAddress base = bases[static_cast<std::size_t>(place.slot)];
  return base == 0 ? 0 : base + static_cast<DeviceAddress>(place.delta);
}

void patch(const PlannedLaunch& launch, const Arguments& arguments, std::span<std::byte> params) {
  for (const AddressPatch& address : launch.addresses) {
    const DeviceAddress value = address_of(address.place, arguments);
    std::memcpy(params.data() + address.offset, &value, sizeof value);
  }
  for (const ScalePatch& scale : launch.scales) {
    const double value = scale.scale == Scale::kAlpha ? arguments.alpha : arguments.beta;
    std::memcpy(params.data() + scale.offset, &value, sizeof value);
  }
}

}  // namespace tessera::gemm
