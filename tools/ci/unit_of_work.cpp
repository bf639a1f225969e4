// What cold_build compiles now and then beside the build: a file of the standard library alone,
// which costs the same work whatever this repository holds, and so says how fast the machine is
// while the build runs.
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <regex>
#include <string>

bool is_a_word(const std::string& text) { return std::regex_match(text, std::regex("[a-z]+")); }
