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

// CALL keeps its distance where BRA does.
std::size_t call_target(const Program& program, std::size_t at) {
  constexpr std::uint64_t kOpcode = 0xfff, kBranch = 0x947;
  Instruction as_branch = program.code[at];
  as_branch.low = (as_branch.low & ~kOpcode) | kBranch;
  return checked_target(program, at, *branch_target(as_branch, at * kInstructionBytes, program.sm));
}

// HW: BSSY names where its threads meet again: a signed distance of 4-byte units in bits 34-63,
// from the next instruction on. Bits 16-19 number the barrier, in BSYNC too (sm_75 to sm_90 alike,
// as nvdisasm prints them).
std::size_t reconvergence_point(const Program& program, std::size_t at) {
  const auto distance = static_cast<std::int64_t>(program.code[at].bits(34, 30) << 34) >> 34;
  return checked_target(program, at,
                        static_cast<std::int64_t>((at + 1) * kInstructionBytes) + 4 * distance);
}

// What each barrier, or each register that keeps one meanwhile, may have been set to: where threads
// meet. Keys are barriers, then registers.
constexpr int kBarriers = 16;
using Reconvergences = std::map<int, std::set<std::size_t>>;

// HW: BMOV Bn, Rm and BMOV.CLEAR Rn, Bm move a barrier; the barrier has bits 24-27 or 16-19.
void follow(const Program& program, std::size_t at, Reconvergences& reconvergences) {
  const Instruction& instruction = program.code[at];
  const Operation& operation = program.operations[at];
  const int barrier = static_cast<int>(instruction.bits(16, 4));
  if (operation.name == "BSSY") reconvergences[barrier] = {reconvergence_point(program, at)};
  if (operation.name != "BMOV") return;
  for (const RegisterUse& use : operation.writes) {
    reconvergences[kBarriers + use.first] =
        reconvergences[static_cast<int>(instruction.bits(24, 4))];
  }
  for (const RegisterUse& use : operation.reads) {
    if (use.file == RegisterFile::kGeneral)
      reconvergences[barrier] = reconvergences[kBarriers + use.first];
  }
}

bool merge(const Reconvergences& from, Reconvergences& into) {
  bool changed = false;
  for (const auto& [key, places] : from) {
    std::set<std::size_t>& all = into[key];
    const std::size_t before = all.size();
    all.insert(places.begin(), places.end());
    changed |= all.size() != before;
  }
  return changed;
}

std::vector<std::size_t> landings_of_returns(const Program& program) {
  std::vector<std::size_t> landings;
  for (std::size_t at = 0; at + 1 < program.code.size(); ++at) {
    if (program.operations[at].name == "CALL") landings.push_back(at + 1);
  }
  return landings;
}

// Where control may go after the instruction at `at`, apart from the next one.
std::set<std::size_t> targets(const Program& program, std::size_t at,
                              const std::vector<std::size_t>& after_calls) {
  const std::string& name = program.operations[at].name;
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

// Threads that reach a BSYNC go on where its barrier was set to, which is found by following all
// ways; these ways grow as more of them are known.
void add_reconvergences(const Program& program, Edges& edges) {
  std::vector<Reconvergences> at_entry(program.code.size());
  std::vector<bool> seen(program.code.size(), false);
  std::set<std::size_t> open = {0};
  while (!open.empty()) {
    const std::size_t at = open.extract(open.begin()).value();
    Reconvergences reconvergences = at_entry[at];
    if (program.operations[at].name == "BSYNC") {
      const auto& places = reconvergences[static_cast<int>(program.code[at].bits(16, 4))];
      // WHY: barriers moved through registers are followed along all ways at once, which mixes
      // them up. A compiler closes a region where it ends, so the next instruction is believed.
      if (places.contains(at + 1)) {
        edges[at] = {at + 1};
      } else {
        edges[at].insert(places.begin(), places.end());
      }
    }
    follow(program, at, reconvergences);
    for (const std::size_t to : edges[at]) {
      if (merge(reconvergences, at_entry[to]) || !seen[to]) open.insert(to);
      seen[to] = true;
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

std::vector<Block> blocks_of(const Edges& edges) {
  std::set<std::size_t> leaders = {0, edges.size()};
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

// Where control goes from a block that was entered under a call; under none if `call` is kNoCall.
constexpr std::size_t kNoCall = ~std::size_t{0};
struct Context {
  std::size_t block, call;
  auto operator<=>(const Context&) const = default;
};

std::vector<Context> followers(const Program& program, const Context& from) {
  const Block& block = program.blocks[from.block];
  const std::string& last = program.operations[block.end - 1].name;
  std::vector<Context> next;
  if (last == "RET" && from.call != kNoCall) {
    next.push_back({program.block_of[from.call + 1], kNoCall});
    return next;
  }
  for (const std::size_t to : block.next) next.push_back({to, from.call});
  if (last == "CALL") {
    for (Context& to : next) {
      if (program.blocks[to.block].begin != block.end) to.call = block.end - 1;
    }
  }
  return next;
}

// All ways from the entry, subroutines once for each of their calls.
std::vector<Node> nodes_of(const Program& program) {
  std::map<Context, std::size_t> number_of = {{{0, kNoCall}, 0}};
  std::vector<Context> contexts = {{0, kNoCall}};
  std::vector<Node> nodes;
  for (std::size_t number = 0; number < contexts.size(); ++number) {
    const Context context = contexts[number];
    nodes.push_back({context.block, {}});
    for (const Context& to : followers(program, context)) {
      const auto [place, is_new] = number_of.emplace(to, contexts.size());
      if (is_new) contexts.push_back(to);
      nodes[number].next.push_back(place->second);
    }
  }
  return nodes;
}

}  // namespace

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
  program.nodes = nodes_of(program);
  return program;
}

}  // namespace tessera::sass
