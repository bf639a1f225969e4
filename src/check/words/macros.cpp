#include "check/words/macros.h"

#include <algorithm>

namespace tessera::checking {
namespace {

constexpr std::size_t kMostWords = 400000;  // most words that all expansions together may add
constexpr int kDeepestUse = 40;             // deepest nesting of macros

using Tokens = std::vector<Token>;
using Names = std::set<std::string>;

TokenRange range_of(const Tokens& tokens) { return {tokens.data(), tokens.data() + tokens.size()}; }

bool is_launch(const Token& token) {
  return token.is("<<<") || token.is("__global__") || token.text.starts_with("cudaLaunch");
}

bool speaks_of(TokenRange words, const Names& macros) {
  return std::any_of(words.first, words.last, [&](const Token& token) {
    return is_launch(token) || (token.is_name() && macros.count(token.text) != 0);
  });
}

// Returns the macros that launch or define kernels, directly or through another such macro.
Names macros_that_launch(const std::vector<MacroDefinition>& all) {
  Names names;
  for (std::size_t before = names.size() + 1; before != names.size();) {
    before = names.size();
    for (const MacroDefinition& one : all) {
      if (speaks_of(range_of(one.macro.body), names)) names.insert(one.name);
    }
  }
  return names;
}

// One argument of one use of a macro.
struct Given {
  TokenRange words;  // as in the source
  Tokens expanded;
};

class Expander {
 public:
  explicit Expander(const SourceWords& words)
      : words_(words), that_launch_(macros_that_launch(words.definitions)) {
    for (const MacroDefinition& one : words.definitions) defined_[one.name].push_back(&one);
  }

  bool has_work() const { return speaks_of_macros(range_of(words_.tokens)); }

  Tokens all() {
    const TokenRange whole = range_of(words_.tokens);
    Tokens out;
    for (const Token* token = whole.first; token != whole.last;) {
      if (!token->is_name() || defined_.count(token->text) == 0) {
        out.push_back(*token++);
        continue;
      }
      at_ = static_cast<std::size_t>(token - whole.first);
      use_ = *token;
      Names active;
      token = one(token, whole.last, active, 0, out);
    }
    return out;
  }

 private:
  bool speaks_of_macros(TokenRange words) const {
    return std::any_of(words.first, words.last, [&](const Token& token) {
      return token.is_name() && defined_.count(token.text) != 0;
    });
  }

  // Returns the definition that is valid at the macro's use; null if there is no definition.
  const Macro* macro(const std::string& name) const {
    const auto found = defined_.find(name);
    if (found == defined_.end()) return nullptr;
    const MacroDefinition* last = nullptr;
    for (const MacroDefinition* one : found->second) {
      if (one->at <= at_) last = one;
    }
    return last == nullptr || last->is_end ? nullptr : &last->macro;
  }

  // Adds the next word, or its expansion. Returns the token after the word or the macro use.
  const Token* one(const Token* token, const Token* last, Names& active, int depth, Tokens& out) {
    const Macro* macro = token->is_name() && active.count(token->text) == 0 && depth < kDeepestUse
                             ? this->macro(token->text)
                             : nullptr;
    const std::string name = token->text;
    const Token* end = token + 1;
    if (macro != nullptr && is_alias(*macro) && end != last && end->is("(")) {
      macro = this->macro(macro->body[0].text);  // "#define LAUNCH LAUNCH_IMPL"
    }
    std::vector<TokenRange> given;
    if (macro != nullptr && macro->takes_arguments) {
      end = end != last && end->is("(") ? skip_group(end, last) : nullptr;
      if (end == nullptr || !end[-1].is(")") || !arguments_of(*macro, {token + 2, end - 1}, given))
        macro = nullptr;
    }
    const auto launches = [&] {
      return that_launch_.count(name) != 0 || speaks_of({token + 1, end}, that_launch_);
    };
    if (macro == nullptr || !launches()) {
      out.push_back(*token);
      return token + 1;
    }
    const std::size_t before = out.size();
    if (!add_body(*macro, name, given, active, depth, out) ||
        (that_launch_.count(name) == 0 &&
         !speaks_of({out.data() + before, out.data() + out.size()}, that_launch_))) {
      out.resize(before);  // it drops a launch in its arguments, or does not end
      out.push_back(*token);
      return token + 1;
    }
    return end;
  }

  bool is_alias(const Macro& macro) const {
    return !macro.takes_arguments && macro.body.size() == 1 && macro.body[0].is_name() &&
           this->macro(macro.body[0].text) != nullptr;
  }

  static bool arguments_of(const Macro& macro, TokenRange inside, std::vector<TokenRange>& given) {
    const std::size_t wanted = macro.parameters.size();
    std::vector<TokenRange> parts = parts_of(inside);
    if (parts.empty()) parts.push_back(inside);
    if (macro.is_variadic && parts.size() >= wanted) {
      parts[wanted - 1].last = inside.last;
      parts.resize(wanted);
    }
    if (wanted == 0 && inside.empty()) parts.clear();
    const bool lacks_rest = macro.is_variadic && parts.size() + 1 == wanted;
    if (lacks_rest) parts.push_back({inside.last, inside.last});
    given = std::move(parts);
    return given.size() == wanted;
  }

  // Splits the arguments of a macro. WHY not split_at_commas: commas in "<>" and "{}" also separate
  // arguments of a macro.
  static std::vector<TokenRange> parts_of(TokenRange inside) {
    std::vector<TokenRange> parts;
    int depth = 0;
    const Token* begin = inside.first;
    for (const Token* token = inside.first; token != inside.last; ++token) {
      depth += token->is("(") ? 1 : token->is(")") ? -1 : 0;
      if (depth != 0 || !token->is(",")) continue;
      parts.push_back({begin, token});
      begin = token + 1;
    }
    parts.push_back({begin, inside.last});
    return parts;
  }

  // Adds the expansion of a macro. Returns false if the text would become too long.
  bool add_body(const Macro& macro, const std::string& name, const std::vector<TokenRange>& words,
                Names& active, int depth, Tokens& out) {
    std::vector<Given> given;
    for (const TokenRange& one : words) {
      given.push_back({one, {}});
      if (!add_all(one, active, depth + 1, given.back().expanded)) return false;
    }
    const Tokens body = substituted(macro, given);
    added_ += body.size();
    const bool is_new = active.insert(name).second;
    const bool fits = add_all(range_of(body), active, depth + 1, out);
    if (is_new) active.erase(name);
    return fits;
  }

  bool add_all(TokenRange words, Names& active, int depth, Tokens& out) {
    for (const Token* token = words.first; token != words.last;) {
      if (added_ > kMostWords) return false;
      token = one(token, words.last, active, depth, out);
    }
    return true;
  }

  static const Given* given_for(const Macro& macro, const std::vector<Given>& given,
                                const Token& token) {
    const auto found = std::find(macro.parameters.begin(), macro.parameters.end(), token.text);
    if (found == macro.parameters.end() || !token.is_name()) return nullptr;
    return &given[static_cast<std::size_t>(found - macro.parameters.begin())];
  }

  // Returns the macro's text. The words in "__VA_OPT__(words)" are included only if the variable
  // arguments are not empty.
  static Tokens with_options(const Macro& macro, const std::vector<Given>& given) {
    Tokens out;
    const TokenRange body = range_of(macro.body);
    for (const Token* token = body.first; token != body.last; ++token) {
      const bool is_option = token->is("__VA_OPT__") && body.last - token > 2 && token[1].is("(");
      const Token* const end = is_option ? skip_group(token + 1, body.last) : nullptr;
      if (end == nullptr || !end[-1].is(")")) {
        out.push_back(*token);
        continue;
      }
      const bool has_rest = !given.empty() && !given.back().words.empty();
      if (has_rest) out.insert(out.end(), token + 2, end - 1);
      token = end - 1;
    }
    return out;
  }

  Tokens substituted(const Macro& macro, const std::vector<Given>& given) const {
    Tokens out;
    const Tokens body = with_options(macro, given);
    const Token* const first = body.data();
    const Token* const last = first + body.size();
    const auto is_paste = [&](const Token* token) {
      return last - token > 1 && token->is("#") && token[1].is("#");
    };
    bool has_left = true;  // what "##" joins to: not an argument of no words
    for (const Token* token = first; token < last; ++token) {
      if (is_paste(token)) {
        paste(macro, given, ++token + 1, last, has_left, out);
        ++token;
        continue;
      }
      const Given* const of = given_for(macro, given, *token);
      has_left = of == nullptr || !of->words.empty();
      if (token->is("#") && last - token > 1) {
        if (const Given* const text = given_for(macro, given, token[1])) {
          out.push_back(placed(*token));
          out.back().kind = Token::Kind::kText;
          out.back().text = '"' + text_of(text->words) + '"';
          ++token;
          continue;
        }
      }
      if (of == nullptr) {
        out.push_back(placed(*token));
      } else if (is_paste(token + 1)) {
        out.insert(out.end(), of->words.first, of->words.last);
      } else {
        out.insert(out.end(), of->expanded.begin(), of->expanded.end());
      }
    }
    return out;
  }

  // Handles "##": joins the token after "##" to the last word. ", ##__VA_ARGS__" joins nothing.
  void paste(const Macro& macro, const std::vector<Given>& given, const Token* token,
             const Token* last, bool& has_left, Tokens& out) const {
    if (token >= last) return;
    const Given* const of = given_for(macro, given, *token);
    Tokens right;
    if (of == nullptr) {
      right.push_back(placed(*token));
    } else {
      right.assign(of->words.first, of->words.last);
    }
    const bool joins = has_left && !out.empty();
    const bool is_rest = of != nullptr && macro.is_variadic && joins && out.back().is(",");
    if (is_rest && right.empty()) out.pop_back();
    has_left |= !right.empty();
    if (!is_rest && !right.empty() && joins) {
      out.back().text += right.front().text;
      right.erase(right.begin());
    }
    out.insert(out.end(), right.begin(), right.end());
  }

  // Moves a token of the macro's own text to the position where the macro is used.
  Token placed(Token token) const {
    token.line = use_.line;
    token.file = use_.file;
    return token;
  }

  const SourceWords& words_;
  const Names that_launch_;
  std::map<std::string, std::vector<const MacroDefinition*>> defined_;
  std::size_t added_ = 0, at_ = 0;  // words added; place of the use in the source
  Token use_;
};

}  // namespace

void expand_launches(SourceWords& words) {
  Expander expander(words);
  if (expander.has_work()) words.tokens = expander.all();
}

}  // namespace tessera::checking
