#include "lab/record/json_number.h"

#include <cmath>
#include <limits>

#include "base/status.h"

namespace tessera::lab {

Json json_number(double value) {
  if (std::isfinite(value)) return value;
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

double number_of(const Json& json) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (json.is_number()) return json.get<double>();
  if (json == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (json == "inf") return kInfinity;
  if (json == "-inf") return -kInfinity;
  throw StatusError(Status::bad_argument("JSON holds " + json.dump() +
                                         " where a number, \"nan\", \"inf\" or \"-inf\" stands"));
}

}  // namespace tessera::lab
