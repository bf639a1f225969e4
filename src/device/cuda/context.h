// A CUDA context: the caller's own, or a GPU's primary context, which OwnedContext retains. The
// driver uses the context that is current in the calling thread, and a thread may have none. So
// every call makes its context current first, and restores the previous one afterwards.
#pragma once

#include "device/cuda/driver.h"

namespace tessera::cuda {

// Movable only.
class OwnedContext {
 public:
  OwnedContext() = default;
  // The primary context of a GPU, retained by the object and made current in the calling thread.
  // Throws kBadArgument if there is no GPU with this index.
  static OwnedContext primary(const Driver& driver, int index);
  // The context that is current in the calling thread. The owner of the context must keep it longer
  // than this object. Throws kBadArgument if no context is current.
  static OwnedContext current(const Driver& driver);
  OwnedContext(OwnedContext&& other) noexcept;
  OwnedContext& operator=(OwnedContext&& other) noexcept;
  ~OwnedContext();

  Context get() const { return context_; }
  DeviceOrdinal gpu() const { return gpu_; }
  int index() const { return index_; }

 private:
  const Driver* driver_ = nullptr;  // null: nothing to release
  Context context_ = nullptr;
  DeviceOrdinal gpu_ = 0;
  int index_ = 0;
};

// Makes a context current in this thread for the lifetime of the object. If the context is current
// already, this costs only one query.
class InContext {
 public:
  InContext(const Driver& driver, Context context) : driver_(driver) { result_ = enter(context); }
  ~InContext() {
    Context left = nullptr;
    if (entered_) driver_.ctx_pop_current(&left);
  }
  InContext(const InContext&) = delete;
  InContext& operator=(const InContext&) = delete;
  // kSuccess, or the reason why the context could not be entered: its owner has destroyed it, this
  // is the child of a fork, ...
  Result result() const { return result_; }

 private:
  Result enter(Context context) {
    Context now = nullptr;
    if (const Result result = driver_.ctx_get_current(&now); result != kSuccess) return result;
    if (now == context) return kSuccess;
    const Result result = driver_.ctx_push_current(context);
    entered_ = result == kSuccess;
    return result;
  }

  const Driver& driver_;
  Result result_ = kSuccess;
  bool entered_ = false;
};

// Like InContext, but throws if the context cannot be entered.
class Entered : public InContext {
 public:
  Entered(const Driver& driver, const OwnedContext& context) : InContext(driver, context.get()) {
    check(driver, "cuCtxPushCurrent_v2", result());
  }
};

// Lets this thread load code and allocate memory while a stream is captured; the graph does not
// include this work. If the driver rejects this mode, the next call reports an error.
class RelaxedCapture {
 public:
  explicit RelaxedCapture(const Driver& driver)
      : driver_(driver), exchanged_(driver.thread_exchange_capture_mode(&mode_) == kSuccess) {}
  ~RelaxedCapture() {
    if (exchanged_) driver_.thread_exchange_capture_mode(&mode_);
  }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  const Driver& driver_;
  CaptureMode mode_ = kRelaxed;  // the thread's own, once exchanged
  const bool exchanged_;
};

}  // namespace tessera::cuda
