// A patched cubin must give the bits of the one that it was made from, whatever the operands hold.
// The proof says so of the code; here a GPU says it of numbers whose sums hang on their order: full
// mantissas over 2^-60 ... 2^60, subnormals, zeros of both signs, infinities and NaN. The virtual
// GPU runs PTX, which both share, so there is nothing to see there.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <deque>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "lab/verify/prepared_call.h"
#include "tests/support/kernel_choice.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

std::vector<float> hostile(std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto bits = static_cast<std::uint32_t>(random());
    const std::uint32_t sign_and_mantissa = bits & 0x807fffff;
    const auto exponent = static_cast<std::uint32_t>(127 - 60 + random() % 121);
    const std::uint64_t kind = random() % 4096;
    const std::uint32_t special[] = {0x7f800000, 0x7fc12345, 0, 0};  // exponent and what follows
    values.push_back(std::bit_cast<float>(kind < 2    ? sign_and_mantissa | special[kind]
                                          : kind < 40 ? sign_and_mantissa
                                          : kind < 60 ? bits & 0x80000000
                                                      : sign_and_mantissa | exponent << 23));
  }
  return values;
}

class OnDevice {
 public:
  OnDevice(Device& device, const std::vector<float>& values)
      : device_(device), buffer_(device, values.size() * sizeof(float)), values_(values) {
    device.copy_in(buffer_.address(), values.data(), buffer_.bytes());
  }
  DeviceAddress address() const { return buffer_.address(); }
  std::vector<float> read() {
    device_.copy_out(values_.data(), buffer_.address(), buffer_.bytes());
    return values_;
  }

 private:
  Device& device_;
  DeviceBuffer buffer_;
  std::vector<float> values_;
};

// D, and by which image.
std::pair<std::vector<float>, std::string> product(const KernelChoice& choice,
                                                   const Problem& problem) {
  Device& device = test_device();
  OnDevice a(device, hostile(problem.m * problem.k, 1)),
      b(device, hostile(problem.k * problem.n, 2)), c(device, hostile(problem.m * problem.n, 3)),
      d(device, std::vector<float>(problem.m * problem.n, -1.0f));
  const lab::PreparedCall call(device, choice, problem, {});
  call.run({a.address(), b.address(), c.address(), d.address()});
  device.synchronize();
  return {d.read(), call.code()};
}

std::vector<KernelChoice> patched_kernels() {
  std::vector<KernelChoice> choices;
  for (const KernelChoice& choice : choose_kernels("all/all")) {
    if (!image_of(*choice.kernel, first_entry_of(choice)).patched.bytes.empty())
      choices.push_back(choice);
  }
  return choices;
}

// Under names of their own, since a device keeps images by name.
Kernel unpatched_kernel(Kernel kernel) {
  static std::deque<std::string> names;
  const auto add = [](std::string& name) { name += " unpatched"; };
  for (const CodeImage* image : images_of(kernel)) {
    CodeImage plain = *image;
    plain.name = names.emplace_back(std::string(image->name) + " unpatched");
    plain.patched = {};
    kernel.own_images.emplace(plain.name, plain);
  }
  for (KernelRow& row : kernel.rows) add(row.image);
  for (HelperEntry& helper : kernel.helpers) add(helper.image);
  return kernel;
}

class Patched : public testing::TestWithParam<KernelChoice> {};

TEST_P(Patched, GivesTheBitsOfTheUnpatchedOne) {
  if (!test_on_cuda()) GTEST_SKIP() << "the virtual GPU runs the PTX that both share";
  const Kernel unpatched = unpatched_kernel(*GetParam().kernel);
  for (const char* layout : {"NN", "NT", "TN", "TT"}) {
    for (Problem problem :
         {Problem{.m = 512, .n = 384, .k = 264}, Problem{.m = 300, .n = 203, .k = 70},
          Problem{.m = 64, .n = 64, .k = 4096}}) {
      problem.alpha = 1.25, problem.beta = -0.5;
      set_layout(problem, layout);
      problem = with_default_ld(problem);
      const auto [patched, image] = product(GetParam(), problem);
      const auto [plain, plain_image] = product({&unpatched, GetParam().variant}, problem);
      EXPECT_NE(image, plain_image);
      EXPECT_EQ(std::memcmp(patched.data(), plain.data(), patched.size() * sizeof(float)), 0)
          << layout << ' ' << problem.m << 'x' << problem.n << 'x' << problem.k;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Patched, testing::ValuesIn(patched_kernels()), test_name);

}  // namespace
}  // namespace tessera
