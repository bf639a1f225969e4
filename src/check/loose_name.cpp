#include "check/loose_name.h"

#include <cctype>
#include <cstdlib>
#include <map>
#include <vector>

namespace tessera::checking {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Splits a name into words: names, numbers, "'x'", and signs of one character.
std::vector<std::string> words_of(const std::string& name) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < name.size();) {
    std::size_t end = i + 1;
    if (is_word(name[i])) {
      while (end < name.size() && is_word(name[end])) ++end;
    } else if (name[i] == '\'' && name.find('\'', i + 1) != name.npos) {
      end = name.find('\'', i + 1) + 1;
    }
    if (name[i] != ' ') words.push_back(name.substr(i, end - i));
    i = end;
  }
  return words;
}

// Returns "128" for "0x80u"; a word that is no integer is returned unchanged.
std::string integer_text(const std::string& word) {
  char* end = nullptr;
  const unsigned long long value = std::strtoull(word.c_str(), &end, 0);
  const std::string suffix = end;
  return suffix.find_first_not_of("uUlL") == suffix.npos ? std::to_string(value) : word;
}

std::string plain_word(const std::string& word) {
  static const std::map<std::string, std::string> kSame = {{"true", "1"},
                                                           {"false", "0"},
                                                           {"size_t", "unsigned long"},
                                                           {"ptrdiff_t", "long"},
                                                           {"int8_t", "signed char"},
                                                           {"uint8_t", "unsigned char"},
                                                           {"int16_t", "short"},
                                                           {"uint16_t", "unsigned short"},
                                                           {"int32_t", "int"},
                                                           {"uint32_t", "unsigned int"},
                                                           {"uint", "unsigned int"},
                                                           {"int64_t", "long"},
                                                           {"uint64_t", "unsigned long"},
                                                           {"half", "__half"},
                                                           {"nv_bfloat16", "__nv_bfloat16"}};
  if (is_digit(word[0])) return integer_text(word);
  if (word.size() == 3 && word[0] == '\'') return std::to_string(int(word[1]));
  const auto same = kSame.find(word);
  return same == kSame.end() ? word : same->second;
}

// Returns the index of the word after a cast that stands before a number; `at` if there is no cast.
std::size_t behind_cast(const std::vector<std::string>& words, std::size_t at) {
  if (words[at] != "(") return at;
  std::size_t close = at;
  while (close < words.size() && words[close] != ")") ++close;
  if (close + 1 >= words.size()) return at;
  const std::string& next = words[close + 1];
  return is_digit(next[0]) || next == "-" || next[0] == '\'' ? close + 1 : at;
}

// Whether the word at `at` is "unsigned" without a type after it, which means unsigned int.
bool lacks_int(const std::vector<std::string>& words, std::size_t at) {
  if (words[at] != "unsigned") return false;
  const std::string next = at + 1 < words.size() ? words[at + 1] : "";
  return next != "int" && next != "long" && next != "short" && next != "char";
}

// Whether the word is the "std" before a type whose name is also known without "std".
bool is_scope_of_type(const std::vector<std::string>& words, std::size_t at) {
  return words[at] == "std" && at + 3 < words.size() && words[at + 1] == ":" &&
         plain_word(words[at + 3]) != words[at + 3];
}

// The enumerators of a source, with their values: "kB" and "Mode::kB" are "1".
class Enumerators {
 public:
  Enumerators(const std::string& path, const ReadOptions& read) : words_(read_words(path, read)) {
    const Token* const last = words_.tokens.data() + words_.tokens.size();
    for (const Token* token = words_.tokens.data(); token < last; ++token) {
      if (token->is("enum")) add(token + 1, last);
    }
  }
  // Returns the enumerator's value as text; null if it is not known.
  const std::string* find(const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : &found->second;
  }

 private:
  void add(const Token* at, const Token* last) {
    bool is_scoped = false;
    while (at < last && (at->is("class") || at->is("struct"))) is_scoped = true, ++at;
    if (at == last || !at->is_name()) return;
    const std::string type = at->text;
    while (at < last && !at->is("{") && !at->is(";")) ++at;
    if (at == last || !at->is("{")) return;
    long long value = 0;
    for (const TokenRange& one : split_at_commas({at + 1, skip_group(at, last) - 1})) {
      if (one.empty()) continue;
      if (one.size() > 1) {  // "kB = 4"
        const Token* number = one.first + 2;
        const bool negative = number < one.last && number->is("-");
        if (negative) ++number;
        if (number + 1 != one.last || number->kind != Token::Kind::kNumber) return;
        value = std::strtoll(number->text.c_str(), nullptr, 0) * (negative ? -1 : 1);
      }
      values_[type + "::" + one.first->text] = std::to_string(value);
      if (!is_scoped) values_[one.first->text] = std::to_string(value);
      ++value;
    }
  }

  SourceWords words_;
  std::map<std::string, std::string> values_;
};

}  // namespace

std::string loosely(const std::string& name) {
  const std::vector<std::string> words = words_of(name);
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    i = behind_cast(words, i);
    if (words[i] == "long" && i > 0 && words[i - 1] == "long") continue;  // the same size
    if (is_scope_of_type(words, i)) i += 3;
    const std::string word = plain_word(words[i]) + (lacks_int(words, i) ? " int" : "");
    if (!text.empty() && is_word(text.back()) && is_word(word[0])) text += ' ';
    text += word;
  }
  return text;
}

std::string with_enumerators(const std::string& name, const std::string& source_path,
                             const ReadOptions& read) {
  const Enumerators known(source_path, read);
  const std::vector<std::string> words = words_of(name);
  std::string text;
  bool inside = false;  // inside the template arguments
  for (std::size_t i = 0; i < words.size(); ++i) {
    inside |= words[i] == "<";
    std::size_t end = i + 1;
    std::string short_name = words[i];  // with the last scope alone
    if (inside && is_word(words[i][0])) {
      for (; end + 2 < words.size() && words[end] == ":" && words[end + 1] == ":"; end += 3) {
        short_name = words[end - 1] + "::" + words[end + 2];
      }
    }
    const std::string* value = inside ? known.find(short_name) : nullptr;
    if (value == nullptr) end = i + 1;
    const std::string& word = value != nullptr ? *value : words[i];
    if (!text.empty() && is_word(text.back()) && is_word(word[0])) text += ' ';
    text += word;
    i = end - 1;
  }
  return text;
}

}  // namespace tessera::checking
