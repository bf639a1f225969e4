#include "gemm/cost/cost_table.h"

#include <iterator>

namespace tessera::gemm {
namespace {

constexpr double kNoLimit = 1e30;  // bytes

// A line of a table is COEFFICIENT(member, value) or RATE(kernel, variant, TFLOP/s). Each table is
// included three times: for the coefficients, for the rates, and to count the coefficients.
#define COEFFICIENT(member, value) c.member = (value);
#define RATE(kernel, variant, tflops)
constexpr Coefficients coefficients_of_h200() {
  Coefficients c{};
#include "gemm/cost/tuning/h200.inc"
  return c;
}
constexpr Coefficients coefficients_of_h100() {
  Coefficients c{};
#include "gemm/cost/tuning/h100.inc"
  return c;
}
#undef COEFFICIENT
#undef RATE

#define COEFFICIENT(member, value)
#define RATE(kernel, variant, tflops) {kernel, variant, tflops},
constexpr Rate kH200Rates[] = {
#include "gemm/cost/tuning/h200.inc"
};
constexpr Rate kH100Rates[] = {
#include "gemm/cost/tuning/h100.inc"
};
#undef COEFFICIENT
#undef RATE

#define COEFFICIENT(member, value) +1
#define RATE(kernel, variant, tflops)
constexpr std::size_t kH200Lines = 0
#include "gemm/cost/tuning/h200.inc"
    ;
constexpr std::size_t kH100Lines = 0
#include "gemm/cost/tuning/h100.inc"
    ;
#undef COEFFICIENT
#undef RATE
constexpr std::size_t kCoefficients = sizeof(Coefficients) / sizeof(double);
static_assert(kH200Lines == kCoefficients && kH100Lines == kCoefficients,
              "a table has a line for each coefficient");

constexpr const CostTable* kTables[] = {&kH200Costs, &kH100Costs};

const CostTable* find(std::string_view device_name) {
  for (const CostTable* const table : kTables) {
    if (device_name.find(table->gpu->match) != std::string_view::npos) return table;
  }
  return nullptr;
}

}  // namespace

constinit const CostTable kH200Costs{&arch::kH200, coefficients_of_h200(), kH200Rates};
constinit const CostTable kH100Costs{&arch::kH100, coefficients_of_h100(), kH100Rates};

double CostTable::rate_of(std::string_view kernel, std::string_view variant) const {
  for (const Rate& rate : rates) {
    if (rate.kernel == kernel && rate.variant == variant) return rate.tflops;
  }
  return 0;
}

const CostTable& costs_for(std::string_view device_name) {
  const CostTable* const own = find(device_name);
  return own ? *own : kH200Costs;
}

bool has_costs(std::string_view device_name) { return find(device_name) != nullptr; }

}  // namespace tessera::gemm
