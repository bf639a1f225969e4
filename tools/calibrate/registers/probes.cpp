#include "tools/calibrate/registers/probes.h"

#include <bit>
#include <numeric>

namespace tessera::calibration {
namespace {

constexpr int kRz = sass::kZeroRegister;
// Registers of the probes: what is written and read, and constants.
constexpr int kWritten = 16, kTwo = 17, kThree = 18, kOne = 19, kIntegerOne = 20, kSix = 21;
constexpr int kFirstAddress = 22, kSecondAddress = 23;
constexpr int kValue = 32;  // and following: what each attempt read
constexpr int kPredicate = 4;
constexpr int kFirstPlace = kSharedBase + 4 * 128, kSecondPlace = kSharedBase + 4 * 160;

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

sass::Instruction drained(const sass::Instruction& instruction) {
  return with_stall(instruction, 15, true);
}

sass::Instruction waiting() {
  return with_control(sass::nop(), {.stall = 15, .yields = true, .wait_mask = 0x3F});
}

sass::Instruction loading(const sass::Instruction& load) {
  return with_control(load, {.stall = 2, .write_scoreboard = 0});
}

sass::Instruction storing(const sass::Instruction& store) {
  return with_control(store, {.stall = 2, .read_scoreboard = 1});
}

// The constants, and two known words of shared memory: 2 at the first place, 3 at the second.
Code constants() {
  return {drained(sass::mov_immediate(kTwo, bits(2))),
          drained(sass::mov_immediate(kThree, bits(3))),
          drained(sass::mov_immediate(kOne, bits(1))),
          drained(sass::mov_immediate(kSix, bits(6))),
          drained(sass::mov_immediate(kIntegerOne, 1)),
          drained(sass::mov_immediate(kFirstAddress, kFirstPlace)),
          drained(sass::mov_immediate(kSecondAddress, kSecondPlace)),
          storing(sass::sts(32, kRz, kFirstPlace, kTwo)),
          storing(sass::sts(32, kRz, kSecondPlace, kThree)),
          waiting()};
}

// One attempt: from a known state, the first instruction, so many cycles, the second one.
struct Attempt {
  Code before;
  sass::Instruction first;
  Code second;  // leaves its value in the register it is given
};

template <class Make>
DistanceProbe probe(const std::string& first, const std::string& second, std::uint32_t right,
                    int longest, bool yields, Make make) {
  DistanceProbe made{first, second, yields, std::vector<int>(longest), right, constants()};
  std::iota(made.stalls.begin(), made.stalls.end(), 1);
  for (const int stall : made.stalls) {
    Attempt attempt = make(kValue + stall - 1);
    sass::Control control = sass::control_of(attempt.first);
    control.stall = stall;
    control.yields = yields || stall > 11;
    if (control.yields) control.reuse = 0;
    attempt.first = with_control(attempt.first, control);
    made.code = made.code + attempt.before + Code{waiting(), attempt.first} + attempt.second +
                Code{waiting(), waiting()};
  }
  for (const int stall : made.stalls) {
    made.code.push_back(
        storing(sass::sts(32, kRz, kSharedBase + 4 * (stall - 1), kValue + stall - 1)));
  }
  made.code.push_back(waiting());
  return made;
}

struct Producer {
  const char* name;
  sass::Instruction instruction;  // writes 6 where 1 was
};

struct Consumer {
  const char* name;
  sass::Instruction (*read)(int value);
};

// HW: what is probed are the pairs that matrix kernels are made of.
std::vector<Producer> producers() {
  return {{"FFMA", sass::ffma(kWritten, kTwo, kThree, kRz)},
          {"FMUL", sass::fmul(kWritten, kTwo, kThree)},
          {"FADD", sass::fadd(kWritten, kSix, kRz)},
          {"IADD3", sass::iadd3(kWritten, kSix, kRz, kRz)},
          {"IMAD", sass::imad(kWritten, kSix, kIntegerOne, kRz)},
          {"MOV", sass::mov(kWritten, kSix)}};
}

std::vector<Consumer> consumers() {
  return {{"FFMA, as A", [](int v) { return sass::ffma(v, kWritten, kOne, kRz); }},
          {"FFMA, as B", [](int v) { return sass::ffma(v, kOne, kWritten, kRz); }},
          {"FFMA, as C", [](int v) { return sass::ffma(v, kRz, kRz, kWritten); }},
          {"IADD3", [](int v) { return sass::iadd3(v, kWritten, kRz, kRz); }},
          {"IMAD", [](int v) { return sass::imad(v, kWritten, kIntegerOne, kRz); }},
          {"MOV", [](int v) { return sass::mov(v, kWritten); }}};
}

void add_arithmetic(std::vector<DistanceProbe>& all) {
  for (const Producer& producer : producers()) {
    for (const Consumer& consumer : consumers()) {
      for (const bool yields : {false, true}) {
        all.push_back(
            probe(producer.name, consumer.name, bits(6), 8, yields, [&](int value) -> Attempt {
              return {{drained(sass::mov_immediate(kWritten, bits(1)))},
                      producer.instruction,
                      {drained(consumer.read(value))}};
            }));
      }
    }
  }
}

// A result as the data of a store and as the address of a load.
void add_memory(std::vector<DistanceProbe>& all) {
  for (const Producer& producer : producers()) {
    all.push_back(probe(producer.name, "STS, data", bits(6), 8, false, [&](int value) -> Attempt {
      return {{drained(sass::mov_immediate(kWritten, bits(1)))},
              producer.instruction,
              {storing(sass::sts(32, kRz, kFirstPlace + 64, kWritten)), waiting(),
               loading(sass::lds(32, value, kRz, kFirstPlace + 64))}};
    }));
  }
  const Producer addresses[] = {{"IADD3", sass::iadd3(kWritten, kSecondAddress, kRz, kRz)},
                                {"IMAD", sass::imad(kWritten, kSecondAddress, kIntegerOne, kRz)},
                                {"MOV", sass::mov(kWritten, kSecondAddress)}};
  for (const Producer& producer : addresses) {
    all.push_back(
        probe(producer.name, "LDS, address", bits(3), 8, false, [&](int value) -> Attempt {
          return {{drained(sass::mov(kWritten, kFirstAddress))},
                  producer.instruction,
                  {loading(sass::lds(32, value, kWritten, 0))}};
        }));
  }
}

// A register that is written while an earlier load or store may still read it.
void add_overwritten(std::vector<DistanceProbe>& all) {
  for (const int width : {32, 128}) {
    all.push_back(probe(width == 32 ? "LDS.32, address" : "LDS.128, address", "MOV over it",
                        bits(2), 11, false, [&](int value) -> Attempt {
                          const int quad = 28;
                          const auto load = with_control(sass::lds(width, quad, kWritten, 0),
                                                         {.stall = 1, .write_scoreboard = 0});
                          return {{drained(sass::mov(kWritten, kFirstAddress))},
                                  load,
                                  {drained(sass::mov(kWritten, kSecondAddress)), waiting(),
                                   drained(sass::mov(value, quad))}};
                        }));
  }
  all.push_back(probe("STS, data", "MOV over it", bits(2), 11, false, [&](int value) -> Attempt {
    return {{drained(sass::mov(kWritten, kTwo))},
            with_control(sass::sts(32, kRz, kFirstPlace + 64, kWritten),
                         {.stall = 1, .read_scoreboard = 1}),
            {drained(sass::mov(kWritten, kThree)), waiting(),
             loading(sass::lds(32, value, kRz, kFirstPlace + 64))}};
  }));
}

void add_predicates(std::vector<DistanceProbe>& all) {
  all.push_back(probe("ISETP", "guard of MOV", bits(6), 15, false, [&](int value) -> Attempt {
    return {{drained(sass::isetp_not_equal(kPredicate, kRz, kRz)), drained(sass::mov(value, kOne))},
            sass::isetp_not_equal(kPredicate, kOne, kRz),
            {drained(guarded(sass::mov(value, kSix), kPredicate))}};
  }));
  all.push_back(probe("ISETP", "guard of FFMA", bits(6), 15, false, [&](int value) -> Attempt {
    return {{drained(sass::isetp_not_equal(kPredicate, kRz, kRz)), drained(sass::mov(value, kOne))},
            sass::isetp_not_equal(kPredicate, kOne, kRz),
            {drained(guarded(sass::ffma(value, kTwo, kThree, kRz), kPredicate))}};
  }));
}

// An operand that was kept for reuse, then written: 1 is stale, 6 is right. The writer's stall is
// what varies.
void add_stale(std::vector<DistanceProbe>& all) {
  const Producer writers[] = {{"FFMA to a kept A", sass::ffma(kWritten, kTwo, kThree, kRz)},
                              {"IADD3 to a kept A", sass::iadd3(kWritten, kSix, kRz, kRz)},
                              {"MOV to a kept A", sass::mov(kWritten, kSix)}};
  const auto keep = with_control(sass::ffma(15, kWritten, kOne, kRz), {.stall = 1, .reuse = kA});
  for (const Producer& writer : writers) {
    // WHY: nothing stands between the keeping FFMA and the writer, so attempts begin by hand.
    all.push_back(probe(writer.name, "FFMA, as A", bits(6), 8, false, [&](int value) -> Attempt {
      return {{drained(sass::mov(kWritten, kOne))},
              keep,
              {with_stall(writer.instruction, 8), drained(sass::ffma(value, kWritten, kOne, kRz))}};
    }));
  }
}

}  // namespace

std::vector<DistanceProbe> distance_probes() {
  std::vector<DistanceProbe> all;
  add_arithmetic(all);
  add_memory(all);
  add_overwritten(all);
  add_predicates(all);
  add_stale(all);
  return all;
}

}  // namespace tessera::calibration
