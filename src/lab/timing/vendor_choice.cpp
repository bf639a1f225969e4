#include "lab/timing/vendor_choice.h"

namespace tessera::lab {
namespace {

// Whether the library takes this problem at all: makes one call and waits for it.
bool runs(Device& device, const VendorCall& call, const OperandsOf& operands) {
  try {
    call.call(operands(0));
    device.synchronize();
    return true;
  } catch (const StatusError&) {
    return false;
  }
}

}  // namespace

Candidate candidate_of(const VendorCall& call, const OperandsOf& operands) {
  return {call.name, [&call, &operands](std::int64_t i) { call.call(operands(i)); }};
}

std::optional<std::size_t> fastest(const std::vector<Samples>& samples, std::size_t first) {
  std::optional<std::size_t> best;
  double best_ms = 0;
  for (std::size_t i = first; i < samples.size(); ++i) {
    if (samples[i].milliseconds.empty()) continue;
    const double ms = summarize(samples[i].milliseconds).median;
    if (best && best_ms <= ms) continue;
    best = i;
    best_ms = ms;
  }
  return best;
}

std::vector<VendorCall> choose_vendor_calls(Device& device, Timer& timer,
                                            std::vector<VendorCall> calls,
                                            const OperandsOf& operands, const MeasureOptions& how) {
  std::erase_if(calls, [&](const VendorCall& call) { return !runs(device, call, operands); });
  const std::size_t first = !calls.empty() && calls[0].is_default ? 1 : 0;
  if (calls.size() <= first + 1) return calls;
  std::vector<Candidate> candidates;
  for (std::size_t i = first; i < calls.size(); ++i) {
    candidates.push_back(candidate_of(calls[i], operands));
  }
  const std::vector<Samples> samples = measure(timer, candidates, Mode::kBurst, how);
  const VendorCall best = calls[first + fastest(samples).value_or(0)];
  return first == 1 ? std::vector{calls[0], best} : std::vector{best};
}

}  // namespace tessera::lab
