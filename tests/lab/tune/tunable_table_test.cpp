#include "lab/tune/tunable_table.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/status.h"

namespace tessera::lab {
namespace {

class TunableTableTest : public testing::Test {
 protected:
  ~TunableTableTest() override { std::filesystem::remove(path_); }
  void write(const std::string& text) { std::ofstream(path_) << text; }

  const std::string path_ = testing::TempDir() + "tunable_table_test.inc";
  TunableTable table_{gemm::kH100Costs};
};

TEST_F(TunableTableTest, BeginsAsTheTableItIsMadeFrom) {
  for (const std::string& name : table_.names()) EXPECT_GE(table_.value(name), 0) << name;
  EXPECT_EQ(table_.table().coefficients.wgmma.start, gemm::kH100Costs.coefficients.wgmma.start);
  EXPECT_EQ(table_.table().rates.size(), gemm::kH100Costs.rates.size());
}

TEST_F(TunableTableTest, ReadsCoefficientsAndRatesOfAFile) {
  write(
      "// A comment.\nCOEFFICIENT(wgmma.start, 1.5e+1)\nCOEFFICIENT(simt.start_most, kNoLimit)\n"
      "RATE(\"dmma_f64\", \"64x64\", 12)\n");
  table_.read(path_, "--against-costs");
  EXPECT_EQ(table_.table().coefficients.wgmma.start, 15);
  EXPECT_EQ(table_.table().coefficients.simt.start_most, 1e30);
  EXPECT_EQ(gemm::rate_of(table_.table().rates_of("dmma_f64"), "64x64"), 12);
  EXPECT_EQ(table_.value("dmma_f64/64x64"), 12);
}

TEST_F(TunableTableTest, RefusesWhatIsNoTable) {
  EXPECT_THROW(table_.read(path_ + ".not", "--against-costs"), StatusError);
  write("COEFFICIENT(wgmma.no_such, 1)\n");
  EXPECT_THROW(table_.read(path_, "--against-costs"), StatusError);
  write("COEFFICIENT(wgmma.start, much)\n");
  EXPECT_THROW(table_.read(path_, "--against-costs"), StatusError);
}

}  // namespace
}  // namespace tessera::lab
