// One measurement as data: what ran, on what, whether it was right, how long it took. A results
// file is one JSON object {schema, environment, runs}; every table is made from such records.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.h"
#include "lab/counts/counts.h"
#include "lab/json/json.h"
#include "lab/timing/measure.h"
#include "lab/timing/nvml.h"
#include "lab/timing/statistics.h"
#include "lab/verify/prepared_call.h"
#include "lab/verify/verify.h"
#include "problem/problem.h"

namespace tessera::lab {

// The schema of the results file; its number grows when a field changes its meaning.
inline constexpr std::string_view kSchema = "tessera.results/1";

struct VendorTime {
  std::string name;  // "vendor: cuBLASLt candidate 3 (cuBLAS 13.1.0.3)"
  Summary time_ms;
  std::int64_t workspace_bytes = 0;
};

// The cost of one iteration of the main loop before and after rewriting, by the port model.
struct RewrittenLoop {
  double cycles_before = 0, cycles = 0, crowded_before = 0, crowded = 0;
};

// A second figure of ours for the record's problem, timed alternately with the record's own figure:
// within less workspace, with the code of another build, or with rewritten code. The second figure
// also has a record of its own.
struct Companion {
  std::string kernel, config, image_hash;
  std::optional<std::int64_t> workspace_limit, workspace_bytes;
  std::optional<std::string> verified;
  std::string reason;  // why there are no figures
  std::optional<double> time_ms, tflops, ratio_to_vendor;
  // The following fields are those of rewritten code:
  std::string rewriting;          // "remapped", "reordered", "both"; empty: not rewritten code
  std::optional<bool> same_bits;  // whether D has the bits that the record's own code gives
  std::optional<double> speedup;  // speed over the record's own code: 1.01 is 1 % faster
  std::optional<RewrittenLoop> by_model;
};

// The model's prediction for a run on the virtual GPU; see lab/model/predict.h.
struct PredictedTime {
  std::string gpu;  // "h200"
  double time_ms = 0;
  std::string bound;  // the limiting resource
  std::string model;  // the model's name and measured error
};

// The energy of a hot GPU for 10^12 operations (2 m n k of a product), with our kernel and with the
// vendor's library, measured alternately.
struct EnergyUse {
  double joules_per_tflop = 0;
  std::optional<double> vendor_joules_per_tflop;
};

// Fields without a value are null in JSON.
struct Record {
  std::string kernel, config, idea;
  std::string plan;        // kernel, variant and decision: what --kernel takes to plan the same
  std::string image;       // the kind of code that ran: "patched cubin sm_90a"
  std::string image_hash;  // hash of that code's bytes
  bool image_is_patched = false;
  bool other_build = false;  // the image is another build's; the plan is this one's
  std::string rewriting;     // change of the machine code for this run; empty: none
  std::string d_hash;        // hash of D's bytes, if several codes are compared
  Problem problem;
  std::string device;                   // "NVIDIA H200", "virtual"
  std::optional<std::string> verified;  // "full", "sampled", "failed"
  std::optional<double> max_error_ratio;
  std::string reason;                     // why it failed or was skipped; empty otherwise
  std::string fill, integers, reference;  // input data and reference
  std::optional<Mode> mode;
  std::optional<Summary> time_ms;
  std::optional<double> tflops;
  std::optional<std::int64_t> workspace_bytes;  // workspace of our launches
  std::optional<std::int64_t> workspace_limit;  // limit of the workspace for the plan
  std::string packed;                           // operands, before time is taken: "a", "b", "ab"
  std::optional<std::uint64_t> order_seed;      // seed of the candidates' order in each round
  int rounds = 0;                               // rounds in which the candidate was timed
  std::optional<VendorTime> vendor;
  std::optional<double> ratio_to_vendor;  // our speed over the vendor's: 1.1 is 10 % faster
  std::optional<Companion> within_vendor_workspace;  // only if our workspace exceeds the vendor's
  std::optional<Companion> other_image;              // only if another build was timed
  std::optional<double> ratio_to_other;  // our speed over the other build's: 1.01 is 1 % faster
  std::vector<Companion> rewritten;      // the same kernel with other registers, another order
  std::optional<Telemetry> telemetry;    // read while the last group ran
  std::optional<EnergyUse> energy;       // sustained; only on request
  std::vector<double> samples_ms;        // raw
  std::int64_t calls_per_sample = 0;
  std::optional<CountSummary> counts;
  std::string limited_by;  // limit according to the counts, "bank conflicts"; empty without them
  std::optional<PredictedTime> predicted;
  std::optional<double> host_seconds, lane_instructions_per_s;
  std::optional<HostTime> host_us;      // time of our own code, if calls were timed
  std::vector<vgpu::Finding> findings;  // findings of the checks, on request
  std::string command;                  // repeats this row
};

struct Environment {
  std::string program = "tessera", version;
  std::string commit;        // commit of the program, "1a2b3c4d5e6f-dirty"; "unknown" outside git
  std::string other_commit;  // of the build that was timed in turn (--against); empty: none, or
                             // not known
  std::string date;          // UTC, "2026-01-31T12:00:00Z"
  std::string host_cpu;
  int host_cores = 0;
  DeviceInfo device;
  std::optional<Telemetry> telemetry;
  std::string vendor;    // library and version, or why there is none
  std::string openblas;  // version, or empty
  std::string command;
  std::uint64_t seed = 0;
};

// Reads host, date, OpenBLAS and telemetry. The caller adds version, commit, vendor, command and
// seed.
Environment describe_environment(const Device& device);

Json to_json(const Problem& problem);
Json to_json(const Record& record);
Json to_json(const Environment& environment);
Json to_json(const Environment& environment, const std::vector<Record>& records);  // the whole file

// Writes a new file and renames it: an existing file is either replaced whole or not changed. "-"
// is stdout. Throws a kBadArgument that names the argument ("--json"), the path and the reason.
void write_file(const std::string& path, std::string_view text,
                std::string_view argument = "output");
// Throws like write_file if the file could not be written, before hours of work are spent. Writes
// nothing.
void check_writable(const std::string& path, std::string_view argument = "output");

}  // namespace tessera::lab
