#include "lab/sites/ptx_places.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <set>

#include "lab/counts/counts.h"
#include "lab/sites/ptx_text.h"

namespace tessera::lab {
namespace {

// A position in a .loc, and the position of the call into which it was inlined.
struct Location {
  int file = 0, line = 0, column = 0;
  int caller = -1;  // index of a location
  bool is_at(const Location& other) const {
    return file == other.file && line == other.line && column == other.column;
  }
};

// Where a register's value comes from, over all of its definitions.
struct Origin {
  std::vector<std::string_view> sources;  // registers and names
  std::vector<std::string> pointers;      // parameters loaded into it
};

class EntryReader {
 public:
  explicit EntryReader(std::string_view entry) : parameters_(std::string(entry) + "_param_") {}

  void read(std::string_view line, int number) {
    line = trimmed(line);
    if (line.starts_with(".loc")) return read_location(line);
    if (line.starts_with(".shared")) return declare_shared(line);
    if (line.starts_with(".param")) return declare_parameter(line);
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

  // Reads ".param .u64 name" or ".param .align 8 .b8 name[40]". An alignment after .ptr is that of
  // the pointer's target.
  void declare_parameter(std::string_view line) {
    const std::vector<std::string_view> words = words_of(line);
    const auto name = std::ranges::find_if(
        words, [this](std::string_view word) { return word.starts_with(parameters_); });
    if (name == words.end()) return;
    const auto type = std::find_if(words.begin(), name, [](std::string_view word) {
      return word.starts_with('.') && word.size() > 2 && integer_of(word.substr(2));
    });
    if (type == name) return;
    const int each = integer_or_zero(type->substr(2)) / 8;
    const bool is_array = line.find('[') != line.npos;
    const auto align = std::find(words.begin(), type, ".align");
    const int step = std::max(1, align == type ? each : integer_or_zero(*(align + 1)));
    const int at = (parameter_end_ + step - 1) / step * step;
    offsets_[*name] = at;
    parameter_end_ = at + (is_array ? each * integer_or_zero(words.back()) : each);
  }

  std::map<int, PtxPlace> result(const std::map<int, std::string>& files) const {
    std::map<int, PtxPlace> places;
    for (const Seen& seen : seen_) {
      PtxPlace& place = places[seen.number];
      for (int at = seen.location; at >= 0; at = locations_[at].caller) {
        const auto file = files.find(locations_[at].file);
        if (file != files.end()) place.frames.push_back({file->second, locations_[at].line});
      }
      if (seen.address.empty()) continue;
      place.touches = touched_through(seen.address);
      if (const auto beside = beside_.find(seen.beside); beside != beside_.end()) {
        place.bytes_beside = static_cast<int>(beside->second.size()) * seen.beside.bytes;
      }
    }
    return places;
  }

 private:
  // Accesses through one address register.
  struct Beside {
    std::string_view base;
    FormKind kind = FormKind::kOther;
    int bytes = 0;
    auto operator<=>(const Beside&) const = default;
  };
  struct Seen {
    int number = 0, location = -1;
    std::string_view address;  // the text in brackets
    Beside beside;
  };

  // Reads ".loc file line column [, function_name label, inlined_at file line column]".
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

  // Returns the last location at this position. nvcc writes the .loc of a call before those of the
  // inlined code, so the last location has the right caller. A call without a .loc gets a new one.
  int last_location_at(const Location& place) {
    for (int i = static_cast<int>(locations_.size()); i-- > 0;) {
      if (locations_[i].is_at(place)) return i;
    }
    locations_.push_back(place);
    return static_cast<int>(locations_.size()) - 1;
  }

  void read_instruction(std::string_view opcode, std::string_view operands, int number) {
    Seen seen{number, static_cast<int>(locations_.size()) - 1, {}, {}};
    const std::size_t bracket = operands.find('[');
    const bool is_parameter = opcode.find(".param") != opcode.npos;
    if (bracket != operands.npos && !is_parameter) {
      seen.address = operands.substr(bracket + 1, operands.find(']', bracket) - bracket - 1);
    }
    if (const auto address = words_of(seen.address); !address.empty()) {
      const FormClass form = classify(opcode);
      seen.beside = {address.front(), form.kind, form.bytes};
      beside_[seen.beside].insert(address.size() > 1 ? integer_or_zero(address[1]) : 0);
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

  // Reads "ld.param d, [base+offset]". If base points into the parameter block, d may hold the
  // pointer at this offset of the block, which is stored as "parameter +8".
  void load_parameter(const std::vector<std::string_view>& words) {
    if (words.size() < 2) return;
    const std::optional<int> base = offset_of(words[1]);
    if (!base) return;
    const int offset = *base + (words.size() > 2 ? integer_or_zero(words[2]) : 0);
    origins_[words.front()].pointers.push_back("parameter +" + std::to_string(offset));
  }

  // Reads "mov d, parameters" or "add d, base, constant".
  void keep_base(const std::vector<std::string_view>& words) {
    if (words.size() < 2) return;
    const std::optional<int> base = offset_of(words[1]);
    if (base) bases_[words[0]] = *base + (words.size() > 2 ? integer_or_zero(words[2]) : 0);
  }

  std::optional<int> offset_of(std::string_view word) const {
    if (const auto own = offsets_.find(word); own != offsets_.end()) return own->second;
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

  std::string parameters_;                   // the prefix of parameter names
  std::map<std::string_view, int> offsets_;  // offsets of parameters in their block
  int parameter_end_ = 0;
  std::vector<Location> locations_;
  std::vector<Seen> seen_;
  std::map<std::string_view, Origin> origins_;
  std::map<std::string_view, int> bases_;  // registers that point into the parameter block
  std::set<std::string_view> shared_;
  std::map<Beside, std::set<int>> beside_;  // offsets
};

// Reads ".file number "name"".
void read_file_name(std::string_view line, std::map<int, std::string>& files) {
  const std::size_t begin = line.find('"'), end = line.rfind('"');
  if (begin == line.npos || end <= begin) return;
  const std::vector<std::string_view> words = words_of(line.substr(0, begin));
  if (words.size() < 2) return;
  files[integer_or_zero(words[1])] = std::string(line.substr(begin + 1, end - begin - 1));
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
      reader.declare_shared(trimmed(line));  // a variable of the module
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
