#include "sass/rewrite/main_loops.h"

#include <algorithm>

namespace tessera::sass {
namespace {

int ffmas_of(const Loop& loop) {
  const auto found = loop.histogram.find("FFMA");
  return found == loop.histogram.end() ? 0 : found->second;
}

bool is_inside(const Loop& inner, const Loop& outer) {
  return &inner != &outer && std::ranges::includes(outer.members, inner.members);
}

}  // namespace

std::vector<const Loop*> multiplying_loops(const std::vector<Loop>& loops) {
  std::vector<const Loop*> found;
  for (const Loop& loop : loops) {
    const bool holds_another = std::ranges::any_of(
        loops, [&](const Loop& other) { return ffmas_of(other) > 0 && is_inside(other, loop); });
    if (!holds_another && ffmas_of(loop) > 0) found.push_back(&loop);
  }
  return found;
}

std::vector<const Loop*> main_loops(const std::vector<Loop>& loops) {
  std::vector<const Loop*> found = multiplying_loops(loops);
  int most = 0;
  for (const Loop* loop : found) most = std::max(most, ffmas_of(*loop));
  std::erase_if(found, [&](const Loop* loop) { return 4 * ffmas_of(*loop) < most; });
  return found;
}

}  // namespace tessera::sass
