#include "gemm/call/multiply.h"

#include <algorithm>

#include "gemm/overlay/overlay_file.h"

namespace tessera::gemm {
namespace {

std::size_t mixed(std::size_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

}  // namespace

bool PlanKey::operator==(const PlanKey& other) const {
  return problem == other.problem && alignment == other.alignment && options == other.options;
}

std::size_t PlanKeyHash::operator()(const PlanKey& key) const {
  const Problem& p = key.problem;
  std::size_t hash = 0;
  for (const std::int64_t value : {p.m, p.n, p.k, p.lda, p.ldb, p.ldc, p.ldd}) {
    hash = mixed(hash, static_cast<std::uint64_t>(value));
  }
  const auto bits = [&](auto value) { hash = mixed(hash, static_cast<std::uint64_t>(value)); };
  for (const std::int64_t value : {p.batch.count, p.batch.stride_a, p.batch.stride_b,
                                   p.batch.stride_c, p.batch.stride_d, p.batch.alignment}) {
    hash = mixed(hash, static_cast<std::uint64_t>(value));
  }
  for (const std::int64_t rows : p.batch.rows) bits(rows);
  for (const ElementType type : {p.types.a, p.types.b, p.types.c, p.types.d}) bits(type);
  bits(p.types.compute);
  bits(p.batch.kind);
  bits(p.epilogue.scale);
  bits(p.epilogue.bias);
  bits(p.epilogue.activation);
  bits(p.order);
  bits(p.op_a);
  bits(p.op_b);
  bits(p.alpha != 0);
  bits(p.beta != 0);
  bits(key.alignment.a | key.alignment.b << 8 | key.alignment.c << 16 | key.alignment.d << 24);
  bits(key.options.workspace_limit);
  bits(key.options.packed.a + 2 * key.options.packed.b);
  return hash;
}

Handle::Handle(Device& device, std::size_t capacity)
    : device_(device),
      limits_(tuned_limits_of(device.info())),
      capacity_(std::max<std::size_t>(1, capacity)),
      workspaces_(device) {}

std::shared_ptr<const Prepared> Handle::prepared(const Problem& problem, const Alignment& alignment,
                                                 const PlanOptions& options) {
  const PlanKey key{planned_problem(problem), alignment, options};
  if (auto known = find(key)) return known;
  // WHY without the lock: loading code may take a second, and calls for other problems must not
  // wait for that.
  auto prepared = std::make_shared<const Prepared>(
      prepare(device_, plan(key.problem, alignment, limits_, options)));
  tell(prepared->plan());
  const std::lock_guard lock(mutex_);
  if (const auto known = known_.find(key); known != known_.end()) return known->second->prepared;
  entries_.push_front({key, prepared});
  known_.emplace(key, entries_.begin());
  if (entries_.size() > capacity_) {
    known_.erase(entries_.back().key);
    entries_.pop_back();
  }
  return prepared;
}

std::shared_ptr<const Prepared> Handle::find(const PlanKey& key) {
  const std::lock_guard lock(mutex_);
  const auto known = known_.find(key);
  if (known == known_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, known->second);
  return entries_.front().prepared;
}

void Handle::on_planned(std::function<void(const Plan&)> told) {
  const std::lock_guard lock(mutex_);
  told_ = std::move(told);
}

// Calls the callback without the lock. WHY: the callback may call this handle.
void Handle::tell(const Plan& plan) const {
  std::function<void(const Plan&)> told;
  {
    const std::lock_guard lock(mutex_);
    told = told_;
  }
  if (told) told(plan);
}

std::size_t Handle::plans() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

void run(Handle& handle, const Prepared& prepared, Arguments arguments, void* stream) {
  const std::int64_t bytes = prepared.plan().workspace_bytes();
  if (bytes == 0 || arguments.workspace != 0) return execute(prepared, arguments, stream);
  // WHY check before a workspace is lent: a refused call must have no effect.
  require(check_operands(prepared.plan(), arguments));
  const LentWorkspace lent = handle.workspaces().lend(bytes, stream);
  arguments.workspace = lent.address();
  arguments.workspace_bytes = bytes;
  execute(prepared, arguments, stream);
}

void multiply(Handle& handle, const Problem& problem, const Operands& operands,
              const PlanOptions& options, void* stream) {
  const auto prepared = handle.prepared(problem, alignment_of(operands), options);
  run(handle, *prepared, {operands, problem.alpha, problem.beta}, stream);
}

}  // namespace tessera::gemm
