#include "gemm/overlay/call_text.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <set>
#include <vector>

#include "base/numbers.h"

namespace tessera::gemm {
namespace {

constexpr std::int64_t kMostOfSteps = 128;                   // bytes
constexpr std::int64_t kLeastOfAny = std::int64_t{1} << 30;  // bytes of workspace
constexpr const char* kAny = "any";

std::string joined(std::initializer_list<std::int64_t> numbers) {
  std::string text;
  for (const std::int64_t one : numbers) text += (text.empty() ? "" : ",") + std::to_string(one);
  return text;
}

std::int64_t step_class(std::int64_t ld, std::int64_t stride, ElementType type) {
  // WHY unsigned: the leading dimension of a matrix of one line may be any
  // number, and may overflow.
  std::uint64_t bits = kMostOfSteps;
  for (const std::int64_t step : {ld, stride}) {
    bits |= static_cast<std::uint64_t>(step) * static_cast<std::uint64_t>(size_of(type));
  }
  return static_cast<std::int64_t>(bits & (~bits + 1));
}

std::string step_classes(const Problem& p) {
  const bool has_strides = p.batch.kind == BatchKind::kStrided;
  const auto of = [&](std::int64_t ld, std::int64_t stride, ElementType type) {
    return step_class(ld, has_strides ? stride : 0, type);
  };
  return joined({of(p.lda, p.batch.stride_a, p.types.a), of(p.ldb, p.batch.stride_b, p.types.b),
                 of(p.ldc, p.batch.stride_c, p.types.c), of(p.ldd, p.batch.stride_d, p.types.d)});
}

std::string workspace_text(std::int64_t bytes, bool is_class) {
  if (bytes == kAnyWorkspace || (is_class && bytes >= kLeastOfAny)) return kAny;
  if (!is_class) return std::to_string(bytes);
  return std::to_string(
      std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(0, bytes))));
}

// The operands that all products of a batch share, as a word of the text.
std::string shared_text(const Batch& batch) {
  std::string text;
  if (batch.stride_a == 0) text += "a";
  if (batch.stride_b == 0) text += "b";
  if (batch.stride_c == 0) text += "c";
  return text.empty() ? text : " shared=" + text;
}

std::string batch_text(const Batch& batch, bool is_class) {
  if (batch.kind == BatchKind::kNone) return "";
  const std::string count = std::to_string(batch.count);
  if (batch.kind == BatchKind::kPointers) {
    return " pointers=" + count + "," + std::to_string(batch.alignment);
  }
  if (is_class) return " batch=" + count + shared_text(batch);
  return " batch=" + count +
         " strides=" + joined({batch.stride_a, batch.stride_b, batch.stride_c, batch.stride_d});
}

std::string text_of(const CallToPlan& call, bool is_class) {
  const Problem p = with_default_ld(call.problem);
  if (p.batch.kind == BatchKind::kGroups || !p.scales.none()) return "";
  const Alignment& at = call.alignment;
  std::string text = "type=" + name_of(p.types) + " order=" + std::string(name_of(p.order)) +
                     " layout=" + layout_of(p) + " m=" + std::to_string(p.m) +
                     " n=" + std::to_string(p.n) + " k=" + std::to_string(p.k);
  text += is_class ? " steps=" + step_classes(p) : " ld=" + joined({p.lda, p.ldb, p.ldc, p.ldd});
  text += batch_text(p.batch, is_class) + " beta=" + (p.beta == 0 ? "0" : "1");
  if (!p.epilogue.is_identity()) text += " epilogue=" + name_of(p.epilogue);
  return text + " align=" + joined({at.a, at.b, at.c, at.d}) +
         " workspace=" + workspace_text(call.workspace_limit, is_class);
}

// Reads the words of a call.
class CallReader {
 public:
  explicit CallReader(std::string_view text) : text_(text) {}

  CallToPlan read() {
    for (const std::string& word : split(text_, ' ')) {
      if (!word.empty()) read_word(word);
    }
    for (const char* const key : {"type", "m", "n", "k"}) {
      if (!seen_.contains(key)) refuse(key, "is missing");
    }
    // WHY at the end: the words may have any order.
    if (!strides_.empty()) {
      if (call_.problem.batch.kind != BatchKind::kStrided) refuse("strides", "needs batch=");
      Batch& batch = call_.problem.batch;
      batch.stride_a = strides_[0], batch.stride_b = strides_[1];
      batch.stride_c = strides_[2], batch.stride_d = strides_[3];
    }
    call_.problem = with_default_ld(call_.problem);
    require(check(call_.problem));
    return std::move(call_);
  }

 private:
  void read_word(std::string_view word) {
    const std::size_t sign = std::min(word.find('='), word.size());
    const std::string key(word.substr(0, sign));
    const std::string_view value = word.substr(std::min(sign + 1, word.size()));
    if (!seen_.insert(key).second) refuse(word, "is there twice");
    Problem& p = call_.problem;
    if (key == "type") {
      p.types = parse_types("type", value);
    } else if (key == "order") {
      p.order = parse_order(value);
    } else if (key == "layout") {
      set_layout(p, value);
    } else if (key == "m" || key == "n" || key == "k") {
      (key == "m" ? p.m : key == "n" ? p.n : p.k) = number(word, value);
    } else if (key == "ld") {
      const auto ld = numbers(word, value, 4);
      p.lda = ld[0], p.ldb = ld[1], p.ldc = ld[2], p.ldd = ld[3];
    } else if (key == "beta") {
      p.beta = number(word, value) == 0 ? 0 : 1;
    } else if (key == "epilogue") {
      p.epilogue = parse_epilogue(value);
    } else {
      read_rest(word, key, value);
    }
  }

  void read_rest(std::string_view word, std::string_view key, std::string_view value) {
    Batch& batch = call_.problem.batch;
    if (key == "batch" || key == "pointers") {
      if (batch.kind != BatchKind::kNone) refuse(word, "is a second batch");
      const bool is_strided = key == "batch";
      const auto list = numbers(word, value, is_strided ? 1 : 2);
      batch.kind = is_strided ? BatchKind::kStrided : BatchKind::kPointers;
      batch.count = list[0];
      if (!is_strided) batch.alignment = list[1];
    } else if (key == "strides") {
      strides_ = numbers(word, value, 4);
    } else if (key == "align") {
      const auto list = numbers(word, value, 4);
      for (const std::int64_t one : list) {
        const bool is_power = one > 0 && (one & (one - 1)) == 0;
        if (!is_power || one > kMostAlignment) refuse(word, "must be powers of two up to 16");
      }
      call_.alignment = {static_cast<int>(list[0]), static_cast<int>(list[1]),
                         static_cast<int>(list[2]), static_cast<int>(list[3])};
    } else if (key == "workspace") {
      call_.workspace_limit = value == kAny ? kAnyWorkspace : number(word, value);
    } else {
      refuse(word,
             "must be one of type, order, layout, m, n, k, ld, beta, batch, strides, pointers, "
             "epilogue, align, workspace");
    }
  }

  std::vector<std::int64_t> numbers(std::string_view word, std::string_view text,
                                    std::size_t count) const {
    std::vector<std::int64_t> list;
    for (const std::string& one : split(text, ',')) list.push_back(number(word, one));
    if (list.size() != count) refuse(word, "must have " + std::to_string(count) + " numbers");
    return list;
  }

  std::int64_t number(std::string_view word, std::string_view digits) const {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || value < 0) {
      refuse(word, "must be a number from 0 to 2^63 - 1");
    }
    return value;
  }

  [[noreturn]] void refuse(std::string_view word, const std::string& why) const {
    throw StatusError(Status::bad_argument("the call is '" + std::string(text_) + "', but '" +
                                           std::string(word) + "' " + why));
  }

  const std::string_view text_;
  CallToPlan call_;
  std::set<std::string> seen_;
  std::vector<std::int64_t> strides_;
};

}  // namespace

std::string text_of(const CallToPlan& call) { return text_of(call, false); }

CallToPlan call_of(std::string_view text) { return CallReader(text).read(); }

std::string key_of(const CallToPlan& call) { return text_of(call, true); }

}  // namespace tessera::gemm
