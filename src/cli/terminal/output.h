// The destinations of results: a table on stdout, or JSON, CSV and markdown files. The path "-"
// means stdout, which then gets nothing else. Files are written completely or not at all.
#pragma once

#include <string>
#include <vector>

#include "lab/json/json.h"
#include "lab/record/report.h"

namespace tessera::cli {

class Parser;

// An argument and its path; the path is empty if the argument is not given.
struct NamedPath {
  std::string name, path;
};

struct Output {
  std::string json, csv, markdown;

  void add_options(Parser& parser);
  // Throws kBadArgument, before any work, if a path is not writable, if two outputs have one path,
  // or if an output would replace a file of the call, such as {"--shapes", "sizes.txt"}.
  void check(const std::vector<NamedPath>& files_of_the_call = {}) const;
  // False if one of the files is stdout.
  bool prints_text() const;
  // A copy that writes only files, not stdout: for results that are written again as more arrive.
  Output files_only() const;
  bool wants_json() const { return !json.empty(); }
  void write(const lab::Json& object, const Table& table) const;
};

}  // namespace tessera::cli
