// Finds live ranges that must move together when they get other registers: the registers of a tuple
// stay neighbours, and zeros that one instruction writes in pairs keep their registers. Internal to
// src/sass.
#pragma once

#include <cstddef>
#include <vector>

#include "sass/model/flow.h"
#include "sass/model/live_ranges.h"
#include "sass/model/register_fields.h"

namespace tessera::sass {

// Registers that CS2R instructions set to 0 in one block. Ranges that begin with such a zero are
// alike, so these ranges may exchange their registers, and the CS2R stay as they are.
struct Zeros {
  std::size_t first = 0, last = 0;  // the first and the last of these CS2R
  std::vector<int> registers;
  LiveRange span;  // live from the first to the last
};

struct RemapRange {
  bool is_single = false;  // in no tuple, so that it may have any register
  int zeros = -1;          // index of the Zeros with which the range begins
  int limit = 255;         // the register must be below: see register_limits.h
};

struct RemapModel {
  LiveRanges live;
  std::vector<RemapRange> ranges;  // by live range
  std::vector<Zeros> zeros;
  // For each instruction: its fields that name general registers. Empty if the instruction writes
  // zeros.
  std::vector<std::vector<RegisterField>> fields;
};
RemapModel remap_model(const Program& program);

}  // namespace tessera::sass
