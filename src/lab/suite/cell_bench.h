// One cell of the drawn suite: planned, checked, and timed in turn with the vendor's library.
//
// There are two protocols. *Full* is the protocol of every table (lab/timing/measure.h, burst). A
// thousand cells would take hours, so *quick* chooses the vendor's candidate by three calls of each
// candidate and times two rounds of bursts of 10 ms. Losses by *quick* are timed again by *full*,
// whose figure then counts. No protocol idles before calls of less than 100 us. WHY: after an idle
// time a launch takes the host longer than such a call runs, and the host would be timed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gemm/cost/cost.h"
#include "gemm/options.h"
#include "lab/suite/memory.h"
#include "lab/suite/planned.h"
#include "lab/timing/measure.h"
#include "lab/timing/vendor_choice.h"

namespace tessera::lab {

inline constexpr double kTimedAgainBelow = 0.97;  // ratio to the vendor

struct SuiteProtocol {
  std::string name;
  MeasureOptions choice;  // for the choice among the vendor's candidates
  MeasureOptions timing;
  double idle_above_ms = 0;  // a shorter call is chosen and timed without idling
};
SuiteProtocol quick_protocol();
SuiteProtocol full_protocol();

// Times in milliseconds per call.
struct CellTime {
  Summary ours;                          // within the vendor's workspace
  std::optional<Summary> without_limit;  // only if the plan without the limit is another one
  std::optional<Summary> vendor;
  std::string vendor_name;

  std::optional<double> ratio() const;  // our speed over the vendor's
};

struct CellResult {
  std::string reason;  // why there is no figure; empty: there is one
  std::string kernel;  // "wgmma_bf16/128x256"
  std::int64_t workspace_bytes = 0;
  double predicted_us = 0;
  std::string kernel_without_limit;  // empty: same plan as within the limit
  std::int64_t workspace_without_limit = 0;
  double max_error_ratio = 0;
  CellTime time;
};

// The times of all configs that could be right for a cell, measured alternately to find the cause
// of a loss. *Regret* is the time of the plan's choice divided by the best config's (a fault of the
// cost model); *coverage* is the vendor's time divided by the best config's (low if a kernel is
// missing). Rows include the model's expected times, so a fit of the model needs no other data.
struct SweptConfig {
  std::string kernel, decision;
  std::int64_t workspace_bytes = 0;
  gemm::Cost expected;  // microseconds
  std::string reason;   // why there is no time: the result is wrong, or the config cannot run
  Summary ms;
};

struct SweptCell {
  std::string reason;                // why nothing was timed
  std::vector<SweptConfig> configs;  // the first is the plan's choice
  std::optional<Summary> vendor;
  std::string vendor_name;
};

// Two plans of the library, timed alternately. They differ in the table of costs (the library's own
// and another table) or in the compute type.
struct TwoPlans {
  struct Planned {
    std::string kernel, decision;
    std::int64_t workspace_bytes = 0;
    Summary ms;
  };
  std::string reason;  // why nothing was timed
  Planned own;
  std::optional<Planned> other;  // only if it is another plan; else nothing is timed
};

// Configs that the model expects to take longer than this factor times the model's choice are left
// out, unless the user sets another factor.
inline constexpr double kSweptWithin = 1.5;
// Two rounds of four calls, without idling.
SuiteProtocol sweep_protocol();
// The protocol that compares two of our plans, without the vendor's library: five rounds of 10 ms
// bursts. The device idles only before calls that take more than 100 us.
SuiteProtocol two_plans_protocol();

struct CellBenchOptions {
  std::uint64_t seed = 1;           // seed of the data and of the order
  std::function<bool()> stop = {};  // asked between groups of calls, which then throw Stopped
  gemm::PlanOptions plan = {};      // options of plans; the workspace limit is below
  std::int64_t workspace_limit = kVendorWorkspace;  // limit of our plans
};

class CellBench {
 public:
  // If `vendor` is null, there is no baseline.
  CellBench(Device& device, Timer& timer, Vendor* vendor, CellBenchOptions options = {});

  // If no kernel takes the cell, or the result is wrong, the cell gets a reason and no times. Other
  // errors are thrown, such as those of a device that is gone.
  CellResult run(const DrawnCell& cell, const SuiteProtocol& protocol);
  SweptCell sweep(const DrawnCell& cell, double within = kSweptWithin);
  TwoPlans compare(const DrawnCell& cell, const gemm::CostTable& other);
  // Compares the plan for the cell in another compute type with the plan in the cell's own type.
  TwoPlans compare(const DrawnCell& cell, ComputeType compute);

 private:
  // The results of calls that are timed alternately: our plans in order, and the vendor's.
  struct Turn {
    std::vector<Summary> ours;
    std::optional<Summary> vendor;
    std::string vendor_name;
  };
  using Calls = std::vector<const PlannedCall*>;

  gemm::PlanOptions within(std::int64_t bytes) const;
  // Returns the call of the plan without the workspace limit; null if that plan equals `limited`'s.
  std::unique_ptr<PlannedCall> without_limit(const Problem& problem, const Operands& operands,
                                             const PlannedCall& limited) const;
  std::string check(const DrawnCell& cell, const CellOperands& operands, const PlannedCall& call,
                    double& max_error_ratio);
  std::vector<VendorCall> vendor_calls(const Problem& problem, const OperandsOf& operands,
                                       const MeasureOptions& how, std::string& note) const;
  Turn time(const DrawnCell& cell, const CellOperands& operands, const Calls& calls,
            const SuiteProtocol& protocol);
  // Returns the calls for the configs of a plan; null for a config that cannot run or is wrong.
  std::vector<std::unique_ptr<PlannedCall>> bind_configs(const DrawnCell& cell,
                                                         const CellOperands& operands,
                                                         double within_best, SweptCell& out);
  struct Way {
    Problem problem;
    gemm::DeviceLimits limits;
  };
  TwoPlans compare_plans(const DrawnCell& cell, const Way& own, const Way& other);
  double one_call_ms(const CellOperands& operands, const PlannedCall& call);

  Device& device_;
  Timer& timer_;
  Vendor* const vendor_;
  const CellBenchOptions options_;
  SuiteMemory memory_;
};

}  // namespace tessera::lab
