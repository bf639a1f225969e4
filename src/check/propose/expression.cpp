#include "check/propose/expression.h"

#include <cmath>
#include <cstdlib>

#include "check/propose/run_function.h"

namespace tessera::checking {
namespace {

constexpr int kDeepestGroup = 40;  // an expression nested more deeply counts as endless

const std::map<std::string, int>& sizes() {
  static const std::map<std::string, int> kSizes = {
      {"char", 1},          {"bool", 1},        {"int8_t", 1},   {"uint8_t", 1}, {"uchar", 1},
      {"short", 2},         {"int16_t", 2},     {"uint16_t", 2}, {"half", 2},    {"__half", 2},
      {"__nv_bfloat16", 2}, {"half2", 4},       {"__half2", 4},  {"int", 4},     {"unsigned", 4},
      {"uint", 4},          {"int32_t", 4},     {"uint32_t", 4}, {"float", 4},   {"uchar4", 4},
      {"long", 8},          {"int64_t", 8},     {"uint64_t", 8}, {"size_t", 8},  {"double", 8},
      {"float2", 8},        {"int2", 8},        {"float3", 12},  {"float4", 16}, {"int4", 16},
      {"double2", 16},      {"cufftComplex", 8}};
  return kSizes;
}

bool is_type_word(const Token& token) {
  static const std::set<std::string> kOthers = {"const", "signed", "volatile",
                                                "dim3",  "struct", "auto"};
  return token.is_name() && (sizes().count(token.text) != 0 || kOthers.count(token.text) != 0);
}

std::optional<HostValue> number_of(const std::string& text) {
  std::string digits;
  for (const char c : text) {
    if (c != '\'') digits += c;
  }
  const bool is_hex = digits.starts_with("0x") || digits.starts_with("0X");
  const bool is_real = !is_hex && digits.find_first_of(".eE") != std::string::npos;
  if (is_real || (!is_hex && digits.ends_with('f'))) {
    return real_value(std::strtod(digits.c_str(), nullptr));
  }
  return whole_value(static_cast<std::int64_t>(std::strtoull(digits.c_str(), nullptr, 0)));
}

std::optional<HostValue> computed(const std::string& sign, const HostValue& a, const HostValue& b) {
  if (sign == "&&") return whole_value(a.number() != 0 && b.number() != 0);
  if (sign == "||") return whole_value(a.number() != 0 || b.number() != 0);
  if (sign == "==") return whole_value(a.number() == b.number());
  if (sign == "!=") return whole_value(a.number() != b.number());
  if (sign == "<") return whole_value(a.number() < b.number());
  if (sign == ">") return whole_value(a.number() > b.number());
  if (sign == "<=") return whole_value(a.number() <= b.number());
  if (sign == ">=") return whole_value(a.number() >= b.number());
  if (a.is_real || b.is_real) {
    if (sign == "+") return real_value(a.number() + b.number());
    if (sign == "-") return real_value(a.number() - b.number());
    if (sign == "*") return real_value(a.number() * b.number());
    if (sign == "/") return real_value(a.number() / b.number());
    return std::nullopt;
  }
  const auto x = static_cast<std::uint64_t>(a.integer), y = static_cast<std::uint64_t>(b.integer);
  if (sign == "+") return whole_value(static_cast<std::int64_t>(x + y));
  if (sign == "-") return whole_value(static_cast<std::int64_t>(x - y));
  if (sign == "*") return whole_value(static_cast<std::int64_t>(x * y));
  if (sign == "&") return whole_value(a.integer & b.integer);
  if (sign == "|") return whole_value(a.integer | b.integer);
  if (sign == "^") return whole_value(a.integer ^ b.integer);
  if (sign == "<<" && y < 63) return whole_value(static_cast<std::int64_t>(x << y));
  if (sign == ">>" && y < 63) return whole_value(a.integer >> b.integer);
  if (b.integer == 0 || b.integer == -1) return std::nullopt;
  if (sign == "/") return whole_value(a.integer / b.integer);
  if (sign == "%") return whole_value(a.integer % b.integer);
  return std::nullopt;
}

}  // namespace

HostValue whole_value(std::int64_t integer) {
  HostValue value;
  value.integer = integer;
  return value;
}

HostValue real_value(double real) {
  HostValue value;
  value.is_real = true;
  value.real = real;
  return value;
}

int bytes_of_type(TokenRange words) {
  int bytes = 0, longs = 0;
  for (const Token* token = words.first; token != words.last; ++token) {
    if (token->is("*")) return 8;
    longs += token->is("long");
    const auto found = sizes().find(token->text);
    if (found != sizes().end() && (bytes == 0 || !token->is("int"))) bytes = found->second;
  }
  return longs != 0 ? 8 : bytes;
}

int ExpressionReader::operator_here(std::string& sign, int& length) const {
  static const std::map<std::string, int> kRanks = {
      {"||", 1}, {"&&", 2}, {"|", 3}, {"^", 4},  {"&", 5},  {"==", 6},
      {"!=", 6}, {"<", 7},  {">", 7}, {"<=", 7}, {">=", 7}, {"<<", 8},
      {">>", 8}, {"+", 9},  {"-", 9}, {"*", 10}, {"/", 10}, {"%", 10}};
  if (at_ == last_) return 0;
  sign = at_->text;
  length = 1;
  if (at_->is(">") && at_ + 1 != last_ && at_[1].is(">")) {
    sign = ">>";
    length = 2;
  }
  const auto found = kRanks.find(sign);
  return found == kRanks.end() || at_->kind == Token::Kind::kText ? 0 : found->second;
}

TokenRange ExpressionReader::group() {
  const Token* begin = at_ + 1;
  at_ = skip_group(at_, last_);
  return {begin, at_ == begin ? at_ : at_ - 1};
}

std::optional<HostValue> ExpressionReader::choice() {
  if (depth_ > kDeepestGroup) {
    at_ = last_;
    return std::nullopt;
  }
  Maybe value = binary(1);
  if (!take("?")) return value;
  const Maybe yes = choice();
  if (!take(":")) return std::nullopt;
  const Maybe no = choice();
  const bool takes_first = !value || value->number() != 0;
  if (takes_first ? yes.has_value() : !no) return yes;
  return no;
}

std::optional<HostValue> ExpressionReader::binary(int lowest) {
  Maybe left = unary();
  std::string sign;
  int length = 0;
  for (int rank; (rank = operator_here(sign, length)) >= lowest && rank != 0;) {
    at_ += length;
    const Maybe right = binary(rank + 1);
    if (left && right) {
      left = computed(sign, *left, *right);
    } else {
      left = std::nullopt;
    }
  }
  return left;
}

// Skips a cast, "(int)" or "(size_t)". Returns whether there was one.
bool ExpressionReader::skip_cast() {
  if (!is("(")) return false;
  const Token* close = skip_group(at_, last_);
  for (const Token* token = at_ + 1; token + 1 < close; ++token) {
    if (!is_type_word(*token) && !token->is("*") && !token->is("::") && !token->is("std"))
      return false;
  }
  if (close - at_ < 3 || close == last_) return false;
  at_ = close;
  return true;
}

std::optional<HostValue> ExpressionReader::unary() {
  if (take("+")) return unary();
  const bool minus = is("-"), negation = is("!");
  if (minus || negation) {
    ++at_;
    const Maybe value = unary();
    if (!value) return value;
    if (negation) return whole_value(value->number() == 0);
    return value->is_real ? real_value(-value->real) : whole_value(-value->integer);
  }
  const Token* cast = at_;
  if (skip_cast()) {
    const bool to_real = cast[1].is("float") || cast[1].is("double");
    const Maybe value = unary();
    if (!value || value->dims) return value;
    return to_real ? real_value(value->number()) : whole_value(value->whole());
  }
  return postfix();
}

std::optional<HostValue> ExpressionReader::postfix() {
  Maybe value = primary();
  while (at_ != last_ && (is(".") || is("[") || is("("))) {
    if (is("(") || is("[")) {
      group();
      value = std::nullopt;
      continue;
    }
    ++at_;
    if (at_ == last_) return std::nullopt;
    const int index = at_->text == "x" ? 0 : at_->text == "y" ? 1 : at_->text == "z" ? 2 : -1;
    ++at_;
    if (value && value->dims && index >= 0) {
      value = whole_value((*value->dims)[static_cast<std::size_t>(index)]);
    } else {
      value = std::nullopt;
    }
  }
  return value;
}

std::optional<HostValue> ExpressionReader::primary() {
  if (at_ == last_) return std::nullopt;
  if (at_->kind == Token::Kind::kNumber) return number_of((at_++)->text);
  if (is("(") || is("{")) {
    const TokenRange inside = group();
    return ExpressionReader(evaluator_, scope_, inside, depth_ + 1).all();
  }
  if (at_->is_name()) return name();
  ++at_;
  return std::nullopt;
}

std::optional<HostValue> ExpressionReader::size_of() {
  const TokenRange inside = is("(") ? group() : TokenRange{at_, at_};
  const int bytes = bytes_of_type(inside);
  return whole_value(bytes != 0 ? bytes : evaluator_.size_of_unknown);
}

// name[index]
std::optional<HostValue> ExpressionReader::brackets(const std::string& name) {
  const TokenRange inside = group();
  const Maybe index = ExpressionReader(evaluator_, scope_, inside, depth_ + 1).all();
  return evaluator_.element(name, index ? index->whole() : 0, scope_, depth_ + 1);
}

// WHY only these names: after other names, "<" is a comparison.
bool ExpressionReader::may_have_template_arguments(const std::string& name) const {
  return name == "min" || name == "max" || evaluator_.source_.function(name) != nullptr;
}

// In a function that is run: the value of the longest assigned path that begins here, such as
// "config.gridDim.x", or an empty value if the path's value is unknown. Moves past the path.
std::optional<std::optional<HostValue>> ExpressionReader::by_path(const std::string& name) {
  std::optional<Maybe> found;
  const Token* end = at_;
  std::string path = name;
  for (const Token* token = at_; token + 1 < last_ && (token->is(".") || token->is("->"));) {
    path += "." + token[1].text;
    token += 2;
    const auto bound = scope_.bound.find(path);
    if (bound == scope_.bound.end() && scope_.hidden.count(path) == 0) continue;
    found = bound == scope_.bound.end() ? Maybe{} : Maybe{bound->second};
    end = token;
  }
  at_ = end;
  return found;
}

std::optional<HostValue> ExpressionReader::name() {
  TextCall call{at_++, {}, {}};
  const auto goes_on = [&](const char* sign) {
    return is(sign) && at_ + 1 != last_ && at_[1].is_name();
  };
  const bool is_own = call.at->is("this") && goes_on("->");
  for (bool more = is_own || goes_on("::"); more; more = goes_on("::")) {
    call.at = at_ + 1;
    at_ += 2;
  }
  const std::string& name = call.at->text;
  if (name == "sizeof") return size_of();
  if (name == "true" || name == "false") return whole_value(name == "true");
  if (is("<") && name.ends_with("_cast")) {
    while (at_ != last_ && !is("(")) ++at_;
  } else if (is("<") && may_have_template_arguments(name)) {
    const Token* end = skip_angles(at_, last_);
    if (end != last_ && end->is("(")) {
      call.template_arguments = split_at_commas({at_ + 1, end - 1});
      at_ = end;
    }
  }
  if (is("(") || (is("{") && name == "dim3")) {
    call.arguments = split_at_commas(group());
    return evaluator_.called(call, scope_, depth_ + 1);
  }
  if (is("[")) return brackets(name);
  if (const auto found = by_path(name)) return *found;
  const bool has_member = (is(".") || is("->")) && at_ + 1 != last_ && at_[1].is_name();
  if (!has_member) return evaluator_.named(name, scope_, depth_ + 1);
  const std::string field = at_[1].text;
  const int index = field.size() == 1 ? field[0] - 'x' : -1;
  const bool is_call = at_ + 2 != last_ && at_[2].is("(");
  if (is_call && field != "size" && evaluator_.source_.function(field) != nullptr) {
    call.at = at_ + 1;
    at_ += 2;
    call.arguments = split_at_commas(group());
    return evaluator_.called(call, scope_, depth_ + 1);
  }
  if (is_call && field != "size") return evaluator_.named(name, scope_, depth_ + 1);
  at_ += 2;
  if (is_call) {
    group();
    return evaluator_.size_of_container(name, scope_, depth_ + 1);
  }
  if (index >= 0 && index < 3) return evaluator_.component(name, index, scope_, depth_ + 1);
  return evaluator_.member(name, field, {}, scope_, depth_ + 1);
}

}  // namespace tessera::checking
