// Counts sectors and wavefronts by instruction, and the footprint of a launch.
#include <map>
#include <mutex>
#include <utility>

#include "vgpu/exec/sample.h"
#include "vgpu/observe/count/pattern.h"
#include "vgpu/observe/observers.h"
#include "vgpu/program/launch_context.h"

namespace tessera::vgpu {
namespace {

using CountsByInstruction = std::vector<MemoryCounts>;

struct Seen {
  CountsByInstruction counts;
  std::uint64_t cluster_sectors[kTouches] = {};  // see Footprint
};

// Scales the counts of drawn clusters to all clusters that they represent.
GlobalCounts all_of(const GlobalCounts& c, double weight) {
  GlobalCounts to;
  to.requests = scaled(c.requests, weight);
  to.lanes = scaled(c.lanes, weight);
  to.requested_bytes = scaled(c.requested_bytes, weight);
  to.distinct_bytes = scaled(c.distinct_bytes, weight);
  to.sectors = scaled(c.sectors, weight);
  to.partial_sectors = scaled(c.partial_sectors, weight);
  to.lines = scaled(c.lines, weight);
  to.tag_wavefronts = scaled(c.tag_wavefronts, weight);
  to.data_wavefronts = scaled(c.data_wavefronts, weight);
  to.same_address_lanes = scaled(c.same_address_lanes, weight);
  return to;
}

BankCounts all_of(const BankCounts& c, double weight) {
  return {scaled(c.passes, weight), scaled(c.wavefronts, weight)};
}

MemoryCounts all_of(const MemoryCounts& c, double weight) {
  MemoryCounts to;
  to.global = all_of(c.global, weight);
  to.local = all_of(c.local, weight);
  to.shared.requests = scaled(c.shared.requests, weight);
  to.shared.lanes = scaled(c.shared.lanes, weight);
  to.shared.requested_bytes = scaled(c.shared.requested_bytes, weight);
  to.shared.plain = all_of(c.shared.plain, weight);
  to.shared.pair = all_of(c.shared.pair, weight);
  to.shared.same_address_lanes = scaled(c.shared.same_address_lanes, weight);
  return to;
}

Traffic traffic_of(AccessKind kind) {
  return kind == AccessKind::kLoad    ? Traffic::kLoad
         : kind == AccessKind::kStore ? Traffic::kStore
                                      : Traffic::kAtomic;
}

// Returns the kind of an asynchronous copy from its access to global memory.
Traffic copy_traffic_of(AccessKind kind) {
  return kind == AccessKind::kLoad    ? Traffic::kCopyIn
         : kind == AccessKind::kStore ? Traffic::kCopyOut
                                      : Traffic::kCopyReduce;
}

void keep_traffic(MemoryCounts& of, const MemoryCounts& from) {
  if (from.traffic != Traffic::kNone) of.traffic = from.traffic;
}

class MemoryCounter : public LaunchObserver {
 public:
  explicit MemoryCounter(const LaunchContext& context)
      : kernel_(*context.kernel),
        sample_(*context.sample),
        footprint_(*context.memory, context.sample->is_partial()) {
    for (const InstructionInfo& info : kernel_.instructions) {
      merges_.push_back(info.form.starts_with("ld."));
    }
    if (!sample_.is_partial()) by_weight_[1].counts.resize(instructions());
    for (std::uint64_t i = 0; sample_.is_partial() && i < sample_.size(); ++i) {
      by_weight_[sample_[i].weight].counts.resize(instructions());
    }
  }

  std::unique_ptr<Observer> for_worker() override;
  void report(LaunchReport& to) override;

  // Calls add(sum) with the sum over the clusters of this weight. Any thread may call it.
  template <class Add>
  void add(double weight, Add add) {
    const std::lock_guard lock(mutex_);
    add(by_weight_.at(weight));
  }

  const ClusterSample& sample() const { return sample_; }
  FootprintMap& footprint() { return footprint_; }
  std::size_t instructions() const { return kernel_.instructions.size(); }
  bool merges(std::uint32_t instruction) const { return merges_[instruction]; }

 private:
  CountsByInstruction sums() const;

  const Kernel& kernel_;
  const ClusterSample& sample_;
  FootprintMap footprint_;
  std::vector<bool> merges_;  // by instruction: see count_banks
  std::mutex mutex_;
  std::map<double, Seen> by_weight_;
};

class Worker : public Observer {
 public:
  explicit Worker(MemoryCounter& launch)
      : launch_(launch),
        footprint_(launch.footprint()),
        memos_(launch.instructions()),
        other_(launch.instructions()) {}
  ~Worker() override { flush(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void cluster_begins(std::uint64_t first, std::uint32_t) override {
    is_counted_.clear();
    const SampledCluster cluster = launch_.sample().with_first_cta(first);
    if (cluster.weight != weight_) flush();
    weight_ = cluster.weight;
    footprint_.begin_cluster(cluster.first_half);
    for (PatternMemo& memo : memos_) memo.forget_places();
  }

  void access(const WarpAccess& access) override {
    Traffic& traffic = other_[access.by.instruction].traffic;
    if (traffic == Traffic::kNone) traffic = traffic_of(access.kind);
    count(access);
  }

  void copy_issued(const WarpAccess& from, const WarpAccess& to) override {
    other_[to.by.instruction].traffic = Traffic::kCopyIn;
    if (from.by.mask != 0) count(from);
    if (to.by.mask != 0) count(to);
  }

  void agent_starts(const Actor&, AgentId agent, AgentKind kind) override {
    if (kind == AgentKind::kBulkCopy) is_counted_[agent] = false;
  }

  void agent_access(const AgentAccess& access) override {
    const auto copy = is_counted_.find(access.agent);
    if (copy == is_counted_.end() || access.window != Window::kGlobal) return;
    if (access.is_map || access.bytes == 0) return;
    MemoryCounts& counts = other_[access.instruction];
    counts.traffic = copy_traffic_of(access.kind);
    Request request = count_span(access.address, access.bytes);
    request.counts.tag_wavefronts = 0;  // not through the L1's tags
    if (access.kind == AccessKind::kLoad) request.counts.partial_sectors = 0;
    request.counts.requests = request.counts.lanes = copy->second ? 0 : 1;
    copy->second = true;
    counts.global += request.counts;
    for (const SectorRun& run : request.runs) mark(access.kind, run);
  }

 private:
  void count(const WarpAccess& access) {
    const std::uint32_t instruction = access.by.instruction;
    Pattern& pattern = memos_[instruction].find(access, launch_.merges(instruction));
    if (access.window == Window::kShared) {
      pattern.count_shared();
    } else {
      const bool is_global = access.window == Window::kGlobal;
      pattern.count_global(access.address[0], is_global ? &footprint_ : nullptr);
    }
  }

  void mark(AccessKind kind, const SectorRun& run) {
    const auto first = static_cast<std::uint64_t>(run.first);
    if (kind != AccessKind::kStore) footprint_.mark(Touch::kRead, first, run.count);
    if (kind != AccessKind::kLoad) footprint_.mark(Touch::kWritten, first, run.count);
  }

  // WHY it must not allocate: the destructor calls it.
  void flush() {
    launch_.add(weight_, [&](Seen& sum) {
      for (std::size_t i = 0; i < memos_.size(); ++i) {
        sum.counts[i] += other_[i];
        sum.counts[i] += memos_[i].take();
        keep_traffic(sum.counts[i], other_[i]);
        other_[i] = {other_[i].traffic};
      }
      for (const Touch touch : {Touch::kRead, Touch::kWritten}) {
        sum.cluster_sectors[static_cast<std::size_t>(touch)] += footprint_.take(touch);
      }
    });
  }

  MemoryCounter& launch_;
  ClusterFootprint footprint_;
  std::vector<PatternMemo> memos_;      // by instruction
  CountsByInstruction other_;           // counts without patterns, and the kind of traffic
  std::map<AgentId, bool> is_counted_;  // bulk and tensor copies of this cluster
  double weight_ = 1;
};

std::unique_ptr<Observer> MemoryCounter::for_worker() { return std::make_unique<Worker>(*this); }

CountsByInstruction MemoryCounter::sums() const {
  CountsByInstruction sums(kernel_.instructions.size());
  for (const auto& [weight, seen] : by_weight_) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] += all_of(seen.counts[i], weight);
      keep_traffic(sums[i], seen.counts[i]);
    }
  }
  return sums;
}

void MemoryCounter::report(LaunchReport& to) {
  const CountsByInstruction sums = this->sums();
  for (InstructionReport& row : to.instructions) row.memory = sums[row.index];
  LaunchMemory& memory = to.memory;
  memory.counted = true;
  for (const MemoryCounts& counts : sums) {
    switch (counts.traffic) {
      case Traffic::kNone:
        break;
      case Traffic::kLoad:
        memory.loads += counts;
        break;
      case Traffic::kStore:
        memory.stores += counts;
        break;
      case Traffic::kAtomic:
        memory.atomics += counts;
        break;
      case Traffic::kCopyIn:
        memory.copies_in += counts;
        break;
      case Traffic::kCopyOut:
        memory.copies_out += counts;
        break;
      case Traffic::kCopyReduce:
        memory.copies_reduce += counts;
        break;
    }
  }
  const double share = static_cast<double>(sample_.size()) / static_cast<double>(sample_.total());
  memory.footprint = footprint_.result(share);
  for (const auto& [weight, seen] : by_weight_) {
    memory.footprint.cluster_read_sectors += scaled(seen.cluster_sectors[0], weight);
    memory.footprint.cluster_written_sectors += scaled(seen.cluster_sectors[1], weight);
  }
}

}  // namespace

std::unique_ptr<LaunchObserver> make_memory_counter(const LaunchContext& context) {
  return std::make_unique<MemoryCounter>(context);
}

}  // namespace tessera::vgpu
