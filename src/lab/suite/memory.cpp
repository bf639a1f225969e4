#include "lab/suite/memory.h"

#include <algorithm>
#include <set>
#include <utility>

#include "lab/data/batch_memory.h"
#include "lab/data/fill.h"

namespace tessera::lab {
namespace {

// The length of the pattern. It is a large prime, so that leading dimensions are no multiples of
// it: with a multiple, all rows would hold the same numbers.
constexpr std::int64_t kPatternElements = 4194301;
constexpr std::int64_t kAlignment = 256;  // bytes; every operand starts at a multiple of it
constexpr std::int64_t kMostSets = 16384;
constexpr std::int64_t kSmallestPool = std::int64_t{256} << 20;
constexpr std::int64_t kL2WhereUnknown = std::int64_t{64} << 20;

std::int64_t aligned(std::int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// The memory of one operand of one set, for all products of a batch.
struct Extent {
  std::int64_t bytes = 0, step = 0;  // bytes of all products; from one product to the next
};

Extent extent_of(const Problem& p, const MatrixView& view, ElementType type, std::int64_t stride) {
  const std::int64_t step = p.batch.kind == BatchKind::kPointers ? place_of(p, view, type) : stride;
  return {aligned(memory_view(p, view, type, stride).span() * size_of(type)),
          p.batch.kind == BatchKind::kNone ? 0 : step * size_of(type)};
}

// Returns the first index, the last one and a seeded one.
std::vector<std::int64_t> looked_at(std::int64_t count, std::uint64_t seed) {
  const std::set<std::int64_t> all{
      0, count - 1, static_cast<std::int64_t>(mix_bits(seed) % static_cast<std::uint64_t>(count))};
  return {all.begin(), all.end()};
}

}  // namespace

const HostMatrix& SuiteMemory::pattern_of(ElementType type) {
  const auto known = patterns_.find(type);
  if (known != patterns_.end()) return known->second;
  HostMatrix pattern(type, {1, kPatternElements, kPatternElements, 1}, 0);
  fill(pattern, {Fill::kUniform, mix_bits(seed_ + static_cast<std::uint64_t>(type))});
  return patterns_.emplace(type, std::move(pattern)).first->second;
}

void SuiteMemory::upload(DeviceAddress to, std::int64_t bytes, const HostMatrix& pattern) {
  const std::int64_t period = kPatternElements * size_of(pattern.type());
  const std::byte* const from = pattern.bytes() + pattern.front_bytes();
  for (std::int64_t at = 0; at < bytes; at += period) {
    device_.copy_in(to + at, from, static_cast<std::size_t>(std::min(period, bytes - at)));
  }
}

DeviceAddress SuiteMemory::pool_of(ElementType type, std::int64_t bytes) {
  DeviceBuffer& pool = pools_[type];
  if (static_cast<std::int64_t>(pool.bytes()) >= bytes) return pool.address();
  const std::int64_t wanted = aligned(std::max(kSmallestPool, bytes + bytes / 4));
  pool = DeviceBuffer();
  try {
    pool = DeviceBuffer(device_, static_cast<std::size_t>(wanted));
  } catch (const OutOfMemory&) {
    for (auto& [other, buffer] : pools_) buffer = DeviceBuffer();
    pool = DeviceBuffer(device_, static_cast<std::size_t>(aligned(bytes)));
  }
  upload(pool.address(), static_cast<std::int64_t>(pool.bytes()), pattern_of(type));
  return pool.address();
}

DeviceAddress SuiteMemory::results_of(std::int64_t bytes) {
  if (static_cast<std::int64_t>(results_.bytes()) >= bytes) return results_.address();
  results_ = DeviceBuffer();
  try {
    results_ = DeviceBuffer(device_, static_cast<std::size_t>(std::max(kSmallestPool, bytes)));
  } catch (const OutOfMemory&) {
    for (auto& [type, buffer] : pools_) buffer = DeviceBuffer();
    results_ = DeviceBuffer(device_, static_cast<std::size_t>(bytes));
  }
  return results_.address();
}

CellOperands SuiteMemory::operands(const DrawnCell& cell) {
  const Problem& p = cell.problem;
  const Extent a = extent_of(p, view_a(p), p.types.a, p.batch.stride_a);
  const Extent b = extent_of(p, view_b(p), p.types.b, p.batch.stride_b);
  const Extent d = extent_of(p, view_d(p), p.types.d, p.batch.stride_d);
  const std::int64_t l2 = device_.info().l2_bytes > 0 ? device_.info().l2_bytes : kL2WhereUnknown;
  const std::int64_t count =
      std::min(2 * l2 / std::max<std::int64_t>(1, a.bytes + b.bytes + d.bytes) + 1, kMostSets);
  CellOperands out;
  // WHY D first: if memory is short, results_of() frees all pools; pool_of() makes a new one.
  const DeviceAddress results = results_of(count * d.bytes);
  out.pool = pool_of(p.types.a, count * (a.bytes + b.bytes));
  out.pattern = &pattern_of(p.types.a);
  out.result_pattern = &pattern_of(p.types.d);
  for (std::int64_t i = 0; i < count; ++i) {
    const DeviceAddress first = out.pool + i * (a.bytes + b.bytes);
    Operands set{.a = first, .b = first + a.bytes, .d = results + i * d.bytes};
    if (p.beta != 0) set.c = set.d;
    // WHY all sets share one bias: a vector is so small that kernels find it in the cache anyway.
    if (p.epilogue.bias != VectorKind::kNone) set.bias = out.pool;
    out.sets.push_back(set);
  }
  if (p.beta != 0) upload(results, count * d.bytes, *out.result_pattern);
  out.products = looked_at(p.batch.count, seed_ + static_cast<std::uint64_t>(cell.number));
  for (const std::int64_t product : out.products) {
    out.a.push_back(out.sets[0].a + product * a.step);
    out.b.push_back(out.sets[0].b + product * b.step);
    out.d.push_back(out.sets[0].d + product * d.step);
  }
  if (p.batch.kind == BatchKind::kPointers) {
    make_arrays(cell, out);
  }
  return out;
}

void SuiteMemory::make_arrays(const DrawnCell& cell, CellOperands& out) {
  const Problem& p = cell.problem;
  const std::int64_t array_bytes = aligned(p.batch.count * 8);
  const std::int64_t steps[] = {extent_of(p, view_a(p), p.types.a, 0).step,
                                extent_of(p, view_b(p), p.types.b, 0).step,
                                extent_of(p, view_d(p), p.types.d, 0).step};
  DeviceAddress Operands::*const which[] = {&Operands::a, &Operands::b, &Operands::d};
  std::vector<DeviceAddress> arrays(out.sets.size() * 3 *
                                    static_cast<std::size_t>(array_bytes / 8));
  arrays_ = DeviceBuffer();
  arrays_ = DeviceBuffer(device_, arrays.size() * 8);
  std::size_t at = 0;
  for (Operands& set : out.sets) {
    for (int i = 0; i < 3; ++i, at += static_cast<std::size_t>(array_bytes / 8)) {
      DeviceAddress& first = set.*which[i];
      for (std::int64_t product = 0; product < p.batch.count; ++product) {
        arrays[at + static_cast<std::size_t>(product)] = first + product * steps[i];
      }
      first = arrays_.address() + at * 8;
    }
    if (p.beta != 0) set.c = set.d;
  }
  device_.copy_in(arrays_.address(), arrays.data(), arrays.size() * 8);
}

}  // namespace tessera::lab
