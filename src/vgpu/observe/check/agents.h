// Asynchronous operations in flight. Each takes part in the clocks as two entities, because its
// reads may be over before its writes.
//
// A limit: an operation counts as over when it signals, and its entities are given away some 256
// operations later. A thread that waits for the new owner then seems to have waited for the old
// one.
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

// The agent of an entity that is not a warp; it may have ended.
struct AgentTrace {
  AgentKind kind = AgentKind::kBulkCopy;
  Actor issuer;
};

class Agents {
 public:
  // Entities from `first` on are agents'.
  void begin(Entity first);

  // A new agent, or a known one that gets another issuer.
  Agent& start(const Actor& issuer, AgentId id, AgentKind kind);
  // Null if it was never started, or ended long ago.
  Agent* find(AgentId id);
  // Its reading entity, which another agent may have taken over; the writing one follows it.
  bool find_entities(AgentId id, Entity& reads) const;
  // Called when some thread knows that it is over. Its entities are given to another agent later.
  void end(AgentId id);

  bool is_agent(Entity entity) const { return entity >= first_; }
  // Whether it touches memory through the asynchronous proxy.
  bool is_async(Entity entity) const {
    return is_agent(entity) && trace(entity).kind != AgentKind::kCopyAsync;
  }
  const AgentTrace& trace(Entity entity) const { return traces_[(entity - first_) / 2]; }

 private:
  Entity first_ = 0;
  std::unordered_map<AgentId, Agent> live_;
  std::vector<AgentTrace> traces_;                // by pair of entities
  std::unordered_map<AgentId, Entity> entities_;  // by agent: the entity of its reads
  // Finished agents by kind, the one that ended first at the front. WHY by kind: an entity's
  // actions are remembered under its number, and must not seem to be those of another kind.
  std::array<std::deque<AgentId>, kAgentKinds> over_;
};

}  // namespace tessera::vgpu::check
