// Handles streams that are being captured into a graph, and reports the end of the graph: the
// graph's launches contain addresses of memory that must live as long as the graph.
#include <memory>

#include "device/cuda/device_class.h"

namespace tessera::cuda {
namespace {

// HW: CU_USER_OBJECT_NO_DESTRUCTOR_SYNC, CU_GRAPH_USER_OBJECT_MOVE (CUDA driver API reference,
// release 13.0).
constexpr unsigned kNoDestructorSync = 1, kMove = 1;

using Gone = std::function<void()>;

// The driver calls this function in a thread of its own, which must not call the driver.
void destroy(void* what) {
  const std::unique_ptr<Gone> gone(static_cast<Gone*>(what));
  if (*gone) (*gone)();
}

}  // namespace

std::optional<std::uint64_t> CudaDevice::capture_of(void* stream) const {
  const Entered context(driver_, context_);
  int status = 0;  // HW: CUstreamCaptureStatus; 0: none, 1: active, 2: invalidated
  std::uint64_t id = 0;
  call("cuStreamGetCaptureInfo_v2",
       driver_.stream_get_capture_info(stream_of(stream), &status, &id, nullptr, nullptr, nullptr));
  if (status == 0) return {};
  return id;
}

void CudaDevice::when_graph_is_gone(void* stream, Gone gone) {
  const Entered context(driver_, context_);
  int status = 0;
  Graph graph = nullptr;
  call("cuStreamGetCaptureInfo_v2",
       driver_.stream_get_capture_info(stream_of(stream), &status, nullptr, &graph, nullptr,
                                       nullptr));
  auto owned = std::make_unique<Gone>(std::move(gone));
  UserObject object = nullptr;
  call("cuUserObjectCreate",
       driver_.user_object_create(&object, owned.get(), destroy, 1, kNoDestructorSync));
  Gone* const held = owned.release();
  const Result result = driver_.graph_retain_user_object(graph, object, 1, kMove);
  if (result == kSuccess) return;
  *held = {};  // the caller gets the error instead
  driver_.user_object_release(object, 1);
  call("cuGraphRetainUserObject", result);
}

}  // namespace tessera::cuda
