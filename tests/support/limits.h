// A number of tests/limits.txt. Tests run in the root of the repository.
#pragma once

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace tessera {

inline long long limit(const std::string& name) {
  std::ifstream file("tests/limits.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string first;
    long long value = 0;
    if (words >> first >> value && first == name) return value;
  }
  throw std::runtime_error("tests/limits.txt has no number named " + name);
}

}  // namespace tessera
