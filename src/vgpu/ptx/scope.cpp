// A range of registers (%r<1480>) is stored as prefix and count. So declaring a range costs
// nothing, and looking up a name means splitting off its number.
#include "vgpu/ptx/scope.h"

#include <charconv>

namespace tessera::vgpu::ptx {
namespace {

// Splits "%r12" into "%r" and 12. Returns nullopt if the name has no number, or a number with a
// leading zero, which no range declares.
struct NumberedName {
  std::string_view prefix;
  std::uint64_t number;
};
std::optional<NumberedName> split_number(std::string_view name) {
  std::size_t begin = name.size();
  while (begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9') --begin;
  if (begin == name.size()) return std::nullopt;
  if (name[begin] == '0' && begin + 1 != name.size()) return std::nullopt;
  NumberedName split{name.substr(0, begin), 0};
  std::from_chars(name.data() + begin, name.data() + name.size(), split.number);
  return split;
}

}  // namespace

void Scopes::open() {
  const int id = opened_++;
  Scope scope;
  if (id > 0) scope.suffix = "@" + std::to_string(id);
  scopes_.push_back(std::move(scope));
}

std::vector<Scopes::Resolved> Scopes::close() {
  Scope closed = std::move(scopes_.back());
  scopes_.pop_back();
  std::vector<Resolved> resolved;
  for (const LabelUse& use : closed.uses) {
    const auto found = closed.labels.find(use.name);
    if (found != closed.labels.end()) {
      resolved.push_back({use, found->second});
    } else if (!scopes_.empty()) {
      scopes_.back().uses.push_back(use);
    }
  }
  return resolved;
}

std::string Scopes::unique(std::string_view name) const {
  return std::string(name) + scopes_.back().suffix;
}

std::optional<std::string> Scopes::declare(std::string_view name, Space space, int vector_width) {
  Binding binding{space, vector_width, unique(name)};
  const auto [entry, is_new] = scopes_.back().names.emplace(name, std::move(binding));
  if (!is_new) return std::nullopt;
  return entry->second.name;
}

bool Scopes::declare_range(std::string_view prefix, std::uint64_t count) {
  for (const Range& range : scopes_.back().ranges) {
    if (range.prefix == prefix) return false;
  }
  scopes_.back().ranges.push_back({prefix, count});
  return true;
}

std::optional<std::string> Scopes::declare_label(std::string_view name) {
  const auto [entry, is_new] = scopes_.back().labels.emplace(name, unique(name));
  if (!is_new) return std::nullopt;
  return entry->second;
}

std::optional<Binding> Scopes::find(std::string_view name) const {
  const std::optional<NumberedName> numbered = split_number(name);
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto found = scope->names.find(name);
    if (found != scope->names.end()) return found->second;
    if (!numbered) continue;
    for (const Range& range : scope->ranges) {
      if (range.prefix == numbered->prefix && numbered->number < range.count) {
        return Binding{Space::kRegister, 1, std::string(name) + scope->suffix};
      }
    }
  }
  return std::nullopt;
}

}  // namespace tessera::vgpu::ptx
