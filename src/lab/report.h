// Tables from records: text for a terminal, markdown for a page, CSV for a spreadsheet.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lab/record.h"

namespace tessera::lab {

enum class Format { kText, kMarkdown, kCsv };

struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};
std::string render(const Table& table, Format format);

// Columns without any value in the records are left out.
Table bench_table(const std::vector<Record>& records);
Table verify_table(const std::vector<Record>& records);
// One row a rung: idea, verified, error over bound, what limits it, counts, seconds; on a GPU time,
// TFLOP/s, share of peak and ratio to the vendor. peak_tflops 0: that column is left out.
Table ladder_table(const std::vector<Record>& records, double peak_tflops = 0);

}  // namespace tessera::lab
