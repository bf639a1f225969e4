// Finds the catalog rows for the kernel names that a user types.
#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "catalog/catalog.h"

namespace tessera {
namespace {

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
}

// Whether a pattern selects the kernel: a word for many kernels ("all", "rungs", "library"), a
// number ("2", "02"), or a glob over full names.
bool matches(const Kernel& kernel, const std::string& pattern) {
  if (pattern == "all") return true;
  if (pattern == "rungs") return is_rung(kernel);
  if (pattern == "library") return !is_rung(kernel);
  if (is_number(pattern)) {
    const std::string number = kernel.name.substr(0, kernel.name.find('_'));
    return number == pattern || number == "0" + pattern;
  }
  return fnmatch(pattern.c_str(), kernel.name.c_str(), 0) == 0;
}

std::string names_of_kernels() {
  std::string names;
  for (const Kernel& kernel : all_kernels()) names += (names.empty() ? "" : ", ") + kernel.name;
  return names;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// Appends the wanted variants of a kernel; the default variant if no variant is wanted.
void add_variants(const Kernel& kernel, std::optional<std::string_view> wanted,
                  const std::string& decision, std::vector<KernelChoice>& out) {
  const std::vector<std::string> variants = variants_of(kernel);
  if (!wanted) {
    out.push_back({&kernel, variants.front(), decision});
    return;
  }
  const std::string glob(*wanted == "all" ? "*" : *wanted);
  bool found = false;
  for (const std::string& variant : variants) {
    if (fnmatch(glob.c_str(), variant.c_str(), 0) != 0) continue;
    out.push_back({&kernel, variant, decision});
    found = true;
  }
  if (!found) {
    throw StatusError(Status::bad_argument("kernel names variant '" + std::string(*wanted) +
                                           "' of " + kernel.name +
                                           ", but its variants are: " + joined(variants)));
  }
}

// Appends the kernels that an item names. An item is NAME or NAME/VARIANT, with an optional
// :DECISION.
void add_choice(std::string_view item, std::vector<KernelChoice>& out) {
  const std::size_t colon = std::min(item.find(':'), item.size());
  const std::string decision(item.substr(std::min(colon + 1, item.size())));
  item = item.substr(0, colon);
  const std::size_t slash = item.find('/');
  const std::string pattern(item.substr(0, slash));
  std::optional<std::string_view> variant;
  if (slash != std::string_view::npos) variant = item.substr(slash + 1);
  bool found = false;
  for (const Kernel& kernel : all_kernels()) {
    if (!matches(kernel, pattern)) continue;
    add_variants(kernel, variant, decision, out);
    found = true;
  }
  if (!found) {
    throw StatusError(Status::bad_argument(
        "kernel is '" + std::string(item) +
        "', but must be 'all', 'rungs', 'library', a name, its number or a glob of: " +
        names_of_kernels()));
  }
}

}  // namespace

std::vector<KernelChoice> choose_kernels(std::string_view pattern) {
  std::vector<KernelChoice> choices;
  for (std::size_t begin = 0; begin <= pattern.size();) {
    const std::size_t comma = std::min(pattern.find(',', begin), pattern.size());
    add_choice(pattern.substr(begin, comma - begin), choices);
    begin = comma + 1;
  }
  return choices;
}

}  // namespace tessera
