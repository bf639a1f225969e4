// The library's messages name fields of a problem ("lda is 3, but must be at least 5"), because its
// callers have no command line. The functions here replace a field by the option that sets it.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tessera::cli {

struct FieldOption {
  std::string_view field;   // the field's name in messages of the library
  std::string_view option;  // the option that sets the field; empty: no option
};

// The table of all fields and their options.
std::span<const FieldOption> field_options();

// Text that the command line adds to advice of the library, which does not know the virtual GPU.
struct Advice {
  std::string_view said, more;
};
std::span<const Advice> advice();

// "lda is 3, but must ..." -> "--lda is 3, but must ..."; "m is 5 and n is 7, but ..." -> "-m is 5
// and -n is 7, but ...". Keeps quoted text and all text after the first ", but". Adds advice.
std::string in_options(std::string message);

}  // namespace tessera::cli
