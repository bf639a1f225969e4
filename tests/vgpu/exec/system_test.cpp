// What the driver does for kernels: printf's formats and order, assertions, the heap.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/vgpu/exec/run_ptx.h"
#include "vgpu/exec/print_format.h"
#include "vgpu/memory/device_heap.h"
#include "vgpu/report/print_log.h"

namespace tessera::vgpu {
namespace {

// Strings and packed arguments in one piece of memory.
class Packed {
 public:
  std::uint64_t string(const char* text) {
    const std::uint64_t at = bytes_.size();
    bytes_.insert(bytes_.end(), text, text + std::strlen(text) + 1);
    return at;
  }
  template <class T>
  void argument(T value) {
    arguments_.resize((arguments_.size() + sizeof value - 1) / sizeof value * sizeof value);
    const auto* from = reinterpret_cast<const char*>(&value);
    arguments_.insert(arguments_.end(), from, from + sizeof value);
  }
  std::string print(const char* format, int expected_arguments) {
    const std::uint64_t pattern = string(format);
    while (bytes_.size() % 8 != 0) bytes_.push_back(0);
    const std::uint64_t begin = bytes_.size();
    bytes_.insert(bytes_.end(), arguments_.begin(), arguments_.end());
    const Printed printed = print_format(pattern, begin, [&](std::uint64_t at) {
      return static_cast<unsigned char>(bytes_.at(at));
    });
    EXPECT_EQ(printed.arguments, expected_arguments) << format;
    return printed.text;
  }

 private:
  std::vector<char> bytes_ = std::vector<char>(8);  // a null pointer is no string
  std::vector<char> arguments_;
};

TEST(PrintFormat, ArgumentsLieAtMultiplesOfTheirSize) {
  Packed packed;
  packed.argument<std::int32_t>(-7);
  packed.argument<double>(0.125);
  packed.argument<std::int32_t>('z');
  packed.argument<std::int64_t>(1ll << 33);
  EXPECT_EQ(packed.print("%d %g%%%c [%lu]", 4), "-7 0.125%z [8589934592]");
}

TEST(PrintFormat, WidthsPrecisionsAndStrings) {
  Packed packed;
  packed.argument<std::int32_t>(6);
  packed.argument<std::int32_t>(2);
  packed.argument<double>(3.14159);
  packed.argument<std::uint64_t>(packed.string("text"));
  packed.argument<std::uint64_t>(0);
  packed.argument<std::uint32_t>(0xabcu);
  EXPECT_EQ(packed.print("%*.*f|%8.3s|%s|%#06X|", 6), "  3.14|     tex|(null)|0X0ABC|");
}

TEST(PrintFormat, UnknownAndUnfinishedConversionsAreShown) {
  EXPECT_EQ(Packed().print("100%", 0), "100%");
  EXPECT_EQ(Packed().print("%y", 0), "%y");
}

TEST(PrintLog, IsInTheOrderOfTheGrid) {
  PrintLog log;
  log.add(4, "c\n");
  log.add(0, "a\n");
  log.add(4, "d\n");
  log.add(1, "b\n");
  EXPECT_EQ(log.text(), "a\nb\nc\nd\n");
}

TEST(DeviceHeap, KnowsItsPieces) {
  DeviceHeap heap(1 << 20);
  const std::uint64_t a = heap.allocate(20), b = heap.allocate(8);
  EXPECT_EQ(a % 16, 0u);
  EXPECT_GE(b, a + 20);
  EXPECT_EQ(heap.misuse(a + 16, 4), "");
  EXPECT_NE(heap.misuse(a + 17, 4), "");
  EXPECT_NE(heap.misuse(a + 24, 4), "");
  EXPECT_EQ(heap.free(0), "");
  EXPECT_NE(heap.free(a + 4), "");
  EXPECT_EQ(heap.free(a), "");
  EXPECT_NE(heap.free(a), "");
  EXPECT_NE(heap.misuse(a, 4), "");
  EXPECT_EQ(heap.misuse(b, 8), "");
  EXPECT_EQ(heap.allocate(DeviceHeap::kLimit), 0u);
  EXPECT_NE(heap.allocate(DeviceHeap::kLimit - 8), 0u);
}

// An __assertfail that no branch leads to tells no values; one behind a comparison tells both.
TEST(Assertions, TellWhatWasCompared) {
  const std::string call = R"(
    { .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;
      st.param.b64 [a], d1; st.param.b64 [b], d1; st.param.b32 [c], 7; st.param.b64 [d], d1;
      st.param.b64 [e], 1;
      call.uni __assertfail, (a, b, c, d, e); })";
  const std::string more =
      ".extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, "
      ".param .b64 e);\n.global .b8 words_of_it[3] = {104, 105, 0};\n";
  const std::string address = "mov.u64 d1, words_of_it;\n";
  const Fault bare = fault_of(kernel_text(address + call, more), 1, threads(3));
  EXPECT_EQ(bare.kind(), FaultKind::kAssert);
  EXPECT_TRUE(says(bare, "assertion failed: hi, in hi; it failed in 3 lanes")) << bare.what();
  const std::string body = address +
                           "mov.u32 r0, %tid.x;\nsub.s32 r1, r0, 5;\nsetp.lt.s32 p, r1, -2;\n"
                           "@p bra DONE;\n" +
                           call + "\nDONE:";
  const Fault compared = fault_of(kernel_text(body, more), 1, threads(4));
  EXPECT_TRUE(says(compared, "what it compares was -2 and -2")) << compared.what();
  EXPECT_EQ(compared.place().thread, 3);
}

}  // namespace
}  // namespace tessera::vgpu
