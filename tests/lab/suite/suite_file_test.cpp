#include "lab/suite/suite_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace tessera::lab {
namespace {

Environment environment_on(const std::string& gpu, const std::string& commit) {
  Environment environment;
  environment.commit = commit;
  environment.device.name = gpu;
  return environment;
}

CellResult result_of(double ours, double vendor) {
  CellResult result;
  result.kernel = "wgmma_bf16/128x256";
  result.max_error_ratio = 0.25;
  result.time.ours = {ours, ours * 0.99, ours * 1.01, 20};
  result.time.vendor = Summary{vendor, vendor, vendor, 20};
  result.time.vendor_name = "cuBLASLt candidate 3";
  return result;
}

struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("suite_file_" + std::to_string(getpid()));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file(const std::string& name) const { return path / name; }
};

const SuiteName kName{std::string(kSuiteSchema), "drawn", 7, 100, "quick", "--json"};

TEST(SuiteFile, GoesOnWhereItEnded) {
  const Folder folder;
  const auto cells = draw_suite(7, 100);
  const Environment here = environment_on("NVIDIA H100", "abc");
  {
    SuiteFile file(folder.file("a.json"), here, kName);
    file.set(4, to_json(cells[4], result_of(1, 1.5), "quick"));
    file.set(2, to_json(cells[2], result_of(1, 0.5), "quick"));
    file.write();
  }
  const SuiteFile file(folder.file("a.json"), here, kName);
  EXPECT_EQ(file.size(), 2u);
  ASSERT_TRUE(file.find(4));
  EXPECT_FALSE(file.find(3));
  EXPECT_DOUBLE_EQ(*ratio_of(*file.find(4)), 1.5);
  EXPECT_DOUBLE_EQ(*ratio_of(*file.find(2)), 0.5);
  EXPECT_EQ(file.json().at("environment").at("suite").at("seed"), 7);
}

TEST(SuiteFile, RefusesCellsOfAnotherMeasurement) {
  const Folder folder;
  const Environment here = environment_on("NVIDIA H100", "abc");
  SuiteFile(folder.file("a.json"), here, kName).write();
  const auto reason = [&](const Environment& environment, const SuiteName& name) {
    try {
      SuiteFile(folder.file("a.json"), environment, name);
    } catch (const StatusError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(reason(here, kName), "");
  EXPECT_NE(reason(environment_on("NVIDIA H200", "abc"), kName).find("measured on NVIDIA H100"),
            std::string::npos);
  EXPECT_NE(reason(environment_on("NVIDIA H100", "abd"), kName).find("commit abc"),
            std::string::npos);
  SuiteName other = kName;
  other.seed = 8;
  EXPECT_NE(reason(here, other).find("100 cells of seed 7"), std::string::npos);
  other = kName;
  other.name = "goals";
  EXPECT_NE(reason(here, other).find("the suite \"drawn\""), std::string::npos);
  other = kName;
  other.schema = kSweepSchema;
  EXPECT_NE(reason(here, other).find("holds no cells"), std::string::npos);
  std::ofstream(folder.file("a.json")) << "no JSON";
  EXPECT_NE(reason(here, kName).find("--json is"), std::string::npos);
}

TEST(SuiteFile, TheFullFigureCountsAndTheQuickOneIsKept) {
  const auto cells = draw_suite(7, 100);
  Json json = to_json(cells[0], result_of(1, 0.9), "quick");
  EXPECT_FALSE(is_full(json));
  set_full(json, result_of(1, 0.98));
  EXPECT_TRUE(is_full(json));
  EXPECT_DOUBLE_EQ(*ratio_of(json), 0.98);
  EXPECT_DOUBLE_EQ(json.at("quick").at("ratio_to_vendor").get<double>(), 0.9);
}

TEST(SuiteFile, APlanWithoutTheLimitHasItsOwnRatio) {
  CellResult result = result_of(2, 1);
  result.kernel_without_limit = "wgmma_bf16/128x192";
  result.time.without_limit = Summary{0.5, 0.5, 0.5, 20};
  const Json json = to_json(draw_suite(9, 1).at(0), result, "quick");
  EXPECT_DOUBLE_EQ(*ratio_of(json), 0.5);
  EXPECT_DOUBLE_EQ(json.at("without_limit").at("ratio_to_vendor").get<double>(), 2);
  EXPECT_EQ(json.at("without_limit").at("kernel"), "wgmma_bf16/128x192");
}

TEST(SuiteFile, ACellIsAKilobyteAtMost) {
  for (const DrawnCell& cell : draw_suite(9, 1000)) {
    CellResult result = result_of(1.0 / 3, 2.0 / 7);
    result.kernel_without_limit = result.kernel = "simt_f32_persistent/128x128x16_c2";
    result.workspace_without_limit = result.workspace_bytes = 123456789012;
    result.time.without_limit = result.time.ours;
    Json json = to_json(cell, result, "quick");
    EXPECT_LE(json.dump().size(), 1024u);
    set_full(json, result);
    EXPECT_LE(json.dump().size(), 1024u) << json.dump();
  }
}

TEST(SuiteFile, ASweptConfigIsARowOfItsColumns) {
  SweptCell swept;
  swept.vendor = Summary{0.123456, 0.1, 0.2, 8};
  swept.configs = {{"simt_f32/64x64",
                    "12 tiles",
                    4096,
                    {.launch = 2.84567, .multiply = 10},
                    "",
                    {0.0123456, 0.012, 0.013, 8}},
                   {"simt_f32/64x32", "-", 0, {}, "it is wrong", {}}};
  const Json json = to_json(draw_suite(9, 1).at(0), swept);
  EXPECT_EQ(json.at("vendor").at("ms").dump(), "[0.1235,0.1,0.2]");
  EXPECT_EQ(
      json.at("configs").at(0).dump(),
      R"(["simt_f32/64x64","12 tiles",4096,[2.846,0,0,10.0,0,0,0,0,0],[0.01235,0.012,0.013]])");
  EXPECT_EQ(json.at("configs").at(1).at(4), "it is wrong");
}

TEST(SuiteFile, TwoTablesHaveARatioWhereTheyPlanOtherwise) {
  const DrawnCell cell = draw_suite(9, 1).at(0);
  TwoPlans found;
  found.own = {"dmma_f64/64x64", "4 tiles", 0, {}};
  Json json = to_json(cell, found);
  EXPECT_EQ(json.at("plan").dump(), R"(["dmma_f64/64x64","4 tiles",0])");
  EXPECT_FALSE(json.contains("ratio_to_other"));
  found.own.ms = {2, 1.9, 2.1, 8};
  found.other = TwoPlans::Planned{"dmma_f64/128x64", "2 tiles", 64, {3, 2.9, 3.1, 8}};
  json = to_json(cell, found);
  EXPECT_EQ(json.at("plan").dump(), R"(["dmma_f64/64x64","4 tiles",0,[2.0,1.9,2.1]])");
  EXPECT_EQ(json.at("other").dump(), R"(["dmma_f64/128x64","2 tiles",64,[3.0,2.9,3.1]])");
  EXPECT_DOUBLE_EQ(json.at("ratio_to_other").get<double>(), 1.5);
  found.reason = "it is wrong";
  EXPECT_EQ(to_json(cell, found).at("reason"), "it is wrong");
}

TEST(SuiteFile, ACellWithoutAFigureHasItsReason) {
  CellResult result;
  result.reason = "no kernel takes it";
  const Json json = to_json(draw_suite(9, 1).at(0), result, "quick");
  EXPECT_EQ(json.at("reason"), "no kernel takes it");
  EXPECT_FALSE(ratio_of(json));
}

}  // namespace
}  // namespace tessera::lab
