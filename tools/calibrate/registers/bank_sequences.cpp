// Which registers of one instruction share a bank, and what that costs.
#include <fmt/format.h>

#include "tools/calibrate/registers/sequence.h"

namespace tessera::calibration {
namespace {

constexpr int kRz = sass::kZeroRegister;

// Sources from R16-R47 and results in R48-R57.
struct Operands {
  int operator()(int residue, int modulus, int turn) const {
    return 16 + residue + modulus * (turn % (32 / modulus));
  }
};
int result(int turn) { return 48 + turn % 10; }
int result_of_parity(int parity, int turn) { return 48 + 2 * (turn % 5) + parity; }
int parity(char letter) { return letter == 'e' ? 0 : 1; }

// Two fresh sources of given residues modulo 8, no third one: tells how many banks there are.
Sequence two_sources(int a, int b) {
  std::vector<Fma> fmas;
  const Operands source;
  for (int i = 0; i < 20; ++i)
    fmas.push_back({result(i), source(a, 8, i), source(b, 8, i + 1), kRz});
  return {"banks", fmt::format("two sources, {} and {} modulo 8", a, b), encode(fmas)};
}

Sequence three_sources(int a, int b, int c) {
  std::vector<Fma> fmas;
  const Operands source;
  for (int i = 0; i < 20; ++i) {
    fmas.push_back({result(i), source(a, 8, i), source(b, 8, i + 1), source(c, 8, i + 2)});
  }
  return {"banks", fmt::format("three sources, {}, {} and {} modulo 8", a, b, c), encode(fmas)};
}

// One operand of an FFMA by turn: fixed in one register, or another register each time.
int operand(char letter, bool is_fixed, int first, int turn) {
  return first + parity(letter) + (is_fixed ? 0 : 2 * (turn % 4));
}

// `parities` as "eoe" for A even, B odd, C even; `fixed` names the operands that stay in one
// register, `flags` those with a reuse flag. C is the accumulator.
std::vector<Fma> triple(const std::string& parities, const std::string& fixed,
                        const std::string& flags, int count = 20) {
  const auto has = [](const std::string& text, char c) { return text.find(c) != text.npos; };
  std::vector<Fma> fmas;
  for (int i = 0; i < count; ++i) {
    const int c = result_of_parity(parity(parities[2]), i);
    fmas.push_back({c, operand(parities[0], has(fixed, 'a'), 16, i),
                    operand(parities[1], has(fixed, 'b'), 24, i + 1), c,
                    (has(flags, 'a') ? kA : 0) | (has(flags, 'b') ? kB : 0)});
  }
  return fmas;
}

void add_triples(std::vector<Sequence>& all) {
  const struct {
    const char *fixed, *flags, *name;
  } kinds[] = {{"", "", "all fresh"},
               {"ab", "", "A and B fixed, no flags"},
               {"a", "a", "A reused"},
               {"b", "b", "B reused"},
               {"ab", "ab", "A and B reused"}};
  for (const auto& kind : kinds) {
    for (const char* p : {"eee", "eeo", "eoe", "eoo", "oee", "oeo", "ooe", "ooo"}) {
      all.push_back(
          {"banks", fmt::format("{} {}", p, kind.name), encode(triple(p, kind.fixed, kind.flags))});
    }
  }
}

// Fresh triples of two kinds in turn, `run` of each.
Sequence in_turn(const char* first, const char* second, int run) {
  const Code one = encode(triple(first, "", "")), two = encode(triple(second, "", ""));
  Code code;
  for (int i = 0; i < 20; i += run) {
    code.insert(code.end(), one.begin() + i, one.begin() + i + run);
    code.insert(code.end(), two.begin() + i, two.begin() + i + run);
  }
  return {"banks", fmt::format("{} and {} in turn, {} of each", first, second, run), code};
}

// One fresh triple, then NOPs: whether they take place while it waits for its registers.
Sequence spaced(const char* parities, int nops) {
  Code code;
  for (const auto& instruction : encode(triple(parities, "", ""))) {
    code.push_back(instruction);
    for (int i = 0; i < nops; ++i) code.push_back(sass::nop());
  }
  return {"banks", fmt::format("{} all fresh, then {} NOP", parities, nops), code};
}

// One fresh triple, then FFMAs that read one register each, of the other bank or of the same.
Sequence among_light(const char* parities, int light, int light_parity) {
  Code code;
  int turn = 0;
  for (const Fma& heavy : triple(parities, "", "", 10)) {
    code = code + encode({heavy});
    for (int i = 0; i < light; ++i) {
      const int c = 34 + 2 * (turn++ % 7) + light_parity;
      code = code + encode({{c, kRz, kRz, c}});
    }
  }
  return {"banks",
          fmt::format("{} all fresh, then {} that read one {} register", parities, light,
                      light_parity ? "odd" : "even"),
          code};
}

// One register in several roles: is it read once?
void add_same_register(std::vector<Sequence>& all) {
  const auto add = [&](const char* name, auto make) {
    std::vector<Fma> fmas;
    for (int i = 0; i < 20; ++i) fmas.push_back(make(i));
    all.push_back({"roles", name, encode(fmas)});
  };
  const auto even = [](int i) { return 16 + 2 * (i % 8); };
  const auto odd = [](int i) { return 17 + 2 * (i % 8); };
  const auto r = [](int p, int i) { return result_of_parity(p, i); };
  add("A = B even, C even", [&](int i) { return Fma{r(0, i), even(i), even(i), r(0, i)}; });
  add("A = B even, C odd", [&](int i) { return Fma{r(1, i), even(i), even(i), r(1, i)}; });
  add("A = C even, B even", [&](int i) { return Fma{r(0, i), even(i), even(i + 3), even(i)}; });
  add("B = C even, A even", [&](int i) { return Fma{r(0, i), even(i + 3), even(i), even(i)}; });
  add("A = B = C even", [&](int i) { return Fma{r(0, i), even(i), even(i), even(i)}; });
  add("A alone even", [&](int i) { return Fma{r(i % 2, i), even(i), kRz, kRz}; });
  add("B alone even", [&](int i) { return Fma{r(i % 2, i), kRz, even(i), kRz}; });
  add("C alone even", [&](int i) { return Fma{r(i % 2, i), kRz, kRz, even(i)}; });
  add("A, B even, C none", [&](int i) { return Fma{r(i % 2, i), even(i), even(i + 1), kRz}; });
  add("A, C even, B none", [&](int i) { return Fma{r(i % 2, i), even(i), kRz, even(i + 1)}; });
  add("B, C even, A none", [&](int i) { return Fma{r(i % 2, i), kRz, even(i), even(i + 1)}; });
  add("A even, B odd, C none", [&](int i) { return Fma{r(i % 2, i), even(i), odd(i), kRz}; });
  add("A even, C odd, B none", [&](int i) { return Fma{r(i % 2, i), even(i), kRz, odd(i)}; });
  add("A, B one register, twice in a row", [&](int i) {
    return Fma{r(i % 2, i), even(i / 2), even(i / 2 + 3), kRz};
  });
}

// Results in one bank: does a second write port limit?
void add_results(std::vector<Sequence>& all) {
  const auto add = [&](const char* name, auto d) {
    std::vector<Fma> fmas;
    for (int i = 0; i < 20; ++i) fmas.push_back({d(i), kRz, kRz, kRz});
    all.push_back({"results", name, encode(fmas)});
  };
  add("no reads, results in both banks", [](int i) { return result(i); });
  add("no reads, results even", [](int i) { return result_of_parity(0, i); });
  add("no reads, results odd", [](int i) { return result_of_parity(1, i); });
  add("no reads, result always in one register", [](int) { return 48; });
  const auto mixed = [&](const char* name, int ffma_parity, int iadd_parity) {
    Code code;
    for (int i = 0; i < 10; ++i) {
      code.push_back(sass::ffma(result_of_parity(ffma_parity, i), kRz, kRz, kRz));
      code.push_back(sass::ffma(result_of_parity(ffma_parity, i + 1), kRz, kRz, kRz));
      code.push_back(sass::iadd3(36 + 2 * (i % 5) + iadd_parity, kRz, kRz, kRz));
    }
    all.push_back({"results", name, code});
  };
  mixed("2 FFMA, 1 IADD3, results even", 0, 0);
  mixed("2 FFMA, 1 IADD3, results even and odd", 0, 1);
}

// Two FFMAs and six NOPs, after listing 1 of R. Huerta et al., MICRO 2025.
void add_listing(std::vector<Sequence>& all) {
  const struct {
    const char* name;
    int x, y;
  } rows[] = {{"odd, odd", 19, 21}, {"even, odd", 18, 21}, {"even, even", 18, 20}};
  for (const auto& row : rows) {
    const Code pair = encode({{51, 50, 52, 54}, {53, 16, row.x, row.y}});
    all.push_back({"E1", fmt::format("FFMA R51, R50, R52, R54; FFMA R53, R16, x, y; {}", row.name),
                   pair + times({sass::nop()}, 6)});
  }
}

}  // namespace

std::vector<Sequence> bank_sequences() {
  std::vector<Sequence> all;
  add_listing(all);
  for (int b = 0; b < 8; ++b) all.push_back(two_sources(0, b));
  for (int b : {1, 3, 5}) all.push_back(two_sources(1, b));
  const int triples[][3] = {{0, 0, 0}, {0, 2, 4}, {0, 2, 1}, {0, 4, 1}, {0, 1, 2}, {0, 1, 4},
                            {1, 0, 2}, {1, 0, 4}, {0, 1, 3}, {0, 1, 5}, {0, 2, 6}, {1, 3, 5}};
  for (const auto& t : triples) all.push_back(three_sources(t[0], t[1], t[2]));
  add_triples(all);
  const char* pairs[][2] = {{"eee", "ooo"}, {"eeo", "ooe"}, {"eoo", "oee"}, {"eeo", "eoo"},
                            {"eoe", "oeo"}, {"eoe", "eoo"}, {"eee", "eoo"}, {"eee", "ooe"}};
  for (const auto& p : pairs) all.push_back(in_turn(p[0], p[1], 1));
  for (int run : {2, 4}) all.push_back(in_turn("eee", "ooo", run));
  for (int run : {2, 4}) all.push_back(in_turn("eeo", "ooe", run));
  for (const char* p : {"eeo", "eoe", "oee", "eee"}) {
    for (int nops : {1, 2, 3, 6}) all.push_back(spaced(p, nops));
    for (int light : {1, 2, 3}) {
      all.push_back(among_light(p, light, 0));
      all.push_back(among_light(p, light, 1));
    }
  }
  add_same_register(all);
  add_results(all);
  return all;
}

}  // namespace tessera::calibration
