#include "lab/explain/ptx_places.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <set>

namespace tessera::lab {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '%' || c == '$' ||
         c == '.' || c == '-';
}

// Registers, names and numbers of a stretch of PTX, without the punctuation around them.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_word(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

std::optional<int> integer_of(std::string_view word) {
  int value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

int integer_or_zero(std::string_view word) { return integer_of(word).value_or(0); }

std::string_view trimmed(std::string_view line) {
  const std::size_t comment = line.find("//");
  if (comment != line.npos) line = line.substr(0, comment);
  while (!line.empty() && std::isspace(static_cast<unsigned char>(line.front())))
    line.remove_prefix(1);
  return line;
}

std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return line;
}

// One place of a .loc, and the place of the call that it was inlined at.
struct Location {
  int file = 0, line = 0, column = 0;
  int caller = -1;  // index of a location
  bool is_at(const Location& other) const {
    return file == other.file && line == other.line && column == other.column;
  }
};

// What a register was computed from, over all of its definitions.
struct Origin {
  std::vector<std::string_view> sources;  // registers and names
  std::vector<std::string> pointers;      // parameters loaded into it
};

class EntryReader {
 public:
  explicit EntryReader(std::string_view entry) : parameters_(std::string(entry) + "_param_0") {}

  void read(std::string_view line, int number) {
    line = trimmed(line);
    if (line.starts_with(".loc")) return read_location(line);
    if (line.starts_with(".shared")) return declare_shared(line);
    if (line.empty() || line.front() == '.' || line.front() == '$' || line.front() == '{') return;
    if (line.front() == '@')
      line = trimmed(line.substr(std::min(line.find_first_of(" \t"), line.size())));
    const std::size_t space = line.find_first_of(" \t;");
    if (space == line.npos) return;
    read_instruction(line.substr(0, space), line.substr(space), number);
  }

  void declare_shared(std::string_view line) {
    for (const std::string_view word : words_of(line.substr(0, line.find('[')))) {
      if (word.front() != '.' && !integer_of(word)) shared_.insert(word);
    }
  }

  std::map<int, PtxPlace> result(const std::map<int, std::string>& files) const {
    std::map<int, PtxPlace> places;
    for (const Seen& seen : seen_) {
      PtxPlace& place = places[seen.number];
      for (int at = seen.location; at >= 0; at = locations_[at].caller) {
        const auto file = files.find(locations_[at].file);
        if (file != files.end()) place.frames.push_back({file->second, locations_[at].line});
      }
      if (!seen.address.empty()) place.touches = touched_through(seen.address);
    }
    return places;
  }

 private:
  struct Seen {
    int number = 0, location = -1;
    std::string_view address;  // the text in brackets
  };

  // .loc file line column [, function_name label, inlined_at file line column]
  void read_location(std::string_view line) {
    const std::vector<std::string_view> words = words_of(line);
    if (words.size() < 4) return;
    Location location = place_at(words, 1);
    const auto inlined = std::find(words.begin(), words.end(), "inlined_at");
    if (words.end() - inlined > 3) {
      location.caller = last_location_at(place_at(words, inlined - words.begin() + 1));
    }
    locations_.push_back(location);
  }

  static Location place_at(const std::vector<std::string_view>& words, std::size_t first) {
    return {integer_or_zero(words[first]), integer_or_zero(words[first + 1]),
            integer_or_zero(words[first + 2])};
  }

  // nvcc writes the .loc of a call before those of what was inlined there, so the last one of that
  // place knows its own caller. A call without one gets a location of its own.
  int last_location_at(const Location& place) {
    for (int i = static_cast<int>(locations_.size()); i-- > 0;) {
      if (locations_[i].is_at(place)) return i;
    }
    locations_.push_back(place);
    return static_cast<int>(locations_.size()) - 1;
  }

  void read_instruction(std::string_view opcode, std::string_view operands, int number) {
    Seen seen{number, static_cast<int>(locations_.size()) - 1, {}};
    const std::size_t bracket = operands.find('[');
    const bool is_parameter = opcode.find(".param") != opcode.npos;
    if (bracket != operands.npos && !is_parameter) {
      seen.address = operands.substr(bracket + 1, operands.find(']', bracket) - bracket - 1);
    }
    seen_.push_back(seen);
    const std::vector<std::string_view> words = words_of(operands);
    if (words.empty() || words.front().front() != '%') return;
    if (opcode.starts_with("ld.param")) {
      load_parameter(words);
    } else if (bracket == operands.npos) {
      Origin& origin = origins_[words.front()];
      origin.sources.insert(origin.sources.end(), words.begin() + 1, words.end());
      if (opcode.starts_with("mov") || opcode.starts_with("add")) keep_base(words);
    }
  }

  // ld.param d, [base+offset]: where the base is the parameter block and the type a pointer's, d is
  // a pointer that belongs to the operand at that offset.
  void load_parameter(const std::vector<std::string_view>& words) {
    if (words.size() < 2) return;
    const std::optional<int> base = offset_of(words[1]);
    if (!base) return;
    const int offset = *base + (words.size() > 2 ? integer_or_zero(words[2]) : 0);
    origins_[words.front()].pointers.push_back("parameter +" + std::to_string(offset));
  }

  // mov d, parameters; or add d, base, constant
  void keep_base(const std::vector<std::string_view>& words) {
    if (words.size() < 2) return;
    const std::optional<int> base = offset_of(words[1]);
    if (base) bases_[words[0]] = *base + (words.size() > 2 ? integer_or_zero(words[2]) : 0);
  }

  std::optional<int> offset_of(std::string_view word) const {
    if (word == parameters_) return 0;
    const auto known = bases_.find(word);
    return known == bases_.end() ? std::nullopt : std::optional(known->second);
  }

  std::vector<std::string> touched_through(std::string_view address) const {
    std::set<std::string_view> visited;
    std::set<std::string> found;
    std::vector<std::string_view> open = words_of(address);
    while (!open.empty()) {
      const std::string_view word = open.back();
      open.pop_back();
      if (!visited.insert(word).second) continue;
      if (shared_.count(word)) found.insert(std::string(plain_name(word)));
      const auto origin = origins_.find(word);
      if (origin == origins_.end()) continue;
      found.insert(origin->second.pointers.begin(), origin->second.pointers.end());
      open.insert(open.end(), origin->second.sources.begin(), origin->second.sources.end());
    }
    return {found.begin(), found.end()};
  }

  std::string parameters_;
  std::vector<Location> locations_;
  std::vector<Seen> seen_;
  std::map<std::string_view, Origin> origins_;
  std::map<std::string_view, int> bases_;  // registers that point into the parameter block
  std::set<std::string_view> shared_;
};

// .file number "name"
void read_file_name(std::string_view line, std::map<int, std::string>& files) {
  const std::size_t begin = line.find('"'), end = line.rfind('"');
  if (begin == line.npos || end <= begin) return;
  const std::vector<std::string_view> words = words_of(line.substr(0, begin));
  if (words.size() < 2) return;
  files[integer_or_zero(words[1])] = std::string(line.substr(begin + 1, end - begin - 1));
}

bool opens(std::string_view line, std::string_view entry) {
  const std::size_t at = line.find(".entry ");
  if (at == line.npos) return false;
  const std::string_view name = line.substr(at + 7);
  return name.substr(0, name.find_first_of("( \t")) == entry;
}

}  // namespace

std::map<int, PtxPlace> places_of(std::string_view ptx, std::string_view entry) {
  std::map<int, std::string> files;
  EntryReader reader(entry);
  bool inside = false, any = false;
  for (int number = 1; !ptx.empty(); ++number) {
    const std::string_view line = next_line(ptx);
    if (trimmed(line).starts_with(".file")) read_file_name(trimmed(line), files);
    if (opens(line, entry)) {
      inside = any = true;
    } else if (inside) {
      reader.read(line, number);
      inside = !line.starts_with('}');
    } else if (line.find(".shared ") != line.npos) {
      reader.declare_shared(trimmed(line));  // of the module
    }
  }
  return any ? reader.result(files) : std::map<int, PtxPlace>{};
}

std::string_view plain_name(std::string_view mangled) {
  if (!mangled.starts_with("_Z")) return mangled;
  for (std::size_t at = mangled.size(); at-- > 0;) {
    if (!std::isdigit(static_cast<unsigned char>(mangled[at]))) continue;
    int length = 0;
    const auto [end, error] =
        std::from_chars(mangled.data() + at, mangled.data() + mangled.size(), length);
    const std::string_view rest = mangled.substr(end - mangled.data());
    if (length < 1 || rest.size() < static_cast<std::size_t>(length)) continue;
    const std::string_view name = rest.substr(0, length), counter = rest.substr(length);
    const bool ends_here = counter.empty() || counter.front() == '_';
    const bool is_name = std::isalpha(static_cast<unsigned char>(name.front())) || name[0] == '_';
    if (ends_here && is_name && (counter.size() < 2 || integer_of(counter.substr(1)))) return name;
  }
  return mangled;
}

}  // namespace tessera::lab
