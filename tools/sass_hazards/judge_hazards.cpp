// Counts the kernels in which the hazard checker finds something, in code that a compiler wrote and
// that is unchanged, and how many edits of it the checker notices. tools/sass_hazards/count.py
// compiles the kernels and collects the answers.
//
//     judge_hazards SM LIST [--edits N] [--first-half GROUP]...
//
// LIST names a group and a file a line, with a tab between them; files are cubins and fatbins, of
// which the code for SM is read. Of kernels with the same code one is judged. Prints JSON. Further
// verdicts are by what this repository's own kernels show (latencies_of), and by these and the
// other half of the groups, or all other groups: not by the kernels that are judged.
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sass/container/cubin.h"
#include "sass/container/fatbin.h"
#include "sass/model/flow.h"
#include "sass/model/hazards.h"
#include "sass/model/latencies.h"
#include "sass/rewrite/check_code.h"
#include "tools/calibrate/mined_distances.h"
#include "tools/sass_hazards/edits.h"

namespace tessera::sass {
namespace {

struct Options {
  int sm = 0;
  std::string list;
  std::size_t edits = 0;
  std::set<std::string> first_half;
};

struct Judged {
  std::string group, file;
  Program program;
  bool objected = false;
};

struct Corpus {
  std::vector<Judged> kernels;                     // those that can be judged
  std::map<std::string, int> compiled, different;  // by group, also those that cannot
  std::map<std::string, int> copies;               // by group: those whose code is judged
  std::map<std::string, int> why_not_judged;       // by reason
};

class Reader {
 public:
  explicit Reader(int sm) : sm_(sm) {}

  void read(const std::string& group, const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(stream)), {});
    for (const FoundCubin& found : find_code(std::as_bytes(std::span(bytes))).cubins) {
      const CubinFile cubin = read_cubin(found.bytes);
      if (cubin.sm != sm_) continue;
      for (const CubinKernel& kernel : cubin.kernels) add(group, path, kernel);
    }
  }
  Corpus take() { return std::move(corpus_); }

 private:
  void add(const std::string& group, const std::string& path, const CubinKernel& kernel) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> code;
    for (const Instruction& instruction : kernel.code) {
      code.emplace_back(instruction.low, instruction.high);
    }
    ++corpus_.compiled[group];
    const auto [seen, is_new] = is_judged_.try_emplace(std::move(code), false);
    if (is_new) seen->second = takes(group, path, kernel);
    corpus_.different[group] += is_new;
    corpus_.copies[group] += seen->second;
  }

  // Whether its code can be judged.
  bool takes(const std::string& group, const std::string& path, const CubinKernel& kernel) {
    try {
      Program program = program_of(kernel, sm_);
      const std::string reason = reason_not_to_check(program);
      if (reason.empty()) {
        corpus_.kernels.push_back({group, path, std::move(program)});
        return true;
      }
      ++corpus_.why_not_judged[reason];
    } catch (const std::exception& error) {  // "NAME at 0x160 (CALL.ABS.NOINC R2): where ..."
      const std::string text = error.what();
      const std::size_t colon = text.find(": ");
      ++corpus_.why_not_judged[colon == text.npos ? text : text.substr(colon + 2)];
    }
    return false;
  }

  int sm_;
  Corpus corpus_;
  std::map<std::vector<std::pair<std::uint64_t, std::uint64_t>>, bool> is_judged_;  // by code
};

nlohmann::json judge(Corpus& corpus) {
  std::map<std::string, int> judged, objected;
  nlohmann::json objections = nlohmann::json::array();
  for (Judged& kernel : corpus.kernels) {
    ++judged[kernel.group];
    const std::vector<Hazard> hazards = find_hazards(kernel.program);
    kernel.objected = !hazards.empty();
    objected[kernel.group] += kernel.objected;
    for (const Hazard& hazard : hazards) {
      objections.push_back(kernel.file + ": " + text_of(kernel.program, hazard));
    }
  }
  nlohmann::json groups;
  for (const auto& [group, count] : corpus.compiled) {
    groups[group] = {{"compiled", count},
                     {"kernels", corpus.different[group]},
                     {"judged", judged[group]},
                     {"judged_with_copies", corpus.copies[group]},
                     {"with_objection", objected[group]}};
  }
  return {{"repositories", groups},
          {"not_judged", corpus.why_not_judged},
          {"objections", std::move(objections)}};
}

// Objections by distances that come from other kernels only.
class HeldOut {
 public:
  HeldOut(const Options& options, const Corpus& corpus) : options_(options), corpus_(corpus) {
    for (const Judged& kernel : corpus.kernels) mined_[kernel.group].add(kernel.program);
  }

  nlohmann::json by_own_kernels() const {
    return judge([](const std::string&, const std::string&) { return false; });
  }
  nlohmann::json by_halves() const {
    return judge([&](const std::string& judged, const std::string& learned) {
      return options_.first_half.contains(judged) != options_.first_half.contains(learned);
    });
  }
  nlohmann::json by_groups() const {
    return judge(
        [](const std::string& judged, const std::string& learned) { return judged != learned; });
  }

 private:
  template <class LearnsFrom>
  nlohmann::json judge(LearnsFrom learns_from) const {
    int judged = 0, objected = 0;
    nlohmann::json texts = nlohmann::json::array();
    for (const auto& entry : mined_) {
      const std::string& group = entry.first;
      MinedDistances others;
      for (const auto& [other, mined] : mined_) {
        if (learns_from(group, other)) others.add(mined);
      }
      const LatencyTable& own = latencies_of(options_.sm);
      const std::vector<LatencyRow> rows = others.rows_beside(own);
      const std::vector<StallRow> stalls = others.stalls_beside(own);
      const Distances distances(own, {options_.sm, "", rows, stalls});
      for (const Judged& kernel : corpus_.kernels) {
        if (kernel.group != group) continue;
        const std::vector<Hazard> hazards = find_hazards(kernel.program, distances);
        ++judged;
        objected += !hazards.empty();
        for (const Hazard& hazard : hazards) {
          texts.push_back(kernel.file + ": " + text_of(kernel.program, hazard));
        }
      }
    }
    return {{"judged", judged}, {"with_objection", objected}, {"objections", std::move(texts)}};
  }

  const Options& options_;
  const Corpus& corpus_;
  std::map<std::string, MinedDistances> mined_;
};

// HW: ptxas sets the yield bit mostly where the next instruction waits for a result.
const char* kind_of(const Program& program, const Edit& edit) {
  if (edit.kind == Edit::Kind::kWait) return "waits";
  return program.operations[edit.at].control.yields ? "stalls_with_yield" : "other_stalls";
}

// Draws a kernel, then one of its edits: large kernels weigh no more than small ones.
nlohmann::json edit(const Options& options, const Corpus& corpus) {
  std::vector<const Program*> clean;
  for (const Judged& kernel : corpus.kernels) {
    if (!kernel.objected) clean.push_back(&kernel.program);
  }
  struct Count {
    int made = 0, noticed = 0;
  };
  std::map<std::string, Count> counts;
  std::mt19937_64 random(static_cast<unsigned>(options.sm));
  for (std::size_t made = 0; made < options.edits && !clean.empty();) {
    const Program& program = *clean[random() % clean.size()];
    const std::vector<Edit> edits = edits_of(program, random);
    if (edits.empty()) continue;
    const Edit& drawn = edits[random() % edits.size()];
    Count& count = counts[kind_of(program, drawn)];
    ++count.made;
    count.noticed += !find_hazards(edited(program, drawn)).empty();
    ++made;
  }
  nlohmann::json result;
  for (const char* kind : {"waits", "stalls_with_yield", "other_stalls"}) {
    result[kind] = {{"edits", counts[kind].made}, {"noticed", counts[kind].noticed}};
  }
  return result;
}

Options options_of(int count, char** arguments) {
  Options options{.sm = std::stoi(arguments[1]), .list = arguments[2]};
  for (int i = 3; i + 1 < count; i += 2) {
    const std::string name = arguments[i];
    if (name == "--edits") options.edits = std::stoul(arguments[i + 1]);
    if (name == "--first-half") options.first_half.insert(arguments[i + 1]);
  }
  return options;
}

nlohmann::json run(const Options& options) {
  Reader reader(options.sm);
  std::ifstream list(options.list);
  for (std::string line; std::getline(list, line);) {
    const std::size_t tab = line.find('\t');
    if (tab != line.npos) reader.read(line.substr(0, tab), line.substr(tab + 1));
  }
  Corpus corpus = reader.take();
  nlohmann::json result = judge(corpus);
  const HeldOut held_out(options, corpus);
  result["learned_from_no_repository"] = held_out.by_own_kernels();
  result["learned_from_the_other_half"] = held_out.by_halves();
  result["learned_from_the_other_repositories"] = held_out.by_groups();
  if (options.edits > 0) result["edits"] = edit(options, corpus);
  return result;
}

}  // namespace
}  // namespace tessera::sass

int main(int count, char** arguments) {
  if (count < 3) {
    std::fprintf(stderr, "usage: judge_hazards SM LIST [--edits N] [--first-half GROUP]...\n");
    return 2;
  }
  try {
    std::puts(tessera::sass::run(tessera::sass::options_of(count, arguments)).dump(1).c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
