// Kernels whose launches may start before those ahead of them have ended: run twice in a row, they
// wait for each other, and the checks of the virtual GPU find it where one wait is taken out.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "device/virtual/virtual_device.h"
#include "lab/verify/prepared_call.h"
#include "tests/support/kernel_choice.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

using gemm::Policy;

Problem problem_of(const Kernel& kernel) {
  const bool is_vector = kernel.family == "vector";
  Problem problem{
      .m = 70, .n = is_vector ? 1 : 90, .k = 300, .types = kernel.types, .order = Order::kRowMajor};
  const bool is_aligned = kernel.family == "warpgroups";
  problem.lda =
      is_aligned ? 304 : problem.k + 1;  // A is repacked where the kernel repacks anything
  problem.ldb = problem.ldd = is_vector ? 1 : 96;
  return with_default_ld(problem);
}

// The kernel, with other code.
KernelChoice with_images(const KernelChoice& choice, std::map<std::string, CodeImage> images) {
  static std::deque<Kernel> kernels;
  Kernel& copy = kernels.emplace_back(*choice.kernel);
  for (auto& [name, image] : images) copy.own_images.emplace(name, image);
  return {&copy, choice.variant};
}

// The entry never waits. The text lives as long as the program.
KernelChoice without_wait(const KernelChoice& choice, const std::string& entry) {
  static std::deque<std::string> texts;
  const CodeImage& whole = image_of(*choice.kernel, entry);
  std::string& text = texts.emplace_back(whole.ptx);
  const std::size_t begin = text.find(".entry " + entry + "(");
  EXPECT_NE(begin, text.npos) << entry;
  const std::string wait = "griddepcontrol.wait;";
  int taken_out = 0;
  for (std::size_t at = begin; (at = text.find(wait, at)) < text.find("\n}\n", begin);
       ++taken_out) {
    text.erase(at, wait.size());
  }
  EXPECT_GT(taken_out, 0) << entry;
  std::map<std::string, CodeImage> images;
  for (const CodeImage* image : images_of(*choice.kernel)) {
    images.insert_or_assign(std::string(image->name), *image);
  }
  const std::string& name = texts.emplace_back(std::string(whole.name) + " without " + entry);
  CodeImage changed = whole;
  changed.ptx = text;
  changed.name = name;
  images.insert_or_assign(std::string(whole.name), changed);
  return with_images(choice, std::move(images));
}

struct Ran {
  std::vector<std::string> early;  // entries that may start early, each once
  std::vector<vgpu::Finding> findings;
};

// Twice, with no copy between, under checks.
Ran run_twice(const KernelChoice& choice) {
  const auto device = make_virtual_device({.sms = 5, .observation = {.checks = true}});
  const Problem problem = problem_of(*choice.kernel);
  const auto upload = [&](ElementType type, const MatrixView& view) {
    const std::vector<std::byte> zeros(static_cast<std::size_t>(view.span()) * size_of(type));
    DeviceBuffer buffer(*device, zeros.size());
    device->copy_in(buffer.address(), zeros.data(), zeros.size());
    return buffer;
  };
  const DeviceBuffer a = upload(problem.types.a, view_a(problem));
  const DeviceBuffer b = upload(problem.types.b, view_b(problem));
  const DeviceBuffer d = upload(problem.types.d, view_d(problem));
  const Operands operands{a.address(), b.address(), 0, d.address()};
  const lab::PreparedCall call(*device, choice, problem, gemm::alignment_of(operands),
                               {.split = Policy::kAlways, .repack = Policy::kAlways});
  Ran ran;
  for (const gemm::Step& planned : call.plan().steps) {
    const std::string& entry = planned.launch.entry;
    const bool is_new = std::ranges::find(ran.early, entry) == ran.early.end();
    if (planned.launch.shape.starts_early && is_new) ran.early.push_back(entry);
  }
  call.run(operands);
  call.run(operands);
  for (const LaunchCounts& launch : device->take_counts()) {
    ran.findings.insert(ran.findings.end(), launch.findings.begin(), launch.findings.end());
  }
  return ran;
}

std::vector<KernelChoice> early_kernels() {
  std::vector<KernelChoice> choices;
  for (const KernelChoice& choice : choose_kernels("library/all")) {
    const std::string& family = choice.kernel->family;
    const bool starts_early =
        family == "simt" || family == "dmma" || family == "wgmma" || family == "vector";
    if (starts_early && choice.kernel->first_sm >= 90) choices.push_back(choice);
  }
  return choices;
}

class EarlyLaunches : public testing::TestWithParam<KernelChoice> {};

TEST_P(EarlyLaunches, WaitForThoseAhead) {
  if (test_on_cuda()) GTEST_SKIP() << "the virtual GPU checks";
  const Ran right = run_twice(GetParam());
  for (const vgpu::Finding& finding : right.findings) ADD_FAILURE() << finding.message;
  if (right.early.empty()) GTEST_SKIP() << "launches nothing early";
  for (const std::string& entry : right.early) {
    const Ran wrong = run_twice(without_wait(GetParam(), entry));
    const bool found = std::ranges::any_of(wrong.findings, [](const vgpu::Finding& finding) {
      return finding.check == "launch-overtakes";
    });
    EXPECT_TRUE(found) << entry << " does not wait, and nothing is found";
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, EarlyLaunches, testing::ValuesIn(early_kernels()), test_name);

TEST(EarlyLaunch, KernelsThatStartEarlyAreKnown) { EXPECT_GT(early_kernels().size(), 45u); }

}  // namespace
}  // namespace tessera
