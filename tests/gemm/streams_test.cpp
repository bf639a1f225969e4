// Calls on the caller's streams: cold ones inside a capture, many threads at a time, and calls of a
// driver that fails. On a pretended driver; where there is a GPU, on that, and its bits are
// compared.
#include <dlfcn.h>

#include <array>
#include <thread>

#include "gemm/call/multiply.h"
#include "tests/device/cuda_device_fixture.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

// Needs a workspace, and several launches.
const Problem kProblem = with_default_ld({.m = 1000, .n = 1001, .k = 4000});

class PretendedStreams : public CudaDeviceTest {
 protected:
  void SetUp() override {
    CudaDeviceTest::SetUp();
    set("ACCEPT", "1");
    set("MEMORY", "1000000000");
  }
  void TearDown() override {
    clear("ACCEPT");
    CudaDeviceTest::TearDown();
  }
  void capture(void* stream, bool begins) const {
    fake<void(void*, int)>("fake_cuda_capture")(stream, begins);
  }
};

const Operands kOperands{std::uint64_t{1} << 40, std::uint64_t{2} << 40, 0, std::uint64_t{3} << 40};

TEST_F(PretendedStreams, AColdCallInsideACapturePrepares) {
  const auto device = cuda::make_device(kFake);
  void* const stream = device->native_stream();
  gemm::Handle handle(*device);
  capture(stream, true);
  EXPECT_NO_THROW(gemm::multiply(handle, kProblem, kOperands, {}, stream));
  Problem larger = kProblem;
  larger.k = 8000;
  larger.ldb = 8000;
  EXPECT_NO_THROW(gemm::multiply(handle, larger, kOperands, {}, stream));
  capture(stream, false);
  const std::string log = calls();
  EXPECT_CONTAINS(log, "cuModuleLoadDataEx");
  EXPECT_CONTAINS(log, "cuLaunchKernel");
  EXPECT_FALSE(contains(log, "cuStreamSynchronize"));
  EXPECT_FALSE(contains(log, "cuMemFree")) << "the graph holds it";
  const std::size_t held = live();
  fake<void()>("fake_cuda_destroy_graphs")();
  EXPECT_EQ(live(), held - 1) << "what the graph had of the handle";
}

// A warm call asks the driver for its launches and for nothing that a capture forbids.
TEST_F(PretendedStreams, AWarmCallNeitherAllocatesNorWaits) {
  const auto device = cuda::make_device(kFake);
  gemm::Handle handle(*device);
  gemm::multiply(handle, kProblem, kOperands);
  fake<void()>("fake_cuda_clear")();
  gemm::multiply(handle, kProblem, kOperands);
  const std::string log = calls();
  EXPECT_CONTAINS(log, "cuLaunchKernel");
  for (const char* call : {"cuMem", "cuModule", "cuFunc", "Synchronize", "Encode", "cuCtx"}) {
    EXPECT_FALSE(contains(log, call)) << call;
  }
}

TEST_F(PretendedStreams, NothingIsLeftWhateverCallFails) {
  for (const int result : {2, 709}) {
    for (int call = 1, made = call; call <= made; ++call) {
      fake<void()>("fake_cuda_leave_contexts")();
      fake<void(int, int)>("fake_cuda_fail_at")(call, result);
      std::string said;
      try {
        const auto device = cuda::make_device(kFake);
        gemm::Handle handle(*device);
        for (const std::int64_t k : {4000, 8000}) {
          Problem problem = kProblem;
          problem.k = problem.ldb = k;
          gemm::multiply(handle, problem, kOperands);
        }
        device->synchronize();
      } catch (const StatusError& error) {
        said = error.what();
        EXPECT_NE(said, "");
      }
      made = fake<int()>("fake_cuda_calls_made")();
      fake<void(int, int)>("fake_cuda_fail_at")(0, 0);
      EXPECT_EQ(live(), 0u) << "call " << call << ", " << result << ": " << said;
    }
  }
}

// A call that failed is as if it had not been: the next one does all of it.
TEST_F(PretendedStreams, ACallAfterOneThatFailedWorks) {
  const auto device = cuda::make_device(kFake);
  gemm::Handle handle(*device);
  for (const char* failure : {"cuModuleLoadDataEx=2", "cuModuleGetFunction=2",
                              "cuFuncSetAttribute=2", "cuMemAlloc_v2=2"}) {
    set("FAIL", failure);
    const Status status = status_of([&] { gemm::multiply(handle, kProblem, kOperands); });
    EXPECT_EQ(status.code, StatusCode::kUnavailable) << failure;
    EXPECT_FALSE(contains(calls(), "cuLaunchKernel")) << failure;
    clear("FAIL");
  }
  EXPECT_NO_THROW(gemm::multiply(handle, kProblem, kOperands));
}

// A, B and room for several D, with integers in A and B, whose sums are exact.
struct Matrices {
  explicit Matrices(Device& device, std::size_t outputs) : device(device) {
    const auto fill = [](std::int64_t count, int step) {
      std::vector<float> values(static_cast<std::size_t>(count));
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>(i * static_cast<std::size_t>(step) % 13) - 6;
      }
      return values;
    };
    const std::vector<float> a_values = fill(view_a(problem).span(), 5);
    const std::vector<float> b_values = fill(view_b(problem).span(), 7);
    a = DeviceBuffer(device, a_values.size() * sizeof(float));
    b = DeviceBuffer(device, b_values.size() * sizeof(float));
    device.copy_in(a.address(), a_values.data(), a.bytes());
    device.copy_in(b.address(), b_values.data(), b.bytes());
    for (std::size_t i = 0; i < outputs; ++i) {
      d.emplace_back(device, static_cast<std::size_t>(view_d(problem).span()) * sizeof(float));
      clear(i);
    }
  }
  void clear(std::size_t i) {
    const std::vector<float> nothing(d[i].bytes() / sizeof(float), -1);
    device.copy_in(d[i].address(), nothing.data(), d[i].bytes());
  }
  Operands operands(std::size_t i) const { return {a.address(), b.address(), 0, d[i].address()}; }
  std::vector<float> result(std::size_t i) const {
    std::vector<float> values(d[i].bytes() / sizeof(float));
    device.copy_out(values.data(), d[i].address(), d[i].bytes());
    return values;
  }

  Device& device;
  // On the virtual GPU a smaller one: its time counts.
  Problem problem = test_on_cuda() ? kProblem : with_default_ld({.m = 70, .n = 65, .k = 130});
  DeviceBuffer a, b;
  std::vector<DeviceBuffer> d;
};

// What the tests on a GPU need of the driver and the library does not.
struct Graphs {
  int (*create_stream)(void**, unsigned) = nullptr;
  int (*destroy_stream)(void*) = nullptr;
  int (*begin)(void* stream, int mode) = nullptr;
  int (*end)(void* stream, void** graph) = nullptr;
  int (*instantiate)(void** ready, void* graph, unsigned long long flags) = nullptr;
  int (*launch)(void* ready, void* stream) = nullptr;

  Graphs() {
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    const auto find = [&](const char* name, auto& call) {
      call = reinterpret_cast<std::remove_reference_t<decltype(call)>>(dlsym(driver, name));
      EXPECT_NE(call, nullptr) << name;
    };
    find("cuStreamCreate", create_stream);
    find("cuStreamDestroy_v2", destroy_stream);
    find("cuStreamBeginCapture_v2", begin);
    find("cuStreamEndCapture", end);
    find("cuGraphInstantiateWithFlags", instantiate);
    find("cuGraphLaunch", launch);
  }
};

// Bits from eight threads at a time, each on a stream of its own, are those of one call.
TEST(Streams, EightThreadsOnEightStreamsGetTheSameBits) {
  constexpr std::size_t kThreads = 8;
  Device& device = test_device();
  Matrices matrices(device, kThreads + 1);
  gemm::Handle handle(device);
  gemm::multiply(handle, matrices.problem, matrices.operands(kThreads));
  device.synchronize();
  std::array<void*, kThreads> streams{};
  if (test_on_cuda()) {
    const Graphs driver;
    for (void*& stream : streams) ASSERT_EQ(driver.create_stream(&stream, 1), 0);
  }
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      try {
        for (int i = 0; i < 3; ++i) {
          gemm::multiply(handle, matrices.problem, matrices.operands(t), {}, streams[t]);
        }
        device.synchronize(streams[t]);
      } catch (const std::exception& error) {  // else it would end the program without a word
        ADD_FAILURE() << "thread " << t << ": " << error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::vector<float> want = matrices.result(kThreads);
  EXPECT_NE(want[0], -1);
  for (std::size_t t = 0; t < kThreads; ++t) EXPECT_EQ(matrices.result(t), want) << t;
  if (test_on_cuda()) {
    const Graphs driver;
    for (void* stream : streams) driver.destroy_stream(stream);
  }
}

// The first call of all is recorded in a graph; each replay gives the bits of a plain call.
TEST(Streams, AGraphWhoseFirstCallIsColdIsReplayed) {
  if (!test_on_cuda()) GTEST_SKIP() << "graphs are a real GPU's";
  Matrices matrices(test_device(), 2);
  gemm::Handle plain(test_device());
  gemm::multiply(plain, matrices.problem, matrices.operands(1));
  test_device().synchronize();
  const std::vector<float> want = matrices.result(1);

  const auto device = make_cuda_device();  // has loaded nothing yet
  gemm::Handle handle(*device);
  const Graphs driver;
  void *stream = nullptr, *graph = nullptr, *ready = nullptr;
  ASSERT_EQ(driver.create_stream(&stream, 1), 0);
  ASSERT_EQ(driver.begin(stream, 0), 0) << "in the global mode, which forbids most";
  EXPECT_NO_THROW(gemm::multiply(handle, matrices.problem, matrices.operands(0), {}, stream));
  ASSERT_EQ(driver.end(stream, &graph), 0);
  ASSERT_NE(graph, nullptr);
  ASSERT_EQ(driver.instantiate(&ready, graph, 0), 0);
  EXPECT_EQ(matrices.result(0)[0], -1) << "nothing has run yet";
  for (const int replay : {1, 2}) {
    matrices.clear(0);
    ASSERT_EQ(driver.launch(ready, stream), 0);
    device->synchronize(stream);
    EXPECT_EQ(matrices.result(0), want) << replay;
  }
  driver.destroy_stream(stream);
}

// A device in the context of its caller gives the same bits, on the null stream, too.
TEST(Streams, TheContextOfTheCallerGivesTheSameBits) {
  if (!test_on_cuda()) GTEST_SKIP() << "contexts are a real GPU's";
  Matrices matrices(test_device(), 2);
  gemm::Handle plain(test_device());
  gemm::multiply(plain, matrices.problem, matrices.operands(0));
  test_device().synchronize();
  const auto device = make_cuda_device_in_context();
  gemm::Handle handle(*device);
  gemm::multiply(handle, matrices.problem, matrices.operands(1));
  device->synchronize();
  EXPECT_EQ(matrices.result(1), matrices.result(0));
}

}  // namespace
}  // namespace tessera
