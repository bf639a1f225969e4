// An error that a check found, described so that a user can act on it. Report types only: code
// outside vgpu may include this header.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tessera::vgpu {

enum class Severity : std::uint8_t {
  kError,     // the kernel is wrong
  kLockstep,  // right only while the lanes of a warp run in step, which nothing promises
  kNote       // nothing is wrong on any GPU known, but it is worth knowing
};

// One access or wait that a finding names: the thread, the instruction and the source line.
struct FindingPlace {
  std::string what;  // "wrote 4 bytes of shared memory", "waited at barrier 0"
  std::string form;  // "st.shared.f32"
  int ptx_line = 0;
  std::string source_file;  // from .loc; empty if unknown
  int source_line = 0;
  std::vector<std::pair<std::string, int>> callers;  // callers of inlined code, innermost first
  std::uint64_t cta = 0;                             // linear
  int warp = -1, lane = -1;  // -1: an asynchronous agent, or no particular thread
};

// The sources of undefined values. Whether an undefined value matters depends on its uses.
enum class UndefinedSource : std::uint8_t {
  kShuffle,  // a shuffle reads a lane outside its mask
  kLocal,    // local memory that the thread has not written
  kRegister  // a register that is not written on every way to the read
};
struct UndefinedRead {
  UndefinedSource source = UndefinedSource::kShuffle;
  FindingPlace place;
};

// Where to make the change that fixes a finding.
enum class CureAt : std::uint8_t {
  kNowhere,        // no single change fixes it
  kBetween,        // anywhere between the earlier access and the later one
  kBeforeBarrier,  // after the earlier access, in its thread, before the barrier between the two
  kBeforeExit      // anywhere between the access and the end of the CTA
};

// Findings of one check about one pair of instructions are merged into one, with a count.
struct Finding {
  std::string check;  // "race", "missing-proxy-fence", "uninitialised-shared-read", ...
  Severity severity = Severity::kError;
  std::string message;    // one sentence
  std::string hint;       // the remedy, one sentence
  std::string cure = {};  // "put __syncthreads()": the single change that fixes it
  CureAt cure_at = CureAt::kNowhere;
  std::vector<FindingPlace> places;   // the later access first
  std::vector<FindingPlace> related;  // other lines that matter: who promised, who came
  std::uint64_t address = 0;
  bool has_address = false;
  std::uint64_t count = 1;  // lanes or words that it concerns
};

}  // namespace tessera::vgpu
