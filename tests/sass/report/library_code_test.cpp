// What the machine code of the library's kernels must show for them to be fast, and what no test of
// results would notice.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

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

TEST(LibraryCode, EightVectorsOfCAreOnTheirWayAtATime) {
  for (const char* entry :
       {"dmma_f64__64x32_ak_bn", "dmma_f64__128x128_ak_bk", "dmma_f64__128x64_am_bn",
        "dmma_f64__128x128_am_bn", "dmma_f64_sm80__64x32_am_bn", "small_f64__64x64_ak_bn",
        "simt_f32__256x128_am_bn_tma", "simt_f32__128x64_ak_bk_copy",
        "simt_f32_direct__128x128_am_bn_tma"}) {
    EXPECT_GE(most_loads_without_a_store(program_named(entry)), 8) << entry;
  }
}

// The loops with an instruction `multiply` ("HMMA") that contain no such loop.
std::vector<Loop> main_loops(const CubinKernel& kernel, std::string_view multiply) {
  std::vector<Loop> all, innermost;
  std::ranges::copy_if(kernel.loops, std::back_inserter(all), [&](const Loop& loop) {
    return std::ranges::any_of(loop.histogram, [&](const auto& name_and_count) {
      return name_and_count.first.starts_with(multiply);
    });
  });
  std::ranges::copy_if(all, std::back_inserter(innermost), [&](const Loop& loop) {
    return std::ranges::none_of(all, [&](const Loop& other) {
      const bool is_loop = other.begin == loop.begin && other.end == loop.end;
      return !is_loop && other.begin >= loop.begin && other.end <= loop.end;
    });
  });
  return innermost;
}

// The kernel of an entry of the catalog's images.
CubinKernel kernel_named(std::string_view entry) {
  for (const CodeImage* image : images_of_catalog()) {
    if (image->ptx.view().find(entry) == std::string_view::npos) continue;
    const CubinFile cubin = read_cubin(image->cubin);
    if (const CubinKernel* const kernel = cubin.find(entry)) return *kernel;
  }
  ADD_FAILURE() << "no entry " << entry;
  return {};
}

TEST(LibraryCode, EachWayThatOperandsLieHasAMainLoop) {
  EXPECT_EQ(main_loops(kernel_named("mma_bf16__128x128"), "HMMA").size(), 4u);
}

// With too few registers, ptxas reads strides from constants in this loop, which was slower on an
// H200. The readers of C at the end of the kernel decide it (store_vectors_with_c).
TEST(LibraryCode, TheMainLoopOfFp64AcrossKReadsNoConstants) {
  const std::vector<Loop> loops = main_loops(kernel_named("dmma_f64__128x128_am_bn"), "DMMA");
  ASSERT_EQ(loops.size(), 2u);  // copies of whole tiles, and of those that an edge cuts
  for (const Loop& loop : loops) {
    for (const auto& [name, count] : loop.histogram) EXPECT_FALSE(name.starts_with("LDC")) << name;
  }
}

}  // namespace
}  // namespace tessera::sass
