#include "sass/report/ptx_code.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <functional>
#include <map>
#include <optional>
#include <sstream>

namespace tessera::sass {
namespace {

bool has_part(std::string_view opcode, std::string_view part) {
  for (std::size_t at = opcode.find(part); at != opcode.npos; at = opcode.find(part, at + 1)) {
    const std::size_t end = at + part.size();
    if (end == opcode.size() || opcode[end] == '.') return true;
  }
  return false;
}

// Returns the width of an access in bits: the bits of the type times the length of the vector.
// ".v4.f32" has 128.
int access_bits(std::string_view opcode) {
  const std::string_view type = opcode.substr(opcode.rfind('.') + 1);
  int bits = 0;
  std::from_chars(type.data() + 1, type.data() + type.size(), bits);
  return bits * (has_part(opcode, ".v4") ? 4 : has_part(opcode, ".v2") ? 2 : 1);
}

// Returns the machine's name of a load or store, "LDS.128" for "ld.shared.v4.f32". Empty for
// parameters and constants, which are not accesses of the data path.
std::string access_name(std::string_view opcode) {
  const bool is_load = opcode.starts_with("ld.");
  std::string name = is_load ? "LD" : "ST";
  if (has_part(opcode, ".shared") || has_part(opcode, ".shared::cta")) {
    name += "S";
  } else if (has_part(opcode, ".global")) {
    name += "G";
  } else if (has_part(opcode, ".local")) {
    name += "L";
  } else if (has_part(opcode, ".param") || has_part(opcode, ".const")) {
    return "";
  }
  return name + "." + std::to_string(access_bits(opcode));
}

// Returns the name of the SASS instruction for a PTX opcode, or "" if the report does not count the
// opcode. An FP64 wmma moves one double per lane for a fragment of A or B, and two for C or D.
std::string machine_name(std::string_view opcode) {
  if (opcode.starts_with("fma.")) return opcode.ends_with(".f64") ? "DFMA" : "FFMA";
  if (opcode.starts_with("bar.") || opcode.starts_with("barrier.")) return "BAR";
  if (opcode.starts_with("ld.") || opcode.starts_with("st.")) return access_name(opcode);
  const bool is_fp64_wmma = opcode.starts_with("wmma.") && has_part(opcode, ".m8n8k4");
  if (!is_fp64_wmma) return "";
  if (opcode.starts_with("wmma.mma")) return "DMMA";
  const bool one_double = has_part(opcode, ".a") || has_part(opcode, ".b");
  return std::string(opcode.starts_with("wmma.load") ? "LD" : "ST") + (one_double ? ".64" : ".128");
}

std::string_view first_word(std::string_view& text) {
  const auto is_space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && (is_space(text[0]) || text[0] == '{' || text[0] == '}')) {
    text.remove_prefix(1);
  }
  const auto end = std::find_if(text.begin(), text.end(), is_space);
  const std::string_view word = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(word.size());
  return word;
}

std::string squeezed(std::string_view text) {
  std::istringstream words{std::string(text)};
  std::string all;
  for (std::string word; words >> word;) all += (all.empty() ? "" : " ") + word;
  return all;
}

// Collects one kernel: its instructions, and the positions of its labels.
class Collector {
 public:
  explicit Collector(std::string name) { code_.name = std::move(name); }

  void label(std::string_view name) { labels_.emplace(name, code_.instructions.size()); }

  void statement(std::string_view whole) {
    std::string_view text = whole;
    std::string_view opcode = first_word(text);
    const bool guarded = opcode.starts_with("@");
    if (guarded) opcode = first_word(text);
    if (opcode.empty() || opcode.starts_with(".")) return;
    code_.instructions.push_back({squeezed(whole), std::string(opcode), machine_name(opcode)});
    const bool is_branch = opcode == "bra" || opcode == "bra.uni";
    const bool leaves = is_branch || opcode == "ret" || opcode == "exit" || opcode == "trap";
    falls_through_.push_back(guarded || !leaves);
    targets_.emplace_back(is_branch ? first_word(text) : "");
  }

  PtxCode result() && {
    code_.loops = find_loops(steps());
    return std::move(code_);
  }

 private:
  std::vector<Step> steps() const {
    std::vector<Step> steps(targets_.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const auto label = labels_.find(targets_[i]);
      if (label != labels_.end() && label->second < steps.size()) steps[i].target = label->second;
      steps[i].falls_through = falls_through_[i];
    }
    return steps;
  }

  PtxCode code_;
  std::vector<std::string> targets_;  // labels of branches
  std::vector<bool> falls_through_;
  std::map<std::string, std::size_t, std::less<>> labels_;
};

std::string_view without_comment(std::string_view line) { return line.substr(0, line.find("//")); }

// Returns the name after ".entry" if the line has one.
std::optional<std::string> entry_of(std::string_view line) {
  const std::size_t at = line.find(".entry ");
  if (at == line.npos) return std::nullopt;
  const std::string_view rest = line.substr(at + 7);
  return std::string(rest.substr(0, rest.find_first_of("( \t")));
}

void collect_line(std::string_view line, Collector& collector) {
  std::string_view rest = line;
  const std::string_view word = first_word(rest);
  if (word.ends_with(":")) return collector.label(word.substr(0, word.size() - 1));
  while (!line.empty()) {
    const std::size_t end = line.find(';');
    collector.statement(line.substr(0, end));
    line.remove_prefix(end == line.npos ? line.size() : end + 1);
  }
}

}  // namespace

std::vector<PtxCode> read_ptx_code(std::string_view ptx) {
  std::vector<PtxCode> kernels;
  std::optional<Collector> collector;
  const auto finish = [&] {
    if (collector) kernels.push_back(std::move(*collector).result());
    collector.reset();
  };
  while (!ptx.empty()) {
    const std::size_t end = ptx.find('\n');
    const std::string_view line = without_comment(ptx.substr(0, end));
    ptx.remove_prefix(end == ptx.npos ? ptx.size() : end + 1);
    const std::optional<std::string> entry = entry_of(line);
    if (entry || line.find(".func ") != line.npos) finish();
    if (entry) {
      collector.emplace(*entry);
    } else if (collector) {
      collect_line(line, *collector);
    }
  }
  finish();
  return kernels;
}

}  // namespace tessera::sass
