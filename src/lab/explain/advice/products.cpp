#include "lab/explain/advice/products.h"

#include <algorithm>
#include <vector>

#include "lab/sites/ptx_text.h"

namespace tessera::lab {
namespace {

struct Definition {
  std::string_view to;
  std::vector<std::string_view> from;
};

struct Product {
  int line = 0;
  std::string_view one, other;
};

// Finds which registers of one entry are loaded, copied and multiplied.
class ProductReader {
 public:
  void read(std::string_view line, int number) {
    line = trimmed(line);
    if (line.starts_with('@')) {
      line = trimmed(line.substr(std::min(line.find_first_of(" \t"), line.size())));
    }
    const std::size_t end = std::min(line.find_first_of(" \t;"), line.size());
    const std::string_view opcode = line.substr(0, end), operands = line.substr(end);
    if (opcode.starts_with("ld") && opcode.find(".param") == opcode.npos) {
      load(operands);
    } else if (opcode.starts_with("mov") || opcode.starts_with("cvt")) {
      hand_on(operands);
    } else if (classify(opcode).kind == FormKind::kFma) {
      const std::vector<std::string_view> words = words_of(operands);
      if (words.size() == 4) products_.push_back({number, words[1], words[2]});
    }
  }

  std::set<int> result() {
    for (std::size_t known = 0; known != loaded_.size();) {
      known = loaded_.size();
      for (const Definition& move : moves_) {
        if (std::ranges::any_of(move.from, [&](auto word) { return loaded_.contains(word); })) {
          loaded_.insert(move.to);
        }
      }
    }
    std::set<int> lines;
    for (const Product& product : products_) {
      if (loaded_.contains(product.one) && loaded_.contains(product.other)) {
        lines.insert(product.line);
      }
    }
    return lines;
  }

 private:
  // Reads a load: ld d, [a] or ld {d, e}, [a].
  void load(std::string_view operands) {
    for (const std::string_view word : words_of(operands.substr(0, operands.find('[')))) {
      loaded_.insert(word);
    }
  }

  // Reads a copy: mov d, a; mov d, {a, b} or mov {d, e}, a.
  void hand_on(std::string_view operands) {
    const bool unpacks = trimmed(operands).starts_with('{');
    const std::size_t end = unpacks ? operands.find('}') : operands.find(',');
    if (end == operands.npos) return;
    const std::vector<std::string_view> from = words_of(operands.substr(end));
    for (const std::string_view to : words_of(operands.substr(0, end)))
      moves_.push_back({to, from});
  }

  std::set<std::string_view> loaded_;
  std::vector<Definition> moves_;
  std::vector<Product> products_;
};

}  // namespace

std::set<int> product_lines(std::string_view ptx, std::string_view entry) {
  ProductReader reader;
  bool inside = false;
  for (int number = 1; !ptx.empty(); ++number) {
    const std::string_view line = next_line(ptx);
    if (opens(line, entry)) {
      inside = true;
    } else if (inside) {
      reader.read(line, number);
      inside = !line.starts_with('}');
    }
  }
  return reader.result();
}

bool multiplies(const LaunchCounts& counts, std::string_view ptx, const std::string& entry) {
  constexpr double kInstructionsAProduct = 32, kFlop = 2;
  const Totals totals = totals_of(counts);
  if (totals.matrix > 0) return true;
  if (totals.fma() == 0) return false;
  const std::set<int> lines = product_lines(ptx, entry);
  double warps = 0, lanes = 0;
  for (const InstructionCount& row : counts.instructions) {
    if (!lines.contains(row.ptx_line)) continue;
    warps += static_cast<double>(row.warp);
    lanes += static_cast<double>(row.thread);
  }
  return kInstructionsAProduct * warps >= totals.warp_instructions &&
         kFlop * lanes >= totals.footprint_bytes;
}

}  // namespace tessera::lab
