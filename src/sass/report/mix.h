// Sorts instructions into kinds. An issue slot without a multiplication is overhead, and the kind
// of overhead determines the remedy.
#pragma once

#include <array>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "sass/decode/operation.h"

namespace tessera::sass {

enum class Kind {
  kFfma,
  kFp64,    // DFMA, DMUL, DADD
  kTensor,  // HMMA, DMMA, HGMMA, ...
  kFloat,   // other arithmetic of FP32 and FP16
  kSharedLoad,
  kSharedStore,
  kGlobalLoad,
  kGlobalStore,
  kCopy,     // asynchronous copies, and waits for them
  kLocal,    // stack and spills
  kAccess,   // generic and constant memory, atomic operations, fences
  kInteger,  // logic and addresses, also on uniform registers
  kMove,     // also between register files
  kCompare,  // and predicates
  kConvert,  // and special functions
  kControl,  // branches and barriers
  kNothing,  // NOPs, and instructions with the guard "never"
};
inline constexpr int kKinds = static_cast<int>(Kind::kNothing) + 1;

std::string_view name_of(Kind kind);  // "shared load"
Kind kind_of(const Instruction& instruction, const Operation& operation);
std::string_view stem_of(std::string_view name);  // the name without the width: "LDS" of "LDS.128"

// The number of instructions of each kind, and of each name within a kind.
struct Mix {
  std::array<int, kKinds> count = {};
  std::array<std::map<std::string, int>, kKinds> names;

  void add(const Instruction& instruction, const Operation& operation);
  int operator[](Kind kind) const { return count[static_cast<int>(kind)]; }
  // Returns the count of one name ("LDS.128") or of all names with one stem ("LDS"). Instructions
  // that never run are not counted.
  int of(std::string_view name) const;
  int total() const;
};

}  // namespace tessera::sass
