// Whole texts as nvcc 13.0 emits them: optimised with line information, debug (-G) for an older
// target, and Hopper's wgmma, TMA and mbarrier instructions from inline asm.
#include <chrono>
#include <fstream>
#include <sstream>

#include "tests/vgpu/ptx/helpers.h"

namespace tessera::vgpu::ptx {
namespace {

std::string read_sample(const std::string& name) {
  std::ifstream file(TESSERA_SOURCE_DIR "/tests/vgpu/ptx/samples/" + name);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty()) << name;
  return text.str();
}

const Function& function_named(const Module& module, std::string_view name) {
  for (const Function& function : module.functions) {
    if (function.name == name) return function;
  }
  throw std::out_of_range(std::string(name));
}

std::size_t count_forms(const Function& function, std::string_view form) {
  return std::count_if(function.body.begin(), function.body.end(),
                       [&](const Instruction& i) { return i.form() == form; });
}

TEST(Sample, OptimisedWithLineInformation) {
  const Module module = parse(read_sample("mixed.ptx"));
  EXPECT_EQ(module.target, "sm_90a");
  EXPECT_EQ(module.version_major, 9);
  EXPECT_EQ(module.functions.size(), 7u);
  EXPECT_EQ(count_forms(function_named(module, "naive"), "fma.rn.f32"), 5u);
  const Function& calls = function_named(module, "calls");
  EXPECT_EQ(calls.max_threads, 128);
  EXPECT_EQ(count_forms(calls, "call.uni"), 2u);
  EXPECT_EQ(variable_named(calls, "_ZZ5callsE3loc").count, 128u);
  const Function& wmma = function_named(module, "dm");
  EXPECT_EQ(count_forms(wmma, "wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rn"), 1u);
}

TEST(Sample, DebugBuild) {
  const Module module = parse(read_sample("debug.ptx"));
  EXPECT_EQ(module.functions.size(), 10u);
  EXPECT_GT(function_named(module, "naive").body.size(), 20u);
}

TEST(Sample, HopperInlineAsm) {
  const Module module = parse(read_sample("hopper.ptx"));
  const Function* kernel = nullptr;
  for (const Function& function : module.functions) {
    if (function.is_entry) kernel = &function;
  }
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->params[0].count, 128u);
  EXPECT_EQ(kernel->params[0].align, 128);
  EXPECT_EQ(count_forms(*kernel, "wgmma.fence.sync.aligned"), 1u);
}

TEST(Sample, LargeTextsAreReadInMilliseconds) {
  std::string text = kHead;
  const std::string sample = read_sample("mixed.ptx");
  const std::string body = sample.substr(sample.find("{\n", sample.find(".entry naive")),
                                         sample.find("\n}\n", sample.find(".entry naive")) + 3 -
                                             sample.find("{\n", sample.find(".entry naive")));
  for (int i = 0; i < 220; ++i) {
    text += ".entry k" + std::to_string(i) +
            "(.param .u64 naive_param_0, .param .u64 naive_param_1,\n.param .u64 naive_param_2, "
            ".param .u32 naive_param_3)\n" +
            body;
  }
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(parse(text).functions.size(), 220u);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  EXPECT_GT(text.size(), 500000u);
  EXPECT_LT(seconds.count(), 0.5);  // 0.02 s where it was written; a slow machine may be busy
}

}  // namespace
}  // namespace tessera::vgpu::ptx
