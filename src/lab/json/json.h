// Declares the JSON type by name only: the library's whole header costs two seconds, so only files
// that make or read values include it (<nlohmann/json.hpp>).
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace tessera::lab {

using Json = nlohmann::ordered_json;

}  // namespace tessera::lab
