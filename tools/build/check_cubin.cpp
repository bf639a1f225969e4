// The step after ptxas that refuses what no test of results would notice: check_cubin IN.cubin
// fails, and names the entries, where a main loop spills.
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "sass/report/spills.h"

int main(int count, char** arguments) {
  if (count != 2 && count != 3) {
    std::fprintf(stderr, "usage: check_cubin IN.cubin [KNOWN_SPILLS]\n");
    return 2;
  }
  try {
    std::ifstream stream(arguments[1], std::ios::binary);
    const std::vector<char> file{std::istreambuf_iterator<char>(stream), {}};
    const int known = count == 3 ? std::stoi(arguments[2]) : 0;
    const std::vector<std::string> spills = tessera::sass::main_loop_spills(
        tessera::sass::read_cubin(std::as_bytes(std::span(file))), known);
    for (const std::string& line : spills) std::fprintf(stderr, "error: %s\n", line.c_str());
    return spills.empty() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "check_cubin: %s: %s\n", arguments[1], error.what());
    return 1;
  }
}
