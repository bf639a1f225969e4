// A call as text: read back as it was, and refused by the word that is wrong.
#include "gemm/overlay/call_text.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace tessera::gemm {
namespace {

CallToPlan call_with(const std::function<void(CallToPlan&)>& change = [](CallToPlan&) {}) {
  CallToPlan call{{300, 200, 96, kF32Types}, {}, kAnyWorkspace};
  change(call);
  call.problem = with_default_ld(call.problem);
  return call;
}

// All that a text holds.
std::vector<CallToPlan> many_calls() {
  return {
      call_with(),
      call_with([](CallToPlan& c) { c.problem.types = kBf16ToF32Types; }),
      call_with([](CallToPlan& c) { c.problem.order = Order::kRowMajor; }),
      call_with([](CallToPlan& c) { set_layout(c.problem, "TN"); }),
      call_with([](CallToPlan& c) { c.problem.beta = 1; }),
      call_with([](CallToPlan& c) { c.problem.lda = 1000; }),
      call_with([](CallToPlan& c) { c.problem.epilogue = parse_epilogue("bias_col+gelu"); }),
      call_with([](CallToPlan& c) {
        c.alignment = {16, 8, 4, 2};
      }),
      call_with([](CallToPlan& c) { c.workspace_limit = 64 << 20; }),
      call_with([](CallToPlan& c) {
        c.problem.batch = {BatchKind::kStrided, 7, 28800, 0, 60000, 60000};
      }),
      call_with([](CallToPlan& c) {
        c.problem.batch = {.kind = BatchKind::kPointers, .count = 7, .alignment = 16};
      }),
  };
}

TEST(CallText, IsReadBackAsItWas) {
  std::set<std::string> texts, keys;
  for (const CallToPlan& call : many_calls()) {
    const std::string text = text_of(call);
    const CallToPlan again = call_of(text);
    EXPECT_EQ(text_of(again), text);
    EXPECT_EQ(again.problem.types, call.problem.types);
    EXPECT_EQ(again.problem.batch, call.problem.batch);
    EXPECT_EQ(again.problem.epilogue, call.problem.epilogue);
    EXPECT_EQ(again.problem.lda, call.problem.lda);
    EXPECT_EQ(again.problem.beta, call.problem.beta);
    EXPECT_EQ(again.alignment, call.alignment);
    EXPECT_EQ(again.workspace_limit, call.workspace_limit);
    EXPECT_TRUE(texts.insert(text).second) << text;
    EXPECT_TRUE(keys.insert(key_of(call)).second) << key_of(call);
  }
  EXPECT_EQ(text_of(many_calls().front()),
            "type=f32 order=col layout=NN m=300 n=200 k=96 ld=300,96,300,300 beta=0 "
            "align=16,16,16,16 workspace=any");
}

TEST(CallText, WhatIsLeftOutIsTheUsual) {
  EXPECT_EQ(text_of(call_of("k=96 m=300  n=200 type=f32")), text_of(call_with()));
}

TEST(CallText, NamesTheWordThatIsWrong) {
  const std::string good = "type=f32 m=8 n=8 k=8";
  const auto expect_refused = [](const std::string& text, const std::string& word) {
    try {
      call_of(text);
      ADD_FAILURE() << text;
    } catch (const StatusError& error) {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
      EXPECT_EQ(error.status().code, StatusCode::kBadArgument);
    }
  };
  for (const char* const word :
       {"x=3", "m=9", "k", "ld=1,2", "ld=1,2,3,x", "beta=-1", "align=16,16,16,3", "batch=2,3",
        "strides=1,2,3,4", "pointers=2", "workspace=much", "align=32,16,16,16", "ld=7,8,8,8"}) {
    expect_refused(good + " " + word, std::string(word).substr(0, 2));
  }
  expect_refused("type=f32 m=8 n=8", "k");
  expect_refused("", "type");
  expect_refused("type=q7 m=8 n=8 k=8", "q7");
  expect_refused("type=f32 m=99999999999999999999 n=8 k=8", "m=9999");
  expect_refused(good + " batch=2 pointers=2,16", "pointers");
}

TEST(CallText, GroupsAndScalesHaveNone) {
  CallToPlan call = call_with();
  call.problem.batch = {.kind = BatchKind::kGroups, .count = 2, .rows = {100, 200}};
  EXPECT_EQ(text_of(call), "");
  call = call_with();
  call.problem.scales.a = ScaleKind::kPerTensor;
  EXPECT_EQ(key_of(call), "");
}

// Keys are of classes: what plans cannot tell apart shares one, and nothing else does.
TEST(CallText, KeysAreOfClasses) {
  const auto key = [](const std::function<void(CallToPlan&)>& change) {
    return key_of(call_with(change));
  };
  const auto of_lda = [&](std::int64_t lda) {
    return key([=](CallToPlan& c) { c.problem.lda = lda; });
  };
  EXPECT_EQ(of_lda(512), of_lda(1024)) << "multiples of 128 bytes";
  EXPECT_NE(of_lda(1024), of_lda(1024 + 16));
  EXPECT_NE(of_lda(1024 + 4), of_lda(1024 + 1));
  EXPECT_NE(of_lda(std::int64_t{1} << 62), "") << "of one line, any number";
  const auto within = [&](std::int64_t bytes) {
    return key([=](CallToPlan& c) { c.workspace_limit = bytes; });
  };
  EXPECT_EQ(within(kAnyWorkspace), within(std::int64_t{1} << 30));
  EXPECT_EQ(within(64 << 20), within((128 << 20) - 1));
  EXPECT_NE(within(64 << 20), within((64 << 20) - 1));
  EXPECT_NE(within(0), within(1));
  const auto of_strides = [&](std::int64_t a, std::int64_t b) {
    return key(
        [=](CallToPlan& c) { c.problem.batch = {BatchKind::kStrided, 7, a, b, 60000, 60000}; });
  };
  EXPECT_EQ(of_strides(28800, 19200), of_strides(2 * 28800, 19200));
  EXPECT_NE(of_strides(28800, 19200), of_strides(28801, 19200));
  EXPECT_NE(of_strides(28800, 19200), of_strides(28800, 0)) << "B is shared";
}

}  // namespace
}  // namespace tessera::gemm
