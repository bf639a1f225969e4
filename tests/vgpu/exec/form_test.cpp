// Names of operations: a row under a name that no instruction has would never be found.
#include "vgpu/exec/decode/form.h"

#include <gtest/gtest.h>

namespace tessera::vgpu {
namespace {

TEST(Form, AnOptionInARowsNameIsTold) {
  EXPECT_EQ(option_in_name("add.s32"), "");
  EXPECT_EQ(option_in_name("abs.f32"), "");
  EXPECT_EQ(option_in_name("cvt.rni.s8.f32"), "");
  EXPECT_EQ(option_in_name("add.sat.s32"), "sat");
  EXPECT_EQ(option_in_name("add.s32.sat"), "sat");
  EXPECT_EQ(option_in_name("fma.rz.f32"), "rz");
  EXPECT_EQ(option_in_name("vote.sync.uni.pred"), "") << "its rule asks for it by this name";
  EXPECT_EQ(option_in_name("min.f32.NaN"), "NaN");
}

TEST(Form, BothSetsOfOperationsAreBuilt) {
  for (const bool allow_avx512 : {true, false}) {
    const OperationSet& operations = OperationSet::choose(allow_avx512);
    EXPECT_NE(operations.find("add.s32"), nullptr);
    EXPECT_NE(operations.find("add.s32", kSat), nullptr);
    EXPECT_NE(operations.find("add.s32"), operations.find("add.s32", kSat));
    EXPECT_EQ(operations.find("add.sat.s32"), nullptr);
  }
}

}  // namespace
}  // namespace tessera::vgpu
