// What the machine code of the library's kernels must show for them to be fast, and what no test of
// results would notice.
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "sass/report/mix.h"
#include "tests/sass/programs.h"

namespace tessera::sass {
namespace {

// The most loads of 16 bytes of memory between two stores to it. Where a CTA finds the address in
// shared memory, both are generic.
int most_loads_without_a_store(const Program& program) {
  int most = 0, loads = 0;
  for (const Operation& operation : program.operations) {
    const std::string_view stem = stem_of(operation.name);
    const bool loads_vector = (stem == "LD" || stem == "LDG") && operation.name.ends_with(".128");
    loads = stem == "ST" || stem == "STG" ? 0 : loads + (loads_vector ? 1 : 0);
    most = std::max(most, loads);
  }
  return most;
}

TEST(LibraryCode, EightPairsOfCAreOnTheirWayAtATime) {
  for (const char* entry :
       {"dmma_f64__64x32_ak_bn", "dmma_f64__128x128_ak_bk", "dmma_f64__128x64_am_bn",
        "dmma_f64__128x128_am_bn", "dmma_f64_sm80__64x32_am_bn", "small_f64__64x64_ak_bn"}) {
    EXPECT_GE(most_loads_without_a_store(program_named(entry)), 8) << entry;
  }
}

// Loops that multiply and hold no such loop themselves.
int count_main_loops(const CubinKernel& kernel) {
  const auto multiplies = [](const Loop& loop) {
    return std::ranges::any_of(loop.histogram, [](const auto& name_and_count) {
      return name_and_count.first.starts_with("HMMA");
    });
  };
  return static_cast<int>(std::ranges::count_if(kernel.loops, [&](const Loop& loop) {
    return multiplies(loop) && std::ranges::none_of(kernel.loops, [&](const Loop& other) {
             return &other != &loop && multiplies(other) && other.begin >= loop.begin &&
                    other.end <= loop.end;
           });
  }));
}

TEST(LibraryCode, EachWayThatOperandsLieHasAMainLoop) {
  for (const CodeImage* image : images_of_catalog()) {
    if (image->ptx.view().find("mma_bf16__128x128") == std::string_view::npos) continue;
    const CubinFile cubin = read_cubin(image->cubin);
    const CubinKernel* const kernel = cubin.find("mma_bf16__128x128");
    if (kernel) EXPECT_EQ(count_main_loops(*kernel), 4);
  }
}

}  // namespace
}  // namespace tessera::sass
