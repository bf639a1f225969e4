// tessera sass --optimise: a cubin's FFMAs in a better order, proved equal.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "arch/gpu.h"
#include "lab/record/record.h"
#include "lab/record/report.h"

namespace tessera::cli {

struct Optimised {
  std::string text;  // changes and proofs, for people
  lab::Json json;
  Table loops;  // cycles and bubbles before and after, by the port model
};

// Changes the order of FFMAs, their registers, or both.
struct Changes {
  bool remaps = false, reorders = true;
  int sm = 0;  // selects one of several cubins in a file; 0: there is one
};
// `target` is a file with one cubin, or a kernel of the catalog, whose image for `gpu` is taken;
// `kernel` the name of one kernel in it or a part of the names of some, empty for all. Writes the
// new cubin to `out`. Throws StatusError: kFailed when the code has a hazard or a proof fails, and
// then nothing is written.
Optimised optimise_cubin(const std::string& target, const std::string& kernel, const arch::Gpu& gpu,
                         const std::string& out, const Changes& changes);

}  // namespace tessera::cli
