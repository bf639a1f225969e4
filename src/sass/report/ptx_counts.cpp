#include "sass/report/ptx_counts.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>

#include "sass/model/loops.h"

namespace tessera::sass {
namespace {

bool has_part(std::string_view opcode, std::string_view part) {
  for (std::size_t at = opcode.find(part); at != opcode.npos; at = opcode.find(part, at + 1)) {
    const std::size_t end = at + part.size();
    if (end == opcode.size() || opcode[end] == '.') return true;
  }
  return false;
}

// Bits of the type at the end of an opcode times the length of its vector: ".v4.f32" is 128.
int access_bits(std::string_view opcode) {
  const std::string_view type = opcode.substr(opcode.rfind('.') + 1);
  int bits = 0;
  std::from_chars(type.data() + 1, type.data() + type.size(), bits);
  return bits * (has_part(opcode, ".v4") ? 4 : has_part(opcode, ".v2") ? 2 : 1);
}

// "LDS.128" for "ld.shared.v4.f32"; empty for parameters and constants, which are no memory
// accesses of the data path.
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

// The machine's name of a PTX opcode; empty for what is not counted. A lane holds one double of the
// fragments A and B of an FP64 wmma, two of C and D.
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

// Collects one kernel: the counted name of each instruction, and the places of its labels.
class Counter {
 public:
  explicit Counter(std::string name) { kernel_.name = std::move(name); }

  void label(std::string_view name) { labels_.emplace(name, names_.size()); }

  void statement(std::string_view text) {
    std::string_view opcode = first_word(text);
    const bool guarded = opcode.starts_with("@");
    if (guarded) opcode = first_word(text);
    if (opcode.empty() || opcode.starts_with(".")) return;
    names_.push_back(machine_name(opcode));
    const bool is_branch = opcode == "bra" || opcode == "bra.uni";
    const bool leaves = is_branch || opcode == "ret" || opcode == "exit" || opcode == "trap";
    falls_through_.push_back(guarded || !leaves);
    targets_.emplace_back(is_branch ? first_word(text) : "");
  }

  PtxKernel result() && {
    for (const std::string& name : names_) count(name, kernel_.histogram);
    for (const NaturalLoop& loop : find_loops(steps())) {
      Histogram& histogram = kernel_.loops.emplace_back();
      for (const std::size_t member : loop.members) count(names_[member], histogram);
    }
    return std::move(kernel_);
  }

 private:
  static void count(const std::string& name, Histogram& histogram) {
    if (!name.empty()) ++histogram[name];
  }

  std::vector<Step> steps() const {
    std::vector<Step> steps(names_.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const auto label = labels_.find(targets_[i]);
      if (label != labels_.end() && label->second < steps.size()) steps[i].target = label->second;
      steps[i].falls_through = falls_through_[i];
    }
    return steps;
  }

  PtxKernel kernel_;
  std::vector<std::string> names_;    // one an instruction; empty if it is not counted
  std::vector<std::string> targets_;  // labels of branches
  std::vector<bool> falls_through_;
  std::map<std::string, std::size_t, std::less<>> labels_;
};

std::string_view without_comment(std::string_view line) { return line.substr(0, line.find("//")); }

// The name behind ".entry", if the line has one.
std::optional<std::string> entry_of(std::string_view line) {
  const std::size_t at = line.find(".entry ");
  if (at == line.npos) return std::nullopt;
  const std::string_view rest = line.substr(at + 7);
  return std::string(rest.substr(0, rest.find_first_of("( \t")));
}

void count_line(std::string_view line, Counter& counter) {
  std::string_view rest = line;
  const std::string_view word = first_word(rest);
  if (word.ends_with(":")) return counter.label(word.substr(0, word.size() - 1));
  while (!line.empty()) {
    const std::size_t end = line.find(';');
    counter.statement(line.substr(0, end));
    line.remove_prefix(end == line.npos ? line.size() : end + 1);
  }
}

bool is_compared(const std::string& name) {
  return name == "FFMA" || name == "DFMA" || name.starts_with("LDS.") || name.starts_with("STS.") ||
         name.starts_with("LDG.") || name.starts_with("STG.") || name.starts_with("LD.") ||
         name.starts_with("ST.");
}

Histogram compared_part(const Histogram& histogram) {
  Histogram part;
  for (const auto& [name, count] : histogram) {
    if (is_compared(name)) part[name] = count;
  }
  return part;
}

// Loops that hold something to compare, in an order that does not depend on their places.
template <class Loops, class HistogramOf>
std::vector<Histogram> compared_loops(const Loops& loops, HistogramOf histogram_of) {
  std::vector<Histogram> parts;
  for (const auto& loop : loops) {
    Histogram part = compared_part(histogram_of(loop));
    if (!part.empty()) parts.push_back(std::move(part));
  }
  std::sort(parts.begin(), parts.end());
  return parts;
}

std::string difference(const std::string& where, int in_ptx, int in_cubin) {
  return where + ": " + std::to_string(in_ptx) + " in the PTX, " + std::to_string(in_cubin) +
         " in the cubin";
}

void append_differences(const Histogram& ptx, const Histogram& cubin, const std::string& prefix,
                        std::vector<std::string>& found) {
  Histogram names = ptx;
  names.insert(cubin.begin(), cubin.end());
  for (const auto& [name, unused] : names) {
    const auto count_in = [&key = name](const Histogram& histogram) {
      const auto at = histogram.find(key);
      return at == histogram.end() ? 0 : at->second;
    };
    const int in_ptx = count_in(ptx), in_cubin = count_in(cubin);
    if (in_ptx != in_cubin) found.push_back(difference(prefix + name, in_ptx, in_cubin));
  }
}

}  // namespace

std::vector<PtxKernel> count_ptx(std::string_view ptx) {
  std::vector<PtxKernel> kernels;
  std::optional<Counter> counter;
  const auto finish = [&] {
    if (counter) kernels.push_back(std::move(*counter).result());
    counter.reset();
  };
  while (!ptx.empty()) {
    const std::size_t end = ptx.find('\n');
    const std::string_view line = without_comment(ptx.substr(0, end));
    ptx.remove_prefix(end == ptx.npos ? ptx.size() : end + 1);
    const std::optional<std::string> entry = entry_of(line);
    if (entry || line.find(".func ") != line.npos) finish();
    if (entry) {
      counter.emplace(*entry);
    } else if (counter) {
      count_line(line, *counter);
    }
  }
  finish();
  return kernels;
}

std::vector<std::string> differences(const PtxKernel& ptx, const CubinKernel& cubin) {
  std::vector<std::string> found;
  append_differences(compared_part(ptx.histogram), compared_part(cubin.histogram), "", found);
  const auto ptx_loops = compared_loops(ptx.loops, [](const Histogram& loop) { return loop; });
  const auto cubin_loops =
      compared_loops(cubin.loops, [](const Loop& loop) { return loop.histogram; });
  if (ptx_loops.size() != cubin_loops.size()) {
    found.push_back(difference("loops", static_cast<int>(ptx_loops.size()),
                               static_cast<int>(cubin_loops.size())));
    return found;
  }
  for (std::size_t i = 0; i < ptx_loops.size(); ++i) {
    append_differences(ptx_loops[i], cubin_loops[i], "in a loop, ", found);
  }
  return found;
}

}  // namespace tessera::sass
