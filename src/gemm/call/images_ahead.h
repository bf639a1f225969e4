// Unpacks images in a thread, ahead of the first calls that need them: unpacking is the largest
// part of a first call that runs on the host.
//
// WHY no loading: cuModuleLoadDataEx and cuModuleGetFunction take the context's lock, and where
// code is loaded lazily they may wait for running kernels. A call for a new shape has to; a thread
// that nobody asked for must not stop a program's launches. tessera_warm_up() loads code at a time
// that the program chooses.
//
// WHY by types: a program that has multiplied BF16 needs further kernels for BF16 soon, and mostly
// no others.
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

// Safe to use from several threads. Nothing is thrown: an image that cannot be unpacked is reported
// by the call that needs it.
class ImagesAhead {
 public:
  // `unpack`: of an image by its name.
  explicit ImagesAhead(std::function<void(const std::string&)> unpack)
      : unpack_(std::move(unpack)) {}
  ~ImagesAhead() { end_thread(); }
  ImagesAhead(const ImagesAhead&) = delete;
  ImagesAhead& operator=(const ImagesAhead&) = delete;

  // Queues the images of the kernels for these types that a GPU of compute capability `sm` can run,
  // those made for it first. Does nothing for types that were expected before.
  void expect(const Types& types, int sm) noexcept;
  // Around a fork: the thread ends after the image that it is at, so that the child neither lacks a
  // thread nor finds a lock taken. The parent goes on.
  void before_fork() noexcept;
  void after_fork(bool is_child) noexcept;
  // Until the queue is empty.
  void wait();

 private:
  void start();  // expects the mutex
  void run() noexcept;
  void end_thread() noexcept;

  const std::function<void(const std::string&)> unpack_;
  std::mutex mutex_;
  std::condition_variable idle_;
  std::vector<Types> expected_;
  std::vector<std::string> queue_;  // the last one is next
  bool is_running_ = false;
  bool is_stopped_ = false;  // nothing is started any more
  std::thread thread_;
};

// The same calls for the one object of this process, which has one pack of images.
void expect_images(const Types& types, int sm) noexcept;
void stop_images_before_fork() noexcept;
void go_on_with_images_after_fork(bool is_child) noexcept;

// The images of all kernels for these types, in the order in which they are unpacked.
std::vector<std::string> images_for(const Types& types, int sm);

}  // namespace tessera::gemm
