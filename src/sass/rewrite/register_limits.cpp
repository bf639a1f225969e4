#include "sass/rewrite/register_limits.h"

#include <algorithm>
#include <map>
#include <string>

namespace tessera::sass {
namespace {

// Numbers of registers, in increasing order: numbers that setmaxnreg reduced, the number at the
// launch (kAsLaunched), and numbers that setmaxnreg raised (from kAskedFor on).
constexpr int kUnreached = -1, kAsLaunched = 256, kAskedFor = 512;
constexpr int kNoLimit = 255;

// Returns the number of registers after an instruction: the number that USETMAXREG sets; after
// other instructions `before`.
int number_after(const Operation& operation, int before) {
  if (operation.name != "USETMAXREG") return before;
  const std::string& text = operation.text;
  const int number = std::stoi(text.substr(text.rfind(' ') + 1), nullptr, 16);
  return text.find("DEALLOC") != std::string::npos ? number : kAskedFor + number;
}

// Returns the number of registers that a warp certainly has where two paths meet.
int joined(int a, int b) {
  if (a == kUnreached) return b;
  if (b == kUnreached) return a;
  return std::min(a, b);
}

// Returns for each instruction the number of registers that was set last, kAsLaunched, or
// kUnreached.
std::vector<int> numbers_of(const Program& program) {
  std::vector<int> at_entry(program.nodes.size(), kUnreached);
  std::vector<int> numbers(program.code.size(), kUnreached);
  if (program.nodes.empty()) return numbers;
  at_entry.front() = kAsLaunched;
  std::vector<std::size_t> open = {0};
  while (!open.empty()) {
    const std::size_t index = open.back();
    open.pop_back();
    const Block& block = program.blocks[program.nodes[index].block];
    int number = at_entry[index];
    for (std::size_t at = block.begin; at < block.end; ++at) {
      numbers[at] = joined(numbers[at], number);
      number = number_after(program.operations[at], number);
    }
    for (const std::size_t to : program.nodes[index].next) {
      const int old = at_entry[to];
      at_entry[to] = joined(old, number);
      if (at_entry[to] != old) open.push_back(to);
    }
  }
  return numbers;
}

int highest_of(const Operation& operation) {
  int highest = -1;
  for (const auto* list : {&operation.reads, &operation.writes}) {
    for (const RegisterUse& use : *list) {
      if (use.file == RegisterFile::kGeneral) {
        highest = std::max(highest, use.first + use.count - 1);
      }
    }
  }
  return highest;
}

}  // namespace

std::vector<int> register_limits(const Program& program) {
  const std::vector<int> numbers = numbers_of(program);
  std::map<int, int> limits;
  for (std::size_t at = 0; at < numbers.size(); ++at) {
    int& limit = limits[numbers[at]];
    limit = std::max(limit, highest_of(program.operations[at]) + 1);
  }
  std::vector<int> all;
  for (const int number : numbers) all.push_back(number == kUnreached ? kNoLimit : limits[number]);
  return all;
}

std::string beyond_limits(const Program& before, const Program& after) {
  const std::vector<int> limits = register_limits(before);
  for (std::size_t at = 0; at < limits.size() && at < after.operations.size(); ++at) {
    const int highest = highest_of(after.operations[at]);
    if (highest < limits[at]) continue;
    return after.operations[at].text + " names R" + std::to_string(highest) +
           " where the kernel has no register from R" + std::to_string(limits[at]) + " on";
  }
  return "";
}

}  // namespace tessera::sass
