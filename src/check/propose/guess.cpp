#include "check/propose/guess.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "check/bind.h"
#include "check/code.h"
#include "check/propose/source/allocations.h"
#include "check/propose/source/assigned.h"
#include "check/propose/source/structs.h"

namespace tessera::checking {
namespace {

constexpr int kMostCalls = 6;  // limit of calls through which a pointer is followed

void trim_end(std::string& text, const char* suffix) {
  if (text.ends_with(suffix)) text.resize(text.size() - std::strlen(suffix));
}

// Returns "float const*" for "const float* __restrict__ x".
std::string plain_type(const SourceParameter& parameter) {
  std::string base, stars;
  bool is_const = false;
  for (const Token* token = parameter.words.first; token != parameter.words.last; ++token) {
    const bool is_own_name = token + 1 == parameter.words.last && token->text == parameter.name;
    if (is_own_name || token->text.find("restrict") != std::string::npos) continue;
    if (token->is("const") && stars.empty()) {
      is_const = true;
    } else if (token->is("*")) {
      stars += "*";
    } else if (token->is_name() && !token->is("const")) {
      base += (base.empty() ? "" : " ") + token->text;
    }
  }
  return base + (is_const && !stars.empty() ? " const" : "") + stars;
}

// Returns the element type of a C++ type. A vector type counts as an array of its components.
std::optional<ElementType> element_within(const std::string& base) {
  if (const auto plain = element_of(base)) return plain;
  static const std::map<std::string, ElementType> kOthers = {
      {"__half2", ElementType::kF16}, {"half", ElementType::kF16},
      {"half2", ElementType::kF16},   {"__nv_bfloat162", ElementType::kBf16},
      {"int8_t", ElementType::kS8},   {"uint8_t", ElementType::kU8},
      {"uint", ElementType::kU32},    {"unsigned", ElementType::kU32},
      {"int32_t", ElementType::kS32}, {"uint32_t", ElementType::kU32},
      {"size_t", ElementType::kU64},  {"int64_t", ElementType::kS64},
      {"uint64_t", ElementType::kU64}};
  const auto found = kOthers.find(base);
  if (found != kOthers.end()) return found->second;
  const bool is_vector = !base.empty() && base.back() >= '1' && base.back() <= '4';
  if (!is_vector) return std::nullopt;
  std::string scalar = base.substr(0, base.size() - 1);
  if (scalar.starts_with("u")) scalar = "unsigned " + scalar.substr(1);
  return element_of(scalar);
}

ParameterGuess guess(const vgpu::KernelParameter& parameter, std::string cpp) {
  ParameterGuess guess;
  guess.bytes = parameter.bytes;
  trim_end(cpp, " __restrict__");
  trim_end(cpp, " const");
  if (parameter.is_pointer || cpp.ends_with('*')) {
    guess.role = ParameterRole::kArray;
    trim_end(cpp, "*");
    guess.is_constant = cpp.ends_with(" const");
    for (const char* word : {" const", " volatile"}) trim_end(cpp, word);
    if (cpp.ends_with('*')) {
      guess.role = ParameterRole::kPointers;
      for (const char* word : {"*", " const"}) trim_end(cpp, word);
    }
    const auto element = element_within(cpp);
    guess.is_opaque = !element && !cpp.empty() && cpp != "void";
    guess.type = element.value_or(guess.is_opaque ? ElementType::kU8 : ElementType::kF32);
    return guess;
  }
  const auto element = element_within(cpp);
  if (parameter.count > 1) {
    guess.role = ParameterRole::kStruct;
  } else if (element && size_of(*element) == static_cast<int>(parameter.bytes)) {
    guess.type = *element;
  } else {
    const bool real = parameter.type[0] == 'f';
    const std::size_t bytes = parameter.bytes;
    guess.type = bytes == 8   ? (real ? ElementType::kF64 : ElementType::kS64)
                 : bytes == 4 ? (real ? ElementType::kF32 : ElementType::kS32)
                 : bytes == 2 ? ElementType::kU16
                              : ElementType::kU8;
  }
  return guess;
}

bool is_integer(const std::string& text) {
  return !text.empty() && text.find_first_not_of("-0123456789") == std::string::npos;
}

// Returns "128" for "128u" and "(int)128", "1" for "true", and "0" for "false".
std::string plain_argument(std::string text) {
  if (text.starts_with("(")) text = text.substr(text.find(')') + 1);
  while (!text.empty() && (text.back() == 'u' || text.back() == 'l') &&
         is_integer(text.substr(0, text.find_first_of("ul")))) {
    text.pop_back();
  }
  if (text == "true" || text == "false") return text == "true" ? "1" : "0";
  return text;
}

// Returns the type that a name stands for: "float" for T after "using T = float;" or "typedef float
// T;" in the function.
TokenRange type_meant_by(const HostSource& source, TokenRange words, const Scope& scope) {
  if (words.size() != 1 || scope.function == nullptr) return words;
  const TokenRange text{scope.function->body.first, scope.at};
  const auto places = source.places_of(words.first->text, text);
  for (std::size_t i = places.size(); i-- != 0;) {
    const Token* token = places[i];
    if (token[-1].is("using") && token[1].is("=")) return up_to_end(token + 2, text.last);
    const Token* type = token;
    while (type != text.first && type[-1].is_name() && !type[-1].is("typedef")) --type;
    if (type != token && type[-1].is("typedef")) return {type, token};
  }
  return words;
}

// Binds the variable of a switch around the launch to its case: "threads" to 64 in "switch
// (threads) { ... case 64: kernel<<<".
void bind_case(const LaunchSite& site, Scope& scope) {
  if (scope.function == nullptr) return;
  const Token* first = scope.function->body.first;
  const Token* at = site.at - 1;
  while (at > first && !at->is(":") && !at->is(";") && !at->is("}")) --at;
  if (at - first < 6 || !at->is(":") || at[-1].kind != Token::Kind::kNumber || !at[-2].is("case")) {
    return;
  }
  HostValue value;
  value.integer = std::strtoll(at[-1].text.c_str(), nullptr, 0);
  while (at > first && !at->is("switch")) --at;
  if (at->is("switch") && at[1].is("(") && at[2].is_name() && at[3].is(")")) {
    scope.bound[at[2].text] = value;
  }
}

// Returns "Matrix" for "space::Matrix const".
std::string last_name(std::string type) {
  trim_end(type, " const");
  const std::size_t at = type.find_last_of(": ");
  return at == type.npos ? type : type.substr(at + 1);
}

// 4 of "float4"
int lanes_of(const std::string& type) {
  const bool is_vector = !type.empty() && type.back() >= '2' && type.back() <= '4' &&
                         !element_of(type) && element_within(type);
  return is_vector ? type.back() - '0' : 1;
}

// Returns a guess for each field; nothing if a field has a type that no argument can hold.
std::vector<FieldGuess> guess_fields(const std::vector<SourceField>& fields) {
  std::vector<FieldGuess> guesses;
  for (const SourceField& field : fields) {
    if (field.type == "dim3" && !field.is_pointer) {
      guesses.push_back({field.name, false, ElementType::kU32, field.count, 3});
      continue;
    }
    std::string type = field.type == "unsigned" ? "unsigned int" : field.type;
    const auto element = element_within(type);
    if (!element && !field.is_pointer) return {};
    guesses.push_back({field.name, field.is_pointer, element.value_or(ElementType::kF32),
                       field.count, field.is_pointer ? 1 : lanes_of(type)});
  }
  return guesses;
}

// Whether there is "name[i + 1]" in the function.
bool reads_neighbours(const HostSource& source, const SourceFunction& function,
                      const std::string& name) {
  const auto places = source.places_of(name, function.body);
  return std::any_of(places.begin(), places.end(), [&](const Token* token) {
    if (token + 1 >= function.body.last || !token[1].is("[")) return false;
    const Token* end = skip_group(token + 1, function.body.last) - 1;
    return end - token > 4 && end[-1].is("1") && end[-2].is("+");
  });
}

bool is_given_to_atomics(const SourceFunction& function, const std::string& name) {
  for (const Token* token = function.body.first; token + 1 < function.body.last; ++token) {
    if (!token->text.starts_with("atomic") || !token[1].is("(")) continue;
    const auto is_it = [&](const Token& one) { return one.text == name; };
    if (std::any_of(token, skip_group(token + 1, function.body.last), is_it)) return true;
  }
  return false;
}

}  // namespace

std::vector<ParameterGuess> guess_parameters(const vgpu::KernelSignature& kernel,
                                             const HostSource& whole) {
  const SourceFunction* source = whole.kernel(words_of_kernel(kernel.name).name);
  const std::vector<std::string> types = parameter_types(kernel.name);
  const std::size_t count = kernel.parameters.size();
  const bool has_source = source != nullptr && source->parameters.size() == count;
  std::vector<ParameterGuess> guesses;
  std::set<std::string> names;
  for (std::size_t i = 0; i < count; ++i) {
    std::string type;
    if (types.size() == count) {
      type = types[i];
    } else if (has_source) {
      type = plain_type(source->parameters[i]);
    }
    guesses.push_back(guess(kernel.parameters[i], type));
    if (guesses.back().role == ParameterRole::kStruct) {
      guesses.back().fields = guess_fields(fields_of(whole, last_name(type)));
    }
    if (has_source) {
      const TokenRange words = source->parameters[i].words;
      const bool is_texture = std::any_of(words.first, words.last, [](const Token& token) {
        return token.is("cudaTextureObject_t");
      });
      if (is_texture) guesses.back().role = ParameterRole::kTexture;
    }
    if (has_source) guesses.back().name = source->parameters[i].name;
    if (has_source) {
      guesses.back().is_counted = is_given_to_atomics(*source, guesses.back().name);
    }
    if (has_source && guesses.back().is_constant) {
      guesses.back().is_sorted = reads_neighbours(whole, *source, guesses.back().name);
    }
    if (guesses.back().name.empty() || !names.insert(guesses.back().name).second) {
      guesses.back().name = "p" + std::to_string(i);
    }
  }
  return guesses;
}

KernelWords words_of_kernel(const std::string& mangled) {
  std::string text = plain_kernel_name(mangled);
  const std::string anonymous = "(anonymous namespace)::";
  for (std::size_t at; (at = text.find(anonymous)) != text.npos;) text.erase(at, anonymous.size());
  KernelWords words;
  const std::size_t end = text.find_first_of("(<");
  std::string name = text.substr(0, end);
  if (const std::size_t space = name.rfind(' '); space != name.npos) name.erase(0, space + 1);
  if (const std::size_t scope = name.rfind("::"); scope != name.npos) name.erase(0, scope + 2);
  words.name = name;
  if (end == text.npos || text[end] != '<') return words;
  int depth = 0;
  std::string argument;
  for (std::size_t i = end; i < text.size(); ++i) {
    const char c = text[i];
    depth += c == '<' || c == '(' ? 1 : c == '>' || c == ')' ? -1 : 0;
    if (depth == 0 || (c == ',' && depth == 1)) {
      words.template_arguments.push_back(plain_argument(argument));
      argument.clear();
      if (depth == 0) break;
    } else if (!(c == '<' && depth == 1) && !(c == ' ' && argument.empty())) {
      argument += c;
    }
  }
  return words;
}

IsLaunch launches(const HostSource& source, const LaunchSite& site, const KernelWords& kernel,
                  Evaluator& evaluator, Scope& scope) {
  if (site.kernel != kernel.name) return IsLaunch::kNo;
  IsLaunch is = IsLaunch::kYes;
  bind_case(site, scope);
  if (site.template_arguments.size() > kernel.template_arguments.size()) return IsLaunch::kNo;
  for (std::size_t i = 0; i < site.template_arguments.size(); ++i) {
    const TokenRange words = site.template_arguments[i];
    const std::string& wanted = kernel.template_arguments[i];
    const bool is_name = words.size() == 1 && words.first->is_name();
    const auto found = evaluator.value(words, scope);
    const auto type = element_within(text_of(type_meant_by(source, words, scope)));
    if (type && element_within(wanted).value_or(*type) != *type) return IsLaunch::kNo;
    if (!is_integer(wanted)) continue;
    if (found && std::to_string(found->whole()) == wanted) continue;
    if (!is_name) return IsLaunch::kNo;
    is = IsLaunch::kPerhaps;
    HostValue value;
    value.integer = std::stoll(wanted);
    scope.bound[words.first->text] = value;
  }
  return is;
}

// Finds the first name in "thrust::raw_pointer_cast(&d_x[0])" for which the program allocates
// memory.
std::optional<Allocated> allocated(const HostSource& source, Evaluator& evaluator,
                                   TokenRange argument, const Scope& scope, int bytes_of_element) {
  Scope here = scope;
  for (int calls = 0; calls < kMostCalls; ++calls) {
    std::optional<Evaluator::Argument> further;
    const bool is_name = without_casts(argument).size() == 1;
    for (const Token* token = argument.first; token != argument.last; ++token) {
      if (!token->is_name()) continue;
      auto found = allocation_of(source, token->text, here.function);
      if (!found) further = evaluator.argument_of(token->text, here);
      if (!found && !further) found = allocation_of(source, token->text, nullptr);
      if (further) break;
      if (!found) continue;
      Scope there{source.around(found->size.first), found->size.first, {}};
      if (there.function == here.function) there.bound = here.bound;
      evaluator.size_of_unknown = bytes_of_element;
      evaluator.clear();
      const auto size = evaluator.value(found->size, there);
      if (!size || size->whole() <= 0) return std::nullopt;
      const std::int64_t elements =
          found->counts_elements ? size->whole() : size->whole() / bytes_of_element;
      return Allocated{elements, is_name && found->is_only && evaluator.free.empty(),
                       text_of(found->size)};
    }
    if (!further) return std::nullopt;
    argument = further->words;
    here = further->scope;
  }
  return std::nullopt;
}

}  // namespace tessera::checking
