// Images that the build patches: what is packed must be what the patcher proved.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/hash.h"
#include "sass/model/hazards.h"
#include "sass/model/ports.h"
#include "sass/model/values.h"
#include "tests/sass/programs.h"

namespace tessera::sass {
namespace {

// All that have a patched cubin beside the one of ptxas.
std::vector<const CodeImage*> patched_images() {
  std::vector<const CodeImage*> images = images_of_catalog();
  std::erase_if(images, [](const CodeImage* image) { return image->patched.bytes.empty(); });
  return images;
}

TEST(PatchedImages, RungSixteenIsOne) {
  const CodeImage* const rung = images_of(*choose_kernels("16").front().kernel).front();
  EXPECT_FALSE(rung->patched.bytes.empty()) << rung->patched.note;
}

TEST(PatchedImages, NameTheCubinThatTheyWereMadeFrom) {
  for (const CodeImage* patched : patched_images()) {
    const CodeImage& image = *patched;
    EXPECT_EQ(image.patched.made_from, hash_of(image.cubin));
    EXPECT_NE(image.patched.note.find("bitwise equal"), std::string_view::npos);
    EXPECT_NE(hash_of(image.patched.bytes), hash_of(image.cubin));
  }
}

// Bytes outside of code that was patched are those of ptxas.
TEST(PatchedImages, DifferInCodeAlone) {
  for (const CodeImage* patched : patched_images()) {
    const CodeImage& image = *patched;
    const CubinFile file = read_cubin(image.cubin);
    ASSERT_EQ(image.cubin.size(), image.patched.bytes.size());
    std::vector<std::byte> restored(image.patched.bytes.begin(), image.patched.bytes.end());
    for (const CubinKernel& code : file.kernels) {
      const std::size_t bytes = code.code.size() * kInstructionBytes;
      std::copy_n(image.cubin.begin() + static_cast<std::ptrdiff_t>(code.code_offset), bytes,
                  restored.begin() + static_cast<std::ptrdiff_t>(code.code_offset));
    }
    EXPECT_TRUE(std::ranges::equal(restored, image.cubin)) << image.name;
  }
}

TEST(PatchedImages, AreEqualAndWithoutHazard) {
  for (const CodeImage* patched : patched_images()) {
    const CodeImage& image = *patched;
    const CubinFile before = read_cubin(image.cubin), after = read_cubin(image.patched.bytes);
    for (const CubinKernel& code : before.kernels) {
      const Program old_code = program_of(code, before.sm);
      const Program new_code = program_of(*after.find(code.name), after.sm);
      const Equality equality = prove_equal(old_code, new_code);
      EXPECT_TRUE(equality.is_proved) << code.name << ": " << equality.reason;
      for (const Hazard& hazard : find_hazards(new_code))
        ADD_FAILURE() << text_of(new_code, hazard);
    }
  }
}

// The loop with the most FFMAs.
PortUse main_loop_of(const CubinKernel& kernel, int sm) {
  PortUse most;
  for (const Loop& loop : kernel.loops) {
    std::vector<Operation> body;
    for (const std::size_t at : loop.members) {
      body.push_back(decode(kernel.code[at], at * kInstructionBytes, sm));
    }
    const PortUse use = ports_of_loop(body);
    const bool is_inner = use.ffmas > 0 && body.size() < 2 * static_cast<std::size_t>(use.ffmas);
    if (is_inner && use.ffmas >= most.ffmas) most = use;
  }
  return most;
}

TEST(PatchedImages, EveryRowOfRungSixteenIsLessCrowded) {
  const Kernel& rung = *choose_kernels("16").front().kernel;
  const CodeImage& image = image_of(rung, rung.rows.front().entry);
  const CubinFile before = read_cubin(image.cubin), after = read_cubin(best_cubin(image));
  for (const KernelRow& row : rung.rows) {
    const PortUse use = main_loop_of(*before.find(row.entry), before.sm);
    const PortUse patched = main_loop_of(*after.find(row.entry), after.sm);
    EXPECT_EQ(use.ffmas, 1024);
    EXPECT_LT(patched.crowded, 0.5 * use.crowded) << row.entry;
    EXPECT_LT(patched.bubbles, use.bubbles) << row.entry;
  }
}

}  // namespace
}  // namespace tessera::sass
