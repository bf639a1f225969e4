// Chooses the CPU or the GPU of a handle for a problem whose operands are in host memory.
#pragma once

#include <string>

#include "gemm/c_api/objects.h"
#include "gemm/host/side.h"

namespace tessera::gemm::c_api {

struct ChosenSide {
  bool is_gpu = false;
  host::Sides us = {};       // predicted microseconds; 0 if there was no choice
  std::string refused = {};  // why the other side refuses the problem; else empty
};

// Throws, with the reason, if no side that the handle allows takes the problem.
ChosenSide choose_side(const tessera_handle_s& owner, const Problem& problem);

// The problem. A batch is folded into one product if possible, unless only the batch fits the GPU.
Problem host_problem(const tessera_handle_s& owner, const Problem& problem);

// A sentence: "the CPU: by the model the CPU takes 1.2 us, and the GPU with its copies 31.0 us".
std::string text_of(const ChosenSide& side);

}  // namespace tessera::gemm::c_api
