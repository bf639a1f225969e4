// Explains how a problem is computed: the choices with their predicted times, what limits the speed
// of the choice that is taken, and what would make a faster choice possible.
#pragma once

#include <string>
#include <vector>

#include "gemm/c_api/objects.h"

namespace tessera::gemm::c_api {

struct Explained {
  tessera_explanation summary;
  std::vector<tessera_choice> choices;  // the choice that is taken comes first
  std::string side = {};                // for operands in host memory: CPU or GPU, and the reason
  std::string folded = {};              // a sentence if a batch is one product; else empty
  std::string tuned = {};               // a sentence about the user's overlay; else empty
  std::string costs = {};               // the GPU whose cost table predicts the times: "h200"
};

Explained explain(const tessera_handle_s& owner, const Asked& asked, const Options& options);

// The explanation for people: several lines of text.
std::string text_of(const Explained& explained);

// For the log: "planned 300 x 200 x 100 in f32 NN: simt_f32/128x64, 8.1 us, workspace 0 bytes; call
// type=f32 ...". gemm/overlay/call_text.h defines the text after "call".
std::string line_of(const Plan& plan);

}  // namespace tessera::gemm::c_api
