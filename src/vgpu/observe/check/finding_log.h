// The findings of one worker. All findings of one check about one pair of instructions are merged;
// copies of an instruction from an unrolled loop count as one instruction.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "vgpu/program/program.h"
#include "vgpu/report/finding.h"
#include "vgpu/report/windows.h"

namespace tessera::vgpu::check {

// An access or event in a finding, before it is described in words.
struct Place {
  std::string what;  // "wrote 4 bytes of shared memory"
  std::uint32_t instruction = 0;
  std::uint64_t cta = 0;
  int warp = -1, lane = -1;
  std::string does = {};  // "writes"
};

// Returns the text with a capital first letter.
std::string capital(std::string text);
// "shared memory"
const char* name_of(Window window);

class FindingLog {
 public:
  explicit FindingLog(const Kernel& kernel);

  // Returns a new finding to be filled in, or null if the finding is known already; then only its
  // count grows. `name` must be a string literal.
  Finding* note(const char* name, Severity severity, std::uint32_t later, std::uint32_t earlier,
                std::uint64_t address, std::uint64_t count = 1);
  void add(Finding finding);  // one that somebody else put into words

  // A load and a store that together update a word.
  struct Change {
    std::string atomic;        // the atomic function with the same effect
    bool accumulates = false;  // doing so twice is not the same as once
    bool is_lost = false;      // lanes of a warp did so to one word at once
  };
  void note_update(std::uint32_t load, std::uint32_t store, const Change& change);
  // Returns the update that both instructions belong to; null if there is none.
  const Change* change_of(std::uint32_t later, std::uint32_t earlier) const;

  // Notes that the load read bytes of shared memory before they were written, and that only this
  // store writes them.
  void note_written_late(std::uint32_t load, std::uint32_t store) {
    late_.insert({first_like(load), first_like(store)});
  }
  void note_never_written(std::uint32_t load) { never_written_.insert(first_like(load)); }

  FindingPlace place(const Place& place) const;
  // Whether two instructions have one form and one source line, inlined at the same places.
  bool are_alike(std::uint32_t instruction, std::uint32_t other) const {
    return first_like(instruction) == first_like(other);
  }
  std::string_view form(std::uint32_t instruction) const;  // "bar.sync"
  // Returns the name of an instruction's line: "line 31" or "PTX line 120".
  std::string line(std::uint32_t instruction) const;

  void merge(FindingLog&& more);
  // Worst first.
  std::vector<Finding> sorted() const;

 private:
  // The name of the check, the severity, and the two instructions.
  using Key = std::tuple<std::string, int, std::uint32_t, std::uint32_t>;
  std::uint32_t first_like(std::uint32_t instruction) const {
    return instruction < first_like_.size() ? first_like_[instruction] : instruction;
  }

  struct Updates {
    const Change *later, *earlier;
  };
  // Returns the worst update that the instruction belongs to; null if there is none.
  const Change* update_with(std::uint32_t instruction) const;
  std::optional<Updates> updates_of(std::uint32_t later, std::uint32_t earlier) const;
  void advise_atomic(Finding& finding, const Key& key) const;
  void advise_atomics(Finding& finding, std::uint32_t later, std::uint32_t earlier) const;
  void share_cure_of_race(Finding& finding, const Key& key) const;
  bool is_told(const Finding& finding, const Key& key) const;

  const Kernel& kernel_;
  // For each instruction, the first one with its form and source line (see are_alike).
  std::vector<std::uint32_t> first_like_;
  std::map<Key, Finding> findings_;
  std::map<Key, std::pair<std::uint32_t, std::uint32_t>> instructions_;  // that were seen first
  std::map<std::pair<std::uint32_t, std::uint32_t>, Change> updates_;    // by load and store
  std::set<std::pair<std::uint32_t, std::uint32_t>> late_;               // load and store
  std::set<std::uint32_t> never_written_;                                // loads
};

}  // namespace tessera::vgpu::check
