// Names inside a function. Inline asm opens { } scopes that declare the same names again and again.
// The executor has no scopes, so names of inner scopes get a suffix that makes them unique.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "vgpu/ptx/ast.h"

namespace tessera::vgpu::ptx {

// What a name refers to. `name` is unique in the function.
struct Binding {
  Space space = Space::kRegister;
  int vector_width = 1;  // a .v4 register is name.x to name.w
  std::string name;
};

// A use of a label, perhaps before its declaration, by an operand or by a table entry.
struct LabelUse {
  enum class Where : std::uint8_t { kOperand, kTable } where = Where::kOperand;
  std::size_t owner = 0;  // index of the instruction or of the table
  std::size_t index = 0;  // index of the operand or of the entry
  std::string_view name;  // the name in the PTX
  std::uint32_t line = 0;
};

class Scopes {
 public:
  void open();
  // Closes the innermost scope. Uses of labels that this scope does not declare move to the
  // enclosing scope. The other uses are returned, with the unique names of their labels.
  struct Resolved {
    LabelUse use;
    std::string name;
  };
  std::vector<Resolved> close();
  std::size_t depth() const { return scopes_.size(); }

  // Declares the name and returns its unique form; nullopt if this scope has declared it already.
  std::optional<std::string> declare(std::string_view name, Space space, int vector_width);
  bool declare_range(std::string_view prefix, std::uint64_t count);
  std::optional<std::string> declare_label(std::string_view name);
  bool has_label(std::string_view name) const { return scopes_.back().labels.contains(name); }
  void use_label(const LabelUse& use) { scopes_.back().uses.push_back(use); }
  // The uses that no closed scope has resolved, once only the outermost scope is open.
  const std::vector<LabelUse>& open_uses() const { return scopes_.back().uses; }

  std::optional<Binding> find(std::string_view name) const;
  std::string unique(std::string_view name) const;

 private:
  struct Range {
    std::string_view prefix;
    std::uint64_t count;
  };
  struct Scope {
    std::string suffix;
    std::unordered_map<std::string_view, Binding> names;
    std::vector<Range> ranges;
    std::unordered_map<std::string_view, std::string> labels;
    std::vector<LabelUse> uses;
  };
  std::vector<Scope> scopes_;
  int opened_ = 0;
};

}  // namespace tessera::vgpu::ptx
