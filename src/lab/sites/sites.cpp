#include "lab/sites/sites.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>

#include "lab/sites/ptx_places.h"
#include "launch/params.h"

namespace tessera::lab {
namespace {

using Names = std::map<std::string, std::string>;  // names of parameters, by their position

// Returns the names of the pointers in the parameter block of a launch.
const Names& operands_of(const Launch& launch) {
  static const Names kGemm = {{"parameter +0", "operand a"},
                              {"parameter +8", "operand b"},
                              {"parameter +16", "operand c"},
                              {"parameter +24", "operand d"}};
  static const Names kPack = {{"parameter +0", "source"}, {"parameter +8", "packed copy"}};
  return launch.params.size() == sizeof(PackParams) ? kPack : kGemm;
}

// Returns what an access touches, in words: shared variables by name, else the operand.
std::string touched(const PtxPlace& place, const Names& parameters, bool is_shared) {
  std::string names;
  for (const std::string& name : place.touches) {
    const bool is_parameter = name.starts_with("parameter ");
    if (is_parameter == is_shared) continue;
    const auto found = parameters.find(name);
    const std::string word = !is_parameter ? name : found == parameters.end() ? "" : found->second;
    if (!word.empty()) names += (names.empty() ? "" : ", ") + word;
  }
  return names;
}

// Returns the innermost line in the kernel's own files, whose names contain `own`; without a line
// in these files, the innermost line of all.
const SourcePlace* shown_line(const PtxPlace& place, const std::string& own) {
  for (const SourcePlace& frame : place.frames) {
    if (frame.file.find(own) != std::string::npos) return &frame;
  }
  return place.frames.empty() ? nullptr : &place.frames.front();
}

struct Naming {
  std::string entry, own;
  const Names& parameters;
};

Site new_site(const vgpu::InstructionReport& row, const PtxPlace& place, const Naming& naming) {
  Site site;
  site.entry = naming.entry;
  site.form = row.form;
  const FormClass form = classify(row.form);
  const bool accesses = row.memory.traffic != vgpu::Traffic::kNone ||
                        form.kind == FormKind::kLoad || form.kind == FormKind::kStore;
  const bool is_shared = form.space == FormSpace::kShared || row.memory.shared.requests > 0;
  site.bytes_beside = place.bytes_beside;
  if (accesses) site.touches = touched(place, naming.parameters, is_shared);
  if (const SourcePlace* line = shown_line(place, naming.own)) {
    site.file = line->file;
    site.line = line->line;
    const SourcePlace& inner = place.frames.front();
    if (!(inner == *line)) site.via = fmt::format("{}:{}", inner.file, inner.line);
  } else {
    site.file = row.source_file;
    site.line = row.source_line;
  }
  return site;
}

// Adds up the instructions of one line that have the same form and touch the same memory.
class Gathering {
 public:
  template <class Text>
  void add(const vgpu::LaunchReport& counts, std::string_view ptx, const Naming& naming,
           Text text) {
    const auto places = places_of(ptx, naming.entry);
    for (const vgpu::InstructionReport& row : counts.instructions) {
      const auto place = places.find(row.ptx_line);
      Site site = new_site(row, place == places.end() ? PtxPlace{} : place->second, naming);
      const int beside = site.bytes_beside;
      const auto [at, is_new] = known_.try_emplace(
          {site.entry, site.file, site.line, site.via, site.touches, site.form}, sites_.size());
      if (is_new) {
        site.text = text(site.file, site.line);
        site.memory.traffic = row.memory.traffic;
        sites_.push_back(std::move(site));
      }
      Site& sum = sites_[at->second];
      ++sum.instructions;
      sum.bytes_beside = std::max(sum.bytes_beside, beside);
      sum.warp += row.warp;
      sum.thread += row.thread;
      sum.memory += row.memory;
    }
  }
  std::vector<Site> take() { return std::move(sites_); }

 private:
  std::vector<Site> sites_;
  std::map<std::tuple<std::string, std::string, int, std::string, std::string, std::string>,
           std::size_t>
      known_;
};

std::string folder_of(const Kernel& kernel) {
  return "/" + (kernel.is_patched() ? kernel.patched_from : kernel.name) + "/";
}

// Returns the place to show for a caller. A file with an absolute path, mostly a header of the
// toolkit, is shown without its folder: "helper.h:61".
std::string shown_via(const std::string& via, const ForeignLaunch& launch) {
  const std::size_t colon = via.rfind(':');
  if (colon == via.npos) return via;
  const std::filesystem::path path = launch.shown(via.substr(0, colon));
  return (path.is_absolute() ? path.filename() : path).string() + via.substr(colon);
}

}  // namespace

std::string Site::place() const { return file.empty() ? entry : fmt::format("{}:{}", file, line); }

std::map<std::uint32_t, Site> sites_by_instruction(const CountedRun& run, const SourceTree& tree) {
  std::map<std::uint32_t, Site> sites;
  const Kernel& kernel = *run.kernel;
  const Launch& launch = run.launches.back();
  const Naming naming{launch.entry, folder_of(kernel), operands_of(launch)};
  const auto places = places_of(image_of(kernel, launch.entry).ptx, launch.entry);
  for (const vgpu::InstructionReport& row : run.counts.back().instructions) {
    const auto place = places.find(row.ptx_line);
    Site site = new_site(row, place == places.end() ? PtxPlace{} : place->second, naming);
    site.text = tree.line(site.file, site.line).value_or("");
    sites.emplace(row.index, std::move(site));
  }
  return sites;
}

std::vector<Site> sites_of(const CountedRun& run, const SourceTree& tree) {
  Gathering gathering;
  const Kernel& kernel = *run.kernel;
  for (std::size_t i = 0; i < run.counts.size(); ++i) {
    const Launch& launch = run.launches[i];
    gathering.add(
        run.counts[i], image_of(kernel, launch.entry).ptx,
        {launch.entry, folder_of(kernel), operands_of(launch)},
        [&](const std::string& file, int line) { return tree.line(file, line).value_or(""); });
  }
  return gathering.take();
}

std::vector<Site> sites_of(const ForeignLaunch& launch) {
  Gathering gathering;
  gathering.add(launch.counts, launch.ptx, {launch.entry, launch.file, launch.arguments},
                launch.text);
  std::vector<Site> sites = gathering.take();
  for (Site& site : sites) {
    site.file = launch.shown(site.file);
    site.via = shown_via(site.via, launch);
  }
  return sites;
}

}  // namespace tessera::lab
