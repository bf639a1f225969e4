// Batches: many products in one call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace tessera {

enum class BatchKind {
  kNone,
  kStrided,   // matrix i of an operand begins i strides after matrix 0
  kPointers,  // addresses in device memory, not checked for overlap
  kGroups,    // consecutive rows of A, C and D form groups; each group has its own B
};

// Strides count elements; a stride of 0 means that all products read the same matrix.
struct Batch {
  BatchKind kind = BatchKind::kNone;
  std::int64_t count = 1;
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0, stride_d = 0;
  std::int64_t alignment = 0;  // for kPointers: every address is a multiple of this many bytes
  // For kGroups: the number of rows of each group; their sum is m. The B of a group begins stride_b
  // after the previous group's B; the other strides are 0.
  std::vector<std::int64_t> rows = {};
  std::int64_t stride_x = 0;  // of the auxiliary output

  bool operator==(const Batch&) const = default;
};

// Returns an error if a count, stride or number of rows is negative, if outputs overlap, or if the
// alignment of a batch of pointers is not given.
Status check(const Batch& batch);
// Describes a batch for messages: "a strided batch of 3".
std::string describe(const Batch& batch);

}  // namespace tessera
