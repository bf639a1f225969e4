// Tables from records (base/table.h).
#pragma once

#include <vector>

#include "base/table.h"
#include "lab/record/record.h"

namespace tessera::lab {

// Columns without any value in the records are left out.
Table bench_table(const std::vector<Record>& records);
Table verify_table(const std::vector<Record>& records);
// Returns one row per rung: idea, verified, error over bound, limit, counts, seconds; on a GPU also
// time, TFLOP/s, share of peak and ratio to the vendor. If peak_tflops is 0, the share of peak is
// left out.
Table ladder_table(const std::vector<Record>& records, double peak_tflops = 0);

}  // namespace tessera::lab
