#include "sass/container/loops.h"

#include <algorithm>
#include <map>
#include <set>

namespace tessera::sass {
namespace {

using Index = std::size_t;

// The flow graph with one node per instruction, and a root node with edges to the entry and to all
// code that no visible path leads to (subroutines).
class Graph {
 public:
  explicit Graph(std::span<const Step> steps)
      : root_(steps.size()), next_(steps.size() + 1), previous_(steps.size() + 1) {
    for (Index from = 0; from < steps.size(); ++from) {
      if (steps[from].target && *steps[from].target != from) add(from, *steps[from].target);
      if (steps[from].falls_through && from + 1 < steps.size()) add(from, from + 1);
    }
    for (Index node = 0; node < steps.size(); ++node) {
      if (node == 0 || previous_[node].empty()) add(root_, node);
    }
    visit_in_depth_first_order();
    find_dominators();
  }

  const std::vector<Index>& previous(Index node) const { return previous_[node]; }
  const std::vector<Index>& next(Index node) const { return next_[node]; }
  Index root() const { return root_; }
  bool is_reachable(Index node) const { return rank_[node] != kUnseen; }

  // Whether every path from the root to `node` passes `by`.
  bool is_dominated(Index node, Index by) const {
    while (rank_[node] < rank_[by]) node = dominator_[node];
    return node == by;
  }

 private:
  static constexpr std::size_t kUnseen = ~std::size_t{0};

  void add(Index from, Index to) {
    next_[from].push_back(to);
    previous_[to].push_back(from);
  }

  // Gives each node a rank. A node's rank is above the ranks of all nodes that are first reached
  // through it, so the root has the highest rank.
  void visit_in_depth_first_order() {
    rank_.assign(next_.size(), kUnseen);
    std::vector<bool> seen(next_.size(), false);
    std::vector<std::pair<Index, std::size_t>> path = {{root_, 0}};
    seen[root_] = true;
    while (!path.empty()) {
      auto& [node, edge] = path.back();
      if (edge == next_[node].size()) {
        rank_[node] = order_.size();
        order_.push_back(node);
        path.pop_back();
        continue;
      }
      const Index to = next_[node][edge++];
      if (!seen[to]) {
        seen[to] = true;
        path.emplace_back(to, 0);
      }
    }
  }

  Index common_dominator(Index a, Index b) const {
    while (a != b) {
      while (rank_[a] < rank_[b]) a = dominator_[a];
      while (rank_[b] < rank_[a]) b = dominator_[b];
    }
    return a;
  }

  // Finds the nearest dominator of each node, by repetition until nothing changes (Cooper, Harvey,
  // Kennedy 2001).
  void find_dominators() {
    dominator_.assign(next_.size(), kUnseen);
    dominator_[root_] = root_;
    for (bool changed = true; changed;) {
      changed = false;
      for (auto node = order_.rbegin() + 1; node != order_.rend(); ++node) {
        Index nearest = kUnseen;
        for (const Index from : previous_[*node]) {
          if (!is_reachable(from) || dominator_[from] == kUnseen) continue;
          nearest = nearest == kUnseen ? from : common_dominator(nearest, from);
        }
        changed |= dominator_[*node] != nearest;
        dominator_[*node] = nearest;
      }
    }
  }

  Index root_;
  std::vector<std::vector<Index>> next_, previous_;
  std::vector<std::size_t> rank_;
  std::vector<Index> order_;  // by rank
  std::vector<Index> dominator_;
};

// Adds to `members` every node that reaches the branch without passing the loop's head.
void collect_members(const Graph& graph, Index head, Index branch, std::set<Index>& members) {
  members.insert(head);
  std::vector<Index> open = {branch};
  while (!open.empty()) {
    const Index node = open.back();
    open.pop_back();
    if (node == graph.root() || !graph.is_reachable(node) || !members.insert(node).second) continue;
    open.insert(open.end(), graph.previous(node).begin(), graph.previous(node).end());
  }
}

}  // namespace

std::vector<NaturalLoop> find_loops(std::span<const Step> steps) {
  const Graph graph(steps);
  std::map<Index, std::set<Index>> members;  // by head
  for (Index node = 0; node < steps.size(); ++node) {
    if (!graph.is_reachable(node)) continue;
    for (const Index to : graph.next(node)) {
      if (graph.is_dominated(node, to)) collect_members(graph, to, node, members[to]);
    }
  }
  std::vector<NaturalLoop> loops;
  for (const auto& [head, nodes] : members) loops.push_back({head, {nodes.begin(), nodes.end()}});
  return loops;
}

}  // namespace tessera::sass
