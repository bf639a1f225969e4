#include "gemm/cost/cost_table.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tessera::gemm {
namespace {

constexpr double kNoLimit = 1e30;  // bytes

template <std::size_t count>
constexpr std::array<Rate, count> sorted(std::array<Rate, count> rates) {
  std::sort(rates.begin(), rates.end(), [](const Rate& x, const Rate& y) {
    return std::pair(x.kernel, x.variant) < std::pair(y.kernel, y.variant);
  });
  return rates;
}

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
constexpr auto kH200Rates = sorted(std::to_array<Rate>({
#include "gemm/cost/tuning/h200.inc"
}));
constexpr auto kH100Rates = sorted(std::to_array<Rate>({
#include "gemm/cost/tuning/h100.inc"
}));
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

std::span<const Rate> CostTable::rates_of(std::string_view kernel) const {
  const auto begin = std::partition_point(rates.begin(), rates.end(),
                                          [&](const Rate& one) { return one.kernel < kernel; });
  const auto end =
      std::find_if(begin, rates.end(), [&](const Rate& one) { return one.kernel != kernel; });
  return {begin, end};
}

double rate_of(std::span<const Rate> rates, std::string_view variant) {
  const auto at = std::find_if(rates.begin(), rates.end(),
                               [&](const Rate& one) { return one.variant == variant; });
  return at != rates.end() ? at->tflops : 0;
}

const CostTable& costs_for(std::string_view device_name) {
  const CostTable* const own = find(device_name);
  return own ? *own : kH200Costs;
}

bool has_costs(std::string_view device_name) { return find(device_name) != nullptr; }

}  // namespace tessera::gemm
