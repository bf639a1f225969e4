// Unpacks images (compiled kernels) in a background thread, before the first calls that need them.
// Unpacking is the largest part of the host time of a first call.
//
// WHY the thread does not load the images: cuModuleLoadDataEx and cuModuleGetFunction take the
// context's lock, and with lazy loading they may wait for running kernels. A call for a new shape
// must accept this wait, but a background thread must not delay a program's launches. A program
// that wants to choose when code is loaded calls tessera_warm_up().
//
// WHY images are chosen by element types: a program that has multiplied BF16 matrices will soon
// need more BF16 kernels, and mostly no kernels for other types.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/types.h"

namespace tessera::gemm {

// Several threads may use one object. Nothing is thrown: if an image cannot be unpacked, the call
// that needs the image reports the error.
class ImagesAhead {
 public:
  // `unpack` unpacks the image of a given name.
  explicit ImagesAhead(std::function<void(const std::string&)> unpack)
      : unpack_(std::move(unpack)) {}
  ~ImagesAhead() { end_thread(); }
  ImagesAhead(const ImagesAhead&) = delete;
  ImagesAhead& operator=(const ImagesAhead&) = delete;

  // Queues the images of the kernels for these types that run on compute capability `sm` (90); the
  // kernels that need the newest GPUs come first. Does nothing if expect() had these types before.
  void expect(const Types& types, int sm) noexcept;
  // Call these before and after fork(). The thread ends before the fork, after its current image:
  // a child would inherit the thread's locks, but not the thread. Only the parent unpacks the rest.
  void before_fork() noexcept;
  void after_fork(bool is_child) noexcept;
  // Waits until the thread has unpacked all queued images, or was stopped.
  void wait();

 private:
  void start();  // the caller holds mutex_
  void run() noexcept;
  void end_thread() noexcept;

  const std::function<void(const std::string&)> unpack_;
  std::mutex mutex_;
  std::condition_variable idle_;
  std::vector<Types> expected_;
  std::vector<std::string> queue_;  // names of images; the last one is unpacked next
  bool is_running_ = false;
  bool is_stopped_ = false;  // true: the thread ends, and no new thread is started
  std::thread thread_;
};

// These call expect(), before_fork() and after_fork() of the process's only ImagesAhead object.
void expect_images(const Types& types, int sm) noexcept;
void stop_images_before_fork() noexcept;
void go_on_with_images_after_fork(bool is_child) noexcept;

// The names of the images that expect() queues for these types, in the order of unpacking.
std::vector<std::string> images_for(const Types& types, int sm);

}  // namespace tessera::gemm
