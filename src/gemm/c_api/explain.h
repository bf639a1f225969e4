// Why a problem is computed as it is: the choices with their predicted times, what bounds the one
// that is taken, and what would make a faster one possible.
#pragma once

#include <string>
#include <vector>

#include "gemm/c_api/objects.h"

namespace tessera::gemm::c_api {

struct Explained {
  tessera_explanation summary;
  std::vector<tessera_choice> choices;  // the one taken first
  std::string side = {};                // of operands in host memory: which one, and why
  std::string folded = {};              // a sentence about a batch that is one product; else empty
  std::string tuned = {};               // a sentence about the user's overlay; else empty
  std::string costs = {};               // of which GPU the table is that the times are from: "h200"
};

Explained explain(const tessera_handle_s& owner, const Asked& asked, const Options& options);

// The explanation as lines of text for people.
std::string text_of(const Explained& explained);

// "planned 300 x 200 x 100 in f32 NN: simt_f32/128x64, 8.1 us, workspace 0 bytes; call type=f32
// ...", for the log. The call is that of gemm/overlay/call_text.h.
std::string line_of(const Plan& plan);

}  // namespace tessera::gemm::c_api
