// Code that the text, HTML and JSON reports share. Internal to src/sass.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sass/report/report.h"

namespace tessera::sass {

std::string percent(double share);  // "91.3 %"; "-" for 0
std::string number(int count);      // "-" for 0
std::string rounded(double value);  // with two decimals at most, without trailing zeros
std::string change(double before, double after, bool is_share);
std::string wrapped(const std::string& text, std::size_t width);
// Returns the rows as aligned columns; the first row holds the titles. The last column is truncated
// at `width` unless this is 0.
std::string aligned(const std::vector<std::vector<std::string>>& rows, std::size_t width = 0);

// The demangled form of a C++ function's name; any other name is returned unchanged.
std::string readable(const std::string& name);
std::string resources(const KernelReport& kernel);  // "122 registers a thread, ..."
std::string names_of(const Mix& mix, Kind kind);    // "24 LDS.128, 2 LDS.32"
// Returns the source lines of a loop with their numbers of instructions: "kernel.cu: 28 (512) 29
// (4)". The kernel must have source lines.
std::string lines_text(const KernelReport& kernel, const LoopReport& loop);
int count_of_stems(const Mix& mix, std::string_view stems);
std::vector<std::string> all_names(const Mix& a, const Mix& b);
// Returns the differences between two kernels of the same length; "" if no instruction differs or
// the lengths differ.
std::string changed_instructions(const KernelReport& before, const KernelReport& after);

struct Fact {
  std::string name, text;
};
// Returns the facts to report about a loop, the most important ones first.
std::vector<Fact> facts_of(const KernelReport& kernel, const LoopReport& loop);

// Returns the control field in columns of fixed width: "S04 Y w0 r- 001---  A B  ".
std::string control_columns(const Control& control);

}  // namespace tessera::sass
