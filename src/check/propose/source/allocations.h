// Finds the memory that a program allocates for its pointers.
#pragma once

#include <optional>
#include <string>

#include "check/propose/source/host_source.h"

namespace tessera::checking {

struct Allocation {
  TokenRange size;
  bool counts_elements = false;
  bool is_only =
      false;  // the text has no other allocation for the name, and no other value of the pointer
};

// Returns the allocation for this name in the function, or in the whole source.
std::optional<Allocation> allocation_of(const HostSource& source, const std::string& name,
                                        const SourceFunction* function);

}  // namespace tessera::checking
