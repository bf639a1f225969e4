#include <stdexcept>

#include "sass/decode/operation.h"

namespace tessera::sass {
namespace {

// HW: positions and meanings of the fields, as in the open assemblers (CuAssembler, turingas).
constexpr int kField = 105, kStall = 0, kStays = 4, kWrite = 5, kRead = 8, kWait = 11, kReuse = 17;
constexpr unsigned kNone = 7;
constexpr int kLongestStallWithoutYield = 11;

void check(const Control& control) {
  const auto refuse = [](const char* why) { throw std::invalid_argument(why); };
  if (control.stall < 0 || control.stall > 15) refuse("A stall is 0 to 15 cycles.");
  if (control.write_scoreboard < -1 || control.write_scoreboard > 5 ||
      control.read_scoreboard < -1 || control.read_scoreboard > 5) {
    refuse("Scoreboards are 0 to 5, or -1 for none.");
  }
  if (control.wait_mask > 0x3F) refuse("A wait mask has 6 bits.");
  if (control.reuse > 0xF) refuse("Reuse flags have 4 bits.");
  if (control.yields) {
    if (control.reuse != 0) refuse("An instruction that yields has no reuse flags.");
    if (control.batch > 0xF) refuse("A batch tag has 4 bits.");
  } else if (control.batch != 0) {
    refuse("A batch tag needs the yield flag.");
  } else if (control.stall < 1 || control.stall > kLongestStallWithoutYield) {
    refuse("A stall of 0 or of more than 11 cycles needs the yield flag.");
  }
}

}  // namespace

Control control_of(const Instruction& instruction) {
  const auto field = [&](int first, int count) {
    return static_cast<unsigned>(instruction.bits(kField + first, count));
  };
  const auto scoreboard = [&](int first) {
    const unsigned value = field(first, 3);
    return value == kNone ? -1 : static_cast<int>(value);
  };
  const bool yields = field(kStays, 1) == 0;
  return {.stall = static_cast<int>(field(kStall, 4)),
          .yields = yields,
          .write_scoreboard = scoreboard(kWrite),
          .read_scoreboard = scoreboard(kRead),
          .wait_mask = field(kWait, 6),
          .reuse = yields ? 0 : field(kReuse, 4),
          .batch = yields ? field(kReuse, 4) : 0};
}

Instruction with_control(Instruction instruction, const Control& control) {
  check(control);
  const auto scoreboard = [](int number) { return number < 0 ? kNone : unsigned(number); };
  const std::uint64_t field =
      std::uint64_t(control.stall) << kStall | std::uint64_t(!control.yields) << kStays |
      std::uint64_t(scoreboard(control.write_scoreboard)) << kWrite |
      std::uint64_t(scoreboard(control.read_scoreboard)) << kRead |
      std::uint64_t(control.wait_mask) << kWait |
      std::uint64_t(control.yields ? control.batch : control.reuse) << kReuse;
  constexpr int kShift = kField - 64;
  constexpr std::uint64_t kMask = (std::uint64_t{1} << 21) - 1;
  instruction.high = (instruction.high & ~(kMask << kShift)) | field << kShift;
  return instruction;
}

}  // namespace tessera::sass
