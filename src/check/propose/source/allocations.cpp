#include "check/propose/source/allocations.h"

#include <algorithm>

#include "check/propose/source/assigned.h"

namespace tessera::checking {
namespace {

// Whether the words are the variable x itself: "&x" or "(void**)&x", but not "&s.x".
bool is_whole(TokenRange words, const std::string& name) {
  const TokenRange plain = without_casts(words);
  return plain.size() == 1 && plain.first->text == name;
}

// Whether the variable changes here: by "x = VALUE", where VALUE is not "nullptr" or another zero,
// by "x += n" or by "++x".
bool is_given_another(const Token* token, TokenRange all) {
  if (token + 2 >= all.last) return false;
  const bool is_step = token[1].is("++") || token[1].is("+=") || token[1].is("-=") ||
                       (token != all.first && token[-1].is("++"));
  const bool is_null = token[2].is("nullptr") || token[2].is("NULL") || token[2].is("0");
  return is_step || (token[1].is("=") && !is_null);
}

}  // namespace

std::optional<Allocation> allocation_of(const HostSource& source, const std::string& name,
                                        const SourceFunction* function) {
  const TokenRange all = function != nullptr ? function->body : source.all();
  std::optional<Allocation> found;
  bool is_other = false;
  for (const Token* token = all.first; token + 2 < all.last; ++token) {
    if (!token->is_name()) continue;
    if (token->text.starts_with("cudaMalloc") && token[1].is("(")) {
      const auto given = split_at_commas({token + 2, skip_group(token + 1, all.last) - 1});
      const bool is_it =
          given.size() >= 2 && std::any_of(given[0].first, given[0].last,
                                           [&](const Token& one) { return one.text == name; });
      if (!is_it) continue;
      if (!found)
        found = Allocation{given[1], false, is_whole(given[0], name)};
      else
        is_other = true;
    } else if (token->text == name && token != all.first) {
      if (token[-1].is(">") && token[1].is("(")) {
        if (!found) found = Allocation{{token + 2, skip_group(token + 1, all.last) - 1}, true};
      } else {
        is_other |= is_given_another(token, all);
      }
    }
  }
  if (found) found->is_only &= !is_other;
  return found;
}

}  // namespace tessera::checking
