#include "lab/sites/ptx_places.h"

#include <gtest/gtest.h>

#include "catalog/catalog.h"

namespace tessera::lab {
namespace {

constexpr const char* kText = R"(
.visible .entry other(
	.param .u64 other_param_0
)
{
	ret;
}
.visible .entry demo(
	.param .align 8 .b8 demo_param_0[32]
)
{
	.reg .b32 	%r<8>;
	.shared .align 4 .b8 _ZZN4demo3runEvE6tile_a[64];
	.shared .align 4 .b8 _ZZN4demo3runEvE6tile_b_0[64];
	.loc	1 9 3
	mov.b64 	%rd9, demo_param_0;
	add.s64 	%rd8, %rd9, 16;
	ld.param.u64 	%rd1, [%rd8+-8];
	mov.u32 	%r1, _ZZN4demo3runEvE6tile_b_0;
	.loc	2 24 5, function_name $L__info_string0, inlined_at 1 9 3
	.loc	3 61 3, function_name $L__info_string6, inlined_at 2 24 5
	add.s32 	%r2, %r1, %r3;
	@%p1 st.shared.f32 	[%r2+4], %f1;
	.loc	2 30 5, function_name $L__info_string0, inlined_at 1 9 3
	mad.wide.s32 	%rd2, %r3, 4, %rd1;
	ld.global.v2.f32 	{%f1, %f2}, [%rd2];
	st.shared.f32 	[_ZZN4demo3runEvE6tile_a+8], %f1;
	bar.sync 	0;
}
	.file	1 "entries.cu"
	.file	2 "src/demo/kernel.cu"
	.file	3 "src/demo/helper.h"
)";

std::map<int, PtxPlace> demo() { return places_of(kText, "demo"); }

const PtxPlace& at_line_of(const std::map<int, PtxPlace>& places, std::string_view what) {
  const std::string_view text = kText;
  const auto end = text.begin() + text.find(what);
  return places.at(static_cast<int>(std::count(text.begin(), end, '\n')) + 1);
}

TEST(PtxPlaces, CallersOfInlinedCodeAreFollowed) {
  const PtxPlace store = at_line_of(demo(), "st.shared.f32 \t[%r2+4]");
  EXPECT_EQ(store.frames,
            (std::vector<SourcePlace>{
                {"src/demo/helper.h", 61}, {"src/demo/kernel.cu", 24}, {"entries.cu", 9}}));
  const PtxPlace load = at_line_of(demo(), "ld.global");
  EXPECT_EQ(load.frames, (std::vector<SourcePlace>{{"src/demo/kernel.cu", 30}, {"entries.cu", 9}}));
}

TEST(PtxPlaces, AddressesAreTracedToWhatTheyBelongTo) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(at_line_of(demo(), "st.shared.f32 \t[%r2+4]").touches, Names{"tile_b"});
  EXPECT_EQ(at_line_of(demo(), "st.shared.f32 \t[_ZZN").touches, Names{"tile_a"});
  EXPECT_EQ(at_line_of(demo(), "ld.global").touches, Names{"parameter +8"});
  EXPECT_EQ(at_line_of(demo(), "bar.sync").touches, Names{});
  EXPECT_EQ(at_line_of(demo(), "ld.param.u64").touches, Names{});
}

// Behind a struct of 12 bytes and an integer, whose value is part of an address.
TEST(PtxPlaces, EachParameterHasItsPlace) {
  const auto places = places_of(R"(
.visible .entry several(
	.param .align 128 .b8 several_param_0[12],
	.param .u32 several_param_1,
	.param .u64 .ptr .global .align 1 several_param_2,
	.param .u64 several_param_3
)
{
	ld.param.u32 	%r1, [several_param_1];
	ld.param.u64 	%rd1, [several_param_2];
	ld.param.u64 	%rd2, [several_param_3];
	mad.wide.s32 	%rd3, %r1, 4, %rd2;
	ld.global.f32 	%f1, [%rd3];
	st.global.f32 	[%rd1], %f1;
}
)",
                                "several");
  using Names = std::vector<std::string>;
  EXPECT_EQ(places.at(13).touches, (Names{"parameter +12", "parameter +24"}));
  EXPECT_EQ(places.at(14).touches, Names{"parameter +16"});
}

TEST(PtxPlaces, OtherEntriesStayOut) {
  EXPECT_EQ(places_of(kText, "other").size(), 1u);
  EXPECT_TRUE(places_of(kText, "none").empty());
}

TEST(PtxPlaces, NamesLoseTheirMangling) {
  EXPECT_EQ(plain_name("_ZZN4demo3runEvE6tile_a"), "tile_a");
  EXPECT_EQ(plain_name("_ZZN4demo3runEvE6tile_b_0"), "tile_b");
  EXPECT_EQ(plain_name("_ZZ3runvE2x4"), "x4");
  EXPECT_EQ(plain_name("buffer"), "buffer");
  EXPECT_EQ(plain_name("_Znothing"), "_Znothing");
}

// Every load and store of every kernel of the catalog comes from a line of a file under src/, and
// what shared accesses touch is known by name.
TEST(PtxPlaces, TheCatalogsAccessesAreFound) {
  for (const Kernel& kernel : all_kernels()) {
    const auto places =
        places_of(image_of(kernel, kernel.rows.front().entry).ptx, kernel.rows.front().entry);
    ASSERT_FALSE(places.empty()) << kernel.name;
    int named = 0;
    for (const auto& [line, place] : places) {
      for (const std::string& name : place.touches) named += !name.empty();
      const bool known =
          std::any_of(place.frames.begin(), place.frames.end(), [&](const SourcePlace& frame) {
            return frame.file.starts_with("src/ladder/") || frame.file.starts_with("src/kernels/");
          });
      // If nvcc has merged two stores from different lines, only CUDA's header remains as place.
      const bool is_merged =
          place.frames.size() == 1 && place.frames[0].file.ends_with("sm_32_intrinsics.hpp");
      EXPECT_TRUE(known || is_merged || place.touches.empty())
          << kernel.name << ", PTX line " << line;
    }
    EXPECT_GT(named, 1) << kernel.name;
  }
}

}  // namespace
}  // namespace tessera::lab
