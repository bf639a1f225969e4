// Reads a CUDA source as words, to find how its kernels are launched: without comments, with the
// local headers that it includes, and with its macros in a separate list.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tessera::checking {

struct Token {
  enum class Kind : std::uint8_t { kName, kNumber, kText, kSign };
  Kind kind = Kind::kSign;
  std::string text;  // "<<<" and ">>>" are one sign each
  int line = 0, file = 0;

  bool is(const char* what) const { return text == what && kind != Kind::kText; }
  bool is_name() const { return kind == Kind::kName; }
};

// A range of neighbouring tokens in one list.
struct TokenRange {
  const Token* first = nullptr;
  const Token* last = nullptr;  // one past the end

  bool empty() const { return first == last; }
  std::size_t size() const { return static_cast<std::size_t>(last - first); }
};
std::string text_of(TokenRange words);  // "(n + 255) / 256"

struct Macro {
  bool takes_arguments = false;
  bool is_variadic = false;  // the last parameter takes all further arguments
  std::vector<std::string> parameters;
  std::vector<Token> body;
};

// "#define NAME", or "#undef NAME".
struct MacroDefinition {
  std::string name;
  std::size_t at = 0;  // index of the first token after the directive
  bool is_end = false;
  Macro macro;
};

struct SourceWords {
  std::vector<Token> tokens;            // launches by macros are written out
  std::map<std::string, Macro> macros;  // their last definitions
  std::vector<MacroDefinition> definitions;
  std::vector<std::string> files;  // indices are Token::file
};

struct ReadOptions {
  std::vector<std::string> folders;  // folders of -I
  std::vector<std::string> defines;  // definitions of -D: "N" or "N=4"
};

// Reads the file and the headers that it includes by "..." and that are found. Files that cannot be
// read are left out.
SourceWords read_words(const std::string& path, const ReadOptions& options);

// Returns the token after the sign that closes the group; `last` if nothing closes the group. WHY
// "<" opens no group: it may be a comparison.
const Token* skip_group(const Token* open, const Token* last);

// Returns the opening sign of the group that `close` ends; `first` if no sign opens the group.
const Token* group_open(const Token* close, const Token* first);

// Returns the token after the ">" that closes the "<" at `open`; `last` if no ">" closes the "<",
// or if the "<" is a comparison.
const Token* skip_angles(const Token* open, const Token* last);

// Returns the words up to the ";", "," or closing sign that ends an initial value.
TokenRange up_to_end(const Token* begin, const Token* last);

// Returns the parts between the commas that are not inside of groups.
std::vector<TokenRange> split_at_commas(TokenRange words);

}  // namespace tessera::checking
