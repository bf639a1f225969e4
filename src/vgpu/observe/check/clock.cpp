#include "vgpu/observe/check/clock.h"

#include <algorithm>

namespace tessera::vgpu::check {
namespace {

bool covers(const std::vector<Time>& all, const std::vector<Time>& part) {
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (part[i] > (i < all.size() ? all[i] : 0)) return false;
  }
  return true;
}

bool covers(const Horizon& all, const Horizon& part) {
  if (part.size() > all.size()) return false;
  return std::all_of(part.begin(), part.end(), [&](const auto& one) {
    const auto found = all.find(one.first);
    return found != all.end() && covers(found->second, one.second);
  });
}

}  // namespace

void join(std::vector<Time>& to, const std::vector<Time>& more) {
  if (to.size() < more.size()) to.resize(more.size());
  for (std::size_t i = 0; i < more.size(); ++i) to[i] = std::max(to[i], more[i]);
}

void join(SharedHorizon& to, const SharedHorizon& more) {
  if (!more || to == more) return;
  // WHY the shortcut: a loop that waits for a word reads the same knowledge again and again.
  if (!to || covers(*more, *to)) {
    to = more;
    return;
  }
  if (covers(*to, *more)) return;
  auto both = std::make_shared<Horizon>(*to);
  for (const auto& [cluster, times] : *more) join((*both)[cluster], times);
  to = std::move(both);
}

bool knows(const SharedHorizon& horizon, std::uint64_t cluster, Entity entity, Time time) {
  if (!horizon) return false;
  const auto found = horizon->find(cluster);
  return found != horizon->end() && entity < found->second.size() && time <= found->second[entity];
}

void Clock::join(const Clock& more) {
  check::join(seen, more.seen);
  check::join(seen_by_async, more.seen_by_async);
  check::join(seen_by_async_in_global, more.seen_by_async_in_global);
  check::join(seen_by_maps, more.seen_by_maps);
  check::join(covered, more.covered);
  check::join(stayed, more.stayed);
  check::join(inits, more.inits);
  started |= more.started;
  earlier_have_ended |= more.earlier_have_ended;
  check::join(others, more.others);
  check::join(fenced, more.fenced);
  check::join(fenced_for_cta, more.fenced_for_cta);
}

}  // namespace tessera::vgpu::check
