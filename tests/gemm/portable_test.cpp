// Every legal FP32 and FP64 problem gets a kernel on every GPU from SM 7.5 on. A pretended driver
// says which GPU it is and keeps the code that it is given; ptxas assembles that code for the GPU,
// and the virtual GPU runs and verifies it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "gemm/select.h"
#include "lab/verify/verify.h"
#include "tests/device/cuda_device_fixture.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

struct Gpu {
  int sm, multiprocessors;
  const char* portable_arch;  // of the code that it is given
};
// HW: multiprocessors of a 2080 Ti, an A100, an RTX 3090, an RTX 4090, an H200, a B200 and an
// RTX 5090; only their proportion matters here.
constexpr Gpu kGpus[] = {{75, 68, "compute_75"},  {80, 108, "compute_80"}, {86, 82, "compute_80"},
                         {89, 128, "compute_80"}, {90, 132, "compute_80"}, {100, 148, "compute_80"},
                         {120, 170, "compute_80"}};

struct Shape {
  std::int64_t m, n, k;
};
// Tiny, odd, thin in each direction, whole tiles, ragged, deep.
constexpr Shape kShapes[] = {{1, 1, 1},     {3, 5, 7},      {1, 300, 40},   {300, 1, 41},
                             {257, 3, 129}, {128, 128, 64}, {131, 197, 33}, {40, 40, 700}};
constexpr const char* kLayouts[] = {"NN", "NT", "TN", "TT"};

// Problems that a GPU has room for: planned, not run.
constexpr Shape kLarge[] = {{8192, 8192, 8192}, {16, 100000, 8192}, {100000, 16, 512}};

Problem problem_of(const Shape& shape, DataType type, const char* layout) {
  Problem problem{.m = shape.m, .n = shape.n, .k = shape.k, .type = type, .alpha = 2, .beta = -1};
  set_layout(problem, layout);
  return with_default_ld(problem);
}

KernelChoice chosen(const Problem& problem, const DeviceInfo& gpu) {
  return gemm::best_kernel(problem, {.multiprocessors = gpu.multiprocessors, .sm = gpu.sm});
}

class EveryGpu : public CudaDeviceTest, public testing::WithParamInterface<Gpu> {
 protected:
  void SetUp() override {
    CudaDeviceTest::SetUp();
    if (IsSkipped()) return;
    set("SM", std::to_string(GetParam().sm));
    set("MULTIPROCESSORS", std::to_string(GetParam().multiprocessors));
    set("ACCEPT", "1");
    device_ = cuda::make_device(kFake);
  }
  void TearDown() override {
    device_.reset();
    for (const char* name : {"MULTIPROCESSORS", "ACCEPT"}) clear(name);
    CudaDeviceTest::TearDown();
  }
  const DeviceInfo& gpu() const { return device_->info(); }

  // The one code that the driver was given for this image.
  std::string code_given_for(const Kernel& kernel, std::string& description) {
    reinterpret_cast<void (*)()>(dlsym(fake_, "fake_cuda_clear"))();
    description = device_->load(image_of(kernel)).description;
    const std::string call = "cuModuleLoadDataEx ", log = calls();
    EXPECT_TRUE(log.starts_with(call)) << log.substr(0, 100);
    return log.substr(call.size());
  }

  std::unique_ptr<Device> device_;
};

template <class F>
void for_each_problem(std::span<const Shape> shapes, F f) {
  for (const DataType type : {DataType::kF32, DataType::kF64}) {
    for (const Shape& shape : shapes) {
      for (const char* layout : kLayouts) f(problem_of(shape, type, layout));
    }
  }
}

std::string text_of(const Problem& p) {
  return std::string(name_of(p.type)) + ' ' + std::to_string(p.m) + 'x' + std::to_string(p.n) +
         'x' + std::to_string(p.k) + ' ' + layout_of(p);
}

// Which entries of which kernel the library launches on this GPU.
std::map<const Kernel*, std::set<std::string>> chosen_entries(const DeviceInfo& gpu) {
  std::map<const Kernel*, std::set<std::string>> entries;
  const auto add = [&](const Problem& problem) {
    const KernelChoice choice = chosen(problem, gpu);
    entries[choice.kernel].insert(row_for(*choice.kernel, choice.variant, problem).entry);
  };
  for_each_problem(kShapes, add);
  for_each_problem(kLarge, add);
  return entries;
}

TEST_P(EveryGpu, TheDriverIsGivenCodeForIt) {
  for (const auto& [kernel, entries] : chosen_entries(gpu())) {
    std::string description;
    const std::string code = code_given_for(*kernel, description);
    const CodeImage& image = image_of(*kernel);
    if (GetParam().sm == 90) {
      EXPECT_TRUE(contains(description, "cubin sm_90a")) << kernel->name << ": " << description;
      continue;
    }
    EXPECT_EQ(description, std::string("ptx ") + GetParam().portable_arch + " (compiled by driver)")
        << kernel->name;
    EXPECT_EQ(code.substr(0, image.portable_ptx.size()), image.portable_ptx) << kernel->name;
    for (const std::string& entry : entries) {
      EXPECT_TRUE(contains(code, ".entry " + entry + "(")) << entry;
    }
  }
}

// ptxas of the build's own compiler; only where that lies on this machine.
TEST_P(EveryGpu, PtxasAssemblesTheChosenEntries) {
  if (!std::filesystem::exists(TESSERA_NVCC)) GTEST_SKIP() << "no nvcc at " << TESSERA_NVCC;
  const std::string arch = "sm_" + std::to_string(GetParam().sm);
  for (const auto& [kernel, entries] : chosen_entries(gpu())) {
    const CodeImage& image = image_of(*kernel);
    if (image.portable_ptx.empty()) continue;  // made from the sm_90a PTX by the build
    const std::string stem = testing::TempDir() + "tessera_" + kernel->name + "_" + arch;
    std::ofstream(stem + ".ptx") << image.portable_ptx;
    std::string command = std::string(TESSERA_NVCC) + " -cubin -arch=" + arch + " -Xptxas -O1";
    for (const std::string& entry : entries) command += " -Xptxas --entry=" + entry;
    EXPECT_EQ(std::system((command + " -o " + stem + ".cubin " + stem + ".ptx").c_str()), 0)
        << kernel->name << " for " << arch;
    for (const char* end : {".ptx", ".cubin"}) std::filesystem::remove(stem + end);
  }
}

// The virtual GPU runs the PTX that this GPU would be given, and no other.
TEST_P(EveryGpu, TheVirtualGpuVerifiesThatPtx) {
  if (test_on_cuda()) GTEST_SKIP() << "the real GPU is another one";
  const auto device =
      make_virtual_device({.multiprocessors = gpu().multiprocessors, .sm = gpu().sm});
  static std::set<std::string> verified;  // by another GPU that is given the same
  for_each_problem(kShapes, [&](const Problem& problem) {
    const KernelChoice choice = chosen(problem, gpu());
    const std::string ptx = device->load(image_of(*choice.kernel)).description;
    const std::string arch = GetParam().sm == 90 ? "sm_90a" : GetParam().portable_arch;
    EXPECT_EQ(ptx, "ptx " + arch + " (virtual)") << choice.kernel->name;
    const std::string what = text_of(problem) + ' ' + choice.kernel->name + '/' + choice.variant;
    if (!verified.insert(what + ' ' + ptx).second) return;
    const lab::VerifyResult result = lab::verify(*device, choice, problem);
    EXPECT_TRUE(result.ok()) << what << ": " << result.reason;
    EXPECT_EQ(result.integers, "full") << what;
  });
}

TEST_P(EveryGpu, LargeProblemsHaveAKernelToo) {
  for_each_problem(kLarge, [&](const Problem& problem) {
    const KernelChoice choice = chosen(problem, gpu());
    EXPECT_TRUE(choice.kernel->name.starts_with("simt_")) << text_of(problem);
    EXPECT_TRUE(has_code_for(*choice.kernel, GetParam().sm).ok());
  });
}

INSTANTIATE_TEST_SUITE_P(Pretended, EveryGpu, testing::ValuesIn(kGpus),
                         [](const auto& info) { return "sm_" + std::to_string(info.param.sm); });

// Nothing but an H200 runs what needs sm_90a; nothing else is chosen there where it could be.
TEST(EveryGpuButHopper, LeavesTheKernelsOfHopper) {
  const Problem problem = problem_of({4096, 4096, 4096}, DataType::kF32, "NN");
  const auto best = [&](int sm) {
    return gemm::best_kernel(problem, {.multiprocessors = 132, .sm = sm}).kernel->name;
  };
  EXPECT_EQ(best(90), "simt_f32");
  EXPECT_EQ(best(100), "simt_f32_sm80");
  EXPECT_EQ(best(80), "simt_f32_sm80");
  EXPECT_EQ(best(75), "simt_f32_sm75");
}

TEST(EveryGpuButHopper, RefusesANamedKernelByName) {
  const auto message = [](const char* kernel, int sm) {
    return has_code_for(*choose_kernels(kernel).front().kernel, sm).message;
  };
  EXPECT_EQ(message("simt_f32", 80),
            "--kernel is simt_f32, whose code needs sm_90a, but this GPU is sm_80");
  EXPECT_EQ(message("simt_f64_sm80", 75),
            "--kernel is simt_f64_sm80, whose code needs sm_80 or later, but this GPU is sm_75");
  EXPECT_EQ(message("simt_f32", 90), "");
  EXPECT_EQ(message("simt_f32", 0), "");
  EXPECT_EQ(message("simt_f32_sm75", 75), "");
}

// A GPU before SM 7.5: no code, no kernel, one sentence.
TEST(EveryGpuButHopper, AnOlderGpuIsToldSo) {
  const Problem problem = problem_of({64, 64, 64}, DataType::kF32, "NN");
  EXPECT_THROW(gemm::best_kernel(problem, {.multiprocessors = 80, .sm = 70}), StatusError);
}

}  // namespace
}  // namespace tessera
