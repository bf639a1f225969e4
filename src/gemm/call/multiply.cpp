#include "gemm/call/multiply.h"

#include <algorithm>
#include <array>

#include "gemm/overlay/overlay_file.h"

namespace tessera::gemm {
namespace {

// Sums the products of each value with an odd number of its own. WHY not one value after the other:
// a processor multiplies faster where no product waits for the one before.
class Hash {
 public:
  template <class Value>
  void add(Value value) {
    sum_ += static_cast<std::uint64_t>(value) * kOdd[count_++ % kOdd.size()];
  }
  std::size_t value() const { return (sum_ ^ sum_ >> 32) * kOdd[0]; }

 private:
  static constexpr std::size_t kValues = 24;
  static constexpr auto kOdd = [] {
    std::array<std::uint64_t, kValues> odd{};
    std::uint64_t state = 0x9e3779b97f4a7c15u;
    for (std::uint64_t& one : odd) {
      state = (state ^ state >> 29) * 0xbf58476d1ce4e5b9u;
      one = state | 1;
    }
    return odd;
  }();
  std::uint64_t sum_ = 0;
  std::size_t count_ = 0;
};

}  // namespace

bool PlanKey::operator==(const PlanKey& other) const {
  return problem == other.problem && alignment == other.alignment && options == other.options;
}

std::size_t PlanKeyHash::operator()(const PlanKey& key) const {
  const Problem& p = key.problem;
  Hash hash;
  for (const std::int64_t value : {p.m, p.n, p.k, p.lda, p.ldb, p.ldc, p.ldd}) hash.add(value);
  for (const std::int64_t value : {p.batch.count, p.batch.stride_a, p.batch.stride_b,
                                   p.batch.stride_c, p.batch.stride_d, p.batch.alignment}) {
    hash.add(value);
  }
  // Fields of few values share a word.
  const auto bits = [](auto... fields) {
    std::uint64_t word = 0;
    ((word = word << 6 ^ static_cast<std::uint64_t>(fields)), ...);
    return word;
  };
  hash.add(bits(p.types.a, p.types.b, p.types.c, p.types.d, p.types.compute, p.batch.kind));
  hash.add(bits(p.epilogue.scale, p.epilogue.bias, p.epilogue.activation, p.order, p.op_a, p.op_b,
                p.alpha != 0, p.beta != 0));
  hash.add(bits(key.alignment.a, key.alignment.b, key.alignment.c, key.alignment.d,
                key.options.packed.a, key.options.packed.b));
  hash.add(key.options.workspace_limit);
  for (const std::int64_t rows : p.batch.rows) hash.add(rows);
  return hash.value();
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
