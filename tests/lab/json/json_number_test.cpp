#include "lab/json/json_number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/status.h"
#include "lab/record/record.h"

namespace tessera::lab {
namespace {

TEST(JsonNumber, EveryDoubleComesBack) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double value : {0.0, -1.5, 1e-300, kInfinity, -kInfinity}) {
    EXPECT_EQ(number_of(Json::parse(json_number(value).dump())), value);
  }
  EXPECT_TRUE(std::isnan(number_of(Json::parse(json_number(std::nan("")).dump()))));
  EXPECT_EQ(json_number(std::nan("")), "nan");
  EXPECT_THROW(number_of(nullptr), StatusError);
  EXPECT_THROW(number_of("one"), StatusError);
}

TEST(JsonNumber, ARecordKeepsItsFactors) {
  Record record;
  record.problem.alpha = std::nan("");
  record.problem.beta = -std::numeric_limits<double>::infinity();
  const Json problem = to_json(record).at("problem");
  EXPECT_EQ(problem.at("alpha"), "nan");
  EXPECT_EQ(problem.at("beta"), "-inf");
}

}  // namespace
}  // namespace tessera::lab
