// A call as one line of text. The library's log writes such lines, and `tessera tune --from` reads
// them. Without the parts that do not affect a plan's speed, a line is the name under which an
// overlay keeps a measured plan.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "gemm/options.h"
#include "problem/problem.h"

namespace tessera::gemm {

struct CallToPlan {
  Problem problem;
  Alignment alignment;
  std::int64_t workspace_limit = kAnyWorkspace;  // bytes
};

// The line: "type=f32 order=col layout=NN m=300 n=200 k=100 ld=300,100,300,300 beta=0
// align=16,16,16,16 workspace=any", plus "batch=", "strides=", "pointers=" and "epilogue=" if the
// call has these. Empty for groups of rows and for scales, which are not tuned.
std::string text_of(const CallToPlan& call);

// The call that a line describes. Leading dimensions, beta, alignments and workspace may be left
// out. If a word is wrong, throws kBadArgument with the word.
CallToPlan call_of(std::string_view text);

// The text of a call with classes in place of some numbers. For leading dimensions and strides: the
// largest power of two, up to 128 bytes, that divides all steps from one row, column or product of
// an operand to the next. For the workspace limit: a power of two that is not larger ("any" from 1
// GiB on). Calls with one key share a measured plan.
std::string key_of(const CallToPlan& call);

}  // namespace tessera::gemm
