#include "gemm/c_api/structs.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>

namespace tessera::gemm::c_api {
namespace {

constexpr std::size_t kLargestStruct = 4096;  // bytes, in any later version
constexpr int kLargestCache = 1 << 20;

std::string text_of(std::int64_t value) { return std::to_string(value); }

// The element of `values` for a number of a C enum that starts at `first`; else throws.
template <class Values>
auto value_of(const Values& values, const char* name, std::int32_t number, std::int32_t first = 0) {
  const std::int64_t place = static_cast<std::int64_t>(number) - first;
  if (place >= 0 && place < static_cast<std::int64_t>(values.size())) {
    return values[static_cast<std::size_t>(place)];
  }
  throw refused(std::string(name) + " is " + text_of(number) + ", but must be " + text_of(first) +
                " to " + text_of(first + static_cast<int>(values.size()) - 1));
}

ElementType type_of(const char* name, std::int32_t number) {
  constexpr std::array kTypes = {ElementType::kF64,  ElementType::kF32,  ElementType::kF16,
                                 ElementType::kBf16, ElementType::kE4m3, ElementType::kE5m2,
                                 ElementType::kS8,   ElementType::kS32};
  return value_of(kTypes, name, number, TESSERA_F64);
}

ComputeType compute_of(std::int32_t number, ElementType a) {
  constexpr std::array kComputes = {ComputeType::kF64, ComputeType::kF32, ComputeType::kTf32,
                                    ComputeType::kF16, ComputeType::kS32, ComputeType::kF16x3};
  if (number != TESSERA_COMPUTE_USUAL) {
    return value_of(kComputes, "compute", number, TESSERA_COMPUTE_F64);
  }
  if (!is_float(a)) return ComputeType::kS32;
  return size_of(a) == size_of(ElementType::kF64) ? ComputeType::kF64 : ComputeType::kF32;
}

Types types_of(const tessera_problem& in) {
  const auto like_a = [&](std::int32_t type) { return type == TESSERA_AS_A ? in.type_a : type; };
  Types types;
  types.a = type_of("type_a", in.type_a);
  types.b = type_of("type_b", like_a(in.type_b));
  types.c = type_of("type_c", like_a(in.type_c));
  types.d = type_of("type_d", like_a(in.type_d));
  types.compute = compute_of(in.compute, types.a);
  return types;
}

Batch batch_of(const tessera_problem& in) {
  constexpr std::array kKinds = {BatchKind::kNone, BatchKind::kStrided, BatchKind::kPointers};
  const BatchKind kind = value_of(kKinds, "batch", in.batch);
  if (kind != BatchKind::kStrided) {
    require_zero("stride_a", in.stride_a);
    require_zero("stride_b", in.stride_b);
    require_zero("stride_c", in.stride_c);
    require_zero("stride_d", in.stride_d);
    require_zero("stride_x", in.stride_x);
  }
  if (kind != BatchKind::kPointers) require_zero("batch_alignment", in.batch_alignment);
  if (kind == BatchKind::kNone) {
    require_zero("batch_count", in.batch_count);
    return {};
  }
  return {kind,        in.batch_count,     in.stride_a, in.stride_b, in.stride_c,
          in.stride_d, in.batch_alignment, {},          in.stride_x};
}

KernelChoice kernel_named(const std::string& name) {
  const std::vector<KernelChoice> named = choose_kernels(name);
  if (named.size() == 1) return named.front();
  throw refused("kernel is '" + name + "', which names " + std::to_string(named.size()) +
                " kernels, but must name one");
}

// The types that compute FP32 products: as the handle says or, if `given`
// is 0, as TESSERA_FP32 says.
Types fp32_of(std::int32_t given) {
  if (given == TESSERA_COMPUTE_F32) return kF32Types;
  if (given == TESSERA_COMPUTE_F16X3) return kF16x3Types;
  if (given != 0) {
    throw refused("fp32 is " + text_of(given) +
                  ", but must be 0, TESSERA_COMPUTE_F32 or TESSERA_COMPUTE_F16X3");
  }
  const char* const text = std::getenv("TESSERA_FP32");
  const std::string environment = text ? text : "";
  if (environment.empty() || environment == "f32") return kF32Types;
  if (environment == "f16x3") return kF16x3Types;
  throw refused("TESSERA_FP32 is '" + environment +
                "' in the environment, but must be f32 or f16x3");
}

}  // namespace

void require_zero(const char* name, std::int64_t value) {
  if (value == 0) return;
  throw refused(std::string(name) + " is " + text_of(value) + ", but must be 0");
}

std::size_t size_of_struct(const void* from, std::size_t known, const char* name, bool is_input,
                           std::span<const std::size_t> earlier) {
  if (!from) throw refused(std::string(name) + " is null, but must be given");
  std::size_t size = 0;
  std::memcpy(&size, from, sizeof size);
  const std::string said = "size of " + std::string(name) + " is " + std::to_string(size);
  if (std::find(earlier.begin(), earlier.end(), size) != earlier.end()) return size;
  if (size < known || size > kLargestStruct) {
    throw refused(said + ", but must be sizeof the struct, " + std::to_string(known));
  }
  const auto* bytes = static_cast<const unsigned char*>(from);
  if (is_input &&
      std::any_of(bytes + known, bytes + size, [](unsigned char b) { return b != 0; })) {
    throw refused(said + ", but this version knows " + std::to_string(known) +
                  " bytes, and those behind must be 0");
  }
  return size;
}

void write_struct(void* to, const void* from, std::size_t bytes, std::size_t size) {
  auto* first = static_cast<unsigned char*>(to);
  const std::size_t known = std::min(bytes, size);
  std::memcpy(first, from, known);
  std::fill(first + known, first + size, 0);
  std::memcpy(first, &size, sizeof size);
}

Asked asked_of(const tessera_problem* from) {
  const tessera_problem in = read(from, "problem");
  constexpr std::array kOrders = {Order::kColumnMajor, Order::kRowMajor};
  constexpr std::array kOps = {Op::kNone, Op::kTranspose};
  constexpr std::array kVectors = {VectorKind::kNone, VectorKind::kPerRow, VectorKind::kPerColumn};
  constexpr std::array kMemories = {Memory::kDevice, Memory::kHost, Memory::kDetect};
  Problem problem{.m = in.m, .n = in.n, .k = in.k};
  problem.types = types_of(in);
  problem.order = value_of(kOrders, "order", in.order);
  problem.op_a = value_of(kOps, "op_a", in.op_a);
  problem.op_b = value_of(kOps, "op_b", in.op_b);
  problem.lda = in.lda;
  problem.ldb = in.ldb;
  problem.ldc = in.ldc;
  problem.ldd = in.ldd;
  problem.batch = batch_of(in);
  problem.epilogue.scale = value_of(kVectors, "scale", in.scale);
  problem.epilogue.bias = value_of(kVectors, "bias", in.bias);
  problem.epilogue.activation =
      value_of(std::span(kActivations), "activation", in.activation).activation;
  constexpr std::array kAuxiliaries = {Auxiliary::kNone, Auxiliary::kBeforeActivation};
  problem.epilogue.auxiliary = value_of(kAuxiliaries, "auxiliary", in.auxiliary);
  problem.ldx = in.ldx;
  if (!problem.epilogue.writes_x()) {
    require_zero("ldx", in.ldx);
    require_zero("stride_x", in.stride_x);
  }
  require_zero("reserved", in.reserved);
  return {problem, value_of(kMemories, "memory", in.memory), in.compute == TESSERA_COMPUTE_USUAL};
}

Options options_of(const tessera_plan_options* from) {
  tessera_plan_options in{.size = sizeof in};
  if (from) in = read(from, "options");
  Options options;
  constexpr std::size_t most = kAnyWorkspace;
  if (in.workspace_limit == TESSERA_NO_WORKSPACE) {
    options.plan.workspace_limit = 0;
  } else if (in.workspace_limit != 0) {
    options.plan.workspace_limit = static_cast<std::int64_t>(std::min(in.workspace_limit, most));
  }
  const std::int32_t bytes = in.alignment == 0 ? kMostAlignment : in.alignment;
  if (bytes < 0 || !std::has_single_bit(static_cast<std::uint32_t>(bytes))) {
    throw refused("alignment is " + text_of(bytes) + ", but must be 0 or a power of two");
  }
  const int least = std::min<int>(bytes, kMostAlignment);
  options.alignment = {least, least, least, least};
  options.plan.deterministic = value_of(std::array{true, false}, "any_order", in.any_order);
  if (in.kernel) options.plan.kernel = kernel_named(in.kernel);
  constexpr std::int32_t kBoth = TESSERA_A + TESSERA_B;
  if (in.packed < 0 || in.packed > kBoth) {
    throw refused("packed is " + text_of(in.packed) +
                  ", but must be TESSERA_A (1), TESSERA_B (2), their sum, or 0");
  }
  options.plan.packed = {(in.packed & TESSERA_A) != 0, (in.packed & TESSERA_B) != 0};
  require_zero("reserved", in.reserved);
  return options;
}

Place place_of(const tessera_place* from) {
  const tessera_place in = from ? read(from, "place") : tessera_place{};
  if (in.plan_cache < 0 || in.plan_cache > kLargestCache) {
    throw refused("plan_cache is " + text_of(in.plan_cache) + ", but must be 0 to " +
                  text_of(kLargestCache));
  }
  Place place;
  if (from) place.gpu = in.gpu;
  if (in.plan_cache != 0) place.plan_cache = static_cast<std::size_t>(in.plan_cache);
  place.checks_addresses = value_of(std::array{false, true}, "check_addresses", in.check_addresses);
  constexpr std::array kSides = {HostSide::kFaster, HostSide::kGpu, HostSide::kCpu};
  place.host_side = value_of(kSides, "host_side", in.host_side);
  place.fp32.taken = fp32_of(in.fp32);
  require_zero("reserved", in.reserved);
  return place;
}

OperandId operand_of(std::int32_t operand) {
  return value_of(std::array{OperandId::kA, OperandId::kB}, "operand", operand, TESSERA_A);
}

tessera_arguments arguments_of(const tessera_arguments* from, const Problem& problem) {
  const tessera_arguments in = read(from, "arguments");
  const auto no_kernel = [](const char* name) {
    return StatusError(Status::unsupported(std::string(name) +
                                           " is not null, but no kernel reads alpha and beta from "
                                           "device memory yet"));
  };
  if (in.alpha_address) throw no_kernel("alpha_address");
  if (in.beta_address) throw no_kernel("beta_address");
  const auto match = [](const std::string& name, const char* field, const char* none,
                        const char* one, bool is_used, const void* given) {
    if (!is_used && given) {
      throw refused(name + " of arguments is not null, but " + field + " of the problem is " +
                    none);
    }
    if (is_used && !given) {
      throw refused(name + " of arguments is null, but the problem has " + one);
    }
  };
  const Epilogue& of = problem.epilogue;
  match("scale", "scale", "TESSERA_NO_SCALE", "a scale", of.scale != VectorKind::kNone, in.scale);
  match("bias", "bias", "TESSERA_NO_BIAS", "a bias", of.bias != VectorKind::kNone, in.bias);
  match("x", "auxiliary", "TESSERA_NO_AUXILIARY", "an auxiliary output", of.writes_x(), in.x);
  return in;
}

}  // namespace tessera::gemm::c_api
