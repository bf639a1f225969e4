// CTAs are handed out in order, each worker thread runs whole CTAs. Counts are summed at the end,
// and of several faults the one of the lowest CTA is reported, so that nothing that is told depends
// on how many threads there were.
#include "vgpu/exec/launch.h"

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

class Launch {
 public:
  // The observer may be null.
  Launch(const LaunchContext& context, LaunchObserver* observer)
      : context_(context),
        observer_(observer),
        clusters_(context.sample->size()),
        faulted_(clusters_) {}

  void run(int host_threads) {
    const auto workers = static_cast<std::size_t>(
        std::min<std::uint64_t>(clusters_, static_cast<std::uint64_t>(host_threads)));
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < workers; ++i) threads.emplace_back([this] { work(); });
    work();
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
  // WHY: all of it is in the try block, the CTA's memory too: what leaves a thread ends the
  // process.
  void work() {
    std::uint64_t index = 0;
    try {
      const auto observer = observer_ ? observer_->for_worker() : nullptr;
      Cluster cluster(context_, observer.get());
      double weight = 1;
      while ((index = next_.fetch_add(1)) < faulted_.load()) {
        const SampledCluster sampled = (*context_.sample)[index];
        if (sampled.weight != weight) add(cluster.take_counts(), weight);
        weight = sampled.weight;
        cluster.run(sampled.index);
      }
      add(cluster.take_counts(), weight);
    } catch (...) {
      note_fault(std::min(index, clusters_ - 1));
    }
  }

  void note_fault(std::uint64_t index) {
    const std::lock_guard lock(mutex_);
    if (index >= faulted_.load()) return;
    faulted_.store(index);
    fault_ = std::current_exception();
  }

  // WHY sums by weight: rounded once, they are the same however the threads shared the CTAs.
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
  const std::uint64_t clusters_;
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<std::uint64_t> faulted_;  // the lowest CTA with a fault; all of them: none
  std::exception_ptr fault_;
  std::mutex mutex_;
  std::map<double, std::vector<InstructionCounter>> by_weight_;
};

std::unique_ptr<LaunchObserver> observers_of(const LaunchContext& context) {
  std::vector<std::unique_ptr<LaunchObserver>> observers;
  if (context.observation.memory) observers.push_back(make_memory_counter(context));
  if (context.observation.checks) observers.push_back(make_checker(context));
  return combine(std::move(observers));
}

LaunchReport report_of(const Kernel& kernel, const std::vector<InstructionCounter>& counts) {
  LaunchReport report;
  std::set<std::string> approximate;
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
  std::sort(report.instructions.begin(), report.instructions.end(),
            [](const auto& a, const auto& b) { return a.ptx_line < b.ptx_line; });
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

LaunchReport run_launch(const LaunchContext& given, int host_threads) {
  const auto begin = std::chrono::steady_clock::now();
  const Observation& wanted = given.observation;
  const ClusterSample sample(given.grid, given.cluster, wanted.sample_ctas, wanted.sample_seed);
  LaunchContext context = given;
  context.sample = &sample;
  const auto observer = observers_of(context);
  Launch launch(context, observer.get());
  launch.run(host_threads);
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
