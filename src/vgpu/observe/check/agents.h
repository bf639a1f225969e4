// Asynchronous operations in flight (agents). An agent has two entities in the vector clocks,
// because its reads may end before its writes.
//
// A limit: an operation counts as ended when it signals, and its entities are reused about 256
// operations later. A thread that waits for the new operation then seems to have waited for the old
// one, too.
#pragma once

#include <array>
#include <deque>
#include <unordered_map>

#include "vgpu/observe/check/clock.h"
#include "vgpu/report/observer.h"

namespace tessera::vgpu::check {

constexpr std::size_t kAgentKinds = 3;

struct Agent {
  AgentKind kind = AgentKind::kBulkCopy;
  Actor issuer;
  Entity reads = 0, writes = 0;
  Clock clock;     // the clock of its issuers
  Time floor = 0;  // everything up to here is ordered before it
  Time met = 0;    // when the lanes of the issuing warp had all met last
  bool over = false;
  bool is_generic() const { return kind == AgentKind::kCopyAsync; }
};

// The agent that has, or last had, an entity.
struct AgentTrace {
  AgentKind kind = AgentKind::kBulkCopy;
  Actor issuer;
};

class Agents {
 public:
  // Forgets all agents. Entities from `first` on belong to agents.
  void begin(Entity first);

  // Makes a new agent. If the agent exists already, it gets another issuer.
  Agent& start(const Actor& issuer, AgentId id, AgentKind kind);
  // Returns null if the agent was never started, or ended long ago.
  Agent* find(AgentId id);
  // Finds the entity of the agent's reads, perhaps reused since; that of its writes is the next.
  bool find_entities(AgentId id, Entity& reads) const;
  // Called when some thread knows that the agent has ended. Its entities are reused later.
  void end(AgentId id);

  bool is_agent(Entity entity) const { return entity >= first_; }
  // Whether the entity accesses memory through the asynchronous proxy.
  bool is_async(Entity entity) const {
    return is_agent(entity) && trace(entity).kind != AgentKind::kCopyAsync;
  }
  const AgentTrace& trace(Entity entity) const { return traces_[(entity - first_) / 2]; }

 private:
  Entity first_ = 0;
  std::unordered_map<AgentId, Agent> live_;
  std::vector<AgentTrace> traces_;                // by pair of entities
  std::unordered_map<AgentId, Entity> entities_;  // by agent: the entity of its reads
  // Ended agents by kind, in the order in which they ended. WHY by kind: the actions of an entity
  // are remembered under its number, and must not seem to be those of an agent of another kind.
  std::array<std::deque<AgentId>, kAgentKinds> over_;
};

}  // namespace tessera::vgpu::check
