#include "gemm/epilogue/finish.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "kernels/passes/finish_params.h"

namespace tessera::gemm {
namespace {

using passes::FinishParams;

constexpr std::int64_t kLine = 32;  // sums: whole lines of 128 bytes or more

// Whether D itself holds the sums until they are finished.
bool stay_in_d(const Types& types) {
  return types.d == facts_of(types.compute).sum && types.c == types.d;
}

epilogue::Vector vector_of(VectorKind kind, const Problem& p) {
  if (kind == VectorKind::kNone) return {nullptr, 0, 0};
  const bool is_exchanged = p.order == Order::kColumnMajor;
  const bool by_row = (kind == VectorKind::kPerRow) != is_exchanged;
  return {nullptr, view_of(kind, p).rows, by_row ? 1 : 0};
}

epilogue::Activation activation_of(Activation activation) {
  switch (activation) {
    case Activation::kIdentity:
      return epilogue::Activation::kIdentity;
    case Activation::kRelu:
      return epilogue::Activation::kRelu;
    case Activation::kGelu:
      return epilogue::Activation::kGelu;
    case Activation::kGeluErf:
      return epilogue::Activation::kGeluErf;
  }
  throw StatusError(Status::unsupported("no kernel has such an activation"));
}

const HelperEntry& finish_entry_of(const Types& types) {
  return finish_entry_for(facts_of(types.compute).sum, types.d);
}

// Empty where the launch that adds C does not read its type.
std::optional<passes::TypeOfC> type_of_c(ElementType type) {
  switch (type) {
    case ElementType::kF64:
      return passes::TypeOfC::kF64;
    case ElementType::kF32:
      return passes::TypeOfC::kF32;
    case ElementType::kBf16:
      return passes::TypeOfC::kBf16;
    case ElementType::kF16:
      return passes::TypeOfC::kF16;
    default:
      return std::nullopt;
  }
}

// Of a vector of the parameters at `offset`, where the problem has it.
void patch_vector(PlannedLaunch& launch, std::size_t offset, VectorKind kind, Slot slot) {
  if (kind == VectorKind::kNone) return;
  launch.addresses.push_back({offset + offsetof(epilogue::Vector, values), {slot, 0}});
}

// Bytes that the last launch moves.
double bytes_to_finish(const Problem& p) {
  const bool in_place = stay_in_d(p.types);
  const int bytes = size_of(facts_of(p.types.compute).sum) + size_of(p.types.d) +
                    (p.beta != 0 && !in_place ? size_of(p.types.c) : 0);
  return static_cast<double>(p.m) * static_cast<double>(p.n) * bytes;
}

}  // namespace

bool is_fused(const Epilogue& epilogue) { return epilogue.scale == VectorKind::kNone; }

epilogue::Fused fused_of(const Problem& problem) {
  epilogue::Fused fused{};
  fused.bias = vector_of(problem.epilogue.bias, problem);
  fused.activation = activation_of(problem.epilogue.activation);
  return fused;
}

void patch_fused(PlannedLaunch& launch, std::size_t offset, const Epilogue& of) {
  patch_vector(launch, offset + offsetof(epilogue::Fused, bias), of.bias, Slot::kBias);
}

Problem problem_of_sums(const Problem& problem) {
  Problem sums = problem;
  sums.epilogue = {};
  if (stay_in_d(problem.types)) return sums;
  sums.types.c = sums.types.d = facts_of(problem.types.compute).sum;
  sums.beta = 0;
  const bool by_rows = problem.order == Order::kRowMajor;
  const std::int64_t length = by_rows ? problem.n : problem.m;
  const std::int64_t lines = by_rows ? problem.m : problem.n;
  sums.ldc = sums.ldd = (std::max<std::int64_t>(length, 1) + kLine - 1) / kLine * kLine;
  if (sums.batch.kind != BatchKind::kStrided) return sums;
  sums.batch.stride_c = 0;
  sums.batch.stride_d = sums.ldd * std::max<std::int64_t>(lines, 1);
  return sums;
}

std::int64_t bytes_of_sums(const Problem& problem, std::int64_t products) {
  if (stay_in_d(problem.types) || problem.m == 0 || problem.n == 0 || products == 0) return 0;
  const Problem sums = problem_of_sums(problem);
  const std::int64_t elements = (products - 1) * sums.batch.stride_d + view_d(sums).span();
  return with_workspace_alignment(elements * size_of(sums.types.d));
}

Status check_sums(const Problem& problem) {
  try {
    finish_entry_of(problem.types);
  } catch (const StatusError& error) {
    return error.status();
  }
  if (stay_in_d(problem.types)) return {};
  if (problem.beta != 0 && !type_of_c(problem.types.c)) {
    return Status::unsupported("type of C is " + std::string(name_of(problem.types.c)) +
                               ", but an epilogue adds a C in f64, f32, f16 or bf16");
  }
  const std::string of = "epilogue is " + describe(problem.epilogue) + ", and sums of D in " +
                         std::string(name_of(problem.types.d)) + " are in the workspace, but ";
  if (problem.batch.kind == BatchKind::kPointers) {
    return Status::unsupported(of + "no kernel reads " + describe(problem.batch) +
                               " and writes these");
  }
  // WHY: by 128 bits, since a stride of sums may have no 63.
  const std::int64_t length = problem.order == Order::kRowMajor ? problem.n : problem.m;
  const std::int64_t lines = problem.order == Order::kRowMajor ? problem.m : problem.n;
  constexpr __int128 kMost = __int128{1} << 60;
  if (length > kMost || (static_cast<__int128>(length) + kLine) * lines > kMost ||
      (static_cast<__int128>(length) + kLine) * lines * problem.batch.count > kMost) {
    return Status::unsupported(of + "there are more than 2^60 of them");
  }
  return {};
}

void add_finish(const Problem& problem, const DeviceLimits& limits, Offer& offer) {
  offer.is_finished_later = true;
  offer.cost.finish =
      problem.m == 0 || problem.n == 0 || problem.batch.count == 0
          ? 0
          : cost_of_finishing(bytes_to_finish(problem) * static_cast<double>(problem.batch.count),
                              limits);
  if (problem.batch.count == 0) return;
  offer.sums_bytes = bytes_of_sums(problem, offer.is_for_each ? 1 : problem.batch.count);
  offer.workspace_bytes += offer.sums_bytes;
}

void add_finish(const Problem& problem, const Offer& offer, const DeviceLimits& limits,
                std::vector<PlannedLaunch>& launches) {
  const bool in_d = stay_in_d(problem.types);
  const auto move = [&](Place& place) {
    if (place.slot == Slot::kWorkspace) place.delta += offer.sums_bytes;
    if (place.slot == Slot::kD) place.slot = Slot::kWorkspace;
  };
  for (PlannedLaunch& launch : launches) {
    if (in_d) break;
    for (AddressPatch& address : launch.addresses) move(address.place);
    for (MapPatch& map : launch.maps) move(map.place);
  }
  const Problem sums = problem_of_sums(problem);
  FinishParams params{};
  params.gemm = canonical_params(problem, {});
  params.gemm.k = 0;
  params.gemm.alpha = 0;
  if (in_d) params.gemm.beta = 0;
  params.batch = batch_of(problem, 1);
  params.finish = {vector_of(problem.epilogue.scale, problem),
                   vector_of(problem.epilogue.bias, problem),
                   activation_of(problem.epilogue.activation)};
  params.sums_row = sums.ldd;
  params.sums_product = sums.batch.stride_d;
  if (params.gemm.beta != 0) params.type_of_c = type_of_c(problem.types.c).value();
  const std::int64_t fours = params.gemm.m * ((params.gemm.n + 3) / 4) * problem.batch.count;
  const std::int64_t blocks = (fours + passes::kFinishThreads - 1) / passes::kFinishThreads;
  const std::int64_t most = std::int64_t{passes::kFinishCtasPerSm} * limits.sms;
  PlannedLaunch& last = launches.emplace_back(
      launch_of(finish_entry_of(problem.types).entry,
                {.grid = std::min(blocks, most), .block = passes::kFinishThreads}, params));
  constexpr std::size_t kGemm = offsetof(FinishParams, gemm);
  const auto patch = [&](std::size_t at, Slot slot) { last.addresses.push_back({at, {slot, 0}}); };
  patch(kGemm + offsetof(GemmParams, d), Slot::kD);
  if (params.gemm.beta != 0) {
    patch(kGemm + offsetof(GemmParams, c), Slot::kC);
    last.scales.push_back({kGemm + offsetof(GemmParams, beta), Scale::kBeta});
  }
  if (!in_d) patch(offsetof(FinishParams, sums), Slot::kWorkspace);
  const std::size_t at = offsetof(FinishParams, finish);
  const Epilogue& of = problem.epilogue;
  patch_vector(last, at + offsetof(epilogue::Finish, scale), of.scale, Slot::kScale);
  patch_vector(last, at + offsetof(epilogue::Finish, bias), of.bias, Slot::kBias);
}

}  // namespace tessera::gemm
