// What an issue slot costs and who fills it: peak rates, stalls, yields, loads among FFMAs, and two
// warps that run different code.
#include <fmt/format.h>

#include "tools/calibrate/registers/sequence.h"

namespace tessera::calibration {
namespace {

constexpr int kRz = sass::kZeroRegister;

// FFMAs that read one register each: A and B kept, accumulators in both banks.
Code light(int count, int a = 16, int b = 18) {
  std::vector<Fma> fmas;
  for (int i = 0; i < count; ++i) fmas.push_back({32 + i % 8, a, b, 32 + i % 8, kA | kB});
  return encode(fmas);
}

Code same_bank(int count, int parity, unsigned reuse) {
  std::vector<Fma> fmas;
  for (int i = 0; i < count; ++i) {
    const int c = 32 + parity + 2 * (i % 8);
    fmas.push_back({c, 16 + parity, 18 + parity, c, reuse});
  }
  return encode(fmas);
}

Code fresh(int count, int parity) {
  std::vector<Fma> fmas;
  for (int i = 0; i < count; ++i) {
    const int c = 32 + parity + 2 * (i % 8);
    fmas.push_back({c, 16 + parity + 2 * (i % 3), 22 + parity + 2 * (i % 4), c});
  }
  return encode(fmas);
}

Code every(int count, const sass::Instruction& one, int turns) {
  Code code;
  for (int i = 0; i < turns; ++i) {
    code = code + light(count);
    code.push_back(one);
  }
  return code;
}

Code stalled(Code code, int stall, bool yields, int apart = 1) {
  for (std::size_t i = 0; i < code.size(); i += apart) {
    sass::Control control = sass::control_of(code[i]);
    control.stall = stall;
    control.yields = yields;
    if (yields) control.reuse = 0;
    code[i] = sass::with_control(code[i], control);
  }
  return code;
}

void add_peaks(std::vector<Sequence>& all) {
  const auto add = [&](const char* name, const Code& code) { all.push_back({"peak", name, code}); };
  add("FFMA, A and B kept, even; accumulators in both banks", light(32));
  add("FFMA, A even and B odd, kept; accumulators in both banks", light(32, 16, 19));
  add("FFMA, A and B kept; all in one bank", same_bank(32, 0, kA | kB));
  add("FFMA, no reads", times({sass::ffma(32, kRz, kRz, kRz), sass::ffma(33, kRz, kRz, kRz)}, 16));
  add("NOP", times({sass::nop()}, 32));
  const auto alternating = [](const sass::Instruction& x, const sass::Instruction& y, int count) {
    return times({x, y}, count);
  };
  const sass::Instruction integer = sass::iadd3(40, 20, kRz, kRz), even = light(2)[0];
  add("FMUL, odd A, even B", alternating(sass::fmul(40, 17, 18), sass::fmul(41, 17, 18), 16));
  add("FADD, odd A, even B", alternating(sass::fadd(40, 17, 18), sass::fadd(41, 17, 18), 16));
  add("IADD3, one read", alternating(integer, sass::iadd3(41, 21, kRz, kRz), 16));
  add("IMAD, two reads", alternating(sass::imad(40, 16, 17, kRz), sass::imad(41, 16, 17, kRz), 16));
  add("MOV", alternating(sass::mov(40, 16), sass::mov(41, 17), 16));
  add("FFMA and IADD3 in turn", alternating(even, integer, 16));
  add("FFMA and IMAD in turn", alternating(even, sass::imad(40, 17, 19, kRz), 16));
  add("FFMA and MOV in turn", alternating(even, sass::mov(40, 17), 16));
  add("FFMA and NOP in turn", alternating(even, sass::nop(), 16));
  add("FFMA with an immediate B", alternating(sass::ffma_immediate(40, 16, 1.5F, 18),
                                              sass::ffma_immediate(41, 16, 1.5F, 18), 16));
  add("FFMA with a uniform B, A and C in one bank",
      alternating(sass::ffma_uniform(40, 16, kUniformRegister, 18),
                  sass::ffma_uniform(41, 16, kUniformRegister, 18), 16));
  add("FFMA with a uniform B, A and C in two banks",
      alternating(sass::ffma_uniform(40, 16, kUniformRegister, 19),
                  sass::ffma_uniform(41, 16, kUniformRegister, 19), 16));
}

void add_stalls(std::vector<Sequence>& all) {
  const auto add = [&](const std::string& name, const Code& code) {
    all.push_back({"stall", name, code});
  };
  for (int stall : {2, 3, 4, 6})
    add(fmt::format("each stalls {}", stall), stalled(light(32), stall, false));
  for (int stall : {1, 2, 4}) {
    add(fmt::format("each yields, stall {}", stall), stalled(light(32, 16, 17), stall, true));
  }
  add("none yields, no flags", encode([] {
        std::vector<Fma> fmas;
        for (int i = 0; i < 32; ++i) fmas.push_back({32 + i % 8, 16, 17, 32 + i % 8});
        return fmas;
      }()));
  for (int apart : {2, 4, 8, 16}) {
    add(fmt::format("one of {} yields", apart), stalled(light(32, 16, 17), 1, true, apart));
    add(fmt::format("one of {} stalls 2", apart), stalled(light(32), 2, false, apart));
    add(fmt::format("one of {} stalls 2 and yields", apart),
        stalled(light(32, 16, 17), 2, true, apart));
  }
}

// Something among FFMAs: does it cost one slot?
void add_loads(std::vector<Sequence>& all) {
  const auto load = [](int bits, int address) {
    return with_control(sass::lds(bits, 52, address, kSharedBase),
                        {.stall = 1, .write_scoreboard = 0});
  };
  for (int count : {4, 8, 12, 16, 20, 24, 27, 32, 64}) {
    all.push_back({"E6", fmt::format("LDS.128 of one place every {} FFMA", count),
                   every(count, load(128, kRz), 64 / count)});
    all.push_back({"E6", fmt::format("LDS.128 of 32 places every {} FFMA", count),
                   every(count, load(128, kOffsetOdd), 64 / count)});
  }
  for (int count : {8, 16}) {
    all.push_back({"E6", fmt::format("LDS.32 of 32 places every {} FFMA", count),
                   every(count, load(32, kLaneTimes4), 64 / count)});
    all.push_back({"E6", fmt::format("LDS.64 of one place every {} FFMA", count),
                   every(count, load(64, kRz), 64 / count)});
    all.push_back(
        {"E6", fmt::format("NOP every {} FFMA", count), every(count, sass::nop(), 64 / count)});
    all.push_back({"E6", fmt::format("IADD3 every {} FFMA", count),
                   every(count, sass::iadd3(52, 21, kRz, kRz), 64 / count)});
    all.push_back({"E6", fmt::format("ISETP every {} FFMA", count),
                   every(count, sass::isetp_not_equal(5, 21, kRz), 64 / count)});
    all.push_back({"E6", fmt::format("IMAD every {} FFMA", count),
                   every(count, sass::imad(52, 21, kRz, kRz), 64 / count)});
  }
  const Code two = {load(128, kRz), load(128, kRz)};
  all.push_back({"E6", "2 LDS.128 of one place every 32 FFMA", times(light(32) + two, 2)});
  all.push_back({"E6", "4 LDS.128 of one place every 64 FFMA", light(64) + two + two});
}

// Two warps of one sub-core with different code, equally many instructions each.
void add_pairs(std::vector<Sequence>& all) {
  const auto add = [&](const char* name, const Code& first, const Code& second) {
    all.push_back({"pairs", name, first, second});
  };
  const Code even = fresh(24, 0), odd = fresh(24, 1), nops = times({sass::nop()}, 24);
  add("fresh even | fresh even", even, even);
  add("fresh even | fresh odd", even, odd);
  add("fresh even | NOP", even, nops);
  add("fresh even | kept, one odd read each", even, same_bank(24, 1, kA | kB));
  add("fresh even | kept, one even read each", even, same_bank(24, 0, kA | kB));
  add("kept, one even read each | kept, one odd read each", same_bank(24, 0, kA | kB),
      same_bank(24, 1, kA | kB));
  add("kept, one read each | NOP", light(24), nops);
  add("kept, stall 4 | kept, stall 1", stalled(light(24), 4, false), light(24));
  add("kept, stall 2 | kept, stall 2, other registers", stalled(light(24), 2, false),
      stalled(light(24, 20, 22), 2, false));
  add("kept, stall 2, all even | NOP, stall 2", stalled(same_bank(24, 0, kA | kB), 2, false),
      stalled(nops, 2, false));
}

}  // namespace

std::vector<Sequence> issue_sequences() {
  std::vector<Sequence> all;
  add_peaks(all);
  add_stalls(all);
  add_loads(all);
  add_pairs(all);
  return all;
}

}  // namespace tessera::calibration
