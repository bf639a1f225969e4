// Destinations of results: a table on stdout, or JSON, CSV and markdown files. "-" is stdout, which
// then gets nothing else. Files are written completely or not at all.
#pragma once

#include <string>
#include <vector>

#include "lab/json/json.h"
#include "lab/record/report.h"

namespace tessera::cli {

class Parser;

// An argument and the path that it holds; an empty path is one not given.
struct NamedPath {
  std::string name, path;
};

struct Output {
  std::string json, csv, markdown;

  void add_options(Parser& parser);
  // Throws kBadArgument before any work is done: a path not writable, two outputs for one place, or
  // one that would replace a file of the call's own, such as {"--shapes", "sizes.txt"}.
  void check(const std::vector<NamedPath>& files_of_the_call = {}) const;
  // False when stdout belongs to one of the files.
  bool prints_text() const;
  // The same without stdout, for results that are written again when more are complete.
  Output files_only() const;
  bool wants_json() const { return !json.empty(); }
  void write(const lab::Json& object, const Table& table) const;
};

}  // namespace tessera::cli
