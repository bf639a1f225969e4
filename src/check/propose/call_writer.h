// Writes a call as a user would type it: the shape and the arguments of a launch to try.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "check/propose/propose.h"
#include "check/propose/trial.h"

namespace tessera::checking {

// Sizes tried for an array whose extent is not yet known: the second size if the first is too
// small.
inline constexpr std::int64_t kTrialBytes = 1 << 20, kLargeTrialBytes = 32 << 20;

// The first contents of integer arrays. kRepeated, kShuffled: numbers below the array's length in
// random order, with or without repeats. kCounts: ascending numbers. kZeros: zeros, for arrays of
// indices. kText: letters. kRows: zeros with ascending starts of rows. kInputs: contents as
// CallWriter::fills says, but outputs stay empty.
enum class Fills : std::uint8_t { kRepeated, kShuffled, kCounts, kZeros, kText, kRows, kInputs };

std::size_t arrays_of(const KernelFacts& kernel);  // the number of array parameters

// The fills to try for a kernel with integer arrays; for other kernels, only the first fill.
std::vector<Fills> fills_for(const KernelFacts& kernel);

class CallWriter {
 public:
  CallWriter(const KernelFacts& kernel, const CallWords& given) : kernel_(kernel), given_(given) {}

  std::int64_t trial_bytes = kTrialBytes;
  std::map<std::string, std::int64_t> trial_sizes;  // bytes of arrays that need other sizes
  bool keeps_allocated = false;                     // even if the kernel reaches further
  std::set<std::string> filled;                     // outputs that the kernel reads first
  Fills fills = Fills::kRepeated;                   // used in place of kInputs

  // Returns the words of the call. After a trial, arrays have the extents that the kernel reached.
  CallWords words_of(const Candidate& candidate, Fills fills, const Trial* trial) const;

  // Returns a sentence for each array that the kernel overruns and whose allocation is certain: "of
  // x the program allocates 100 elements (n * sizeof(float)), and the kernel reaches 101".
  std::vector<std::string> overruns(const Candidate& candidate, const Trial& trial) const;

 private:
  struct Filling {
    Fills fills;
    const Trial* trial;
  };
  void note_shape(const Candidate& candidate, CallWords& words) const;
  static void note(const std::string& name, const std::string& value, CallWords& words);
  void add_argument(const Candidate& candidate, std::size_t i, Fills fills, const Trial* trial,
                    CallWords& words) const;
  // Returns the struct argument as text. Each pointer in the struct gets an array of its own. A
  // number gets the value that the program's launch assigns to it, or 64 if it is unknown.
  std::string struct_text(const Candidate& candidate, std::size_t i, Fills fills,
                          const Trial* trial, CallWords& words) const;
  std::string field_text(const Candidate& candidate, std::size_t i, const FieldGuess& field,
                         std::int64_t k, const Filling& filling, CallWords& words) const;
  // Whether the struct has the expected size; false if the real type of a field differs from the
  // type in the source.
  static bool fits(const std::string& text, std::size_t bytes);
  static std::string number_text(const ParameterGuess& parameter,
                                 const std::optional<HostValue>& value);
  std::string array_text(const ParameterGuess& parameter, const std::string& name,
                         const std::optional<Allocated>& allocated, Fills fills,
                         const Trial* trial) const;
  const KernelFacts& kernel_;
  const CallWords& given_;
};

}  // namespace tessera::checking
