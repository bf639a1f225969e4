// Tells the checker of events one by one, as kernels with asynchronous work would cause them.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string_view>

#include "tests/vgpu/observe/checked.h"
#include "vgpu/memory/global.h"
#include "vgpu/observe/observers.h"
#include "vgpu/program/launch_context.h"

namespace tessera::vgpu {

constexpr MemoryOrder kRelease = MemoryOrder::kRelease, kAcquire = MemoryOrder::kAcquire,
                      kRelaxed = MemoryOrder::kRelaxed;

// Instructions of the imaginary kernel.
enum : std::uint32_t { kInit, kCopy, kRead, kWrite, kProduct, kWait, kArrive, kOther };

class Events : public testing::Test {
 protected:
  Events() : Events(1) {}
  explicit Events(std::uint32_t ctas) {
    for (const char* form : {"mbarrier.init.shared.b64", "cp.async.bulk", "ld.shared.u32",
                             "st.shared.u32", "wgmma.mma_async", "wait", "arrive", "other"}) {
      kernel_.instructions.push_back({form, static_cast<int>(kernel_.instructions.size()) + 1});
    }
    context_.kernel = &kernel_;
    context_.memory = &memory_;
    context_.block[0] = 128;
    context_.block[1] = context_.block[2] = 1;
    context_.grid[0] = context_.cluster[0] = ctas;
    context_.grid[1] = context_.grid[2] = 1;
    context_.shared_bytes = 4096;
    map_ = memory_.allocate(128);
    memory_.host_wrote(map_, 128);
    checker_ = make_checker(context_);
    observer_ = checker_->for_worker();
    observer_->cluster_begins(0, ctas);
  }

  Observer& gpu() { return *observer_; }
  static Actor warp(std::uint32_t index, std::uint32_t instruction, std::uint32_t mask = ~0u,
                    std::uint32_t cta = 0) {
    return {cta, index, mask, instruction};
  }
  static Actor lane(std::uint32_t warp, std::uint32_t instruction, std::uint32_t cta = 0) {
    return {cta, warp, 1, instruction};
  }

  // Each lane a word of the 128 bytes at `offset` of the CTA `owner`.
  void touch(AccessKind kind, const Actor& by, std::uint64_t offset, std::uint32_t owner = 0) {
    std::array<std::uint64_t, 32> address;
    for (int l = 0; l < 32; ++l) address[l] = offset + 4 * (by.mask >> l & 1 ? l : 0);
    WarpAccess access;
    access.by = by;
    access.kind = kind;
    access.window = Window::kShared;
    access.bytes = 4;
    access.owner = owner;
    access.address = address.data();
    gpu().access(access);
  }
  void write(std::uint32_t w, std::uint64_t offset = 0) {
    touch(AccessKind::kStore, warp(w, kWrite), offset);
  }
  void read(std::uint32_t w, std::uint64_t offset = 0) {
    touch(AccessKind::kLoad, warp(w, kRead), offset);
  }
  void agent(AgentId id, AccessKind kind, std::uint64_t offset = 0, std::uint32_t owner = 0) {
    AgentAccess access;
    access.agent = id;
    access.kind = kind;
    access.owner = owner;
    access.address = offset;
    access.bytes = 128;
    access.lane_bytes = 4;
    access.instruction = kCopy;
    gpu().agent_access(access);
  }
  void copy_in(AgentId id, std::uint32_t issuer, std::uint64_t offset = 0) {
    gpu().agent_starts(lane(issuer, kCopy), id, AgentKind::kBulkCopy);
    agent(id, AccessKind::kStore, offset);
  }
  void barrier(std::uint32_t ctas = 1, std::uint32_t instruction = kOther) {
    for (std::uint32_t c = 0; c < ctas; ++c) {
      for (std::uint32_t w = 0; w < 4; ++w) gpu().barrier_arrives(warp(w, instruction, ~0u, c), 0);
      for (std::uint32_t w = 0; w < 4; ++w) gpu().barrier_passes(warp(w, instruction, ~0u, c), 0);
    }
  }
  void fence_async(std::uint32_t w, FenceKind kind = FenceKind::kProxyAsync) {
    gpu().fence(warp(w, kOther), kind, MemoryScope::kCta);
  }
  // A barrier object that everybody knows of.
  MbarrierPlace barrier_object(std::uint32_t offset = 1024) {
    const MbarrierPlace place{0, offset};
    gpu().mbarrier_inits(lane(0, kInit), place);
    gpu().fence(lane(0, kOther), FenceKind::kMbarrierInit, MemoryScope::kCluster);
    barrier();
    return place;
  }
  Findings end() {
    gpu().cluster_ends();
    observer_.reset();
    LaunchReport report;
    checker_->report(report);
    return report.findings;
  }
  // Findings of this check, and of no other.
  void expect(std::string_view check) {
    const Findings findings = end();
    EXPECT_FALSE(findings.empty());
    for (const Finding& finding : findings) {
      EXPECT_EQ(finding.check, check) << text_of(findings);
      EXPECT_FALSE(finding.message.empty() || finding.hint.empty());
    }
  }
  void expect_nothing() { expect_clean(end()); }

  Kernel kernel_;
  GlobalMemory memory_{1 << 20};
  std::uint64_t map_ = 0;  // 128 bytes of global memory
  LaunchContext context_;
  std::unique_ptr<LaunchObserver> checker_;
  std::unique_ptr<Observer> observer_;
};

}  // namespace tessera::vgpu
