// Every legal problem gets a kernel on every GPU from SM 7.5 on, in every type that the library
// multiplies. A pretended driver says which GPU it is and keeps the code that it is given; ptxas
// assembles that code for the GPU, and the virtual GPU runs and verifies it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "device/virtual/virtual_device.h"
#include "gemm/call/prepare.h"
#include "lab/verify/verify.h"
#include "launch/code_arch.h"
#include "tests/device/cuda_device_fixture.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

struct Gpu {
  int sm, sms;
  const char* portable_arch;  // of the code that it is given

  // The architecture of a kernel's code: some kernels need an instruction that SM 8.0 lacks. For a
  // k of 1, 2 or 3, CUDA cores are expected to be faster than tensor cores, which multiply a whole
  // tile of k.
  std::string arch_of(const Kernel& kernel) const {
    if (kernel.name.ends_with("_sm75")) return "compute_75";
    return kernel.first_sm >= 90 ? "compute_90" : portable_arch;
  }
};
// HW: SMs of a 2080 Ti, an A100, an RTX 3090, an RTX 4090, an H200, a B200 and an
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

Problem problem_of(const Shape& shape, const Types& types, const char* layout) {
  Problem problem{.m = shape.m, .n = shape.n, .k = shape.k, .types = types, .alpha = 2, .beta = -1};
  set_layout(problem, layout);
  return with_default_ld(problem);
}

gemm::Plan plan_of(const Problem& problem, const DeviceInfo& gpu) {
  return gemm::plan(problem, {}, gemm::limits_of(gpu));
}

class EveryGpu : public CudaDeviceTest, public testing::WithParamInterface<Gpu> {
 protected:
  void SetUp() override {
    CudaDeviceTest::SetUp();
    if (IsSkipped()) return;
    set("SM", std::to_string(GetParam().sm));
    set("MULTIPROCESSORS", std::to_string(GetParam().sms));
    set("ACCEPT", "1");
    device_ = cuda::make_device(kFake);
  }
  void TearDown() override {
    device_.reset();
    for (const char* name : {"MULTIPROCESSORS", "ACCEPT"}) clear(name);
    CudaDeviceTest::TearDown();
  }
  const DeviceInfo& gpu() const { return device_->info(); }

  std::unique_ptr<Device> device_;
};

constexpr Types kTypes[] = {kF32Types, kF64Types,      kBf16Types, kBf16ToF32Types,
                            kF16Types, kF16ToF32Types, kTf32Types};

template <class F>
void for_each_problem(std::span<const Shape> shapes, F f) {
  for (const Types& types : kTypes) {
    for (const Shape& shape : shapes) {
      for (const char* layout : kLayouts) f(problem_of(shape, types, layout));
    }
  }
}

std::string text_of(const Problem& p) {
  return name_of(p.types) + ' ' + std::to_string(p.m) + 'x' + std::to_string(p.n) + 'x' +
         std::to_string(p.k) + ' ' + layout_of(p);
}

// Which entries of which kernel the library launches on this GPU.
std::map<const Kernel*, std::set<std::string>> chosen_entries(const DeviceInfo& gpu) {
  std::map<const Kernel*, std::set<std::string>> entries;
  const auto add = [&](const Problem& problem) {
    const gemm::Plan plan = plan_of(problem, gpu);
    for (const gemm::Step& planned : plan.steps) {
      entries[&plan.kernel()].insert(planned.launch.entry);
    }
  };
  for_each_problem(kShapes, add);
  for_each_problem(kLarge, add);
  return entries;
}

TEST_P(EveryGpu, TheDriverIsGivenCodeForIt) {
  const auto prepare = [&](const Problem& problem) {
    const gemm::Prepared prepared = gemm::prepare(*device_, plan_of(problem, gpu()));
    const std::string portable =
        "ptx " + GetParam().arch_of(prepared.plan().kernel()) + " (compiled by driver)";
    const std::string name = prepared.plan().kernel().name;
    if (GetParam().sm == 90) {
      EXPECT_TRUE(contains(prepared.code(), "cubin sm_90a")) << name << ": " << prepared.code();
    } else {
      EXPECT_EQ(prepared.code(), portable) << name;
    }
  };
  for_each_problem(kShapes, prepare);
  for_each_problem(kLarge, prepare);
  if (GetParam().sm == 90) return;
  const std::string given = calls();
  for (const auto& [kernel, entries] : chosen_entries(gpu())) {
    for (const std::string& entry : entries) {
      const std::string_view ptx = image_of(*kernel, entry).portable_ptx;
      EXPECT_TRUE(contains(given, "cuModuleLoadDataEx " + std::string(ptx))) << entry;
      EXPECT_TRUE(contains(given, "cuModuleGetFunction " + entry + "\n")) << entry;
    }
  }
}

// ptxas of the build's own compiler; only where that lies on this machine.
TEST_P(EveryGpu, PtxasAssemblesTheChosenEntries) {
  if (!std::filesystem::exists(TESSERA_NVCC)) GTEST_SKIP() << "no nvcc at " << TESSERA_NVCC;
  const std::string arch = "sm_" + std::to_string(GetParam().sm);
  for (const auto& [kernel, entries] : chosen_entries(gpu())) {
    std::map<const CodeImage*, std::string> options;  // by image: its entries
    for (const std::string& entry : entries) {
      options[&image_of(*kernel, entry)] += " -Xptxas --entry=" + entry;
    }
    for (const auto& [image, names] : options) {
      if (image->portable_ptx.empty()) continue;  // made from the sm_90a PTX by the build
      const std::string stem = std::filesystem::temp_directory_path().string() + "/tessera_" +
                               std::to_string(getpid()) + "_" + std::string(image->name) + "_" +
                               arch;
      std::ofstream(stem + ".ptx") << image->portable_ptx.view();
      const std::string command = std::string(TESSERA_NVCC) + " -cubin -arch=" + arch +
                                  " -Xptxas -O1" + names + " -o " + stem + ".cubin " + stem +
                                  ".ptx";
      EXPECT_EQ(std::system(command.c_str()), 0) << image->name << " for " << arch;
      for (const char* end : {".ptx", ".cubin"}) std::filesystem::remove(stem + end);
    }
  }
}

// The virtual GPU runs the PTX that this GPU would be given, and no other.
TEST_P(EveryGpu, TheVirtualGpuVerifiesThatPtx) {
  if (test_on_cuda()) GTEST_SKIP() << "the real GPU is another one";
  const auto device = make_virtual_gpu(gpu().sm, {.sms = gpu().sms});
  static std::set<std::string> verified;  // by another GPU that is given the same
  for_each_problem(kShapes, [&](const Problem& problem) {
    const gemm::Plan plan = plan_of(problem, gpu());
    const KernelChoice choice{&plan.kernel(), plan.row().variant};
    const std::string ptx = device->load(image_of(*choice.kernel, plan.row().entry)).description;
    const std::string arch = GetParam().sm == 90 ? "sm_90a" : GetParam().arch_of(plan.kernel());
    EXPECT_EQ(ptx, "ptx " + arch + " (virtual)") << choice.kernel->name;
    const std::string what = text_of(problem) + ' ' + choice.kernel->name + '/' + choice.variant;
    if (!verified.insert(what + ' ' + ptx).second) return;
    const lab::VerifyResult result = lab::verify(*device, choice, problem);
    EXPECT_TRUE(result.ok()) << what << ": " << result.reason;
    EXPECT_EQ(result.integers, "full") << what;
  });
}

INSTANTIATE_TEST_SUITE_P(Pretended, EveryGpu, testing::ValuesIn(kGpus),
                         [](const auto& info) { return "sm_" + std::to_string(info.param.sm); });

Status refusal_of(const char* kernel, const gemm::DeviceLimits& gpu) {
  const KernelChoice choice = choose_kernels(kernel).front();
  try {
    gemm::plan({.m = 64, .n = 64, .k = 64, .types = choice.kernel->types}, {}, gpu,
               {.kernel = choice});
  } catch (const StatusError& error) {
    return error.status();
  }
  return {};
}

TEST(GpusButHopper, LeaveTheKernelsOfHopper) {
  const Problem problem{.m = 4096, .n = 4096, .k = 4096};
  const auto best = [&](int sm) {
    return gemm::plan(problem, {}, {.sm = sm, .sms = 132}).kernel().name;
  };
  EXPECT_EQ(best(75), "simt_f32_sm75");
  EXPECT_EQ(best(80), "simt_f32_sm80");
  EXPECT_EQ(best(90), "simt_f32");
  EXPECT_EQ(best(100), "simt_f32_sm80");
}

// As many names as GPUs: for SM 7.5, SM 8.0, Hopper, and what came after it.
TEST(GpusButHopper, MultiplySmallTypesOnTheTensorCoresThatAllHave) {
  const auto best = [](int sm, const Types& types, std::int64_t size) {
    const Problem problem{.m = size, .n = size, .k = size, .types = types};
    return gemm::plan(problem, {}, {.sm = sm, .sms = 132}).kernel().name;
  };
  const std::pair<Types, std::string> names[] = {{kBf16Types, "bf16"},
                                                 {kBf16ToF32Types, "bf16_f32"},
                                                 {kF16Types, "f16"},
                                                 {kF16ToF32Types, "f16_f32"},
                                                 {kTf32Types, "tf32"}};
  for (const auto& [types, name] : names) {
    for (const std::int64_t size : {16, 100, 1024, 8192}) {
      EXPECT_EQ(best(75, types, size), "simt_" + name + "_sm75") << size;
      for (const int sm : {80, 86, 89, 100, 103, 120}) {
        EXPECT_EQ(best(sm, types, size), "mma_" + name) << size << " on sm_" << sm;
      }
    }
    EXPECT_EQ(best(90, types, 4096), "wgmma_" + name);
  }
}

// Ampere's data centre card has other FP64 instructions than Hopper and what came after it; the
// cards for desktops have none to speak of.
TEST(GpusButHopper, MultiplyFP64OnTensorCoresWhereTheyHaveThem) {
  const auto best = [&](int sm, std::int64_t size) {
    const Problem problem{.m = size, .n = size, .k = size, .types = kF64Types};
    return gemm::plan(problem, {}, {.sm = sm, .sms = 132}).kernel().name;
  };
  for (const std::int64_t size : {300, 1000, 4096}) {
    EXPECT_EQ(best(75, size), "simt_f64_sm75");
    EXPECT_EQ(best(80, size), "dmma_f64_sm80");
    for (const int sm : {90, 100, 103}) EXPECT_EQ(best(sm, size), "dmma_f64") << sm;
    for (const int sm : {86, 87, 89, 110, 120}) EXPECT_EQ(best(sm, size), "simt_f64_sm80") << sm;
  }
}

TEST(GpusButHopper, RefuseANamedKernelByName) {
  EXPECT_EQ(refusal_of("simt_f32", {.sm = 80}).message,
            "kernel is simt_f32, whose code needs sm_90a, but the GPU is sm_80");
  EXPECT_EQ(refusal_of("simt_f64_sm80", {.sm = 75}).message,
            "kernel is simt_f64_sm80, whose code needs sm_80 or later, but the GPU is sm_75");
  EXPECT_EQ(refusal_of("dmma_f64", {.sm = 80}).message,
            "kernel is dmma_f64, whose code needs sm_90 or later, but the GPU is sm_80");
  EXPECT_EQ(refusal_of("dmma_f64_sm80", {.sm = 86}).message,
            "kernel is dmma_f64_sm80, but an sm_86 has no FP64 tensor cores");
  EXPECT_EQ(refusal_of("mma_bf16", {.sm = 75}).message,
            "kernel is mma_bf16, whose code needs sm_80 or later, but the GPU is sm_75");
  EXPECT_TRUE(refusal_of("mma_tf32", {.sm = 120}).ok());
  EXPECT_TRUE(refusal_of("mma_f16", {.sm = 90}).ok());
  EXPECT_TRUE(refusal_of("dmma_f64_sm80", {.sm = 90}).ok());
  EXPECT_TRUE(refusal_of("simt_f32", {.sm = 90}).ok());
  EXPECT_TRUE(refusal_of("simt_f32_sm75", {.sm = 120}).ok());
}

TEST(GpusButHopper, AnOlderOneThanSm75HasNoKernel) {
  for (const Types& types : kTypes) {
    EXPECT_THROW(gemm::plan({.m = 64, .n = 64, .k = 64, .types = types}, {}, {.sm = 70}),
                 StatusError);
  }
}

// The catalog's line of a kernel and its image say the same about GPUs.
TEST(Catalog, SaysWhichGpusRunTheCode) {
  for (const Kernel& kernel : all_kernels()) {
    const CodeImage& image = image_of(kernel, kernel.rows.front().entry);
    for (const Gpu& gpu : kGpus) {
      const bool planned = gpu.sm >= kernel.first_sm && gpu.sm <= kernel.last_sm;
      const bool loads = ptx_fits(image.cubin_arch, gpu.sm) ||
                         (!image.portable_ptx.empty() && ptx_fits(image.portable_arch, gpu.sm));
      EXPECT_EQ(planned, loads) << kernel.name << " on sm_" << gpu.sm;
    }
  }
}

}  // namespace
}  // namespace tessera
