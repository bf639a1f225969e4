#include "lab/verify/common.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

namespace tessera::lab {
namespace {

constexpr std::size_t kFewest = 3;  // least number of failures whose common properties are reported
constexpr std::size_t kMostProperties = 3;
// Sizes of vectors, warps and tiles. WHY not all numbers up to 64: some remainders agree by chance.
constexpr std::int64_t kModuli[] = {2, 3, 4, 5, 6, 7, 8, 16, 32, 64};

struct Property {
  std::string name;
  std::function<bool(const LatticeCase&)> holds;
};

using Cases = std::vector<LatticeCase>;
using Value = std::function<std::int64_t(const LatticeCase&)>;

// Adds bounds and remainders of one number that all the failed cases share.
void add_number(const std::string& name, const Value& value, const Cases& failed,
                const Cases& passed, std::vector<Property>& found) {
  const auto of_failed = [&](auto compare) {
    return value(*std::ranges::min_element(failed, compare, value));
  };
  const std::int64_t least = of_failed(std::ranges::less()), most = of_failed(std::greater<>());
  // The bound is the nearest passing case's number: the property claims no more than was seen.
  std::int64_t below = -1, above = -1;
  for (const LatticeCase& one : passed) {
    const std::int64_t at = value(one);
    if (at < least) below = std::max(below, at);
    if (at > most && (above < 0 || at < above)) above = at;
  }
  if (below >= 0) {
    found.push_back(
        {fmt::format("{} > {}", name, below), [=](const auto& c) { return value(c) > below; }});
  }
  if (above >= 0) {
    found.push_back(
        {fmt::format("{} < {}", name, above), [=](const auto& c) { return value(c) < above; }});
  }
  for (const std::int64_t modulus : kModuli) {
    const std::int64_t rest = least % modulus;
    found.push_back({fmt::format("{} mod {} = {}", name, modulus, rest),
                     [=](const auto& c) { return value(c) % modulus == rest; }});
    found.push_back({fmt::format("{} no multiple of {}", name, modulus),
                     [=](const auto& c) { return value(c) % modulus != 0; }});
  }
}

void add_flag(const std::string& yes, const std::string& no,
              const std::function<bool(const LatticeCase&)>& holds, std::vector<Property>& found) {
  found.push_back({yes, holds});
  found.push_back({no, [holds](const LatticeCase& c) { return !holds(c); }});
}

std::vector<Property> properties_of(const Cases& failed, const Cases& passed) {
  std::vector<Property> found;
  const auto flag = [&](const char* yes, const char* no, auto holds) {
    add_flag(yes, no, holds, found);
  };
  flag("A transposed", "A not transposed",
       [](const LatticeCase& c) { return c.problem.op_a != Op::kNone; });
  flag("B transposed", "B not transposed",
       [](const LatticeCase& c) { return c.problem.op_b != Op::kNone; });
  flag("row-major order", "column-major order",
       [](const LatticeCase& c) { return c.problem.order == Order::kRowMajor; });
  flag("alpha = 0", "alpha not 0", [](const LatticeCase& c) { return c.problem.alpha == 0; });
  flag("alpha = 1", "alpha not 1", [](const LatticeCase& c) { return c.problem.alpha == 1; });
  flag("beta = 0", "beta not 0", [](const LatticeCase& c) { return c.problem.beta == 0; });
  flag("D in place of C", "D apart from C", [](const LatticeCase& c) { return c.in_place; });
  flag("misaligned operands", "aligned bases",
       [](const LatticeCase& c) { return c.misalign.any(); });
  flag("a batch", "no batch",
       [](const LatticeCase& c) { return c.problem.batch.kind != BatchKind::kNone; });
  const std::pair<const char*, std::int64_t Problem::*> numbers[] = {
      {"m", &Problem::m},     {"n", &Problem::n},     {"k", &Problem::k},
      {"lda", &Problem::lda}, {"ldb", &Problem::ldb}, {"ldd", &Problem::ldd}};
  for (const auto& [name, member] : numbers) {
    const auto value = [member = member](const LatticeCase& c) { return c.problem.*member; };
    add_number(name, value, failed, passed, found);
  }
  std::erase_if(found, [&](const Property& p) { return !std::ranges::all_of(failed, p.holds); });
  return found;
}

}  // namespace

Shared shared_by_failures(const Cases& failed, const Cases& passed) {
  Shared shared;
  if (failed.size() < kFewest || passed.empty()) return {{}, passed.size()};
  const std::vector<Property> properties = properties_of(failed, passed);
  Cases left = passed;
  while (!left.empty() && shared.properties.size() < kMostProperties) {
    const Property* best = nullptr;
    std::size_t fewest = left.size();
    for (const Property& property : properties) {  // the plainest come first and win ties
      const auto count = static_cast<std::size_t>(std::ranges::count_if(left, property.holds));
      if (count < fewest) best = &property, fewest = count;
    }
    if (!best) break;
    shared.properties.push_back(best->name);
    std::erase_if(left, [&](const LatticeCase& c) { return !best->holds(c); });
  }
  shared.passed_too = left.size();
  return shared;
}

std::string shared_text(const Cases& failed, const Cases& passed) {
  const Shared shared = shared_by_failures(failed, passed);
  if (shared.properties.empty()) return "";
  const std::string others =
      shared.passed_too == 0
          ? fmt::format("none of the {} that pass has that", passed.size())
          : fmt::format("{} of the {} that pass have that, too", shared.passed_too, passed.size());
  return fmt::format("All {} that fail have {}; {}.", failed.size(),
                     fmt::join(shared.properties, " and "), others);
}

}  // namespace tessera::lab
