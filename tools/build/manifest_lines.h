// catalog/manifest.txt as the steps of the build read it: lines of words, a key ahead of each
// value.
#pragma once

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace tessera::build {

// The word after `key` in a line such as "image NAME source FILE portable 75"; "" without it.
inline std::string value_of(const std::string& line, const std::string& key) {
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    if (word == key && words >> word) return word;
  }
  return "";
}

struct ManifestImage {
  std::string line;                  // "image NAME ..."
  std::vector<std::string> entries;  // "  entry NAME ...", "  helper NAME ..."
  std::string name() const { return value_of(line, "image"); }
};

inline std::vector<ManifestImage> read_manifest(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<ManifestImage> images;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("image ")) images.push_back({line, {}});
    if (line.starts_with("  ") && !images.empty()) images.back().entries.push_back(line);
  }
  return images;
}

}  // namespace tessera::build
