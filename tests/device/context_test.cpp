// Which GPU and which context a device works in, whoever's they are, from any thread; and that
// nothing is left behind, whatever call of the driver fails.
#include <thread>

#include "device/cuda/cuda_device.h"
#include "tests/device/cuda_device_fixture.h"

namespace tessera {
namespace {

class ContextTest : public CudaDeviceTest {
 protected:
  void* make_context(int gpu, bool is_current) const {
    return fake<void*(int, int)>("fake_cuda_make_context")(gpu, is_current);
  }
  void destroy(void* context) const { fake<void(void*)>("fake_cuda_destroy_context")(context); }
  void leave_contexts() const { fake<void()>("fake_cuda_leave_contexts")(); }
  void* current() const { return fake<void*()>("fake_cuda_current")(); }
  void forget_calls() const { fake<void()>("fake_cuda_clear")(); }
  void fail_at(int call, int result) const {
    fake<void(int, int)>("fake_cuda_fail_at")(call, result);
  }
  void capture(void* stream, bool begins) const {
    fake<void(void*, int)>("fake_cuda_capture")(stream, begins);
  }
};

// Everything that a call of the library asks of a device, once.
void use(Device& device, void* stream = nullptr) {
  const DeviceAddress memory = device.allocate(64);
  struct Free {
    Device& device;
    DeviceAddress memory;
    ~Free() {
      try {
        device.free(memory);
      } catch (const StatusError&) {
      }
    }
  } free{device, memory};
  std::uint64_t word = 1;
  device.copy_in(memory, &word, 8);
  const LaunchShape shape{.shared_bytes = 100000, .starts_early = true};
  const LoadedEntry entry = device.entry(device.load(image("good", "", "")), "entry", shape);
  TensorMapDesc desc{.address = 4096};
  desc.sizes = {64, 64};
  desc.strides = {256};
  desc.box = {32, 8};
  TensorMapBytes map = device.encode_tensor_map(desc);
  device.replace_address(map.bytes, 8192);
  const auto begin = device.record_mark();
  device.launch(entry, shape, map.bytes, {}, stream);
  device.launch(entry, {}, map.bytes, {}, stream);
  device.milliseconds_between(begin, device.record_mark());
  device.is_capturing(stream);
  device.synchronize(stream);
  device.copy_out(&word, memory, 8);
}

TEST_F(ContextTest, AGpuIsNamedByItsNumber) {
  set("COUNT", "3");
  const auto device = cuda::make_device(kFake, 2);
  EXPECT_EQ(device->info().index, 2);
  EXPECT_EQ(device->info().pci_bus_id, "0000:12:00.0");
  const auto first = cuda::make_device(kFake);
  EXPECT_EQ(first->info().index, 0);
  use(*device);
  use(*first);
}

TEST_F(ContextTest, ANumberThatNoGpuHasIsRefused) {
  const auto refusal = [](int index) {
    const Status status = status_of([&] { cuda::make_device(kFake, index); });
    EXPECT_EQ(status.code, StatusCode::kBadArgument);
    return status.message;
  };
  EXPECT_EQ(refusal(1), "gpu is 1, but this machine has 1 GPU, whose number is 0");
  set("COUNT", "3");
  EXPECT_EQ(refusal(3), "gpu is 3, but this machine has 3 GPUs, whose numbers are 0 to 2");
  EXPECT_EQ(refusal(-1), "gpu is -1, but this machine has 3 GPUs, whose numbers are 0 to 2");
  EXPECT_EQ(live(), 0u);
}

TEST_F(ContextTest, WorksInTheContextOfItsCaller) {
  set("COUNT", "2");
  void* const context = make_context(1, true);
  {
    const auto device = cuda::make_device_in_context(kFake);
    EXPECT_EQ(device->info().index, 1);
    EXPECT_EQ(device->native_stream(), nullptr) << "CUDA's own null stream";
    use(*device);
  }
  EXPECT_EQ(live(), 0u);
  EXPECT_EQ(current(), context);
  EXPECT_FALSE(contains(calls(), "cuDevicePrimaryCtxRetain"));
  EXPECT_FALSE(contains(calls(), "cuStreamCreate"));
  EXPECT_FALSE(contains(calls(), "cuCtxPushCurrent")) << "it is current already";
  leave_contexts();
  const Status none = status_of([] { cuda::make_device_in_context(kFake); });
  EXPECT_EQ(none.code, StatusCode::kBadArgument);
  EXPECT_EQ(none.message, "context is none, but one must be current in the calling thread");
}

// Whatever is current in a thread: it is so again afterwards.
TEST_F(ContextTest, EveryCallEntersItsContextAndLeavesItAgain) {
  void* const others = make_context(0, false);
  make_context(0, true);
  const auto device = cuda::make_device_in_context(kFake);
  leave_contexts();
  use(*device);
  EXPECT_EQ(current(), nullptr);
  void* const theirs = make_context(0, true);
  use(*device);
  EXPECT_EQ(current(), theirs);
  EXPECT_NE(others, theirs);
  std::thread([&] { use(*device); }).join();
}

TEST_F(ContextTest, EachContextHasModulesOfItsOwn) {
  make_context(0, true);
  const auto first = cuda::make_device_in_context(kFake);
  use(*first);
  make_context(0, true);
  const auto second = cuda::make_device_in_context(kFake);
  forget_calls();
  use(*second);
  EXPECT_CONTAINS(calls(), "cuModuleLoadDataEx");
  forget_calls();
  use(*first);
  EXPECT_FALSE(contains(calls(), "cuModuleLoadDataEx"));
}

TEST_F(ContextTest, AContextThatItsCallerDestroyedIsAStatus) {
  void* const context = make_context(0, true);
  {
    const auto device = cuda::make_device_in_context(kFake);
    use(*device);
    destroy(context);
    const Status here = status_of([&] { device->allocate(64); });
    EXPECT_EQ(here.code, StatusCode::kUnavailable);
    EXPECT_CONTAINS(here.message, "the context that the device was made in is gone");
    leave_contexts();
    const Status elsewhere = status_of([&] { use(*device); });
    EXPECT_EQ(elsewhere.code, StatusCode::kUnavailable);
    EXPECT_CONTAINS(elsewhere.message, "is gone");
  }
  EXPECT_EQ(live(), 0u);
}

// Code is loaded and memory allocated while a stream is captured, and the thread's own mode holds
// again afterwards. Nobody waits for the stream.
TEST_F(ContextTest, PreparesWhileAStreamIsCaptured) {
  const auto device = cuda::make_device(kFake);
  void* const stream = device->native_stream();
  EXPECT_FALSE(device->is_capturing(stream));
  capture(stream, true);
  EXPECT_TRUE(device->is_capturing(stream));
  EXPECT_TRUE(device->is_capturing(nullptr)) << "the device's own stream";
  const LoadedImage loaded = device->load(image("good", "", ""));
  const LoadedEntry entry = device->entry(loaded, "entry", {.shared_bytes = 100000});
  const DeviceAddress memory = device->allocate(64);
  device->free(memory);
  device->free_pinned(device->allocate_pinned(64));
  device->launch(entry, {}, {}, {}, stream);
  EXPECT_THROW(device->synchronize(stream), StatusError);
  const auto allocate =
      reinterpret_cast<int (*)(std::uint64_t*, std::size_t)>(dlsym(fake_, "cuMemAlloc_v2"));
  std::uint64_t address = 0;
  EXPECT_EQ(allocate(&address, 64), 900) << "the thread's own mode is in force again";
  capture(stream, false);
}

// Each capture has a number of its own. Its graph says when it is gone, and holds nothing where the
// driver refuses.
TEST_F(ContextTest, AGraphSaysWhenItIsGone) {
  const auto device = cuda::make_device(kFake);
  void* const stream = device->native_stream();
  int gone = 0;
  capture(stream, true);
  const auto first = device->capture_of(stream);
  ASSERT_TRUE(first);
  EXPECT_EQ(device->capture_of(stream), first);
  device->when_graph_is_gone(stream, [&] { ++gone; });
  capture(stream, false);
  EXPECT_FALSE(device->capture_of(stream));
  capture(stream, true);
  EXPECT_NE(device->capture_of(stream), first);
  for (const char* call :
       {"cuStreamGetCaptureInfo_v2=999", "cuUserObjectCreate=999", "cuGraphRetainUserObject=999"}) {
    set("FAIL", call);
    EXPECT_THROW(device->when_graph_is_gone(stream, [&] { gone += 10; }), StatusError) << call;
  }
  clear("FAIL");
  capture(stream, false);
  EXPECT_EQ(gone, 0);
  fake<void()>("fake_cuda_destroy_graphs")();
  EXPECT_EQ(gone, 1);
}

// A wait for an event of another stream ends no capture.
TEST_F(ContextTest, WaitsForAnEventWhileAStreamIsCaptured) {
  const auto device = cuda::make_device(kFake);
  void *const captured = device->make_stream(), *const other = device->make_stream();
  void* const event = device->make_event();
  device->record(event, other);
  capture(captured, true);
  EXPECT_NO_THROW(device->wait_for(event));
  EXPECT_TRUE(device->is_capturing(captured));
  capture(captured, false);
  device->destroy_event(event);
  device->destroy_stream(captured);
  device->destroy_stream(other);
}

// Launches of one entry from many threads, each on a stream of its own.
TEST_F(ContextTest, EightThreadsLaunchOnEightStreams) {
  const auto device = cuda::make_device(kFake);
  const LaunchShape shape{.grid = 7};
  const LoadedEntry entry = device->entry(device->load(image("good", "", "")), "entry", shape);
  const auto create = reinterpret_cast<int (*)(void**, unsigned)>(dlsym(fake_, "cuStreamCreate"));
  const auto destroy_stream = reinterpret_cast<int (*)(void*)>(dlsym(fake_, "cuStreamDestroy_v2"));
  forget_calls();
  std::vector<std::thread> threads;
  std::vector<void*> streams(8);
  for (std::size_t t = 0; t < streams.size(); ++t) {
    ASSERT_EQ(create(&streams[t], 0), 0);
    threads.emplace_back([&, t] {
      const std::byte params[1] = {std::byte(t)};
      for (int i = 0; i < 100; ++i)
        std::as_const(*device).launch(entry, shape, params, {}, streams[t]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (void* stream : streams) destroy_stream(stream);
  const std::string log = calls();
  for (std::size_t t = 0; t < streams.size(); ++t) {
    const std::string line = "cuLaunchKernel entry 7x1x1 32x1x1 0 0" + std::to_string(t) + "\n";
    int count = 0;
    for (auto at = log.find(line); at != log.npos; at = log.find(line, at + 1)) ++count;
    EXPECT_EQ(count, 100) << t;
  }
}

// One call of the driver after the other fails, out of memory or with its context gone: a status
// with the name of the call, and nothing is left behind.
TEST_F(ContextTest, NothingIsLeftWhateverCallFails) {
  for (const int result : {2, 201, 709, 719}) {
    int failed = 0;
    for (int call = 1;; ++call) {
      leave_contexts();
      fail_at(call, result);
      std::string said;
      bool is_over = false;
      try {
        const auto device = cuda::make_device(kFake);
        use(*device);
        is_over = true;
      } catch (const StatusError& error) {
        said = error.what();
        EXPECT_TRUE(error.status().code == StatusCode::kUnavailable ||
                    error.status().code == StatusCode::kFailed);
        EXPECT_TRUE(contains(said, "cu")) << said;
      }
      const int made = fake<int()>("fake_cuda_calls_made")();
      fail_at(0, 0);
      EXPECT_EQ(live(), 0u) << "call " << call << ", " << result << ": " << said;
      if (!said.empty()) ++failed;
      if (is_over && call > made) break;
    }
    EXPECT_GT(failed, 30) << result;
  }
}

}  // namespace
}  // namespace tessera
