#include "lab/explain/sites.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

#include "lab/explain/ptx_places.h"
#include "launch/params.h"

namespace tessera::lab {
namespace {

// The pointers of a parameter block, by their place in it.
std::string operand_at(const std::string& parameter, const Launch& launch) {
  static const std::map<std::string, std::string> kGemm = {{"parameter +0", "operand a"},
                                                           {"parameter +8", "operand b"},
                                                           {"parameter +16", "operand c"},
                                                           {"parameter +24", "operand d"}};
  static const std::map<std::string, std::string> kPack = {{"parameter +0", "source"},
                                                           {"parameter +8", "packed copy"}};
  const auto& names = launch.params.size() == sizeof(PackParams) ? kPack : kGemm;
  const auto found = names.find(parameter);
  return found == names.end() ? "" : found->second;
}

// What an access touches, for a person: shared variables by name, else the operand.
std::string touched(const PtxPlace& place, const Launch& launch, bool is_shared) {
  std::string names;
  for (const std::string& name : place.touches) {
    const bool is_parameter = name.starts_with("parameter ");
    if (is_parameter == is_shared) continue;
    const std::string word = is_parameter ? operand_at(name, launch) : name;
    if (!word.empty()) names += (names.empty() ? "" : ", ") + word;
  }
  return names;
}

// The innermost line in the kernel's own folder; where there is none, the innermost one.
const SourcePlace* shown_line(const PtxPlace& place, const std::string& folder) {
  for (const SourcePlace& frame : place.frames) {
    if (frame.file.find("/" + folder + "/") != std::string::npos) return &frame;
  }
  return place.frames.empty() ? nullptr : &place.frames.front();
}

Site new_site(const vgpu::InstructionReport& row, const PtxPlace& place, const Launch& launch,
              const std::string& folder) {
  Site site;
  site.entry = launch.entry;
  site.form = row.form;
  const FormClass form = classify(row.form);
  const bool accesses = row.memory.traffic != vgpu::Traffic::kNone ||
                        form.kind == FormKind::kLoad || form.kind == FormKind::kStore;
  const bool is_shared = form.space == FormSpace::kShared || row.memory.shared.requests > 0;
  if (accesses) site.touches = touched(place, launch, is_shared);
  if (const SourcePlace* line = shown_line(place, folder)) {
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

}  // namespace

std::string Site::place() const { return file.empty() ? entry : fmt::format("{}:{}", file, line); }

std::map<std::uint32_t, Site> sites_by_instruction(const CountedRun& run, const SourceTree& tree) {
  std::map<std::uint32_t, Site> sites;
  const Kernel& kernel = *run.kernel;
  const Launch& launch = run.launches.back();
  const std::string& folder = kernel.is_patched() ? kernel.patched_from : kernel.name;
  const auto places = places_of(image_of(kernel, launch.entry).ptx, launch.entry);
  for (const vgpu::InstructionReport& row : run.counts.back().instructions) {
    const auto place = places.find(row.ptx_line);
    Site site = new_site(row, place == places.end() ? PtxPlace{} : place->second, launch, folder);
    site.text = tree.line(site.file, site.line).value_or("");
    sites.emplace(row.index, std::move(site));
  }
  return sites;
}

std::vector<Site> sites_of(const CountedRun& run, const SourceTree& tree) {
  std::vector<Site> sites;
  std::map<std::tuple<std::string, std::string, int, std::string, std::string, std::string>,
           std::size_t>
      known;
  const Kernel& kernel = *run.kernel;
  const std::string& folder = kernel.is_patched() ? kernel.patched_from : kernel.name;
  for (std::size_t i = 0; i < run.counts.size(); ++i) {
    const Launch& launch = run.launches[i];
    const auto places = places_of(image_of(kernel, launch.entry).ptx, launch.entry);
    for (const vgpu::InstructionReport& row : run.counts[i].instructions) {
      const auto place = places.find(row.ptx_line);
      Site site = new_site(row, place == places.end() ? PtxPlace{} : place->second, launch, folder);
      const auto [at, is_new] = known.try_emplace(
          {site.entry, site.file, site.line, site.via, site.touches, site.form}, sites.size());
      if (is_new) {
        site.text = tree.line(site.file, site.line).value_or("");
        site.memory.traffic = row.memory.traffic;
        sites.push_back(std::move(site));
      }
      Site& sum = sites[at->second];
      ++sum.instructions;
      sum.warp += row.warp;
      sum.thread += row.thread;
      sum.memory += row.memory;
    }
  }
  return sites;
}

}  // namespace tessera::lab
