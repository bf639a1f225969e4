// Tables as text for a terminal, markdown for a page, CSV for a spreadsheet.
#pragma once

#include <string>
#include <vector>

namespace tessera {

enum class Format { kText, kMarkdown, kCsv };

struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};
std::string render(const Table& table, Format format);

}  // namespace tessera
