// An error that stops a kernel on the virtual GPU, with all that is known about where it happened.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/report/finding.h"

namespace tessera::vgpu {

enum class FaultKind {
  kSyntax,       // PTX text that cannot be read
  kUnsupported,  // an instruction form that is not implemented
  kBadLaunch,    // shape, parameters or shared memory out of range
  kOutOfBounds,
  kMisaligned,
  kBarrier,  // wrong barrier use
  kDeadlock,
  kEndless,  // perhaps endless: it only counts or reads, for very long
  kTrap,
  kAssert,  // an assertion that failed
  kOutOfMemory,
  kStopped,  // from outside, or by a limit
};

struct FaultPlace {
  int ptx_line = 0;
  std::string form;  // instruction as written, "ld.shared.f32"
  std::string kernel;
  std::string source_file;  // from .loc; empty if unknown
  int source_line = 0;
  std::vector<std::pair<std::string, int>> callers;  // callers of inlined code, innermost first
  std::uint64_t cta = 0;                             // linear
  int thread = -1;                                   // linear in the CTA; -1 if none
  std::uint64_t address = 0;
  bool has_address = false;
};

class Fault : public std::runtime_error {
 public:
  // what() returns the message, followed by a line with all known fields of the place.
  Fault(FaultKind kind, const std::string& message, FaultPlace place);
  FaultKind kind() const { return kind_; }
  const std::string& message() const { return message_; }  // without the place
  const FaultPlace& place() const { return place_; }
  // The findings that the launch's checks made before the fault.
  const std::vector<Finding>& findings() const { return findings_; }
  void add_findings(std::vector<Finding> findings) { findings_ = std::move(findings); }
  // Other lines that matter, and what to do about the fault; empty if the kind says everything.
  const std::vector<FindingPlace>& related() const { return related_; }
  const std::string& hint() const { return hint_; }
  void explain(std::vector<FindingPlace> places, std::string hint) {
    related_ = std::move(places);
    hint_ = std::move(hint);
  }

 private:
  FaultKind kind_;
  std::string message_;
  FaultPlace place_;
  std::vector<Finding> findings_;
  std::vector<FindingPlace> related_;
  std::string hint_;
};

}  // namespace tessera::vgpu
