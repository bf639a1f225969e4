#include "lab/explain/picture.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <tuple>

#include "device/virtual/virtual_device.h"
#include "vgpu/observe/count/bank_model.h"

namespace tessera::lab {
namespace {

using Access = vgpu::TracedAccess;

constexpr std::uint64_t kLine = vgpu::kLineBytes, kWord = 4;
constexpr std::size_t kMostDrawn = 3;  // loads, and stores, of each memory

// Bytes of D and of its rows, as the kernel has them: D row-major.
struct Place {
  std::uint64_t begin = 0, end = 0;
  std::int64_t row = 0;  // bytes
  int element = 4;
};

Place output_of(const TracedRun& traced) {
  const Problem& p = traced.run.problem;
  const int element = size_of(p.types.d);
  const auto bytes = static_cast<std::uint64_t>(view_d(p).span() * element);
  return {traced.operands.d, traced.operands.d + bytes, p.ldd * element, element};
}

bool is_output(const Access& access, const Place& d) {
  return access.kind != Access::Kind::kLoad && !access.is_shared && access.mask != 0 &&
         access.address[std::countr_zero(access.mask)] >= d.begin &&
         access.address[std::countr_zero(access.mask)] < d.end;
}

// The first warp that stores outputs; others of its block may only fetch.
std::uint32_t warp_to_draw(const TracedRun& traced, const Place& d) {
  std::uint32_t first = ~0u;
  for (const Access& access : traced.accesses) {
    if (is_output(access, d)) first = std::min(first, access.warp);
  }
  return first == ~0u ? 0 : first;
}

std::vector<DrawnOutput> outputs_of(const TracedRun& traced, std::uint32_t warp, const Place& d) {
  std::vector<DrawnOutput> outputs;
  for (const Access& access : traced.accesses) {
    if (access.warp != warp || !is_output(access, d)) continue;
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      for (std::uint64_t at = 0; access.has_lane(lane) && at < access.bytes; at += d.element) {
        const auto byte = static_cast<std::int64_t>(access.address[lane] + at - d.begin);
        outputs.push_back({byte / d.row, byte % d.row / d.element, lane});
      }
    }
  }
  return outputs;
}

// Lines and words of one access, in the order of their addresses.
std::vector<DrawnLine> lines_of(const Access& access) {
  std::map<std::uint64_t, std::uint32_t> words;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    for (std::uint64_t at = 0; access.has_lane(lane) && at < access.bytes; at += kWord) {
      const std::uint64_t address = access.address[lane] + at;
      words[address / kLine * kLine] |= 1u << (address % kLine / kWord);
    }
  }
  std::vector<DrawnLine> lines;
  for (const auto& [address, bits] : words) lines.push_back({address, bits});
  return lines;
}

std::string name_of_operand(const Site& site) {
  if (site.touches.starts_with("operand ") && site.touches.size() == 9) {
    return std::string(1, static_cast<char>(site.touches.back() - 'a' + 'A'));
  }
  return site.touches;
}

// Of two accesses that look alike, pictures show the first; names tell those apart that do not.
template <class Drawn>
void name_apart(std::vector<Drawn>& drawn, const std::vector<int>& lines) {
  std::map<std::tuple<std::string, bool>, int> uses;
  for (const Drawn& one : drawn) ++uses[{one.name, one.is_store}];
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    Drawn& one = drawn[i];
    if (lines[i] == 0 || (uses[{one.name, one.is_store}] == 1 && !one.name.empty())) continue;
    one.name += (one.name.empty() ? "line " : ", line ") + std::to_string(lines[i]);
  }
}

DrawnBanks banks_of(const Access& access, const Site& site) {
  DrawnBanks drawn{site.touches,
                   access.kind != Access::Kind::kLoad,
                   static_cast<int>(access.bytes),
                   std::vector<int>(32),
                   1,
                   1};
  const bool merges = site.form.starts_with("ld.");
  const vgpu::BankCounts counts = vgpu::count_banks(
      vgpu::BankModel::kPair,
      {access.mask, static_cast<std::uint32_t>(access.bytes), access.address.data()}, merges);
  drawn.passes = static_cast<int>(counts.passes);
  drawn.wavefronts = static_cast<int>(counts.wavefronts);
  const std::uint32_t lanes = access.bytes <= 4 ? 32 : access.bytes == 8 ? 16 : 8;
  for (std::uint32_t first = 0; first < 32; first += lanes) {
    std::vector<std::set<std::uint64_t>> words(32);
    for (std::uint32_t lane = first; lane < first + lanes; ++lane) {
      for (std::uint64_t at = 0; access.has_lane(lane) && at < access.bytes; at += kWord) {
        const std::uint64_t word = (access.address[lane] + at) / kWord;
        words[word % 32].insert(word);
      }
    }
    std::vector<int> pass;
    for (const auto& bank : words) pass.push_back(static_cast<int>(bank.size()));
    if (first == 0 || std::ranges::max(pass) > std::ranges::max(drawn.banks)) drawn.banks = pass;
  }
  return drawn;
}

// A kernel's loads and stores are many; these are the first of each kind, operand and line, and no
// more than three of each kind.
class Chosen {
 public:
  bool takes(const Access& access, const Site& site) {
    const bool is_store = access.kind != Access::Kind::kLoad;
    if (!seen_.insert({is_store, site.touches, site.line, site.via}).second) return false;
    return ++count_[is_store] <= kMostDrawn;
  }

 private:
  std::set<std::tuple<bool, std::string, int, std::string>> seen_;
  std::size_t count_[2] = {};
};

}  // namespace

int DrawnRequest::sectors() const {
  int count = 0;
  for (const DrawnLine& line : lines) {
    for (int sector = 0; sector < 4; ++sector) count += (line.words >> 8 * sector & 0xff) != 0;
  }
  return count;
}

KernelPicture picture_of(const TracedRun& traced, const SourceTree& tree) {
  const std::map<std::uint32_t, Site> sites = sites_by_instruction(traced.run, tree);
  const Place d = output_of(traced);
  KernelPicture picture;
  picture.kernel = traced.run.kernel->name;
  picture.config = traced.run.row->variant;
  picture.problem = traced.run.problem;
  picture.block = traced.run.row->block;
  picture.threads = traced.run.row->threads * traced.run.row->threads_y;
  picture.warp = warp_to_draw(traced, d);
  picture.outputs = outputs_of(traced, picture.warp, d);
  std::vector<int> global_lines, shared_lines;
  Chosen global, shared;
  for (const Access& access : traced.accesses) {
    const auto found = sites.find(access.instruction);
    if (access.warp != picture.warp || access.mask == 0 || found == sites.end()) continue;
    const Site& site = found->second;
    if (!(access.is_shared ? shared : global).takes(access, site)) continue;
    if (access.is_shared) {
      picture.shared.push_back(banks_of(access, site));
      shared_lines.push_back(site.line);
    } else {
      picture.global.push_back(
          {name_of_operand(site), access.kind != Access::Kind::kLoad, lines_of(access)});
      global_lines.push_back(site.line);
    }
  }
  name_apart(picture.global, global_lines);
  name_apart(picture.shared, shared_lines);
  std::ranges::stable_sort(picture.global, {}, [](const DrawnRequest& one) {
    return std::pair{one.is_store, one.name};
  });
  std::ranges::stable_sort(picture.shared, {}, [](const DrawnBanks& one) {
    return std::pair{one.name, !one.is_store};
  });
  return picture;
}

KernelPicture draw(const KernelChoice& kernel, const Problem& problem, std::uint64_t seed) {
  constexpr std::uint64_t kCtas = 4;  // of a grid: the first one is always among them
  const std::unique_ptr<Device> device = make_virtual_device();
  return picture_of(trace_run(*device, kernel, problem, seed, kCtas,
                              [](const Operands&, vgpu::AccessTrace& trace) { trace.cta = 0; }),
                    SourceTree(""));
}

}  // namespace tessera::lab
