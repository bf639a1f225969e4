// CTAs are started in order, and a worker thread runs whole CTAs. Counts are summed at the end. Of
// several faults, the one of the lowest CTA is reported, so that reports do not depend on the
// number of threads. Only races between CTAs may be reported from either side, or be missed by
// chance (docs/check.md, what it cannot see).
#include "vgpu/exec/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <map>
#include <mutex>
#include <set>
#include <thread>

namespace tessera::vgpu {
namespace {

// HW: how much an H200 holds at once (CUDA C++ Programming Guide, technical specifications; 132
// SMs). Registers do not limit it here.
constexpr std::uint64_t kMultiprocessors = 132;
constexpr std::uint64_t kThreadsOfOne = 2048, kCtasOfOne = 32, kSharedOfOne = 228 << 10;
constexpr std::uint64_t kSharedOfTheSystem = 1 << 10;  // a CTA

std::uint64_t clusters_at_once(const LaunchContext& context) {
  const std::uint64_t threads =
      std::uint64_t{context.block[0]} * context.block[1] * context.block[2];
  const std::uint64_t warps_of_threads = (threads + kLanes - 1) / kLanes * kLanes;
  const std::uint64_t by_shared = kSharedOfOne / (context.shared_bytes + kSharedOfTheSystem);
  const std::uint64_t ctas = std::max<std::uint64_t>(
      1, std::min({kCtasOfOne, kThreadsOfOne / warps_of_threads, by_shared}));
  const std::uint64_t size =
      std::uint64_t{context.cluster[0]} * context.cluster[1] * context.cluster[2];
  return std::max<std::uint64_t>(1, ctas * kMultiprocessors / size);
}

// Detects that nothing can continue: all workers have checked all of their clusters since the last
// event, and all of them were idle.
class Standstill {
 public:
  explicit Standstill(std::size_t workers) : idle_since_(workers, kNever) {}

  void happened() { ++happenings_; }
  std::uint64_t happenings() const { return happenings_; }
  // The worker has found all of its clusters idle. Its check began after event number `since`.
  void idle(std::size_t worker, std::uint64_t since) { note(worker, since); }
  void done(std::size_t worker) { note(worker, kDone); }
  bool is_reached() const { return reached_; }

 private:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0}, kDone = kNever - 1;

  void note(std::size_t worker, std::uint64_t since) {
    const std::lock_guard lock(mutex_);
    idle_since_[worker] = since;
    const std::uint64_t now = happenings_;
    const bool all = std::all_of(idle_since_.begin(), idle_since_.end(),
                                 [now](std::uint64_t at) { return at == now || at == kDone; });
    if (all) reached_ = true;
  }

  std::atomic<std::uint64_t> happenings_ = 0;
  std::atomic<bool> reached_ = false;
  std::mutex mutex_;
  std::vector<std::uint64_t> idle_since_;
};

// One running cluster. Its observer sees no other cluster until this one has ended.
struct Resident {
  std::unique_ptr<Observer> observer;
  Cluster cluster;
  std::uint64_t index = 0;  // in the sample
  double weight = 1;

  Resident(const LaunchContext& context, std::unique_ptr<Observer> watching)
      : observer(std::move(watching)), cluster(context, observer.get()) {}
};

class Launch {
 public:
  // The observer may be null.
  Launch(const LaunchContext& context, LaunchObserver* observer, int host_threads)
      : context_(context),
        observer_(observer),
        clusters_(context.sample->size()),
        at_once_(clusters_at_once(context)),
        workers_(static_cast<std::size_t>(
            std::min<std::uint64_t>(clusters_, static_cast<std::uint64_t>(host_threads)))),
        standstill_(workers_),
        faulted_(clusters_) {}

  void run() {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < workers_; ++i) threads.emplace_back([this, i] { work(i); });
    work(0);
    threads.clear();
    if (fault_) std::rethrow_exception(fault_);
  }

  std::vector<InstructionCounter> counts() const {
    std::vector<InstructionCounter> counts(context_.kernel->instructions.size());
    for (const auto& [weight, sums] : by_weight_) {
      for (std::size_t i = 0; i < sums.size(); ++i) {
        counts[i].warp += scaled(sums[i].warp, weight);
        counts[i].thread += scaled(sums[i].thread, weight);
      }
    }
    return counts;
  }

 private:
  // The clusters of one worker thread.
  struct Work {
    std::size_t worker = 0;
    std::uint64_t index = 0;                         // number of the cluster that runs now
    std::vector<std::unique_ptr<Resident>> waiting;  // started and idle, by index
    std::vector<std::unique_ptr<Resident>> spare;
  };

  // WHY the try block holds everything, including the CTA's memory: an exception that leaves a
  // thread ends the process.
  void work(std::size_t worker) {
    Work mine;
    mine.worker = worker;
    try {
      run_clusters(mine);
      for (const auto& resident : mine.spare)
        add(resident->cluster.take_counts(), resident->weight);
    } catch (...) {
      note_fault(std::min(mine.index, clusters_ - 1));
    }
    standstill_.done(worker);
  }

  // Runs one cluster after the other. A cluster that spins without an effect is set aside, because
  // it may wait for later clusters. It runs again whenever another cluster has ended.
  void run_clusters(Work& mine) {
    for (;;) {
      switch (start_next(mine)) {
        case Started::kWaits:
          break;
        case Started::kEnded:
          if (!mine.waiting.empty()) look_again(mine);
          break;
        case Started::kNone:
          if (mine.waiting.empty()) return;
          wait_for_others(mine);
          break;
      }
    }
  }

  enum class Started { kNone, kEnded, kWaits };

  Started start_next(Work& mine) {
    const bool fits = alive_.fetch_add(1) < at_once_;
    const std::uint64_t index = fits ? next_.fetch_add(1) : clusters_;
    if (index >= faulted_.load()) {
      --alive_;
      return Started::kNone;
    }
    mine.index = index;
    if (mine.spare.empty()) {
      mine.spare.push_back(
          std::make_unique<Resident>(context_, observer_ ? observer_->for_worker() : nullptr));
    }
    std::unique_ptr<Resident> resident = std::move(mine.spare.back());
    mine.spare.pop_back();
    const SampledCluster sampled = (*context_.sample)[index];
    if (sampled.weight != resident->weight) add(resident->cluster.take_counts(), resident->weight);
    resident->weight = sampled.weight;
    resident->index = index;
    resident->cluster.start(sampled.index);
    const bool ended = resident->cluster.run() == Cluster::Progress::kFinished;
    standstill_.happened();
    if (ended) --alive_;
    (ended ? mine.spare : mine.waiting).push_back(std::move(resident));
    return ended ? Started::kEnded : Started::kWaits;
  }

  // Runs the waiting clusters again. Returns whether any of them did something that others may see.
  bool look_again(Work& mine) {
    bool any = false;
    for (auto& resident : mine.waiting) {
      mine.index = resident->index;
      const bool ended = resident->cluster.run() == Cluster::Progress::kFinished;
      any |= resident->cluster.had_effects();
      if (!ended) continue;
      --alive_;
      mine.spare.push_back(std::move(resident));
    }
    mine.waiting.erase(std::remove(mine.waiting.begin(), mine.waiting.end(), nullptr),
                       mine.waiting.end());
    if (any) standstill_.happened();
    return any;
  }

  // Called if none of this worker's clusters can continue, and no further cluster can start.
  void wait_for_others(Work& mine) {
    if (standstill_.is_reached()) {
      mine.index = mine.waiting.front()->index;
      fault_idle(mine.waiting.front()->cluster);
    }
    const std::uint64_t since = standstill_.happenings();
    if (look_again(mine)) return;
    standstill_.idle(mine.worker, since);
    if (workers_ > 1) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }

  [[noreturn]] void fault_idle(Cluster& cluster) const {
    try {
      cluster.fault_idle(why_none_starts());
    } catch (Fault& fault) {
      if (alive_ >= at_once_ && fault.hint().empty()) {
        fault.explain({}, fmt::format("Launch at most {} CTAs of this shape where they wait for "
                                      "each other, and let each do more.",
                                      at_once_ * cluster.size()));
      }
      throw;
    }
  }

  std::string why_none_starts() const {
    const std::uint64_t started = std::min(next_.load(), clusters_);
    if (alive_ >= at_once_) {
      return fmt::format(
          "; {} of {} run, which is what an H200 holds at once, and those that have "
          "not started cannot help them",
          at_once_, clusters_);
    }
    if (context_.sample->is_partial()) {
      return fmt::format("; only {} of {} run, a sample: what they wait for may be in none of them",
                         started, context_.sample->total());
    }
    return "";
  }

  void note_fault(std::uint64_t index) {
    const std::lock_guard lock(mutex_);
    if (index >= faulted_.load()) return;
    faulted_.store(index);
    fault_ = std::current_exception();
  }

  // WHY one sum per weight: a sum that is rounded once does not depend on which thread ran which
  // CTA.
  void add(const std::vector<InstructionCounter>& more, double weight) {
    const std::lock_guard lock(mutex_);
    std::vector<InstructionCounter>& sum = by_weight_[weight];
    sum.resize(more.size());
    for (std::size_t i = 0; i < more.size(); ++i) {
      sum[i].warp += more[i].warp;
      sum[i].thread += more[i].thread;
    }
  }

  const LaunchContext& context_;
  LaunchObserver* const observer_;
  const std::uint64_t clusters_, at_once_;
  const std::size_t workers_;
  Standstill standstill_;
  std::atomic<std::uint64_t> alive_ = 0;  // started and not ended
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<std::uint64_t> faulted_;  // the lowest CTA with a fault; all of them: none
  std::exception_ptr fault_;
  std::mutex mutex_;
  std::map<double, std::vector<InstructionCounter>> by_weight_;
};

LaunchReport report_of(const Kernel& kernel, const std::vector<InstructionCounter>& counts) {
  LaunchReport report;
  std::set<std::string> approximate;
  report.instructions.reserve(static_cast<std::size_t>(
      std::ranges::count_if(counts, [](const InstructionCounter& one) { return one.warp != 0; })));
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i].warp == 0) continue;
    const InstructionInfo& info = kernel.instructions[i];
    InstructionReport row;
    row.form = info.form;
    row.ptx_line = info.ptx_line;
    row.warp = counts[i].warp;
    row.thread = counts[i].thread;
    row.source_file = info.source_file;
    row.source_line = info.source_line;
    row.index = static_cast<std::uint32_t>(i);
    report.instructions.push_back(std::move(row));
    report.warp_instructions += counts[i].warp;
    report.lane_instructions += counts[i].thread;
    if (info.approximate) approximate.insert(info.form);
  }
  if (!std::ranges::is_sorted(report.instructions, {}, &InstructionReport::ptx_line)) {
    std::ranges::sort(report.instructions, {}, &InstructionReport::ptx_line);
  }
  report.approximate_forms.assign(approximate.begin(), approximate.end());
  return report;
}

LaunchResources resources_of(const LaunchContext& context) {
  LaunchResources resources;
  resources.ctas = std::uint64_t{context.grid[0]} * context.grid[1] * context.grid[2];
  resources.threads = context.block[0] * context.block[1] * context.block[2];
  resources.ctas_per_cluster = context.cluster[0] * context.cluster[1] * context.cluster[2];
  resources.shared_bytes = context.shared_bytes;
  resources.local_bytes = context.kernel->functions.front().local_bytes;
  for (const Function& function : context.kernel->functions) {
    resources.live_registers = std::max(resources.live_registers, function.live_registers);
  }
  return resources;
}

}  // namespace

LaunchReport run_launch(const LaunchContext& given, MakeObserver make_observer, int host_threads) {
  const auto begin = std::chrono::steady_clock::now();
  const Observation& wanted = given.observation;
  const ClusterSample sample(given.grid, given.cluster, wanted.sample_ctas, wanted.sample_seed);
  LaunchContext context = given;
  context.sample = &sample;
  const auto observer = make_observer(context);
  std::atomic<std::uint64_t> spent = 0;
  context.spent = &spent;
  Launch launch(context, observer.get(), host_threads);
  try {
    launch.run();
  } catch (Fault& fault) {
    LaunchReport so_far;
    if (observer) observer->report(so_far);
    fault.add_findings(std::move(so_far.findings));
    throw;
  }
  LaunchReport report;
  if (context.observation.instructions) report = report_of(*context.kernel, launch.counts());
  report.resources = resources_of(context);
  report.sample = {sample.total(), sample.size()};
  if (observer) observer->report(report);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  report.host_seconds = seconds.count();
  return report;
}

}  // namespace tessera::vgpu
