#include "sass/model/flow.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>

namespace tessera::sass {
namespace {

using Edges = std::vector<std::set<std::size_t>>;

[[noreturn]] void fail(const Program& program, std::size_t at, const std::string& what) {
  char offset[24];
  std::snprintf(offset, sizeof offset, "0x%zx", at * kInstructionBytes);
  throw std::runtime_error(program.name + " at " + offset + " (" + program.operations[at].text +
                           "): " + what);
}

std::size_t checked_target(const Program& program, std::size_t at, std::int64_t target) {
  const auto size = static_cast<std::int64_t>(program.code.size() * kInstructionBytes);
  if (target < 0 || target >= size || target % kInstructionBytes != 0) {
    fail(program, at, "its target is no instruction of the kernel.");
  }
  return static_cast<std::size_t>(target) / kInstructionBytes;
}

// Returns the target of a CALL, whose distance is in the same field as BRA's.
std::size_t call_target(const Program& program, std::size_t at) {
  constexpr std::uint64_t kOpcode = 0xfff, kBranch = 0x947;
  Instruction as_branch = program.code[at];
  as_branch.low = (as_branch.low & ~kOpcode) | kBranch;
  return checked_target(program, at, *branch_target(as_branch, at * kInstructionBytes, program.sm));
}

// HW: BSSY names the address at which its threads meet again: bits 34-63 hold the signed distance
// from the next instruction in units of 4 bytes. Bits 16-19 of BSSY and BSYNC number the barrier.
// Both fields are the same on sm_75 to sm_90 (output of nvdisasm).
std::size_t reconvergence_point(const Program& program, std::size_t at) {
  const auto distance = static_cast<std::int64_t>(program.code[at].bits(34, 30) << 34) >> 34;
  return checked_target(program, at,
                        static_cast<std::int64_t>((at + 1) * kInstructionBytes) + 4 * distance);
}

// For each convergence barrier, and for each register that holds a copy of a barrier: the
// instructions at which the barrier's threads may meet. Keys are barriers, then registers. The
// threads of a barrier that was never set may meet anywhere.
constexpr int kBarriers = 16;
constexpr std::size_t kAnywhere = ~std::size_t{0};
using Places = std::set<std::size_t>;
using Reconvergences = std::map<int, Places>;

Places places_of(const Reconvergences& reconvergences, int key) {
  const auto found = reconvergences.find(key);
  return found == reconvergences.end() ? Places{kAnywhere} : found->second;
}

void set(Reconvergences& reconvergences, int key, Places places, bool is_guarded) {
  if (is_guarded) places.merge(Places(places_of(reconvergences, key)));
  if (places == Places{kAnywhere}) {
    reconvergences.erase(key);
  } else {
    reconvergences[key] = std::move(places);
  }
}

// HW: BMOV Bn, Rm and BMOV.CLEAR Rn, Bm move a barrier, whose number is in bits 24-27 in both. BSSY
// has its barrier's number in bits 16-19.
void follow(const Program& program, std::size_t at, Reconvergences& reconvergences) {
  const Instruction& instruction = program.code[at];
  const Operation& operation = program.operations[at];
  const bool is_guarded = program.is_guarded(at), is_move = operation.name == "BMOV";
  const int moved = static_cast<int>(instruction.bits(24, 4));
  if (operation.name == "BSSY") {
    const int barrier = static_cast<int>(instruction.bits(16, 4));
    set(reconvergences, barrier, {reconvergence_point(program, at)}, is_guarded);
  }
  for (const RegisterUse& use : operation.reads) {
    if (!is_move || use.file != RegisterFile::kGeneral) continue;
    set(reconvergences, moved, places_of(reconvergences, kBarriers + use.first), is_guarded);
  }
  for (const RegisterUse& use : operation.writes) {
    if (use.file != RegisterFile::kGeneral) continue;
    const Places places = is_move ? places_of(reconvergences, moved) : Places{kAnywhere};
    for (int reg = use.first; reg < use.first + use.count; ++reg) {
      if (is_move || reconvergences.contains(kBarriers + reg)) {
        set(reconvergences, kBarriers + reg, places, is_guarded);
      }
    }
  }
}

bool merge(const Reconvergences& from, Reconvergences& into) {
  bool changed = false;
  const auto add = [&](int key, const Places& places) {
    Places all = places_of(into, key);
    const std::size_t before = all.size();
    all.insert(places.begin(), places.end());
    changed |= all.size() != before;
    into[key] = std::move(all);
  };
  for (const auto& [key, places] : from) add(key, places);
  for (const auto& [key, places] : Reconvergences(into)) add(key, places_of(from, key));
  return changed;
}

std::vector<std::size_t> landings_of_returns(const Program& program) {
  std::vector<std::size_t> landings;
  for (std::size_t at = 0; at + 1 < program.code.size(); ++at) {
    if (program.operations[at].name == "CALL") landings.push_back(at + 1);
  }
  return landings;
}

// HW: only CALL.REL with a number has a known target; the targets of BRX and of calls by register
// or by absolute address are not in the code.
bool goes_somewhere_unknown(const Program& program, std::size_t at) {
  constexpr int kCallRelative = 0x944;
  const std::string& name = program.operations[at].name;
  return name == "BRX" || (name == "CALL" && program.code[at].key() != kCallRelative);
}

// Returns where control may go after the instruction at `at`, apart from the next instruction.
std::set<std::size_t> targets(const Program& program, std::size_t at,
                              const std::vector<std::size_t>& after_calls) {
  const std::string& name = program.operations[at].name;
  if (goes_somewhere_unknown(program, at)) fail(program, at, "where it goes is not known.");
  const auto branch = branch_target(program.code[at], at * kInstructionBytes, program.sm);
  if (branch) return {checked_target(program, at, *branch)};
  if (name == "CALL") return {call_target(program, at)};
  if (name == "RET") return {after_calls.begin(), after_calls.end()};
  return {};
}

bool goes_on(const Program& program, std::size_t at) {
  static const std::set<std::string, std::less<>> kLeaves = {"EXIT", "RET", "BRA", "CALL", "BSYNC"};
  return !kLeaves.contains(program.operations[at].name) || !program.code[at].always_runs();
}

// An instruction or block, with the CALL of its subroutine; kNoCall outside subroutines.
constexpr std::size_t kNoCall = ~std::size_t{0};
struct Way {
  std::size_t to, call;
  auto operator<=>(const Way&) const = default;
};

// Returns where control goes from an instruction. A subroutine returns only to its own call.
std::vector<Way> ways_from(const Program& program, const Edges& edges, const Way& from) {
  const std::string& name = program.operations[from.to].name;
  std::vector<Way> ways;
  if (name == "RET" && from.call != kNoCall) {
    ways.push_back({from.call + 1, kNoCall});
    if (goes_on(program, from.to)) ways.push_back({from.to + 1, from.call});
    return ways;
  }
  for (const std::size_t to : edges[from.to]) {
    const bool is_called = name == "CALL" && to != from.to + 1;
    ways.push_back({to, is_called ? from.to : from.call});
  }
  return ways;
}

// Returns the basic blocks in the order of the code. Instructions in `also` begin a block, too.
std::vector<Block> blocks_of(const Edges& edges, std::set<std::size_t> also = {}) {
  std::set<std::size_t> leaders = std::move(also);
  leaders.insert({0, edges.size()});
  for (std::size_t at = 0; at < edges.size(); ++at) {
    const bool straight = edges[at].size() == 1 && *edges[at].begin() == at + 1;
    if (straight) continue;
    leaders.insert(at + 1);
    leaders.insert(edges[at].begin(), edges[at].end());
  }
  std::vector<Block> blocks;
  for (auto leader = leaders.begin(); std::next(leader) != leaders.end(); ++leader) {
    blocks.push_back({*leader, *std::next(leader), {}});
  }
  return blocks;
}

// Returns, for the first instruction of each straight piece of code, the end of the piece; 0 for
// every other instruction.
std::vector<std::size_t> ends_of_pieces(const Program& program, const Edges& edges) {
  std::set<std::size_t> joins;
  for (std::size_t at = 0; at < program.code.size(); ++at) {
    const std::string& name = program.operations[at].name;
    if (name == "BSSY") joins.insert(reconvergence_point(program, at));
    if (name == "BSYNC") joins.insert(at + 1);
  }
  std::vector<std::size_t> ends(program.code.size(), 0);
  for (const Block& piece : blocks_of(edges, joins)) ends[piece.begin] = piece.end;
  return ends;
}

// Adds edges for threads that reach a BSYNC: they continue at the address that BSSY set for the
// barrier. These edges are found by following all paths, and each new edge may add paths.
void add_reconvergences(const Program& program, Edges& edges) {
  const std::vector<std::size_t> ends = ends_of_pieces(program, edges);
  std::map<Way, Reconvergences> at_entry = {{{0, kNoCall}, {}}};
  std::set<Way> open = {{0, kNoCall}};
  while (!open.empty()) {
    const Way way = open.extract(open.begin()).value();
    Reconvergences reconvergences = at_entry[way];
    for (std::size_t at = way.to; at < ends[way.to]; ++at) follow(program, at, reconvergences);
    const std::size_t last = ends[way.to] - 1;
    if (program.operations[last].name == "BSYNC") {
      const Places places =
          places_of(reconvergences, static_cast<int>(program.code[last].bits(16, 4)));
      // WHY fail: nothing would be checked on an unknown path.
      if (places.contains(kAnywhere)) fail(program, last, "where its threads meet is not known.");
      edges[last].insert(places.begin(), places.end());
    }
    for (const Way& to : ways_from(program, edges, {last, way.call})) {
      const auto [found, is_new] = at_entry.emplace(to, reconvergences);
      if (is_new || merge(reconvergences, found->second)) open.insert(to);
    }
  }
}

Edges edges_of(const Program& program) {
  const std::vector<std::size_t> after_calls = landings_of_returns(program);
  Edges edges(program.code.size());
  bool has_barriers = false;
  for (std::size_t at = 0; at < program.code.size(); ++at) {
    edges[at] = targets(program, at, after_calls);
    if (goes_on(program, at) && at + 1 < program.code.size()) edges[at].insert(at + 1);
    has_barriers |= program.operations[at].name == "BSYNC";
  }
  if (has_barriers) add_reconvergences(program, edges);
  return edges;
}

// Returns all blocks that can be reached from the entry. A subroutine's block appears once for each
// of its calls.
std::vector<Node> nodes_of(const Program& program, const Edges& edges) {
  std::map<Way, std::size_t> number_of = {{{0, kNoCall}, 0}};
  std::vector<Way> blocks = {{0, kNoCall}};
  std::vector<Node> nodes;
  for (std::size_t number = 0; number < blocks.size(); ++number) {
    const Way from = blocks[number];
    nodes.push_back({from.to, {}});
    const std::size_t last = program.blocks[from.to].end - 1;
    for (const Way& way : ways_from(program, edges, {last, from.call})) {
      const Way to = {program.block_of[way.to], way.call};
      const auto [place, is_new] = number_of.emplace(to, blocks.size());
      if (is_new) blocks.push_back(to);
      nodes[number].next.push_back(place->second);
    }
  }
  return nodes;
}

bool is_padding(const Program& program, std::size_t at) {
  const auto target = branch_target(program.code[at], at * kInstructionBytes, program.sm);
  return program.operations[at].name == "NOP" ||
         target == static_cast<std::int64_t>(at * kInstructionBytes);
}

}  // namespace

std::size_t unreached_code(const Program& program) {
  std::vector<bool> is_reached(program.blocks.size(), false);
  for (const Node& node : program.nodes) is_reached[node.block] = true;
  for (std::size_t at = 0; at < program.code.size(); ++at) {
    if (!is_reached[program.block_of[at]] && !is_padding(program, at)) return at;
  }
  return program.code.size();
}

Program program_of(const CubinKernel& kernel, int sm) {
  Program program{kernel.name, sm, kernel.code, {}, {}, {}, {}};
  if (kernel.code.empty()) throw std::runtime_error(kernel.name + " has no code.");
  for (std::size_t at = 0; at < kernel.code.size(); ++at) {
    program.operations.push_back(decode(kernel.code[at], at * kInstructionBytes, sm));
  }
  const Edges edges = edges_of(program);
  program.blocks = blocks_of(edges);
  for (std::size_t block = 0; block < program.blocks.size(); ++block) {
    const std::size_t size = program.blocks[block].end - program.blocks[block].begin;
    program.block_of.insert(program.block_of.end(), size, block);
  }
  for (Block& block : program.blocks) {
    for (const std::size_t to : edges[block.end - 1]) block.next.push_back(program.block_of[to]);
  }
  program.nodes = nodes_of(program, edges);
  return program;
}

}  // namespace tessera::sass
