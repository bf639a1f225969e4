// Runs a kernel several times in different legal orders, each time on a fresh virtual GPU, and
// combines the findings of all runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "check/arrays.h"
#include "check/code.h"
#include "check/values.h"
#include "launch/launch.h"
#include "vgpu/observe/cures.h"
#include "vgpu/observe/flow/flow.h"
#include "vgpu/report/observation.h"
#include "vgpu/report/report.h"

namespace tessera::checking {

// The values that an array must hold after the kernel.
struct Expectation {
  HostArray values;  // with the array's name
  std::string path;
};

// Everything that a check needs to run.
struct CheckPlan {
  Code code;
  vgpu::KernelSignature kernel;
  LaunchShape shape;
  std::vector<Argument> arguments;   // one per parameter
  std::vector<HostArray> arrays;     // all arrays, also those that are no parameters
  std::vector<Argument> pointers;    // those arguments that are arrays of addresses
  std::vector<Argument> variables;   // --set: values of __device__ and __constant__ variables
  std::vector<std::string> earlier;  // arrays that an earlier launch may still write
  std::vector<Expectation> expectations;
  double tolerance = 0;
  int warp_orders = 3;  // first by index, then random orders
  int host_threads = 0;
  double seconds = 60;      // limit of one run
  bool strict_ptx = false;  // reliance on hardware beyond the PTX ISA is an error
};

// One legal order in which warps and asynchronous operations run.
struct RunOrder {
  vgpu::AsyncSchedule schedule = vgpu::AsyncSchedule::kEager;
  std::uint64_t warp_seed = 0;  // 0: warps by index
};
std::string name_of(const RunOrder& order);  // the name of an order: "eager, warps by index"

struct CheckRun {
  RunOrder order;
  bool finished = false;  // false: a fault ended the run; it is the last finding
  vgpu::LaunchReport report;
};

// Two orders left different elements in an array: a race, or sums of atomics in another order.
struct Disagreement {
  std::string array;
  ElementType type = ElementType::kF32;
  std::string order;
  Difference difference;  // from the results of the first run that finished
  bool beyond_rounding = false;
  bool is_reordered = false;  // atomics handed out the places: the arrays hold the same elements
};

// A finding that occurs in one or several runs at the same source lines.
struct SeenFinding {
  vgpu::Finding finding;  // the first such finding, with the largest count of all runs
  int instructions = 1;   // PTX instructions of these lines with the finding, in one run
  int runs = 1;           // runs with this finding
  std::string order;      // order of the first such run
};

inline bool is_note(const SeenFinding& seen) {
  return seen.finding.severity == vgpu::Severity::kNote;
}

struct CheckResult {
  std::vector<CheckRun> runs;
  std::vector<SeenFinding> findings;  // worst first
  std::vector<vgpu::Cure> groups;     // a group: findings that one change cures
  std::vector<HostArray> results;     // arrays of the first finished run; empty without such a run
  std::vector<Disagreement> disagreements;
  std::map<std::string, std::uint64_t> addresses;  // addresses of the arrays, the same in every run
  std::set<std::string> times;         // arrays of what the kernel read from a clock, or of its SM
  std::vector<vgpu::ArrayUse> arrays;  // arrays within which the kernel's accesses must stay
  std::vector<vgpu::Update> updates;   // updates of memory that the code may make
  bool one_schedule = false;  // the code has nothing asynchronous: both schedules are the same
  bool stopped = false;       // stopped by Ctrl-C before the last run
  std::vector<std::string> zero_constants;  // __constant__ variables of the kernel left at zero
  std::vector<std::string> remarks;         // on the results of the first run that finished
  std::vector<std::string> unwritten;       // "3 of 32 elements of array out", in that run
  std::string printed;                      // what printf wrote in the first run

  // Returns the number of groups whose findings are not notes.
  std::size_t wrong_groups() const {
    return static_cast<std::size_t>(std::count_if(
        groups.begin(), groups.end(),
        [this](const vgpu::Cure& one) { return !is_note(findings[one.findings.front()]); }));
  }
  std::size_t wrong() const {
    return findings.size() -
           static_cast<std::size_t>(std::count_if(findings.begin(), findings.end(), is_note));
  }
};

// Returns the findings as the virtual GPU reported them, in the order to which the indices in
// CheckResult::groups refer.
std::vector<vgpu::Finding> plain_findings(const CheckResult& result);

// Loads the PTX on a virtual GPU and returns its kernels. Throws a kBadArgument with the position
// of the first unreadable text.
std::vector<vgpu::KernelSignature> kernels_of(const Code& code);

// Throws kBadArgument if the launch is refused or the PTX is not implemented. Faults of the kernel
// are findings.
CheckResult run_check(const CheckPlan& plan, const std::function<void(int, int)>& progress);

}  // namespace tessera::checking
