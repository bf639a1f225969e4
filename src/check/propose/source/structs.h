// The fields of a struct that a kernel takes by value, as the source declares them.
#pragma once

#include <string>
#include <vector>

#include "check/propose/source/host_source.h"

namespace tessera::checking {

struct SourceField {
  std::string name;
  std::string type;  // "float", "unsigned int"
  bool is_pointer = false;
  std::int64_t count = 1;  // elements of an array
  TokenRange initial;      // "3" of "int n = 3;"
};

// Returns the fields of a struct; nothing if the source has no such struct, or if a field is not a
// pointer, a number, or an array of pointers or numbers with a number as its extent.
std::vector<SourceField> fields_of(const HostSource& source, const std::string& name);

}  // namespace tessera::checking
