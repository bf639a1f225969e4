#include "lab/explain/advice/advice.h"

#include <algorithm>
#include <initializer_list>

#include "lab/explain/advice/rules.h"

namespace tessera::lab {
namespace {

using Rule = Found (*)(const Evidence&);

void apply(std::initializer_list<Rule> rules, const Evidence& evidence, std::vector<Advice>& to) {
  for (const Rule rule : rules) {
    if (Found found = rule(evidence)) to.push_back(*std::move(found));
  }
}

}  // namespace

std::vector<Advice> advise(const Evidence& evidence) {
  std::vector<Advice> list;
  apply({atomic_contention, small_launch, short_blocks, bank_conflicts, scattered_access,
         scalar_access},
        evidence, list);
  if (evidence.multiplies) {
    apply({shared_traffic, no_sharing, few_warps, barriers, issue_overhead, at_the_pipe,
           memory_bound},
          evidence, list);
  } else {
    apply(
        {uncoalesced_access, misaligned_access, divergence, plain_shared_traffic, plain_no_sharing,
         few_warps, plain_barriers, plain_issue_overhead, plain_at_the_pipe, plain_memory_bound},
        evidence, list);
  }
  apply({spills}, evidence, list);
  std::stable_sort(list.begin(), list.end(),
                   [](const Advice& a, const Advice& b) { return a.weight > b.weight; });
  return list;
}

}  // namespace tessera::lab
