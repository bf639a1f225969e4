// Names and rules of the optional parts of a problem: batch, epilogue and scales.
#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "problem/batch.h"
#include "problem/epilogue.h"
#include "problem/scales.h"

namespace tessera {
namespace {

constexpr std::string_view kVectorScales[] = {"", "scale per row", "scale per column"};
constexpr std::string_view kBiases[] = {"", "bias per row", "bias per column"};
constexpr std::string_view kAuxiliaries[] = {"", "auxiliary output"};
constexpr std::string_view kScales[] = {"", "per tensor", "per row"};
constexpr std::string_view kBatches[] = {"no batch", "a strided batch", "a batch of pointers",
                                         "a batch of groups of rows"};

// The name of an enum's value; "unknown" for a value beyond the last name.
template <class Names, class Value>
std::string_view word_of(const Names& names, Value value) {
  const auto at = static_cast<std::size_t>(value);
  return at < std::size(names) ? names[at] : "unknown";
}

template <class Names, class Value>
Status check_value(const Names& names, std::string_view what, Value value) {
  if (static_cast<std::size_t>(value) < std::size(names)) return {};
  return Status::bad_argument(std::string(what) + " is number " +
                              std::to_string(static_cast<int>(value)) +
                              ", but there is no such value");
}

void append(std::string& text, std::string_view words) {
  if (words.empty()) return;
  text += (text.empty() ? "" : ", ") + std::string(words);
}

// The words in the name of an epilogue, in the order of its operations; each word sets one field.
constexpr int kVectorWords = 4;
constexpr auto kEpilogueWords = [] {
  std::array<std::pair<std::string_view, Epilogue>, kVectorWords + kActivationCount> words{{
      {"scale_row", {.scale = VectorKind::kPerRow}},
      {"scale_col", {.scale = VectorKind::kPerColumn}},
      {"bias_row", {.bias = VectorKind::kPerRow}},
      {"bias_col", {.bias = VectorKind::kPerColumn}},
  }};
  for (int i = 1; i < kActivationCount; ++i) {
    words[kVectorWords + i - 1] = {kActivations[i].name,
                                   {.activation = kActivations[i].activation}};
  }
  words.back() = {"aux", {.auxiliary = Auxiliary::kBeforeActivation}};
  return words;
}();

// Whether `whole` has the same value as `part` in the one field that `part` sets.
bool is_part_of(const Epilogue& part, const Epilogue& whole) {
  const Epilogue none;
  return (part.scale == none.scale || part.scale == whole.scale) &&
         (part.bias == none.bias || part.bias == whole.bias) &&
         (part.activation == none.activation || part.activation == whole.activation) &&
         (part.auxiliary == none.auxiliary || part.auxiliary == whole.auxiliary);
}

// Sets the field of `whole` that `part` sets. Returns false if that field had a value already.
bool add_to(Epilogue& whole, const Epilogue& part) {
  const Epilogue none;
  const auto add = [](auto& to, auto value, auto nothing) {
    if (value == nothing) return true;
    const bool is_free = to == nothing;
    to = value;
    return is_free;
  };
  return add(whole.scale, part.scale, none.scale) && add(whole.bias, part.bias, none.bias) &&
         add(whole.activation, part.activation, none.activation) &&
         add(whole.auxiliary, part.auxiliary, none.auxiliary);
}

Status check_strided(const Batch& batch) {
  const struct {
    std::string_view name;
    std::int64_t value;
  } strides[] = {{"stride_a", batch.stride_a},
                 {"stride_b", batch.stride_b},
                 {"stride_c", batch.stride_c},
                 {"stride_d", batch.stride_d},
                 {"stride_x", batch.stride_x}};
  for (const auto& [name, value] : strides) {
    if (value < 0) {
      return Status::bad_argument(std::string(name) + " is " + std::to_string(value) +
                                  ", but must be at least 0");
    }
  }
  if (batch.count > 1 && batch.stride_d == 0) {
    return Status::bad_argument("stride_d is 0, but " + std::to_string(batch.count) +
                                " products must not share one D");
  }
  return {};
}

Status check_groups(const Batch& batch) {
  const auto groups = static_cast<std::int64_t>(batch.rows.size());
  if (groups != batch.count) {
    return Status::bad_argument("batch_count is " + std::to_string(batch.count) + ", but " +
                                std::to_string(groups) + " groups have a number of rows");
  }
  for (std::size_t i = 0; i < batch.rows.size(); ++i) {
    if (batch.rows[i] >= 0) continue;
    return Status::bad_argument("rows of group " + std::to_string(i) + " are " +
                                std::to_string(batch.rows[i]) + ", but must be at least 0");
  }
  if (batch.stride_b < 0 || batch.stride_a != 0 || batch.stride_c != 0 || batch.stride_d != 0) {
    return Status::bad_argument(
        "stride_b is " + std::to_string(batch.stride_b) +
        ", but must be at least 0 in a batch of groups, and the other strides 0");
  }
  return {};
}

}  // namespace

Status check(const Batch& batch) {
  if (Status status = check_value(kBatches, "batch kind", batch.kind); !status.ok()) return status;
  if (batch.count < 0 || (batch.kind == BatchKind::kNone && batch.count != 1)) {
    return Status::bad_argument(
        "batch_count is " + std::to_string(batch.count) + ", but must be " +
        (batch.kind == BatchKind::kNone ? "1 without a batch" : "at least 0"));
  }
  if (batch.kind == BatchKind::kStrided) return check_strided(batch);
  if (batch.kind == BatchKind::kGroups) return check_groups(batch);
  const std::int64_t a = batch.alignment;
  if (batch.kind == BatchKind::kPointers && (a <= 0 || (a & (a - 1)) != 0)) {
    return Status::bad_argument(
        "batch_alignment is " + std::to_string(a) +
        ", but must be a power of two: what every address is a multiple of");
  }
  return {};
}

std::string describe(const Batch& batch) {
  return std::string(word_of(kBatches, batch.kind)) +
         (batch.kind == BatchKind::kNone ? "" : " of " + std::to_string(batch.count));
}

Status check(const Epilogue& epilogue) {
  Status status = check_value(kVectorScales, "epilogue scale", epilogue.scale);
  if (status.ok()) status = check_value(kBiases, "epilogue bias", epilogue.bias);
  if (status.ok()) status = check_value(kAuxiliaries, "epilogue auxiliary", epilogue.auxiliary);
  return status.ok() ? check_value(kActivations, "epilogue activation", epilogue.activation)
                     : status;
}

std::string describe(const Epilogue& epilogue) {
  std::string text;
  append(text, word_of(kVectorScales, epilogue.scale));
  append(text, word_of(kBiases, epilogue.bias));
  append(text, is_known(epilogue.activation) ? row_of(epilogue.activation).text : "unknown");
  append(text, word_of(kAuxiliaries, epilogue.auxiliary));
  return text.empty() ? "identity" : text;
}

std::string name_of(const Epilogue& epilogue) {
  std::string text;
  for (const auto& [word, part] : kEpilogueWords) {
    if (is_part_of(part, epilogue)) text += (text.empty() ? "" : "+") + std::string(word);
  }
  return text.empty() ? "none" : text;
}

std::string activation_names() {
  std::string names = kActivations[1].name;
  for (int i = 2; i < kActivationCount; ++i) {
    names += (i + 1 < kActivationCount ? ", " : " or ") + std::string(kActivations[i].name);
  }
  return names;
}

Epilogue parse_epilogue(std::string_view name) {
  Epilogue epilogue;
  if (name == "none") return epilogue;
  std::string accepted = "none";
  for (const auto& [word, part] : kEpilogueWords) accepted += ", " + std::string(word);
  const auto refused = [&](const std::string& why) {
    return StatusError(Status::bad_argument("epilogue is '" + std::string(name) + "', but " + why +
                                            ": " + accepted));
  };
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('+', begin), name.size());
    const auto known = std::ranges::find(kEpilogueWords, name.substr(begin, end - begin),
                                         [](const auto& row) { return row.first; });
    if (known == kEpilogueWords.end()) throw refused("must be one or more, joined by +, of");
    if (!add_to(epilogue, known->second)) {
      throw refused("must have at most one scale, bias, activation and auxiliary output of");
    }
    begin = end + 1;
  }
  return epilogue;
}

Status check(const Scales& scales) {
  for (const auto& [name, value] :
       {std::pair("scale of A", scales.a), {"scale of B", scales.b}, {"scale of D", scales.d}}) {
    if (Status status = check_value(kScales, name, value); !status.ok()) return status;
  }
  return {};
}

std::string describe(const Scales& scales) {
  std::string text;
  for (const auto& [name, value] :
       {std::pair("A ", scales.a), {"B ", scales.b}, {"D ", scales.d}}) {
    if (value != ScaleKind::kNone) append(text, name + std::string(word_of(kScales, value)));
  }
  return text.empty() ? "none" : text;
}

}  // namespace tessera
