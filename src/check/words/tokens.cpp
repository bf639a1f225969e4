#include "check/words/tokens.h"

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "check/words/macros.h"

namespace tessera::checking {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = 4 << 20;  // most bytes of all files together
constexpr int kDeepestHeader = 8;            // deepest nesting of headers

bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool continues_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Tracks which branches of #if are read. A condition that cannot be evaluated counts as true.
class Branches {
 public:
  bool is_read() const {
    for (const Branch& branch : open_) {
      if (!branch.reads) return false;
    }
    return true;
  }
  void begin(bool holds) { open_.push_back({holds, holds}); }
  void otherwise(bool holds) {
    if (open_.empty()) return;
    open_.back().reads = !open_.back().was_read && holds;
    open_.back().was_read |= open_.back().reads;
  }
  void end() {
    if (!open_.empty()) open_.pop_back();
  }

 private:
  struct Branch {
    bool reads = true, was_read = true;
  };
  std::vector<Branch> open_;
};

// Splits a text into tokens, character by character.
class Scanner {
 public:
  Scanner(const std::string& text, int file) : text_(text), file_(file) {}

  // Reads the next token of this line or text. Returns false at the end.
  bool next(Token& token, bool stays_in_line) {
    for (;;) {
      if (at_ >= text_.size()) return false;
      const char c = text_[at_];
      if (c == '\\' && (ahead(1) == '\n' || (ahead(1) == '\r' && ahead(2) == '\n'))) {
        at_ += ahead(1) == '\n' ? 2 : 3;
        ++line_;
      } else if (c == '\n') {
        if (stays_in_line) return false;
        ++at_;
        ++line_;
      } else if (std::isspace(static_cast<unsigned char>(c))) {
        ++at_;
      } else if (c == '/' && (ahead(1) == '/' || ahead(1) == '*')) {
        skip_comment();
      } else {
        break;
      }
    }
    read(token);
    return true;
  }

  char ahead(std::size_t by) const { return at_ + by < text_.size() ? text_[at_ + by] : '\0'; }
  // Returns the rest of the line.
  std::string rest() {
    std::string rest;
    while (at_ < text_.size() && text_[at_] != '\n') rest += text_[at_++];
    return rest;
  }

 private:
  void skip_comment() {
    const bool is_block = ahead(1) == '*';
    at_ += 2;
    while (at_ < text_.size() &&
           !(is_block ? text_[at_] == '*' && ahead(1) == '/' : text_[at_] == '\n')) {
      line_ += text_[at_++] == '\n';
    }
    if (is_block) at_ += 2;
  }

  void read(Token& token) {
    token.line = line_;
    token.file = file_;
    const std::size_t begin = at_;
    const char c = text_[at_];
    if (begins_name(c)) {
      token.kind = Token::Kind::kName;
      while (continues_name(ahead(0))) ++at_;
    } else if (std::isdigit(static_cast<unsigned char>(c)) ||
               (c == '.' && std::isdigit(static_cast<unsigned char>(ahead(1))))) {
      token.kind = Token::Kind::kNumber;
      while (continues_name(ahead(0)) || ahead(0) == '.' || ahead(0) == '\'' ||
             is_exponent_sign(begin))
        ++at_;
    } else if (c == '"' || c == '\'') {
      token.kind = Token::Kind::kText;
      for (++at_; at_ < text_.size() && text_[at_] != c && text_[at_] != '\n'; ++at_) {
        if (text_[at_] == '\\') ++at_;
      }
      ++at_;
    } else {
      token.kind = Token::Kind::kSign;
      at_ += sign_length();
    }
    token.text = text_.substr(begin, at_ - begin);
  }

  // Whether the sign at this position belongs to the exponent of the number that starts at `begin`.
  bool is_exponent_sign(std::size_t begin) const {
    const char before = text_[at_ - 1];
    return (ahead(0) == '+' || ahead(0) == '-') && (before == 'e' || before == 'E') &&
           text_.compare(begin, 2, "0x") != 0;
  }

  std::size_t sign_length() const {
    for (const char* sign : {"<<<", ">>>", "<<=", ">>=", "::", "->", "<<", "<=", ">=", "==", "!=",
                             "&&", "||", "+=", "-=", "*=", "/=", "++", "--"}) {
      const std::string text = sign;
      if (text_.compare(at_, text.size(), text) == 0) return text.size();
    }
    return 1;
  }

  const std::string& text_;
  const int file_;
  std::size_t at_ = 0;
  int line_ = 1;
};

class Reader {
 public:
  Reader(SourceWords& words, const ReadOptions& options) : words_(words), options_(options) {
    for (const std::string& define : options.defines) {
      const std::size_t equals = define.find('=');
      const std::string body = equals == define.npos ? "1" : define.substr(equals + 1);
      Macro& macro = words_.macros[define.substr(0, equals)];
      Scanner scanner(body, 0);
      for (Token token; scanner.next(token, true);) macro.body.push_back(token);
      words_.definitions.push_back({define.substr(0, equals), 0, false, macro});
    }
  }

  void read(const fs::path& path, int depth) {
    std::error_code error;
    const fs::path whole = fs::weakly_canonical(path, error);
    const auto bytes = fs::file_size(path, error);
    if (error || depth > kDeepestHeader || bytes > kMostBytes - used_) return;
    if (!seen_.insert(whole.string()).second) return;
    used_ += bytes;
    std::ifstream stream(path, std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(stream), {});
    const int file = static_cast<int>(words_.files.size());
    words_.files.push_back(path.string());
    Scanner scanner(text, file);
    Branches branches;
    for (Token token; scanner.next(token, false);) {
      if (token.is("#")) {
        directive(scanner, branches, path.parent_path(), depth);
      } else if (branches.is_read()) {
        words_.tokens.push_back(token);
      }
    }
  }

 private:
  void directive(Scanner& scanner, Branches& branches, const fs::path& folder, int depth) {
    Token what, name;
    if (!scanner.next(what, true)) return;
    if (what.is("define") && branches.is_read()) return define(scanner);
    const bool has_name = scanner.next(name, true);
    if (what.is("if")) {
      branches.begin(!(has_name && name.is("0")));
    } else if (what.is("ifdef")) {
      branches.begin(words_.macros.count(name.text) != 0);
    } else if (what.is("ifndef")) {
      branches.begin(words_.macros.count(name.text) == 0);
    } else if (what.is("else") || what.is("elif")) {
      branches.otherwise(true);
    } else if (what.is("endif")) {
      branches.end();
    } else if (what.is("undef") && branches.is_read()) {
      words_.definitions.push_back({name.text, words_.tokens.size(), true, {}});
    } else if (what.is("include") && branches.is_read() && name.kind == Token::Kind::kText) {
      include(name.text.substr(1, name.text.size() - 2), folder, depth);
    }
    scanner.rest();
  }

  void include(const std::string& name, const fs::path& folder, int depth) {
    std::vector<fs::path> folders = {folder};
    folders.insert(folders.end(), options_.folders.begin(), options_.folders.end());
    for (const fs::path& candidate : folders) {
      std::error_code error;
      if (!fs::is_regular_file(candidate / name, error)) continue;
      return read(candidate / name, depth + 1);
    }
  }

  void define(Scanner& scanner) {
    Token token;
    if (!scanner.next(token, true)) return;
    const std::string name = token.text;
    Macro macro;
    macro.takes_arguments = scanner.ahead(0) == '(';
    if (macro.takes_arguments) {
      scanner.next(token, true);
      bool is_after_name = false;
      while (scanner.next(token, true) && !token.is(")")) {
        if (token.is_name()) macro.parameters.push_back(token.text);
        const bool is_rest = token.is(".") && !macro.is_variadic;
        if (is_rest && !is_after_name) macro.parameters.push_back("__VA_ARGS__");
        macro.is_variadic |= is_rest;
        is_after_name = token.is_name();
      }
    }
    while (scanner.next(token, true)) macro.body.push_back(token);
    words_.definitions.push_back({name, words_.tokens.size(), false, macro});
    words_.macros[name] = std::move(macro);
  }

  SourceWords& words_;
  const ReadOptions& options_;
  std::set<std::string> seen_;
  std::size_t used_ = 0;
};

bool opens(const Token& token) { return token.is("(") || token.is("[") || token.is("{"); }
bool closes(const Token& token) { return token.is(")") || token.is("]") || token.is("}"); }

// Whether the token after a ">" shows that the ">" ends template arguments, "f<a, b>", and is not
// the comparison "b > c".
bool ends_template_arguments(const Token* behind, const Token* last) {
  return behind == last || behind->is(",") || behind->is("(") || behind->is("{") ||
         behind->is("::") || closes(*behind);
}

}  // namespace

std::string text_of(TokenRange words) {
  std::string text;
  for (const Token* token = words.first; token != words.last; ++token) {
    const auto joins = [](const Token& one) {
      return one.is("(") || one.is(")") || one.is("[") || one.is("]") || one.is(".") ||
             one.is("::") || one.is("->");
    };
    const bool spaced = token != words.first && !joins(*token) && !token->is(",") &&
                        !(joins(token[-1]) && !token[-1].is(")") && !token[-1].is("]"));
    text += (spaced ? " " : "") + token->text;
  }
  return text;
}

SourceWords read_words(const std::string& path, const ReadOptions& options) {
  SourceWords words;
  Reader(words, options).read(path, 0);
  expand_launches(words);
  return words;
}

const Token* skip_group(const Token* open, const Token* last) {
  int depth = 0;
  for (const Token* token = open; token != last; ++token) {
    depth += opens(*token) - closes(*token);
    if (depth == 0) return token + 1;
  }
  return last;
}

const Token* group_open(const Token* close, const Token* first) {
  int depth = 0;
  for (const Token* token = close; token != first; --token) {
    depth += closes(*token) - opens(*token);
    if (depth == 0) return token;
  }
  return first;
}

const Token* skip_angles(const Token* open, const Token* last) {
  int depth = 0;
  for (const Token* token = open; token != last; ++token) {
    if (token->is(";") || token->is("&&") || token->is("||")) return last;
    if (opens(*token)) token = skip_group(token, last) - 1;
    depth += token->is("<") ? 1 : token->is(">") ? -1 : token->is(">>>") ? -3 : 0;
    if (depth <= 0) return token + 1;
  }
  return last;
}

TokenRange up_to_end(const Token* begin, const Token* last) {
  const Token* token = begin;
  while (token != last && !token->is(";") && !token->is(",") && !closes(*token)) {
    token = opens(*token) ? skip_group(token, last) : token + 1;
  }
  return {begin, token};
}

std::vector<TokenRange> split_at_commas(TokenRange words) {
  std::vector<TokenRange> parts;
  if (words.empty()) return parts;
  TokenRange part{words.first, words.first};
  for (const Token* token = words.first; token != words.last;) {
    if (token->is(",")) {
      parts.push_back({part.first, token});
      part.first = ++token;
    } else {
      const Token* close = token != words.first && token->is("<") && token[-1].is_name()
                               ? skip_angles(token, words.last)
                               : nullptr;
      if (close != nullptr && close[-1].is(">") && ends_template_arguments(close, words.last)) {
        token = close;
      } else {
        token = opens(*token) ? skip_group(token, words.last) : token + 1;
      }
    }
  }
  parts.push_back({part.first, words.last});
  return parts;
}

}  // namespace tessera::checking
