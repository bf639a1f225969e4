#include "lab/draw/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <tuple>

#include "device/virtual/virtual_device.h"
#include "lab/counts/counts.h"
#include "lab/model/loop_code.h"
#include "sass/container/cubin.h"
#include "vgpu/observe/count/bank_model.h"

namespace tessera::lab {
namespace {

using Access = vgpu::TracedAccess;

constexpr std::uint64_t kRow = vgpu::kLineBytes, kWord = 4;
constexpr std::ptrdiff_t kMostDrawn = 3;  // most drawn loads, and most drawn stores, of each memory

// The addresses of D and the bytes from row to row. Every kernel sees D as row-major.
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

struct HeldOperand {
  const char* name;
  std::uint64_t begin, end;
};

bool is_output(const Access& access, const Place& d) {
  return access.kind != Access::Kind::kLoad && !access.is_shared && access.mask != 0 &&
         access.address[std::countr_zero(access.mask)] >= d.begin &&
         access.address[std::countr_zero(access.mask)] < d.end;
}

// Returns the first warp that stores outputs; other warps of its block may only load data.
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

// Returns the words of one access by rows of 128 bytes, in the order of their addresses.
std::vector<DrawnBytes> rows_of(const Access& access) {
  std::map<std::uint64_t, std::uint32_t> words;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    for (std::uint64_t at = 0; access.has_lane(lane) && at < access.bytes; at += kWord) {
      const std::uint64_t address = access.address[lane] + at;
      words[address / kRow * kRow] |= 1u << (address % kRow / kWord);
    }
  }
  std::vector<DrawnBytes> rows;
  for (const auto& [address, bits] : words) rows.push_back({address, bits});
  return rows;
}

bool holds(const HeldOperand& operand, std::uint64_t address) {
  return address >= operand.begin && address < operand.end;
}

// Returns A and B as the kernel sees them: exchanged for a column-major call.
std::vector<HeldOperand> operands_of(const TracedRun& traced) {
  const Problem& p = traced.run.problem;
  const Operands& at = traced.operands;
  const auto held = [](const char* name, DeviceAddress begin, const MatrixView& view,
                       ElementType type) {
    return HeldOperand{name, begin,
                       begin + static_cast<std::uint64_t>(view.span() * size_of(type))};
  };
  const bool is_exchanged = p.order != Order::kRowMajor;
  return {held(is_exchanged ? "B" : "A", at.a, view_a(p), p.types.a),
          held(is_exchanged ? "A" : "B", at.b, view_b(p), p.types.b),
          held("C", at.c, view_c(p), p.types.c), held("D", at.d, view_d(p), p.types.d)};
}

// Returns the operand's name, found by its address. For a packed copy in a workspace, returns its
// name in the code.
std::string name_of_operand(const Access& access, const Site& site,
                            const std::vector<HeldOperand>& operands) {
  const std::uint64_t address = access.address[std::countr_zero(access.mask)];
  for (const HeldOperand& operand : operands) {
    if (holds(operand, address)) return operand.name;
  }
  if (site.touches.starts_with("operand ") && site.touches.size() == 9) {
    return std::string(1, static_cast<char>(site.touches.back() - 'a' + 'A'));
  }
  return "";
}

// Returns "memory" for "_ZN7tessera13operand_order6memoryE": the last part of a nested name.
std::string name_of_variable(const std::string& touches) {
  if (!touches.starts_with("_ZN") || !touches.ends_with("E")) return touches;
  const std::size_t end = touches.size() - 1;
  for (std::size_t at = 3; at < end;) {
    std::size_t digits = at;
    while (digits < end && touches[digits] >= '0' && touches[digits] <= '9') ++digits;
    if (digits == at || digits - at > 3) break;
    const std::size_t length = std::stoul(touches.substr(at, digits - at));
    if (digits + length == end) return touches.substr(digits, length);
    at = digits + length;
  }
  return touches;
}

bool look_alike(const DrawnRequest& x, const DrawnRequest& y) {
  return x.name == y.name && x.is_store == y.is_store && x.bytes == y.bytes &&
         x.rows.size() == y.rows.size() && x.sectors() == y.sectors();
}

bool look_alike(const DrawnBanks& x, const DrawnBanks& y) {
  return x.name == y.name && x.is_store == y.is_store && x.bytes == y.bytes &&
         x.wavefronts.size() == y.wavefronts.size() && x.excess() == y.excess();
}

// The drawn accesses, and the source line of each.
template <class Drawn>
struct Shown {
  std::vector<Drawn> drawn;
  std::vector<int> lines;

  // Adds the access unless a similar one, or three of its kind (load or store), were added before.
  void add(Drawn one, int line) {
    const auto is_known = [&](const Drawn& other) { return look_alike(one, other); };
    const auto is_like = [&](const Drawn& other) { return one.is_store == other.is_store; };
    if (std::ranges::any_of(drawn, is_known)) return;
    if (std::ranges::count_if(drawn, is_like) >= kMostDrawn) return;
    drawn.push_back(std::move(one));
    lines.push_back(line);
  }
};

// Returns the accesses. If several share name, direction and width, or if an access has no name,
// its source line is added to the name.
template <class Drawn>
std::vector<Drawn> named_apart(Shown<Drawn> shown) {
  std::map<std::tuple<std::string, bool, int>, int> uses;
  const auto what = [](const Drawn& one) { return std::tuple{one.name, one.is_store, one.bytes}; };
  for (const Drawn& one : shown.drawn) ++uses[what(one)];
  std::vector<Drawn> named = shown.drawn;
  for (std::size_t i = 0; i < named.size(); ++i) {
    const bool is_only = uses[what(shown.drawn[i])] == 1 && !named[i].name.empty();
    if (is_only || shown.lines[i] == 0) continue;
    named[i].name += (named[i].name.empty() ? "source line " : ", source line ") +
                     std::to_string(shown.lines[i]);
  }
  return named;
}

// Returns the wavefronts of an access in order. In each, every bank serves at most one word of a
// group of `lanes` lanes. Smaller groups take more wavefronts, even without bank conflicts.
std::vector<DrawnWavefront> wavefronts_of(const Access& access, std::uint32_t lanes) {
  std::vector<DrawnWavefront> wavefronts;
  for (std::uint32_t first = 0; first < 32; first += lanes) {
    std::vector<std::set<std::uint64_t>> words(32);
    for (std::uint32_t lane = first; lane < first + lanes; ++lane) {
      for (std::uint64_t at = 0; access.has_lane(lane) && at < access.bytes; at += kWord) {
        const std::uint64_t word = (access.address[lane] + at) / kWord;
        words[word % 32].insert(word);
      }
    }
    for (std::size_t turn = 0;; ++turn) {
      DrawnWavefront one{0, turn > 0};
      for (std::size_t bank = 0; bank < 32; ++bank) {
        if (words[bank].size() > turn) one.banks |= 1u << bank;
      }
      if (one.banks == 0) break;
      wavefronts.push_back(one);
    }
  }
  return wavefronts;
}

DrawnBanks banks_of(const Access& access, const Site& site) {
  DrawnBanks drawn{name_of_variable(site.touches),
                   access.kind != Access::Kind::kLoad,
                   static_cast<int>(access.bytes),
                   {},
                   0};
  const bool merges = site.form.starts_with("ld.");
  const vgpu::LaneAccess lane_access = {access.mask, static_cast<std::uint32_t>(access.bytes),
                                        access.address.data()};
  const int lanes = vgpu::lanes_together(vgpu::BankModel::kPair, lane_access, merges);
  drawn.counted = static_cast<std::uint32_t>(
      vgpu::count_banks(vgpu::BankModel::kPair, lane_access, merges).wavefronts);
  const int narrow = access.bytes <= 4 ? 32 : access.bytes == 8 ? 16 : 8;
  drawn.wavefronts = wavefronts_of(access, static_cast<std::uint32_t>(lanes));
  const auto apart = wavefronts_of(access, static_cast<std::uint32_t>(narrow));
  if (apart.size() == drawn.wavefronts.size()) drawn.wavefronts = apart;
  return drawn;
}

DrawnLoop loop_of(const CountedRun& run) {
  const CodeImage& image = image_of(*run.kernel, run.row->entry);
  if (image.cubin.empty()) return {};
  const sass::CubinFile cubin = sass::read_cubin(image.cubin);
  const sass::CubinKernel* const kernel = cubin.find(run.row->entry);
  if (!kernel) return {};
  const LoopCode code = loop_code(*kernel, cubin.sm, run.counts.back());
  if (code.is_empty()) return {};
  double lost = 0;
  for (const Step& step : code.steps) lost += step.port_bubbles;
  return {static_cast<double>(code.steps.size()) / code.multiplies, lost / code.multiplies};
}

}  // namespace

std::string name_in_call(const KernelPicture& picture, const std::string& name) {
  const bool is_factor = name.starts_with("A") || name.starts_with("B");
  if (!picture.is_exchanged || !is_factor) return name;
  return fmt::format("{} (the call's {}){}", name.front(), name.front() == 'A' ? 'B' : 'A',
                     name.substr(1));
}

int DrawnRequest::sectors() const {
  int count = 0;
  for (const DrawnBytes& row : rows) {
    for (int sector = 0; sector < 4; ++sector) count += (row.words >> 8 * sector & 0xff) != 0;
  }
  return count;
}

int DrawnBanks::excess() const {
  return static_cast<int>(std::ranges::count_if(wavefronts, &DrawnWavefront::is_excess));
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
  picture.is_exchanged = picture.problem.order != Order::kRowMajor;
  picture.warp = warp_to_draw(traced, d);
  picture.outputs = outputs_of(traced, picture.warp, d);
  const std::vector<HeldOperand> operands = operands_of(traced);
  Shown<DrawnRequest> global;
  Shown<DrawnBanks> shared;
  for (const Access& access : traced.accesses) {
    const auto found = sites.find(access.instruction);
    if (access.warp != picture.warp || access.mask == 0 || found == sites.end()) continue;
    const Site& site = found->second;
    if (access.is_shared) {
      shared.add(banks_of(access, site), site.line);
    } else {
      global.add({name_of_operand(access, site, operands), access.kind != Access::Kind::kLoad,
                  static_cast<int>(access.bytes), rows_of(access)},
                 site.line);
    }
  }
  picture.fma_per_shared_load = summarize(traced.run.counts, picture.problem).fma_per_shared_load();
  picture.loop = loop_of(traced.run);
  picture.global = named_apart(global);
  picture.shared = named_apart(shared);
  std::ranges::stable_sort(picture.global, {}, [](const DrawnRequest& one) {
    return std::pair{one.is_store, one.name};
  });
  std::ranges::stable_sort(picture.shared, {}, [](const DrawnBanks& one) {
    return std::pair{one.name, !one.is_store};
  });
  return picture;
}

KernelPicture draw(const KernelChoice& kernel, const Problem& problem, std::uint64_t seed) {
  constexpr std::uint64_t kCtas = 4;  // CTAs of a grid: the first one is always among them
  const std::unique_ptr<Device> device = make_virtual_device();
  return picture_of(trace_run(*device, kernel, problem, seed, kCtas,
                              [](const Operands&, vgpu::AccessTrace& trace) { trace.cta = 0; }),
                    SourceTree(""));
}

}  // namespace tessera::lab
