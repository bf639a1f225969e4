// Workspaces that a handle lends: their number is bounded, and each goes from one stream to another
// in the order of the GPU.
#include "gemm/call/workspaces.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <set>
#include <thread>

#include "tests/support/host_device.h"

namespace tessera {
namespace {

using Mark = HostDevice::Mark;
using gemm::Workspaces;

constexpr std::size_t kMostBlocks = 8;

TEST(Workspaces, AStreamKeepsItsBlockWhileItSuffices) {
  HostDevice device;
  Workspaces workspaces(device);
  int first = 0, second = 0;
  const auto address = [&](std::int64_t bytes, void* stream) {
    return workspaces.lend(bytes, stream).address();
  };
  const DeviceAddress small = address(1000, &first);
  EXPECT_EQ(address(1000, &first), small);
  EXPECT_EQ(address(10, &first), small);
  EXPECT_NE(address(1000, &second), small) << "streams run at the same time";
  EXPECT_TRUE(device.waits.empty()) << "the host waits for nothing";
  const DeviceAddress large = address(1 << 20, &first);
  EXPECT_NE(large, small);
  EXPECT_EQ(address(1000, &first), large);
  EXPECT_EQ(device.allocated, 2u) << "the old block is freed";
  EXPECT_EQ(workspaces.bytes(), 1000 + (1 << 20));
}

// Streams that come and go: 200 of them take as much memory as eight.
TEST(Workspaces, ManyStreamsShareFewBlocks) {
  HostDevice device;
  Workspaces workspaces(device);
  std::vector<char> streams(200);
  for (char& stream : streams) workspaces.lend(512 << 10, &stream);
  EXPECT_EQ(workspaces.blocks(), kMostBlocks);
  EXPECT_EQ(device.allocated, kMostBlocks);
}

// The launches of a call come after those of the call that had the block before it, whatever the
// streams are; also where a new stream has the address of one that has ended.
TEST(Workspaces, ABlockIsHandedOnInTheOrderOfTheGpu) {
  HostDevice device;
  Workspaces workspaces(device);
  std::vector<char> streams(3 * kMostBlocks);
  std::mt19937 random(5);
  std::map<DeviceAddress, Mark> last;  // of each block
  for (int call = 0; call < 500; ++call) {
    void* const stream = &streams[random() % streams.size()];
    device.marks.clear();
    DeviceAddress address = 0;
    {
      const gemm::LentWorkspace lent = workspaces.lend(100, stream);
      address = lent.address();
      if (const auto before = last.find(address); before != last.end()) {
        const Mark want{Mark::kWaited, before->second.event, stream};
        ASSERT_EQ(device.marks, std::vector<Mark>{want}) << call;
      } else {
        ASSERT_TRUE(device.marks.empty()) << call;
      }
      device.marks.clear();
    }
    ASSERT_EQ(device.marks.size(), 1u);
    ASSERT_EQ(device.marks[0].kind, Mark::kRecorded);
    ASSERT_EQ(device.marks[0].stream, stream);
    last.insert_or_assign(address, device.marks[0]);
  }
  EXPECT_EQ(last.size(), kMostBlocks);
}

TEST(Workspaces, ABlockThatIsOutgrownIsFreedAfterItsLaunches) {
  HostDevice device;
  Workspaces workspaces(device);
  int stream = 0;
  workspaces.lend(1000, &stream);
  device.marks.clear();
  workspaces.lend(2000, &stream);
  ASSERT_EQ(device.marks.size(), 2u);
  EXPECT_EQ(device.marks[0].kind, Mark::kHostWaited);
  EXPECT_EQ(device.marks[1].kind, Mark::kRecorded);
}

// Calls at the same time have blocks of their own, however many they are; later ones reuse them.
TEST(Workspaces, CallsAtTheSameTimeShareNoBlock) {
  HostDevice device;
  Workspaces workspaces(device);
  constexpr int kThreads = 12;
  std::vector<char> streams(kThreads);
  std::atomic<int> arrived = 0;
  std::mutex mutex;
  std::set<DeviceAddress> seen;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      const gemm::LentWorkspace lent = workspaces.lend(100, &streams[i]);
      ++arrived;
      while (arrived < kThreads) std::this_thread::yield();
      const std::lock_guard lock(mutex);
      seen.insert(lent.address());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(seen.size(), kThreads);
  int other = 0;
  workspaces.lend(100, &other);
  EXPECT_EQ(workspaces.blocks(), kThreads);
}

TEST(Workspaces, ABlockThatNoCallUsesIsFreed) {
  HostDevice device;
  Workspaces workspaces(device);
  int busy = 0, gone = 0;
  workspaces.lend(100, &gone);
  for (int call = 0; call < 3000; ++call) workspaces.lend(100, &busy);
  EXPECT_EQ(workspaces.blocks(), 1u);
  EXPECT_EQ(device.allocated, 1u);
}

TEST(Workspaces, IdleBlocksAreFreedWhereThereIsNoMemoryOtherwise) {
  HostDevice device;
  Workspaces workspaces(device);
  int first = 0, second = 0;
  workspaces.lend(100, &first);
  device.most = 1;
  EXPECT_NO_THROW(workspaces.lend(100, &second));
  EXPECT_EQ(workspaces.blocks(), 1u);
  device.most = 0;
  EXPECT_THROW(workspaces.lend(1000, &second), OutOfMemory);
  device.most = 1;
  EXPECT_NO_THROW(workspaces.lend(1000, &second)) << "the call that failed gave its block back";
}

// A graph keeps the addresses of its launches: its block is no other call's, and stays. No event
// is recorded in it, nor waited for.
TEST(Workspaces, TheBlockOfAGraphStays) {
  HostDevice device;
  {
    Workspaces workspaces(device);
    int stream = 0;
    device.capture = 1;
    const DeviceAddress small = workspaces.lend(1000, &stream).address();
    const DeviceAddress large = workspaces.lend(2000, &stream).address();
    EXPECT_NE(small, large);
    EXPECT_EQ(device.allocated, 2u) << "a graph may use both";
    EXPECT_EQ(workspaces.bytes(), 3000);
    EXPECT_TRUE(device.marks.empty());
    device.capture.reset();
    EXPECT_NE(workspaces.lend(1000, &stream).address(), large);
    std::vector<char> streams(100);
    for (char& other : streams) EXPECT_NE(workspaces.lend(500, &other).address(), large);
    device.capture = 1;
    EXPECT_EQ(workspaces.lend(1500, &stream).address(), large);
    device.capture.reset();
    EXPECT_TRUE(device.waits.empty());
    EXPECT_EQ(device.allocated, 2 + kMostBlocks);
  }
  EXPECT_EQ(device.allocated, 0u) << "all are freed with the handle";
}

// Graphs run at any time, also at the same one; so do the streams of one graph. Drawn: calls, and
// graphs that end.
TEST(Workspaces, GraphsThatLiveShareNoBlock) {
  HostDevice device;
  Workspaces workspaces(device);
  std::vector<char> streams(3);
  std::mt19937 random(11);
  using Owner = std::pair<std::uint64_t, void*>;
  std::map<Owner, std::set<DeviceAddress>> live;  // of graphs
  std::uint64_t captures = 0;
  std::size_t most = 0;
  for (int call = 0; call < 2000; ++call) {
    const bool begins = live.empty() || random() % 8 == 0;
    if (begins) ++captures;
    device.capture = captures;
    void* const stream = &streams[random() % streams.size()];
    const DeviceAddress address = workspaces.lend(100 + random() % 3 * 100, stream).address();
    for (const auto& [owner, addresses] : live) {
      const bool is_other = owner != Owner(captures, stream);
      ASSERT_FALSE(is_other && addresses.contains(address)) << call;
    }
    live[{captures, stream}].insert(address);
    most = std::max(most, live.size());
    if (random() % 8 != 0 || live.size() < 6) continue;
    const std::uint64_t ends = live.begin()->first.first;
    if (ends == captures) continue;
    device.destroy_graph(ends);
    std::erase_if(live, [&](const auto& one) { return one.first.first == ends; });
  }
  EXPECT_TRUE(device.marks.empty());
  EXPECT_GT(captures, 100u);
  EXPECT_EQ(workspaces.blocks(), most) << "blocks of graphs that are gone are lent again";
  device.capture.reset();
  for (std::uint64_t graph = 1; graph <= captures; ++graph) device.destroy_graph(graph);
  for (int call = 0; call < 3000; ++call) workspaces.lend(100, &streams[0]);
  EXPECT_EQ(workspaces.blocks(), 1u) << "in the end they are freed";
}

// Where the driver cannot say when a graph is gone, the call fails, and its block is free again.
TEST(Workspaces, AGraphWhoseEndIsUnknownIsLentNothing) {
  HostDevice device;
  Workspaces workspaces(device);
  int stream = 0;
  device.capture = 1;
  device.refuses_graphs = true;
  for (int call = 0; call < 3; ++call) {
    EXPECT_THROW(workspaces.lend(100, &stream), StatusError);
    EXPECT_EQ(workspaces.blocks(), 1u);
  }
  device.refuses_graphs = false;
  const DeviceAddress address = workspaces.lend(100, &stream).address();
  EXPECT_EQ(workspaces.lend(100, &stream).address(), address);
  EXPECT_EQ(device.graphs.size(), 1u);
}

// A call that is captured waits for nothing: blocks that no call uses stay until a later one.
TEST(Workspaces, ACapturedCallFreesNothing) {
  HostDevice device;
  Workspaces workspaces(device);
  int busy = 0, gone = 0;
  workspaces.lend(100, &gone);
  device.capture = 1;
  device.marks.clear();
  for (int call = 0; call < 3000; ++call) workspaces.lend(100, &busy);
  device.most = device.allocated;
  EXPECT_THROW(workspaces.lend(1000, &busy), OutOfMemory);
  EXPECT_TRUE(device.marks.empty());
  EXPECT_EQ(workspaces.blocks(), 2u);
  device.capture.reset();
  EXPECT_NO_THROW(workspaces.lend(1000, &busy));
  EXPECT_EQ(device.marks.front().kind, Mark::kHostWaited);
}

}  // namespace
}  // namespace tessera
