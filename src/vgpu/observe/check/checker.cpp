// The checks of a launch: races, missing waits and fences, reads of unwritten memory.
#include <mutex>

#include "vgpu/observe/check/cluster_checker.h"
#include "vgpu/observe/earlier_launch.h"
#include "vgpu/observe/observers.h"

namespace tessera::vgpu {
namespace check {
namespace {

class Checker;

// The checks of one worker thread. Passes its findings to the Checker when the worker ends.
class WorkerChecker : public ClusterChecker {
 public:
  WorkerChecker(LaunchChecks& launch, Checker& checker)
      : ClusterChecker(launch), checker_(checker) {}
  ~WorkerChecker() override;

 private:
  Checker& checker_;
};

class Checker : public LaunchObserver {
 public:
  explicit Checker(const LaunchContext& context) : launch_(context), log_(*context.kernel) {}

  std::unique_ptr<Observer> for_worker() override {
    return std::make_unique<WorkerChecker>(launch_, *this);
  }
  void add(FindingLog&& more, const ClusterChecker::UndefinedReads& undefined) {
    const std::lock_guard lock(mutex_);
    log_.merge(std::move(more));
    for (const auto& [read, place] : undefined) {
      const auto [at, is_new] = undefined_reads_.try_emplace(read, place);
      if (!is_new && place.cta < at->second.cta) at->second = place;
    }
  }
  void report(LaunchReport& to) override {
    note_unwritten_reads();
    to.findings = log_.sorted();
    add_undefined_reads(to);
    leave_for_the_next();
  }

 private:
  void note_unwritten_reads();
  void add_undefined_reads(LaunchReport& to) const;
  void leave_for_the_next() const;

  LaunchChecks launch_;
  std::mutex mutex_;
  FindingLog log_;
  ClusterChecker::UndefinedReads undefined_reads_;
};

// Reports what is known before the kernel runs.
void Checker::note_unwritten_reads() {
  for (const UnwrittenRead& read : launch_.context.kernel->unwritten_reads) {
    Finding* finding = log_.note("uninitialised-register-read", Severity::kError, read.instruction,
                                 read.instruction, 0);
    if (!finding) continue;
    finding->has_address = false;
    finding->places = {log_.place({"read register " + read.name, read.instruction, 0, -1, -1})};
    const std::string line = log_.line(read.instruction);
    finding->message = "The instruction at " + line + " reads register " + read.name +
                       ", which nothing has written before";
    finding->hint = "give the variable a value before " + line;
  }
}

void Checker::add_undefined_reads(LaunchReport& to) const {
  for (const auto& [read, place] : undefined_reads_) {
    to.undefined_reads.push_back({read.second, log_.place(place)});
  }
  for (const UnwrittenRead& read : launch_.context.kernel->perhaps_unwritten_reads) {
    const std::string what = "read register " + read.name;
    to.undefined_reads.push_back(
        {UndefinedSource::kRegister, log_.place({what, read.instruction, 0, -1, -1})});
  }
}

void Checker::leave_for_the_next() const {
  const LaunchContext& context = launch_.context;
  if (!context.becomes_earlier) return;
  auto left = std::make_shared<EarlierLaunch>();
  left->kernel = context.kernel->name;
  for (const InstructionInfo& info : context.kernel->instructions) {
    left->lines.push_back(info.source_line > 0 ? info.source_line : info.ptx_line);
  }
  left->memory = launch_.memory;
  left->before = context.earlier;
  *context.becomes_earlier = std::move(left);
}

WorkerChecker::~WorkerChecker() { checker_.add(std::move(log()), undefined_reads()); }

}  // namespace

// ---- width of a cell ----------------------------------------------------------------------------

namespace {

// Returns the bytes that one lane moves in one access: 4 for "ld.shared.v2.u16".
std::uint32_t bytes_of(const std::string& form) {
  std::uint32_t count = 1, bits = 32;
  for (std::size_t at = 0; at < form.size();) {
    const std::size_t end = std::min(form.find('.', at), form.size());
    const std::string word = form.substr(at, end - at);
    at = end + 1;
    const std::size_t digits = word.find_first_of("0123456789");
    if (digits == std::string::npos) continue;
    const auto number = static_cast<std::uint32_t>(std::atoi(word.c_str() + digits));
    const std::string kind = word.substr(0, digits);
    if (kind == "v") count = number;
    if (kind == "b" || kind == "u" || kind == "s" || kind == "f" || kind == "bf") bits = number;
  }
  return count * bits / 8;
}

bool touches_memory(const std::string& form) {
  // wmma.store stores elements one by one if they are not neighbours in memory.
  for (const char* opcode : {"ld.", "ldu.", "st.", "atom.", "red.", "wmma.store."}) {
    if (form.starts_with(opcode)) {
      return form.find(".param") == std::string::npos && form.find(".local") == std::string::npos;
    }
  }
  return false;
}

}  // namespace

std::uint32_t cell_shift_of(const Kernel& kernel) {
  std::uint32_t narrowest = 4;
  for (const InstructionInfo& info : kernel.instructions) {
    if (touches_memory(info.form)) narrowest = std::min(narrowest, bytes_of(info.form));
  }
  return narrowest >= 4 ? 2 : narrowest >= 2 ? 1 : 0;
}

}  // namespace check

std::unique_ptr<LaunchObserver> make_checker(const LaunchContext& context) {
  return std::make_unique<check::Checker>(context);
}

}  // namespace tessera::vgpu
