// The timed part of a bench: verified kernels and the vendor's library alternately, on rotating
// sets of operands. Used by bench.cpp alone.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lab/bench/bench.h"
#include "lab/data/operand_sets.h"
#include "lab/timing/energy.h"
#include "lab/timing/vendor_choice.h"
#include "lab/verify/prepared_call.h"

namespace tessera::lab {

// A candidate of a running bench.
struct BenchRow {
  const BenchCandidate* candidate;
  Record record;
  bool is_timed = false;  // D is right, and the device has a clock
  bool is_told = false;   // a record of the row was reported
};

// Notes which code ran, and how much memory it used in addition to the operands.
void set_code(Record& record, const LoadedImage& image, const std::string& plan,
              std::int64_t workspace_bytes);

// Returns the seed for the order of one problem's candidates. It differs for each problem and mode,
// and is the same again if the command of the record is repeated.
std::uint64_t order_seed_of(std::uint64_t seed, const Problem& problem, Mode mode);

// Times all rows and the vendor's calls alternately, once per mode. A row that cannot be prepared
// gets a reason and is left out from then on.
class TimedBench {
 public:
  TimedBench(Device& device, const Problem& problem, std::vector<BenchRow>& rows,
             const BenchOptions& options);

  // Returns the timed rows with their records in this mode, in the order of the rows.
  std::vector<std::pair<BenchRow*, Record>> run(Mode mode);

 private:
  using Records = std::vector<std::pair<BenchRow*, Record>>;

  void bind(Device& device, const Problem& problem, BenchRow& row);
  std::vector<Samples> measure_all(Mode mode);
  // Runs every kernel and the vendor's fastest call for seconds each, and adds their energy to the
  // records.
  void add_energy(Records& records, const std::vector<Samples>& samples,
                  std::optional<std::size_t> vendor);
  // Adds the figures of each companion to the record of the candidate that it accompanies.
  void add_companions(Records& records) const;

  const BenchOptions& options_;
  const Problem& problem_;
  std::vector<BenchRow>& rows_;
  DeviceTimer timer_;
  OperandSets sets_;
  // The problem that the vendor's library gets. It is `problem_`, but with FP32 operands in place
  // of BF16 and FP32 ones, which the library cannot multiply.
  Problem vendor_problem_;
  std::unique_ptr<OperandSets> vendor_sets_;  // null: sets_
  OperandsOf vendor_operands_;
  std::unique_ptr<Nvml> nvml_;
  std::vector<std::unique_ptr<PreparedCall>> bound_;
  std::vector<BenchRow*> timed_rows_;
  std::vector<VendorCall> vendor_calls_;
  std::vector<Candidate> candidates_;                // the bound kernels, then the vendor's calls
  std::vector<std::optional<Telemetry>> telemetry_;  // one per candidate, read in the last mode
};

}  // namespace tessera::lab
