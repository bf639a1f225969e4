#include "lab/data/operand_sets.h"

#include <fmt/format.h>

#include <algorithm>

#include "lab/data/batch_memory.h"

namespace tessera::lab {
namespace {

constexpr std::int64_t kUnknownL2 = std::int64_t{64} << 20;

// Adds an operand's bytes, rounded up to whole alignments. Throws kUnavailable beyond 64 bits.
std::int64_t add_padded_bytes(std::int64_t sum, const Problem& problem, const MatrixView& view,
                              ElementType type) {
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(view.span(), std::int64_t{size_of(type)}, &bytes) ||
      __builtin_add_overflow(bytes, 255, &bytes) ||
      __builtin_add_overflow(sum, bytes / 256 * 256, &sum)) {
    throw StatusError(Status::unavailable(
        fmt::format("the operands of a {} x {} x {} product have more bytes than 64-bit addresses "
                    "reach",
                    problem.m, problem.n, problem.k)));
  }
  return sum;
}

}  // namespace

OperandSets::OperandSets(Device& device, const Problem& problem, const FillSpec& spec) {
  const bool reads_c = problem.beta != 0;
  const Batch& batch = problem.batch;
  const ElementType types[] = {problem.types.a, problem.types.b, problem.types.c, problem.types.d};
  const MatrixView matrices[] = {view_a(problem), view_b(problem), view_c(problem),
                                 view_d(problem)};
  const MatrixView views[] = {memory_view(problem, matrices[0], types[0], batch.stride_a),
                              memory_view(problem, matrices[1], types[1], batch.stride_b),
                              memory_view(problem, matrices[2], types[2], batch.stride_c),
                              memory_view(problem, matrices[3], types[3], batch.stride_d)};
  std::int64_t offsets[5] = {};
  for (int i = 0; i < 4; ++i) {
    const bool is_there = i != 2 || reads_c;
    offsets[i + 1] =
        is_there ? add_padded_bytes(offsets[i], problem, views[i], types[i]) : offsets[i];
  }
  const std::int64_t l2 = device.info().l2_bytes > 0 ? device.info().l2_bytes : kUnknownL2;
  const std::int64_t set_bytes = std::max<std::int64_t>(offsets[4], 256);
  sets_.resize(2 * l2 / set_bytes + 1);
  pool_ = DeviceBuffer(device, set_bytes * sets_.size());
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    const DeviceAddress base = pool_.address() + i * set_bytes;
    sets_[i] = {base + offsets[0], base + offsets[1], reads_c ? base + offsets[2] : 0,
                base + offsets[3]};
  }
  const auto upload = [&](int which, DeviceAddress Operands::*operand, std::uint64_t stream) {
    HostMatrix host(types[which], views[which], 0);
    fill(host, {spec.kind, mix_bits(spec.seed * 4 + stream), spec.limit, spec.density});
    for (const Operands& set : sets_) {
      if (host.total_bytes()) device.copy_in(set.*operand, host.bytes(), host.total_bytes());
    }
  };
  upload(0, &Operands::a, 0);
  upload(1, &Operands::b, 1);
  if (reads_c) upload(2, &Operands::c, 2);
  if (reads_c) upload(3, &Operands::d, 2);
  add_vectors(device, problem, spec);
  if (batch.kind != BatchKind::kPointers) return;
  DeviceAddress Operands::*const operands[] = {&Operands::a, &Operands::b, &Operands::c,
                                               &Operands::d};
  const std::int64_t bytes_of_array = (batch.count * 8 + 255) / 256 * 256;
  arrays_ = DeviceBuffer(device, std::max<std::int64_t>(4 * bytes_of_array, 256) * sets_.size());
  DeviceAddress array = arrays_.address();
  std::vector<DeviceAddress> addresses(static_cast<std::size_t>(batch.count));
  for (Operands& set : sets_) {
    for (int i = 0; i < 4; ++i, array += bytes_of_array) {
      const std::int64_t step = place_of(problem, matrices[i], types[i]) * size_of(types[i]);
      for (std::size_t p = 0; p < addresses.size(); ++p) addresses[p] = set.*operands[i] + p * step;
      if (addresses.empty()) continue;
      device.copy_in(array, addresses.data(), addresses.size() * 8);
      set.*operands[i] = array;
    }
  }
}

// WHY all sets share the vectors: a vector is so small that kernels find it in the cache anyway.
void OperandSets::add_vectors(Device& device, const Problem& problem, const FillSpec& spec) {
  const auto add = [&](DeviceBuffer& to, VectorKind kind, ElementType type,
                       DeviceAddress Operands::*operand, std::uint64_t stream) {
    if (kind == VectorKind::kNone || view_of(kind, problem).span() == 0) return;
    HostMatrix host(type, view_of(kind, problem), 0);
    fill(host, {spec.kind, mix_bits(spec.seed * 4 + stream), spec.limit, spec.density});
    to = DeviceBuffer(device, host.total_bytes());
    device.copy_in(to.address(), host.bytes(), host.total_bytes());
    for (Operands& set : sets_) set.*operand = to.address();
  };
  const Epilogue& epilogue = problem.epilogue;
  add(scale_, epilogue.scale, scale_type(problem.types), &Operands::scale, 1000);
  add(bias_, epilogue.bias, bias_type(problem.types), &Operands::bias, 1001);
  if (!epilogue.writes_x()) return;
  const MatrixView x =
      memory_view(problem, view_x(problem), problem.types.d, problem.batch.stride_x);
  const std::int64_t bytes = add_padded_bytes(0, problem, x, problem.types.d);
  x_ = DeviceBuffer(device, static_cast<std::size_t>(bytes) * sets_.size());
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    sets_[i].x = x_.address() + i * static_cast<std::size_t>(bytes);
  }
}

}  // namespace tessera::lab
