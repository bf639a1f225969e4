// Measures the plans that the library could take for a call, and stores the fastest plan for the
// user (gemm/overlay/overlay.h). The first pass times, by a few calls each, all plans whose
// expected time is near that of the model's choice. The second pass times the model's choice and
// the plans within 5 % of the fastest alternately, by bursts.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gemm/overlay/call_text.h"
#include "gemm/overlay/overlay.h"
#include "lab/suite/memory.h"
#include "lab/suite/planned.h"
#include "lab/timing/measure.h"

namespace tessera::lab {

struct TuneOptions {
  std::uint64_t seed = 1;           // seed of the data and of the order
  double within = 1.5;              // multiple of the time that the model expects of its choice
  std::function<bool()> stop = {};  // asked between groups of calls, which then throw Stopped
};

struct MeasuredPlan {
  std::string plan, decision;  // gemm::Candidate::name(), and its decision for people
  double expected_us = 0;
  std::string reason;     // why there is no time: the result is wrong, or the plan cannot run
  Summary ms;             // times of the last pass that measured the plan
  bool is_final = false;  // whether the second pass measured the plan
};

struct TunedCall {
  std::string key;                  // the call's key in the overlay
  std::string reason;               // why there is nothing to keep; else empty
  std::vector<MeasuredPlan> plans;  // the model's choice first
  std::size_t best = 0;             // index in `plans` of the plan to keep

  gemm::OverlayEntry entry() const;
};

class Tuner {
 public:
  Tuner(Device& device, Timer& timer, TuneOptions options = {});

  // Throws Stopped, and errors not caused by the call itself, such as those of a lost device.
  TunedCall tune(const gemm::CallToPlan& call);

 private:
  struct Bound {
    std::size_t place;  // index in TunedCall::plans
    std::unique_ptr<PlannedCall> call;
  };
  std::vector<Bound> bind(const gemm::CallToPlan& call, const DrawnCell& cell,
                          const CellOperands& operands, TunedCall& out);
  void time(const std::vector<Bound>& bound, const CellOperands& operands,
            const MeasureOptions& how, TunedCall& out);

  Device& device_;
  Timer& timer_;
  const TuneOptions options_;
  SuiteMemory memory_;
};

// Tunes the calls one by one. After each, the overlay's file is read again, its entry is set, and
// the file is replaced, so that an interrupt loses nothing, and entries of other processes stay. A
// file of another library, or a broken one, is replaced.
struct TuneAll {
  gemm::OverlayOrigin here;
  std::string path;
  std::function<bool()> over;  // asked before each call: true ends it
  std::function<void(std::size_t, const gemm::CallToPlan&)> progress;  // calls done, the next one

  std::vector<TunedCall> run(Tuner& tuner, const std::vector<gemm::CallToPlan>& calls) const;
};

}  // namespace tessera::lab
