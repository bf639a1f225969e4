// The library's messages name fields of a problem ("lda is 3, but must be at least 5"), because its
// callers have no command line. Here they are replaced by the options that set these fields.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tessera::cli {

struct FieldOption {
  std::string_view field;   // its name in messages of the library
  std::string_view option;  // empty: the command line has none
};

// The only table of these fields.
std::span<const FieldOption> field_options();

// Text that the command line adds to advice of the library, which does not know the virtual GPU.
struct Advice {
  std::string_view said, more;
};
std::span<const Advice> advice();

// "lda is 3, but must ..." -> "--lda is 3, but must ..."; "m is 5 and n is 7, but ..." -> both.
// What is quoted, and what follows the first ", but", stays as it is. Adds to advice.
std::string in_options(std::string message);

}  // namespace tessera::cli
