#include "lab/json/json_number.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

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
                                         ", but must hold a number, \"nan\", \"inf\" or \"-inf\""));
}

Json json_types(const Types& types) {
  const std::string name = name_of(types);
  if (name.find(',') == name.npos) return name;
  return {{"a", name_of(types.a)},
          {"b", name_of(types.b)},
          {"c", name_of(types.c)},
          {"d", name_of(types.d)},
          {"compute", name_of(types.compute)}};
}

Types types_of(const Json& json) {
  if (json.is_string()) return parse_types("type", json.get<std::string>());
  std::string five;
  for (const char* key : {"a", "b", "c", "d", "compute"}) {
    if (!json.is_object() || !json.contains(key) || !json.at(key).is_string()) {
      throw StatusError(Status::bad_argument("type is " + json.dump() +
                                             ", but must be a word, or types a, b, c, d, compute"));
    }
    five += (five.empty() ? "" : ",") + json.at(key).get<std::string>();
  }
  return parse_types("type", five);
}

}  // namespace tessera::lab
