#include "check/propose/call_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "check/arguments.h"
#include "check/values.h"

namespace tessera::checking {
namespace {

constexpr std::int64_t kTrialPointers = 64;

}  // namespace

std::size_t arrays_of(const KernelFacts& kernel) {
  std::size_t arrays = 0;
  for (const ParameterGuess& one : kernel.parameters) {
    for (const FieldGuess& field : one.fields) arrays += field.is_array;
    arrays += one.role == ParameterRole::kArray || one.role == ParameterRole::kPointers;
  }
  return arrays;
}

std::vector<Fills> fills_for(const KernelFacts& kernel) {
  bool has_integers = false, has_bytes = false;
  for (const ParameterGuess& one : kernel.parameters) {
    const bool is_array = one.role == ParameterRole::kArray;
    for (const FieldGuess& field : one.fields) {
      has_integers |= field.is_array && !is_float(field.type);
    }
    has_integers |= is_array && !is_float(one.type);
    has_bytes |= is_array && size_of(one.type) == 1;
  }
  std::vector<Fills> all = {Fills::kRepeated};
  if (has_integers) all.insert(all.end(), {Fills::kCounts, Fills::kZeros});
  if (has_bytes) all.push_back(Fills::kText);
  return all;
}

CallWords CallWriter::words_of(const Candidate& candidate, Fills fills, const Trial* trial) const {
  CallWords words = given_;
  if (words.grid.empty()) words.grid = dims_text(candidate.grid);
  if (words.block.empty()) words.block = dims_text(candidate.block);
  note_shape(candidate, words);
  if (words.cluster.empty() && candidate.cluster) words.cluster = dims_text(*candidate.cluster);
  if (words.shared.empty() && candidate.shared > 0) {
    words.shared = std::to_string(candidate.shared);
  }
  for (std::size_t i = words.arguments.size(); i < kernel_.parameters.size(); ++i) {
    add_argument(candidate, i, fills, trial, words);
  }
  return words;
}

void CallWriter::note_shape(const Candidate& candidate, CallWords& words) const {
  for (const auto& [name, value] : candidate.assumed) note(name, std::to_string(value), words);
  const auto note_part = [&](const char* name, const std::string& value, std::size_t part) {
    const std::string& why = candidate.untold[part];
    words.assumed.push_back(fmt::format("{} {}", name, value));
    if (!why.empty()) {
      words.assumed.back() += fmt::format(" (the launch has {}: give --{})", why, name);
    }
  };
  if (given_.shared.empty() && !candidate.tells_shared) {
    note_part("shared", std::to_string(candidate.shared), 2);
  }
  if (candidate.site == nullptr) return;  // a usual shape, all of it
  if (given_.grid.empty() && !candidate.tells_grid) note_part("grid", words.grid, 0);
  if (given_.block.empty() && !candidate.tells_block) note_part("block", words.block, 1);
}

void CallWriter::note(const std::string& name, const std::string& value, CallWords& words) {
  const std::string text = name + " = " + value;
  const auto found = std::find(words.assumed.begin(), words.assumed.end(), text);
  if (found == words.assumed.end()) words.assumed.push_back(text);
}

void CallWriter::add_argument(const Candidate& candidate, std::size_t i, Fills fills,
                              const Trial* trial, CallWords& words) const {
  const ParameterGuess& parameter = kernel_.parameters[i];
  std::string value;
  if (parameter.role == ParameterRole::kArray) {
    value = array_text(parameter, parameter.name, candidate.elements[i], fills, trial);
  } else if (parameter.role == ParameterRole::kPointers) {
    const std::string to = parameter.name + "_0";
    words.arrays.push_back(to + "=" + array_text(parameter, to, {}, fills, trial));
    std::int64_t count = kTrialPointers;
    if (trial != nullptr) {
      const auto reach = trial->reach.at(parameter.name);
      count = std::max<std::int64_t>(1, static_cast<std::int64_t>(reach.read / 8));
    }
    value = "pointers(" + to;
    for (std::int64_t k = 1; k < count; ++k) value += ", " + to;
    value += ")";
  } else if (parameter.role == ParameterRole::kTexture) {
    const std::string shape = kernel_.texture_rank == 3   ? "16,16,16"
                              : kernel_.texture_rank == 2 ? "64,64"
                                                          : "4096";
    const std::string fill = is_float(kernel_.texel) ? "uniform" : "iota";
    words.arrays.push_back(
        fmt::format("{}_0={}[{}]:{}", parameter.name, lab::word_of(kernel_.texel), shape, fill));
    value = fmt::format("texture({}_0)", parameter.name);
  } else if (parameter.role == ParameterRole::kStruct) {
    value = struct_text(candidate, i, fills, trial, words);
  } else {
    value = number_text(parameter, candidate.numbers[i]);
    if (candidate.site == nullptr || !candidate.numbers[i]) {
      note(parameter.name, value.substr(value.find(':') + 1), words);
    }
  }
  words.arguments.push_back(parameter.name + "=" + value);
}

// Returns the struct argument as text. Each pointer in the struct gets an array of its own. A
// number gets the value that the program's launch assigns to it, or 64 if that value is unknown.
std::string CallWriter::struct_text(const Candidate& candidate, std::size_t i, Fills fills,
                                    const Trial* trial, CallWords& words) const {
  const ParameterGuess& parameter = kernel_.parameters[i];
  const std::string zeros = "bytes:" + std::string(2 * parameter.bytes, '0');
  CallWords own;
  std::string text;
  std::size_t offset = 0;
  const auto add = [&](const std::string& more) {
    text += (text.empty() ? "struct(" : ", ") + more;
  };
  const auto pad_to = [&](std::size_t end) {
    if (offset < end) add(fmt::format("pad({})", end - offset));
    offset = std::max(offset, end);
  };
  for (const FieldGuess& field : parameter.fields) {
    const std::size_t bytes = field.is_array ? 8 : size_of(field.type) * field.lanes;
    const std::size_t alignment = field.lanes == 3 ? bytes / 3 : bytes;
    for (std::int64_t k = 0; k < field.count; ++k) {
      const std::size_t at = (offset + alignment - 1) / alignment * alignment;
      if (field.lanes > 1) pad_to(at);  // the text of a struct aligns all other fields
      add(field_text(candidate, i, field, k, {fills, trial}, own));
      offset = at + bytes;
    }
  }
  const auto whole = static_cast<std::size_t>(parameter.bytes);
  if (offset + 8 <= whole && offset + 16 > whole) pad_to(whole);
  text += ")";
  if (parameter.fields.empty() || !fits(text, parameter.bytes)) {
    note(parameter.name, "zeros", words);
    return zeros;
  }
  words.arrays.insert(words.arrays.end(), own.arrays.begin(), own.arrays.end());
  words.assumed.insert(words.assumed.end(), own.assumed.begin(), own.assumed.end());
  return text;
}

std::string CallWriter::field_text(const Candidate& candidate, std::size_t i,
                                   const FieldGuess& field, std::int64_t k, const Filling& filling,
                                   CallWords& words) const {
  const std::string suffix = k == 0 ? "" : std::to_string(k);
  ParameterGuess one;
  one.type = field.type;
  if (field.is_array) {
    const std::string name = kernel_.parameters[i].name + "_" + field.name + suffix;
    words.arrays.push_back(name + "=" + array_text(one, name, {}, filling.fills, filling.trial));
    return name;
  }
  const auto& values = candidate.fields[i];
  const auto value = values.find(field.name);
  const bool is_known = value != values.end() && value->second;
  std::string text = number_text(one, is_known ? value->second : std::nullopt);
  const bool has_dims = is_known && value->second->dims && field.lanes == 3;
  if (has_dims) {
    const auto& dims = *value->second->dims;
    text = fmt::format("u32:{}, u32:{}, u32:{}", dims[0], dims[1], dims[2]);
  } else {
    const std::string lane = text;
    for (int other = 1; other < field.lanes; ++other) text += ", " + lane;
  }
  if (!is_known) {
    const std::string none = number_text(one, std::nullopt);
    note(kernel_.parameters[i].name + "." + field.name, none.substr(none.find(':') + 1), words);
  }
  return text;
}

// Whether the struct has the size that the kernel takes; false if the real type of a field differs
// from the type in the source.
bool CallWriter::fits(const std::string& text, std::size_t bytes) {
  const Argument argument = parse_argument("--arg", "x=" + text);
  const auto* fields = std::get_if<StructArgument>(&argument.value);
  return fields != nullptr && size_of(*fields, 1) == bytes;
}

std::string CallWriter::number_text(const ParameterGuess& parameter,
                                    const std::optional<HostValue>& value) {
  const std::string_view word = lab::word_of(parameter.type);
  if (is_float(parameter.type)) return fmt::format("{}:{}", word, value ? value->number() : 1.0);
  return fmt::format("{}:{}", word, value ? value->whole() : 64);
}

std::string CallWriter::array_text(const ParameterGuess& parameter, const std::string& name,
                                   const std::optional<Allocated>& allocated, Fills fills,
                                   const Trial* trial) const {
  const std::int64_t size = size_of(parameter.type);
  const auto own_size = trial_sizes.find(name);
  const std::int64_t most = own_size == trial_sizes.end() ? trial_bytes : own_size->second;
  std::int64_t elements = most / size;
  bool is_output = false;
  if (trial != nullptr) {
    const ArrayReach reach = trial->reach.at(name);
    const auto bytes = static_cast<std::int64_t>(std::max(reach.read, reach.written));
    elements = std::max<std::int64_t>(1, (bytes + size - 1) / size);
    const bool is_more = allocated && allocated->elements > elements;
    if (is_more && allocated->elements * size <= most) elements = allocated->elements;
    const bool is_less = allocated && allocated->is_certain && allocated->elements < elements;
    if (is_less && keeps_allocated) elements = std::max<std::int64_t>(1, allocated->elements);
    is_output = reach.written != 0 && !parameter.is_constant;
  }
  const Fills own = fills == Fills::kInputs ? this->fills : fills;
  std::string text = fmt::format("{}[{}]", lab::word_of(parameter.type), elements);
  const bool is_filled = fills != Fills::kInputs || !is_output || filled.count(name) != 0;
  if (!is_filled) return text;
  // A trial with large arrays only finds out how far the kernel reaches into them, so the arrays
  // hold zeros: drawing random numbers would take most of the trial's time.
  const bool is_large = trial == nullptr && most > kTrialBytes;
  if (is_float(parameter.type)) return text + (is_large ? ":zeros" : ":uniform");
  const bool is_plain = !parameter.is_opaque && (filled.count(name) == 0 || !parameter.is_counted);
  const bool any_order = own == Fills::kRepeated || own == Fills::kShuffled;
  const bool counts =
      own == Fills::kCounts || ((any_order || own == Fills::kRows) && parameter.is_sorted);
  if (is_plain && counts) return text + ":iota";
  if (is_plain && any_order) return text + (own == Fills::kRepeated ? ":repeated" : ":shuffled");
  return text + (is_plain && own == Fills::kText && size == 1 ? ":constant=100" : ":zeros");
}

std::vector<std::string> CallWriter::overruns(const Candidate& candidate,
                                              const Trial& trial) const {
  std::vector<std::string> all;
  for (std::size_t i = given_.arguments.size(); i < kernel_.parameters.size(); ++i) {
    const ParameterGuess& parameter = kernel_.parameters[i];
    if (parameter.role != ParameterRole::kArray || parameter.is_opaque) continue;
    const auto& allocated = candidate.elements[i];
    if (!allocated || !allocated->is_certain) continue;
    const ArrayReach reach = trial.reach.at(parameter.name);
    const int size = size_of(parameter.type);
    const auto reached =
        static_cast<std::int64_t>((std::max(reach.read, reach.written) + size - 1) / size);
    if (reached <= allocated->elements) continue;
    all.push_back(
        fmt::format("of {} the program allocates {} elements ({}), and the kernel reaches {}",
                    parameter.name, allocated->elements, allocated->text, reached));
  }
  return all;
}

}  // namespace tessera::checking
