#include "lab/explain/advice/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

namespace tessera::lab {
namespace {

const char* name_of(vgpu::Traffic traffic) {
  switch (traffic) {
    case vgpu::Traffic::kStore:
    case vgpu::Traffic::kCopyOut:
    case vgpu::Traffic::kCopyReduce:
      return "store";
    case vgpu::Traffic::kAtomic:
      return "atomic";
    default:
      return "load";
  }
}

}  // namespace

double bound_ms(const Evidence& e) { return e.resources.empty() ? 0 : e.resources.front().ms; }

double ms_of(const Evidence& e, Resource resource) {
  for (const ResourceUse& use : e.resources) {
    if (use.resource == resource) return use.ms;
  }
  return 0;
}

bool is_of_atomics(Resource resource) {
  return resource == Resource::kSharedAtomic || resource == Resource::kL2Atomic ||
         resource == Resource::kHotSector;
}

bool is_arithmetic(Resource resource) {
  return resource == Resource::kFma || resource == Resource::kFp64 || resource == Resource::kMatrix;
}

double share_of_wavefronts(const Evidence& e, double wavefronts) {
  const double sum = e.totals.wavefronts.sum(), bound = bound_ms(e);
  return sum > 0 && bound > 0 ? wavefronts / sum * ms_of(e, Resource::kLoadStore) / bound : 0;
}

bool is_named(const Evidence& e, Resource resource) {
  return !e.resources.empty() && e.resources.front().resource == resource;
}

constexpr double kMostOfTheTime = 0.8;

double busy_share(const Evidence& e) {
  return e.replay.known && e.replay.ms > 0 ? std::min(1.0, bound_ms(e) / e.replay.ms) : 1;
}

bool waits(const Evidence& e) {
  return e.replay.waits && !e.resources.empty() && busy_share(e) < kMostOfTheTime;
}

double needed_warps(const Evidence& e) {
  const double all = e.placement.max_warps, share = busy_share(e);
  return share > 0 ? std::min(all, e.placement.warps * kMostOfTheTime / share) : all;
}

std::string whole_percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::string number(double value) { return fmt::format("{:g}", std::round(value * 100) / 100); }

std::string access_at(const Site& site) {
  const std::string of = site.touches.empty() ? "" : " of " + site.touches;
  return fmt::format("the {}{} ({}) at {}", name_of(site.memory.traffic), of, site.form,
                     site.place());
}

std::string access_or_code(const Site& site) {
  return site.memory.traffic == vgpu::Traffic::kNone ? site.form + " at " + site.place()
                                                     : access_at(site);
}

double per_request(double value, std::uint64_t requests) {
  return requests == 0 ? 0 : value / static_cast<double>(requests);
}

bool is_split_vector(const Site& site) {
  const FormClass form = classify(site.form);
  const double efficiency = site.memory.global.efficiency();
  const int width = form.bytes * site.instructions;
  return site.instructions > 1 && width <= 16 && efficiency * site.instructions > 0.99 &&
         efficiency < 0.99;
}

std::string sectors_text(const Site& site) {
  const vgpu::GlobalCounts& global = site.memory.global;
  const double ideal =
      std::max(1.0, per_request(static_cast<double>(global.distinct_bytes), global.requests) /
                        vgpu::kSectorBytes);
  if (global.sectors_per_request() < 1.01 * ideal) {
    const Wavefronts wavefronts = wavefronts_of(site);
    return fmt::format(
        "{} takes {} wavefronts per request where {} would do", access_at(site),
        number(per_request(wavefronts.global + wavefronts.scattered, global.requests)),
        number(per_request(wavefronts.global, global.requests)));
  }
  return fmt::format("{} touches {} sectors per request where {} would do", access_at(site),
                     number(global.sectors_per_request()), number(ideal));
}

std::vector<Site> merged_by_line(const std::vector<Site>& sites) {
  std::vector<Site> lines;
  std::map<std::string, std::pair<std::size_t, std::uint64_t>> known;  // index, largest part
  for (const Site& site : sites) {
    const auto [at, is_new] = known.try_emplace(site.place(), lines.size(), site.warp);
    if (is_new) {
      lines.push_back(site);
      continue;
    }
    Site& line = lines[at->second.first];
    std::uint64_t& most = at->second.second;
    if (site.warp > most) line.form = site.form;
    most = std::max(most, site.warp);
    line.instructions += site.instructions;
    ++line.forms;
    line.warp += site.warp;
    line.thread += site.thread;
    line.memory += site.memory;
    line.via.clear();
    line.touches.clear();
  }
  return lines;
}

std::string grouped(double whole) {
  std::string digits = fmt::format("{:.0f}", whole);
  for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

std::string without_stop(std::string sentence) {
  if (sentence.ends_with('.')) sentence.pop_back();
  return sentence;
}

std::string capitalised(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

}  // namespace tessera::lab
