#include "gemm/call/images_ahead.h"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <functional>

#include "catalog/catalog.h"
#include "catalog/image_pack.h"

namespace tessera::gemm {
namespace {

// Blocks all signals in this thread while the object exists. A thread that is started meanwhile
// inherits the blocked signals, so it handles none of the program's signals.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

std::vector<std::string> images_for(const Types& types, int sm) {
  std::vector<const Kernel*> kernels;
  for (const Kernel& kernel : all_kernels()) {
    const bool fits = kernel.first_sm <= sm && sm <= kernel.last_sm;
    if (kernel.types == types && fits && !is_rung(kernel)) kernels.push_back(&kernel);
  }
  std::ranges::stable_sort(kernels, std::greater{}, &Kernel::first_sm);
  std::vector<std::string> names;
  for (const Kernel* kernel : kernels) {
    for (std::string& name : image_names_of(*kernel)) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    }
  }
  return names;
}

void ImagesAhead::expect(const Types& types, int sm) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (is_stopped_ || std::ranges::find(expected_, types) != expected_.end()) return;
    expected_.push_back(types);
    std::vector<std::string> names = images_for(types, sm);
    queue_.insert(queue_.begin(), names.rbegin(), names.rend());
    start();
  } catch (...) {
    // Without memory or a thread, the calls unpack the images that they need.
  }
}

void ImagesAhead::start() {
  if (is_running_ || queue_.empty()) return;
  if (thread_.joinable()) thread_.join();  // an earlier thread, whose loop has ended
  const SignalsBlocked blocked;
  thread_ = std::thread([this] { run(); });
  is_running_ = true;
}

void ImagesAhead::run() noexcept {
  std::unique_lock lock(mutex_);
  while (!queue_.empty() && !is_stopped_) {
    const std::string name = std::move(queue_.back());
    queue_.pop_back();
    lock.unlock();
    try {
      unpack_(name);
    } catch (...) {
      // The call that needs the image reports the error.
    }
    lock.lock();
  }
  is_running_ = false;
  idle_.notify_all();
}

void ImagesAhead::end_thread() noexcept {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

void ImagesAhead::before_fork() noexcept {
  end_thread();
  mutex_.lock();
}

void ImagesAhead::after_fork(bool is_child) noexcept {
  is_stopped_ = is_child;
  try {
    if (!is_child) start();
  } catch (...) {
    // Without a thread, the calls unpack the images that they need.
  }
  mutex_.unlock();
}

void ImagesAhead::wait() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return !is_running_; });
}

namespace {

std::atomic<ImagesAhead*> of_process = nullptr;

ImagesAhead& images_ahead() {
  own_images();  // created before `all`, so destroyed after it: the thread uses the pack
  static ImagesAhead all([](const std::string& name) { own_images().find(name); });
  of_process = &all;
  return all;
}

}  // namespace

void expect_images(const Types& types, int sm) noexcept {
  try {
    images_ahead().expect(types, sm);
  } catch (...) {
    // If the program has no images, the calls report that error.
  }
}

void stop_images_before_fork() noexcept {
  if (ImagesAhead* const all = of_process) all->before_fork();
}

void go_on_with_images_after_fork(bool is_child) noexcept {
  if (ImagesAhead* const all = of_process) all->after_fork(is_child);
}

}  // namespace tessera::gemm
