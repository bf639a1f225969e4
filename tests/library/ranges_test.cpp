// Bytes that a call reads and writes, of every operand and in every form: one matrix, a batch with
// strides, lists of addresses. And problems that are one another's mirror.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "tests/library/library.h"

namespace {

// Operands that end with the last byte of the address space, and one element later.
TEST_F(Library, OperandsEndWithTheAddressSpace) {
  std::mt19937 random(5);
  const auto size = [&] { return 1 + static_cast<std::int64_t>(random() % 70); };
  for (int i = 0; i < 300; ++i) {
    tessera_problem p = {.size = sizeof p, .m = size(), .n = size(), .k = size()};
    p.type_a = TESSERA_F32;
    const int kind = i % 3;
    const std::int64_t count = kind == 0 ? 1 : size();
    if (kind == 1) {
      p.batch = TESSERA_STRIDED;
      p.batch_count = count;
      p.stride_a = p.m * p.k + size();
      p.stride_b = p.k * p.n + size();
      p.stride_c = p.stride_d = p.m * p.n + size();
    } else if (kind == 2) {
      p.batch = TESSERA_POINTERS;
      p.batch_count = count;
      p.batch_alignment = 16;
    }
    const std::int64_t steps[] = {p.stride_a, p.stride_b, p.stride_c, p.stride_d};
    const std::int64_t elements[] = {p.m * p.k, p.k * p.n, p.m * p.n, p.m * p.n};
    for (int operand = 0; operand < 4; ++operand) {
      const std::uint64_t unit = kind == 2 ? 8 : 4;
      const std::int64_t units =
          kind == 2 ? count : (count - 1) * steps[operand] + elements[operand];
      void* at[] = {a_, b_, c_, d_};
      for (const bool is_beyond : {false, true}) {
        at[operand] =
            address(0 - static_cast<std::uint64_t>(units) * unit + (is_beyond ? unit : 0));
        if (units == 1 && is_beyond) continue;  // that address is 0
        const tessera_status status =
            tessera_gemm(handle_, &p, 1, at[0], at[1], 1, at[2], at[3], nullptr);
        EXPECT_EQ(status, is_beyond ? TESSERA_BAD_ARGUMENT : TESSERA_OK)
            << tessera_last_message() << " operand " << operand << " kind " << kind;
        if (is_beyond) expect_said("end beyond the address space");
      }
    }
  }
}

// Row-major is column-major with A and B exchanged: both are explained alike, whatever the sizes.
TEST_F(Library, ExchangedProblemsAreExplainedAlike) {
  std::mt19937 random(8);
  const auto size = [&] { return std::int64_t{1} << (4 + random() % 11); };
  int bounds[8] = {};
  for (int i = 0; i < 200; ++i) {
    tessera_problem rows = {.size = sizeof rows, .m = size(), .n = size(), .k = size()};
    rows.type_a = i % 2 ? TESSERA_BF16 : TESSERA_F32;
    rows.memory = i % 4 < 2 ? TESSERA_HOST_MEMORY : TESSERA_DEVICE_MEMORY;
    rows.order = TESSERA_ROW_MAJOR;
    tessera_problem columns = rows;
    columns.order = TESSERA_COLUMN_MAJOR;
    std::swap(columns.m, columns.n);
    tessera_explanation all[2] = {{.size = sizeof(tessera_explanation)},
                                  {.size = sizeof(tessera_explanation)}};
    ASSERT_EQ(tessera_explain(handle_, &rows, nullptr, &all[0], nullptr, 0), TESSERA_OK);
    ASSERT_EQ(tessera_explain(handle_, &columns, nullptr, &all[1], nullptr, 0), TESSERA_OK);
    EXPECT_EQ(all[0].bound, all[1].bound) << rows.m << " " << rows.n << " " << rows.k;
    EXPECT_EQ(all[0].total_us, all[1].total_us);
    EXPECT_EQ(all[0].where, all[1].where);
    EXPECT_EQ(all[0].launches, all[1].launches);
    ++bounds[all[0].bound];
  }
  EXPECT_GT(bounds[TESSERA_BOUND_HOST], 10);
  EXPECT_GT(bounds[TESSERA_BOUND_MEMORY] + bounds[TESSERA_BOUND_ARITHMETIC], 10);
}

// Structs of later versions are as large as 4096 bytes, and zero behind what this one knows.
TEST_F(Library, StructsOfLaterVersionsHaveALimit) {
  std::vector<char> larger(5000);
  std::memcpy(larger.data(), &problem_, sizeof problem_);
  auto* const problem = reinterpret_cast<tessera_problem*>(larger.data());
  for (const std::size_t size : {sizeof problem_, sizeof problem_ + 1, std::size_t{4096}}) {
    problem->size = size;
    EXPECT_EQ(multiply(*problem), TESSERA_OK) << tessera_last_message();
  }
  problem->size = 4097;
  EXPECT_EQ(multiply(*problem), TESSERA_BAD_ARGUMENT);
  expect_said("size of problem is 4097");
}

// Threads that call at once make one context.
TEST_F(Library, AnyPlaceMakesOneContextForAllThreads) {
  for (int round = 0; round < 20; ++round) {
    const tessera_handle any = made(TESSERA_ANY_PLACE);
    ASSERT_NE(any, nullptr);
    fake<void()>("fake_cuda_clear")();
    std::atomic<int> arrived = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        ++arrived;
        while (arrived < 4) std::this_thread::yield();
        EXPECT_EQ(tessera_gemm(any, &problem_, 1, a_, b_, 0, c_, d_, nullptr), TESSERA_OK);
      });
    }
    for (std::thread& thread : threads) thread.join();
    const std::string log = calls();
    const std::size_t first = log.find("cuDevicePrimaryCtxRetain");
    EXPECT_NE(first, std::string::npos);
    EXPECT_EQ(log.find("cuDevicePrimaryCtxRetain", first + 1), std::string::npos) << round;
    EXPECT_EQ(tessera_destroy(any), TESSERA_OK);
  }
}

// Work that the caller gave the stream before may still write an operand: the CPU waits for it,
// too.
TEST_F(Library, TheCpuWaitsForTheStream) {
  void* const context = fake<void*(int, int)>("fake_cuda_make_context")(0, 1);
  const tessera_handle faster = made(TESSERA_CURRENT_CONTEXT, 0, TESSERA_FASTER_SIDE);
  ASSERT_NE(faster, nullptr) << tessera_last_message();
  tessera_problem p = {.size = sizeof p, .m = 2, .n = 2, .k = 2, .type_a = TESSERA_F32};
  p.memory = TESSERA_HOST_MEMORY;
  const float x[4] = {1, 2, 3, 4};
  float d[4] = {};
  void* stream = nullptr;
  ASSERT_EQ(fake<int(void**, unsigned)>("cuStreamCreate")(&stream, 0), 0);
  fake<void()>("fake_cuda_clear")();
  EXPECT_EQ(tessera_gemm(faster, &p, 1, x, x, 0, nullptr, d, stream), TESSERA_OK);
  EXPECT_TRUE(says(calls(), "cuStreamSynchronize")) << calls();
  EXPECT_FALSE(launched());
  EXPECT_EQ(fake<int(void*)>("cuStreamDestroy_v2")(stream), 0);
  EXPECT_EQ(tessera_destroy(faster), TESSERA_OK);
  fake<void(void*)>("fake_cuda_destroy_context")(context);
  fake<void()>("fake_cuda_leave_contexts")();
}

}  // namespace
