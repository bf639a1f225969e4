// What a kernel did, by count: the launches of a run summed by kind and width of access.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.h"

namespace tessera::lab {

struct Count {
  std::uint64_t warp = 0, thread = 0;  // issues, and active lanes summed over them
  Count& operator+=(const Count& other);
};

// Accesses by the bytes that one lane moves.
using Accesses = std::map<int, Count>;

struct CountSummary {
  Count total, fma, matrix, barrier;  // matrix: tensor-core multiplies
  Accesses global_loads, global_stores, shared_loads, shared_stores, other_accesses;
  std::string tag = "exact";                   // "exact", "model" or "approximate"; see count_tag.h
  std::vector<std::string> cubin_differences;  // why it is a model, both numbers in each
  std::vector<std::string> approximate_forms;
  int launches = 0;
  double host_seconds = 0;

  // Multiply-adds for each load from shared memory, by thread; 0 where there are none.
  double fma_per_shared_load() const;
};

CountSummary summarize(const std::vector<LaunchCounts>& launches);

// What an instruction form is: "ld.volatile.shared.v4.f32" is a load of 16 bytes from shared
// memory.
enum class FormKind { kOther, kFma, kMatrix, kBarrier, kLoad, kStore };
enum class FormSpace { kNone, kGlobal, kShared, kOther };
struct FormClass {
  FormKind kind = FormKind::kOther;
  FormSpace space = FormSpace::kNone;
  int bytes = 0;  // a lane
};
FormClass classify(std::string_view form);

}  // namespace tessera::lab
