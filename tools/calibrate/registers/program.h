// The code that goes into a frame's room: data into registers, a loop around what is timed, and the
// way out.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tools/calibrate/registers/sequence.h"

namespace tessera::calibration {

// A loop over `copies` of a sequence's pattern; iterations come from the kernel's parameters.
Code timed_program(const Sequence& sequence, int copies);

// Code that runs once and leaves its results in shared memory, from kSharedBase on.
Code probe_program(const Frame& frame, const Code& code);

// Instructions of the loop around the patterns: counter, comparison and branch.
inline constexpr int kLoopInstructions = 3;

// The frame's cubin with the code in its room. Throws std::runtime_error if the room is too small
// or the cubin has no such frame.
std::vector<std::byte> patched(std::span<const std::byte> cubin, const Frame& frame,
                               const Code& code);

}  // namespace tessera::calibration
