// Shows the lines that findings name: source lines if the source file exists, else PTX lines.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "check/code.h"
#include "vgpu/report/finding.h"

namespace tessera::checking {

struct ShownLine {
  std::string file;  // the path for an editor
  int line = 0, column = 0;
  std::string text;  // empty where the file is not there
};

class SourceLines {
 public:
  explicit SourceLines(const Code& code) : code_(code) {}

  // Returns the place's line in the source, or in the PTX if the PTX does not name the source.
  ShownLine at(const vgpu::FindingPlace& place);
  ShownLine at(const std::string& file, int line);

 private:
  const std::string& text_of_file(const std::string& path);

  const Code& code_;
  std::map<std::string, std::string> files_;
};

// Returns the column in the .loc before an instruction; 0 if the .loc names another line.
int column_of(const std::string& ptx, int ptx_line, int source_line);

}  // namespace tessera::checking
