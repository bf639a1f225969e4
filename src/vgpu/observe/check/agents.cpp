#include "vgpu/observe/check/agents.h"

namespace tessera::vgpu::check {
namespace {

// WHY an entity is not reused at once: a wait for its new agent would look like a wait for the
// agent that had it before.
constexpr std::size_t kRestingAgents = 256;

}  // namespace

void Agents::begin(Entity first) {
  first_ = first;
  live_.clear();
  traces_.clear();
  entities_.clear();
  over_ = {};
}

Agent& Agents::start(const Actor& issuer, AgentId id, AgentKind kind) {
  if (Agent* known = find(id)) return *known;
  Agent agent;
  std::deque<AgentId>& over = over_[static_cast<std::size_t>(kind)];
  if (over.size() > kRestingAgents) {
    agent.reads = live_.at(over.front()).reads;
    live_.erase(over.front());
    over.pop_front();
  } else {
    agent.reads = first_ + 2 * static_cast<Entity>(traces_.size());
    traces_.emplace_back();
  }
  agent.writes = agent.reads + 1;
  agent.kind = kind;
  agent.issuer = issuer;
  traces_[(agent.reads - first_) / 2] = {kind, issuer};
  entities_[id] = agent.reads;
  return live_.emplace(id, std::move(agent)).first->second;
}

bool Agents::find_entities(AgentId id, Entity& reads) const {
  const auto found = entities_.find(id);
  if (found == entities_.end()) return false;
  reads = found->second;
  return true;
}

Agent* Agents::find(AgentId id) {
  const auto found = live_.find(id);
  return found == live_.end() ? nullptr : &found->second;
}

void Agents::end(AgentId id) {
  Agent* agent = find(id);
  if (!agent || agent->over) return;
  agent->over = true;
  over_[static_cast<std::size_t>(agent->kind)].push_back(id);
}

}  // namespace tessera::vgpu::check
