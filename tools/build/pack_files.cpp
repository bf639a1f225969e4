// Packs files into one, for embedding: pack_files OUTPUT [--beside KNOWN] FILE...
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "catalog/pack.h"

namespace {

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("Cannot read " + path + ".");
  return {std::istreambuf_iterator<char>(file), {}};
}

void pack_files(const std::string& output, std::vector<std::string> paths) {
  std::string known;
  if (paths.size() > 2 && paths[0] == "--beside") {
    known = read(paths[1]);
    paths.erase(paths.begin(), paths.begin() + 2);
  }
  std::vector<std::string> texts;
  for (const std::string& path : paths) texts.push_back(read(path));
  const std::string packed = tessera::pack({texts.begin(), texts.end()}, known);
  std::ofstream file(output, std::ios::binary);
  file << packed;
  if (!file.flush()) throw std::runtime_error("Cannot write " + output + ".");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc < 3) throw std::runtime_error("Usage: pack_files OUTPUT [--beside KNOWN] FILE...");
    pack_files(argv[1], {argv + 2, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
