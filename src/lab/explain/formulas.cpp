#include "lab/explain/formulas.h"

#include <fmt/format.h>

#include <cmath>

namespace tessera::lab {
namespace {

// The sizes of the problem as the kernel sees it, and the numbers of blocks along m and n.
struct Cover {
  double m = 0, n = 0, k = 0;
  double blocks_m = 0, blocks_n = 0;
  double whole_m = 0, whole_n = 0, whole_k = 0;  // rounded up to blocks
};

double rounded_up(double size, double step) { return std::ceil(size / step) * step; }

Cover cover_of(const Problem& problem, const KernelRow& row, bool packed) {
  const Canonical p = canonical(problem);
  Cover c;
  c.whole_m = rounded_up(static_cast<double>(p.m), row.block.m);
  c.whole_n = rounded_up(static_cast<double>(p.n), row.block.n);
  c.whole_k = rounded_up(static_cast<double>(p.k), row.block.k);
  c.blocks_m = c.whole_m / row.block.m;
  c.blocks_n = c.whole_n / row.block.n;
  c.m = packed ? c.whole_m : static_cast<double>(p.m);
  c.n = packed ? c.whole_n : static_cast<double>(p.n);
  c.k = packed ? c.whole_k : static_cast<double>(p.k);
  return c;
}

bool has_tails(const Problem& problem, const KernelRow& row) {
  const Canonical p = canonical(problem);
  return p.m % row.block.m != 0 || p.n % row.block.n != 0 || p.k % row.block.k != 0;
}

// Returns why a count differs from its formula, as far as counts and sizes show the reason.
std::string difference_note(const FormulaCheck& check, bool tails) {
  if (check.equal()) return "";
  if (tails) return "tails: lanes that stay off";
  const double ratio = check.expected > 0 ? check.counted / check.expected : 0;
  return fmt::format("{:.3g} times the formula", ratio);
}

}  // namespace

WordFormulas word_formulas(const Problem& problem, const KernelRow& row, bool packed) {
  const Cover c = cover_of(problem, row, packed);
  WordFormulas words;
  words.naive = 2 * c.m * c.n * c.k;
  words.blocked = c.m * c.k * c.blocks_n + c.k * c.n * c.blocks_m;
  words.once = c.k * (c.m + c.n);
  words.staged = c.whole_m * c.whole_k * c.blocks_n + c.whole_k * c.whole_n * c.blocks_m;
  const double products = c.whole_m * c.whole_n * c.whole_k;
  words.shared = products / row.thread.m + products / row.thread.n;
  words.output = static_cast<double>(problem.m) * static_cast<double>(problem.n);
  words.flop = 2.0 * static_cast<double>(problem.m) * static_cast<double>(problem.n) *
               static_cast<double>(problem.k);
  return words;
}

double intensity(double flop, double words, ElementType type) {
  return words > 0 ? flop / (words * size_of(type)) : 0;
}

std::vector<FormulaCheck> check_formulas(const Problem& problem, const KernelRow& row, bool packed,
                                         bool is_matrix, const WordCounts& counted) {
  const WordFormulas words = word_formulas(problem, row, packed);
  const bool tails = has_tails(problem, row);
  const double c_reads = problem.beta == 0 ? 0 : words.output;
  const double reads = counted.global_reads - c_reads;
  // A kernel reads in blocks if its count is closer to the blocked formula than to the naive one.
  const bool blocked = std::abs(reads - words.blocked) < std::abs(reads - words.naive);
  std::vector<FormulaCheck> checks;
  checks.push_back(
      {"global reads, naive", "2MNK", words.naive, reads,
       blocked ? fmt::format("blocks save a factor of {:.3g}", reads > 0 ? words.naive / reads : 0)
               : ""});
  checks.push_back({"global reads, blocked",
                    fmt::format("MNK(1/{} + 1/{})", row.block.m, row.block.n), words.blocked, reads,
                    blocked ? "" : "no word is shared within a block"});
  checks.push_back({"global reads, each once", "K(M + N)", words.once, reads,
                    "what a perfect cache would read"});
  checks.push_back({"global writes", "MN", words.output, counted.global_writes, ""});
  // Asynchronous copies fill tiles without stores, and allow kernels to read one step ahead.
  const bool copied = counted.shared_writes == 0;
  if (counted.shared_reads > 0 && !is_matrix) {
    checks.push_back({"shared reads", fmt::format("MNK(1/{} + 1/{})", row.thread.m, row.thread.n),
                      words.shared, counted.shared_reads,
                      copied && counted.shared_reads > words.shared
                          ? "fragments are fetched behind the last step, too"
                          : ""});
    if (!copied) {
      checks.push_back({"shared writes", "as blocked", words.staged, counted.shared_writes, ""});
    }
  }
  for (FormulaCheck& check : checks) {
    if (check.note.empty()) check.note = difference_note(check, tails);
  }
  return checks;
}

}  // namespace tessera::lab
