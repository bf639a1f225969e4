#include "lab/draw/element.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <regex>

#include "base/numbers.h"

namespace tessera::lab {
namespace {

using Access = vgpu::TracedAccess;

[[noreturn]] void refuse(const ElementName& element, const std::string& rule) {
  throw StatusError(
      Status::bad_argument(fmt::format("element is '{}', but {}", element.text, rule)));
}

// Byte addresses [begin, end).
struct Bytes {
  std::uint64_t begin = 0, end = 0;
};

void require_in_range(const ElementName& element, const std::vector<std::int64_t>& extents) {
  if (element.index.size() != extents.size()) {
    refuse(element, fmt::format("{} has {} ind{}", element.name, extents.size(),
                                extents.size() == 1 ? "ex" : "ices"));
  }
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (element.index[i] < extents[i]) continue;
    refuse(element,
           fmt::format("index {} of {} must be below {}", i + 1, element.name, extents[i]));
  }
}

// Returns the value of "cfg.block.m", "kEdge * kEdge" or "32" with the tile sizes of a config row;
// nullopt if a word is unknown.
std::optional<std::int64_t> extent_of(const std::string& expression, const BlockTile& block) {
  static const std::regex kWords(R"([^\s*]+)");
  std::int64_t extent = 1;
  for (std::sregex_iterator word(expression.begin(), expression.end(), kWords), end; word != end;
       ++word) {
    const std::string name = word->str();
    if (name == "cfg.block.m") {
      extent *= block.m;
    } else if (name == "cfg.block.n") {
      extent *= block.n;
    } else if (name == "cfg.block.k" || name == "kEdge") {
      extent *= block.k;
    } else if (name.find_first_not_of("0123456789") == std::string::npos && name.size() < 9) {
      extent *= std::stoll(name);
    } else {
      return std::nullopt;
    }
  }
  return extent;
}

// Returns the extents of an array in shared memory, as the kernel's source declares it.
std::vector<std::int64_t> extents_of(const ElementName& element, const KernelChoice& choice,
                                     const SourceTree& tree) {
  const std::string path = "src/" + choice.kernel->source;
  const std::optional<std::string> source = tree.file(path);
  if (!source) refuse(element, "the source that declares it, " + path + ", cannot be read");
  const std::regex declaration("__shared__[^;]*\\b" + element.name + R"(((?:\[[^\]]+\])+)\s*[;,])");
  std::smatch found;
  if (!std::regex_search(*source, found, declaration)) {
    refuse(element, fmt::format("{} declares no array '{}' in shared memory, and A, B, C and D are "
                                "the operands",
                                path, element.name));
  }
  static const std::regex kBracket(R"(\[([^\]]+)\])");
  const std::string brackets = found[1];
  std::vector<std::int64_t> extents;
  const BlockTile block = rows_of(*choice.kernel, choice.variant).front().block;
  for (std::sregex_iterator one(brackets.begin(), brackets.end(), kBracket), end; one != end;
       ++one) {
    const std::optional<std::int64_t> extent = extent_of((*one)[1], block);
    if (!extent)
      refuse(element, fmt::format("'{}' of {} is not understood", (*one)[1].str(), path));
    extents.push_back(*extent);
  }
  return extents;
}

// Returns the addresses of an operand's element in device memory.
Bytes bytes_of_operand(const ElementName& element, const Problem& given, const Operands& operands) {
  const Problem p = with_default_ld(given);
  const char name = element.name.front();
  const MatrixView view = name == 'A'   ? view_a(p)
                          : name == 'B' ? view_b(p)
                          : name == 'C' ? view_c(p)
                                        : view_d(p);
  const ElementType type = name == 'A'   ? p.types.a
                           : name == 'B' ? p.types.b
                           : name == 'C' ? p.types.c
                                         : p.types.d;
  const DeviceAddress base = name == 'A'   ? operands.a
                             : name == 'B' ? operands.b
                             : name == 'C' ? operands.c
                                           : operands.d;
  require_in_range(element, {view.rows, view.cols});
  const auto bytes = static_cast<std::uint64_t>(size_of(type));
  const std::uint64_t begin =
      base +
      bytes * static_cast<std::uint64_t>(element.index[0] * view.row + element.index[1] * view.col);
  return {begin, begin + bytes};
}

// Returns the addresses of a variable's element in shared memory. Each kernel writes its arrays
// completely, so an array begins at the lowest address of all accesses to it.
Bytes bytes_of_variable(const ElementName& element, const TracedRun& traced,
                        const std::vector<std::int64_t>& extents,
                        const std::map<std::uint32_t, Site>& sites) {
  std::optional<std::uint64_t> first;
  for (const Access& access : traced.accesses) {
    const auto site = sites.find(access.instruction);
    if (!access.is_shared || site == sites.end() || site->second.touches != element.name) continue;
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      if (!access.has_lane(lane)) continue;
      first = std::min(first.value_or(access.address[lane]), access.address[lane]);
    }
  }
  if (!first) refuse(element, "no access of the kernel was recognised as one to " + element.name);
  require_in_range(element, extents);
  const auto bytes = static_cast<std::uint64_t>(size_of(traced.run.problem.types.a));
  std::int64_t number = 0;
  for (std::size_t i = 0; i < extents.size(); ++i) number = number * extents[i] + element.index[i];
  return {*first + bytes * static_cast<std::uint64_t>(number),
          *first + bytes * static_cast<std::uint64_t>(number + 1)};
}

// Returns the threads of an access that touch the word, by their linear number in the block.
std::vector<int> threads_of(const Access& access, const Bytes& word) {
  std::vector<int> threads;
  if (access.mask == 0 && access.address[0] < word.end &&
      access.address[0] + access.bytes > word.begin) {
    return {kCopyEngine};
  }
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (access.touches(lane, word.begin, word.end)) {
      threads.push_back(static_cast<int>(access.warp * 32 + lane));
    }
  }
  return threads;
}

void add(ElementUse& use, const Access& access, const std::vector<int>& threads,
         const std::map<std::uint32_t, Site>& sites) {
  const bool is_write = access.kind != Access::Kind::kLoad;
  ElementPhase& phase = use.phases.back();
  for (const int thread : threads) {
    if (is_write) {
      phase.writers.insert(thread);
    } else {
      ++phase.readers[thread];
    }
  }
  const auto site = sites.find(access.instruction);
  if (site != sites.end()) (is_write ? use.written_at : use.read_at).insert(site->second.place());
}

// Gathers the accesses to the word in shared memory. A write begins a new phase (the next tile) if
// the word was read in the current phase.
void gather_shared(ElementUse& use, const TracedRun& traced, const Bytes& word,
                   const std::map<std::uint32_t, Site>& sites) {
  for (const Access& access : traced.accesses) {
    if (!access.is_shared) continue;
    const std::vector<int> threads = threads_of(access, word);
    if (threads.empty()) continue;
    const bool begins = use.phases.empty() ||
                        (access.kind != Access::Kind::kLoad && !use.phases.back().readers.empty());
    if (begins) use.phases.emplace_back();
    add(use, access, threads, sites);
  }
}

void gather_global(ElementUse& use, const TracedRun& traced, const Bytes& word,
                   const std::map<std::uint32_t, Site>& sites) {
  std::map<std::uint64_t, std::vector<const Access*>> by_block;
  for (const Access& access : traced.accesses) by_block[access.cta].push_back(&access);
  for (const auto& [block, accesses] : by_block) {
    use.blocks.push_back(block);
    use.phases.emplace_back();
    for (const Access* access : accesses) add(use, *access, threads_of(*access, word), sites);
  }
}

}  // namespace

ElementName parse_element(const std::string& argument, const std::string& text) {
  static const std::regex kForm(R"(([A-Za-z_]\w*)((?:\[\d{1,9}\]){1,2}))");
  std::smatch found;
  if (!std::regex_match(text, found, kForm)) {
    throw StatusError(Status::bad_argument(fmt::format(
        "{} is '{}', but must be a name and its indices, such as tile_a[5][7] or A[5][7]", argument,
        text)));
  }
  ElementName element{text, found[1], {}};
  const std::string brackets = found[2];
  static const std::regex kNumber(R"(\d+)");
  for (std::sregex_iterator one(brackets.begin(), brackets.end(), kNumber), end; one != end;
       ++one) {
    element.index.push_back(std::stoll(one->str()));
  }
  return element;
}

ElementUse element_use(Device& device, const KernelChoice& choice, const Problem& problem,
                       const ElementName& element, const SourceTree& tree) {
  std::vector<std::int64_t> extents;
  if (!element.is_operand()) extents = extents_of(element, choice, tree);
  Bytes word;
  const TracedRun traced = trace_run(device, choice, problem, 1, 0,
                                     [&](const Operands& operands, vgpu::AccessTrace& trace) {
                                       if (!element.is_operand()) {
                                         trace.cta = 0;
                                         return;
                                       }
                                       word = bytes_of_operand(element, problem, operands);
                                       trace.begin = word.begin, trace.end = word.end;
                                     });
  const auto sites = sites_by_instruction(traced.run, tree);
  if (!element.is_operand()) word = bytes_of_variable(element, traced, extents, sites);
  ElementUse use;
  use.kernel = choice.kernel->name;
  use.config = choice.variant;
  use.problem = traced.run.problem;
  use.element = element;
  use.address = word.begin;
  use.ctas = traced.run.counts.back().resources.ctas;
  use.threads = traced.run.row->threads * traced.run.row->threads_y;
  if (traced.run.row->threads_y > 1) use.width = traced.run.row->threads;
  if (element.is_operand()) {
    gather_global(use, traced, word, sites);
  } else {
    gather_shared(use, traced, word, sites);
  }
  return use;
}

}  // namespace tessera::lab
