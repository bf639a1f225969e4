// What the reuse cache keeps, and what ends an entry.
#include <fmt/format.h>

#include "tools/calibrate/registers/sequence.h"

namespace tessera::calibration {
namespace {

constexpr int kRz = sass::kZeroRegister;

// Four accumulators, A and B fixed; the registers' parities are those of the stream that a forum
// thread reported for a GA104 (R9, R10 fixed, R4 to R7).
void add_fixed_operands(std::vector<Sequence>& all) {
  for (unsigned reuse : {0U, kA, kB, kA | kB}) {
    std::vector<Fma> fmas;
    for (int i = 0; i < 4; ++i) fmas.push_back({32 + i, 17, 18, 32 + i, reuse});
    const char* names[] = {"none", "A", "B", "A and B"};
    all.push_back({"E2",
                   fmt::format("A odd, B even, accumulators in turn, reuse: {}", names[reuse]),
                   encode(fmas)});
  }
}

// The probe: the first FFMA keeps its even A and B, something happens, and the last FFMA reads them
// again with an even C. Each of the two that is not kept any more costs it one cycle.
constexpr int kKeptA = 16, kKeptB = 18;
constexpr Fma kKeeping{49, kKeptA, kKeptB, 49, kA | kB};
constexpr Fma kProbe{50, kKeptA, kKeptB, 50};

Sequence probe(const std::string& name, const Code& between) {
  return {"E3", name, encode({kKeeping}) + between + encode({kProbe}) + times({sass::nop()}, 5)};
}

sass::Instruction fma(int d, int a, int b, int c, unsigned reuse = 0) {
  return encode({{d, a, b, c, reuse}})[0];
}

sass::Instruction on_scoreboard(const sass::Instruction& load) {
  return with_control(load, {.stall = 1, .write_scoreboard = 0});
}

void add_slots(std::vector<Sequence>& all) {
  all.push_back(probe("nothing between", {}));
  all.push_back({"E3", "without flags",
                 encode({{49, kKeptA, kKeptB, 49}, kProbe}) + times({sass::nop()}, 5)});
  all.push_back({"E3", "A alone kept",
                 encode({{49, kKeptA, kKeptB, 49, kA}, kProbe}) + times({sass::nop()}, 5)});
  all.push_back({"E3", "B alone kept",
                 encode({{49, kKeptA, kKeptB, 49, kB}, kProbe}) + times({sass::nop()}, 5)});
  all.push_back({"E3", "A and B change places in the probe",
                 encode({kKeeping, {50, kKeptB, kKeptA, 50}}) + times({sass::nop()}, 5)});
  all.push_back(probe("FFMA that reads nothing", {fma(51, kRz, kRz, kRz)}));
  all.push_back(probe("FFMA, odd A", {fma(51, 21, kRz, kRz)}));
  all.push_back(probe("FFMA, odd A and B", {fma(51, 21, 23, kRz)}));
  all.push_back(probe("FFMA, odd A and B, both kept", {fma(51, 21, 23, kRz, kA | kB)}));
  all.push_back(probe("FFMA, another even A", {fma(51, 20, kRz, kRz)}));
  all.push_back(probe("FFMA, another even B", {fma(51, kRz, 20, kRz)}));
  all.push_back(probe("FFMA, even C", {fma(51, kRz, kRz, 20)}));
  all.push_back(probe("FFMA, another even A, kept", {fma(51, 20, kRz, kRz, kA)}));
  all.push_back(probe("FFMA, other even A and B", {fma(51, 20, 22, kRz)}));
  all.push_back(probe("FFMA, the same A, no flag", {fma(51, kKeptA, kRz, kRz)}));
  all.push_back(probe("FFMA, the same A, flag again", {fma(51, kKeptA, kRz, kRz, kA)}));
  all.push_back(probe("FFMA, the same A and B, no flags", {fma(51, kKeptA, kKeptB, kRz)}));
  all.push_back(probe("FFMA, A's register as B, no flag", {fma(51, kRz, kKeptA, kRz)}));
  all.push_back(probe("FFMA, A's register as C, no flag", {fma(51, kRz, kRz, kKeptA)}));
}

void add_other_instructions(std::vector<Sequence>& all) {
  const auto add = [&](const char* name, const Code& between) {
    all.push_back(probe(name, between));
  };
  for (int nops : {1, 2, 4, 16})
    add(fmt::format("{} NOP", nops).c_str(), times({sass::nop()}, nops));
  for (int stall : {2, 4, 8, 11}) {
    add(fmt::format("NOP, stall {}", stall).c_str(), {with_stall(sass::nop(), stall)});
  }
  for (int stall : {1, 4, 8, 15}) {
    add(fmt::format("NOP that yields, stall {}", stall).c_str(),
        {with_stall(sass::nop(), stall, true)});
  }
  for (int stall : {2, 4}) {
    Sequence sequence = probe(fmt::format("nothing, but the first one's stall is {}", stall), {});
    sequence.pattern[0] = with_stall(sequence.pattern[0], stall);
    all.push_back(sequence);
  }
  add("FFMA that yields, odd A", {with_stall(fma(51, 21, kRz, kRz), 1, true)});
  add("FFMA with an immediate B, odd A", {sass::ffma_immediate(51, 21, 1.5F, kRz)});
  add("FFMA with an immediate B, another even A", {sass::ffma_immediate(51, 20, 1.5F, kRz)});
  add("FFMA with a uniform register, odd A", {sass::ffma_uniform(51, 21, kUniformRegister, kRz)});
  add("FMUL, other even A and B", {sass::fmul(51, 20, 22)});
  add("FADD, other even A and B", {sass::fadd(51, 20, 22)});
  add("IADD3, another even A", {sass::iadd3(51, 20, kRz, kRz)});
  add("IADD3, odd A", {sass::iadd3(51, 21, kRz, kRz)});
  add("IADD3, even B", {sass::iadd3(51, kRz, 20, kRz)});
  add("IADD3, even C", {sass::iadd3(51, kRz, kRz, 20)});
  add("IADD3, the same A, flag",
      {with_control(sass::iadd3(51, kKeptA, kRz, kRz), {.stall = 1, .reuse = kA})});
  add("IADD3, nothing read", {sass::iadd3(51, kRz, kRz, kRz)});
  add("IMAD, other even A and B", {sass::imad(51, 20, 22, kRz)});
  add("MOV, even source", {sass::mov(51, 20)});
  add("MOV of an immediate", {sass::mov_immediate(51, 5)});
  add("ISETP, even A", {sass::isetp_not_equal(5, 20, kRz)});
  add("LDS.32, address RZ", {on_scoreboard(sass::lds(32, 52, kRz, kSharedBase))});
  add("LDS.32, even address", {on_scoreboard(sass::lds(32, 52, kLaneTimes4, kSharedBase))});
  add("LDS.128, address RZ", {on_scoreboard(sass::lds(128, 52, kRz, kSharedBase))});
  add("LDS.128, odd address", {on_scoreboard(sass::lds(128, 52, kOffsetOdd, kSharedBase))});
  add("LDS.128, even address", {on_scoreboard(sass::lds(128, 52, kOffsetEven, kSharedBase))});
  const auto store = [](int data) {
    return with_control(sass::sts(32, kLaneTimes4, kSharedBase + 4096, data),
                        {.stall = 1, .read_scoreboard = 1});
  };
  add("STS.32, even address, even data", {store(20)});
  add("STS.32, even address, odd data", {store(21)});
  add("the kept A is written (by FFMA)", {fma(kKeptA, kRz, kRz, kRz)});
  add("the kept A is written (by IADD3)", {sass::iadd3(kKeptA, kRz, kRz, kRz)});
}

// Streams that run at full speed only while both A and B stay kept: whether another warp's
// instructions end them. Stalls of 2 let other warps in after each FFMA.
void add_warps(std::vector<Sequence>& all) {
  for (int stall : {1, 2, 3, 4, 6}) {
    Code code;
    for (int i = 0; i < 20; ++i) {
      const int c = 32 + 2 * (i % 8);
      code.push_back(with_stall(fma(c, kKeptA, kKeptB, c, kA | kB), stall));
    }
    all.push_back({"E3", fmt::format("all even, A and B kept, stall {}", stall), code});
  }
  // Two registers are kept and read alternately: a bank's cache has one entry.
  for (int apart : {1, 2}) {
    std::vector<Fma> fmas;
    for (int i = 0; i < 20; ++i) {
      const int a = 16 + (i % 2) * apart, c = 33 + 2 * (i % 8);
      fmas.push_back({c, a, a + 8, c, kA | kB});
    }
    all.push_back({"E3",
                   apart == 1 ? "A and B from two banks in turn, all kept"
                              : "A and B from one bank, two registers in turn, all kept",
                   encode(fmas)});
  }
  // C kept too: one register as accumulator of all.
  std::vector<Fma> fmas;
  for (int i = 0; i < 20; ++i) fmas.push_back({40 + i % 10, 16, 18, 20, kA | kB | kC});
  all.push_back({"E3", "A, B and C kept, all even", encode(fmas)});
  for (Fma& f : fmas) f.reuse = kB | kC;
  all.push_back({"E3", "B and C kept, all even", encode(fmas)});
  for (Fma& f : fmas) f.reuse = kC;
  all.push_back({"E3", "C kept, all even", encode(fmas)});
}

}  // namespace

std::vector<Sequence> reuse_sequences() {
  std::vector<Sequence> all;
  add_fixed_operands(all);
  add_slots(all);
  add_other_instructions(all);
  add_warps(all);
  return all;
}

}  // namespace tessera::calibration
