#include "tools/calibrate/registers/program.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <span>
#include <stdexcept>
#include <string>

#include "sass/container/cubin.h"
#include "tools/calibrate/kernels/params.h"
#include "tools/calibrate/kernels/registers.h"

namespace tessera::calibration {
namespace {

constexpr int kFirstProgramRegister = 8;  // those below are the frame's own
constexpr int kCounter = 10, kLane = 11;
constexpr int kAgain = 6, kIsOther = 5;  // predicates
// HW: 13 cycles go from writing a predicate to a branch on it, 4 or 5 between integer results and
// their use (sass-level latencies as ptxas keeps them); the loop's own instructions stand apart.
constexpr int kDistance = 8;
constexpr std::size_t kShortestLoop = 3 * kDistance;
constexpr unsigned kAllScoreboards = 0x3F;
// HW: parameters begin at 0x210 of constant bank 0 on sm_90 (EIATTR_PARAM_CBANK of every cubin).
constexpr int kIterations = 0x210 + static_cast<int>(offsetof(Params, iterations));

sass::Instruction waiting(unsigned scoreboards) {
  return with_control(sass::nop(), {.stall = 15, .yields = true, .wait_mask = scoreboards});
}

sass::Instruction loading(const sass::Instruction& load, int scoreboard) {
  return with_control(load, {.stall = 2, .write_scoreboard = scoreboard});
}

// Numbers in all registers that code may use, others in each lane.
Code setup(const Frame& frame) {
  Code code = {loading(sass::s2r(kLane, sass::SpecialRegister::kLane), 0),
               loading(sass::ldc(kCounter, kIterations), 1),
               waiting(kAllScoreboards),
               with_stall(sass::imad_immediate(kLaneTimes4, kLane, 4, sass::kZeroRegister), 8),
               loading(sass::lds(32, kOffsetOdd, kLaneTimes4, kSharedBase + 4 * kOffsetWords), 2),
               loading(sass::lds(32, kOffsetEven, kLaneTimes4, kSharedBase + 4 * kOffsetWords), 2),
               with_stall(sass::mov_uniform_immediate(kUniformRegister, 0x3f400000), 8)};
  constexpr int kRows = kOffsetWords / 32, kTogether = 32;
  for (int r = kFirstRegister; r <= frame.last_register; ++r) {
    const int row = r % kRows;
    code.push_back(loading(sass::lds(32, r, kLaneTimes4, kSharedBase + 128 * row), 2));
    if (r % kTogether == 0) code.push_back(waiting(kAllScoreboards));
  }
  code.push_back(waiting(kAllScoreboards));
  return code;
}

std::int64_t place(std::size_t index) {
  return static_cast<std::int64_t>(index * sass::kInstructionBytes);
}

// Copies of a pattern with a counter in front; the last instruction branches back to the first.
void add_loop(Code& program, const Code& pattern, int copies) {
  const std::size_t head = program.size();
  Code body = times(pattern, copies);
  if (body.size() < kShortestLoop) throw std::runtime_error("a loop needs 24 instructions");
  body.insert(body.begin() + kDistance,
              sass::isetp_not_equal(kAgain, kCounter, sass::kZeroRegister));
  program.push_back(sass::iadd3_immediate(kCounter, kCounter, ~0U, sass::kZeroRegister));
  program.insert(program.end(), body.begin(), body.end());
  const auto branch = guarded(sass::bra(place(program.size()), place(head)), kAgain);
  program.push_back(with_stall(branch, 5));
}

void add_exit(Code& program, std::size_t end) {
  program.push_back(waiting(kAllScoreboards));
  program.push_back(with_stall(sass::bra(place(program.size()), place(end)), 5));
}

}  // namespace

Code timed_program(const Sequence& sequence, int copies) {
  const auto end = static_cast<std::size_t>(sequence.frame->slots);
  Code program = setup(*sequence.frame);
  if (sequence.other.empty()) {
    add_loop(program, sequence.pattern, copies);
    add_exit(program, end);
    return program;
  }
  // Threads 128-255 are the second warps of the four sub-cores.
  program.push_back(loading(sass::s2r(kLane, sass::SpecialRegister::kThread), 0));
  program.push_back(waiting(kAllScoreboards));
  program.push_back(with_stall(sass::isetp_greater(kIsOther, kLane, 127), 15, true));
  const std::size_t fork = program.size();
  program.push_back({});
  add_loop(program, sequence.pattern, copies);
  add_exit(program, end);
  program[fork] = with_stall(guarded(sass::bra(place(fork), place(program.size())), kIsOther), 5);
  add_loop(program, sequence.other, copies);
  add_exit(program, end);
  return program;
}

Code probe_program(const Frame& frame, const Code& code) {
  Code program = setup(frame) + code;
  add_exit(program, static_cast<std::size_t>(frame.slots));
  return program;
}

namespace {

// Throws if the frame reads, behind its room, a register that programs write.
void check_frame(const sass::CubinKernel& kernel, std::size_t behind_room) {
  std::set<int> written;
  for (std::size_t at = behind_room; at < kernel.code.size(); ++at) {
    const sass::Operation operation =
        sass::decode(kernel.code[at], at * sass::kInstructionBytes, 90);
    for (const sass::RegisterUse& use : operation.reads) {
      if (use.file != sass::RegisterFile::kGeneral) continue;
      for (int r = use.first; r < use.first + use.count; ++r) {
        if (r >= kFirstProgramRegister && !written.count(r)) {
          throw std::runtime_error("the frame keeps something in R" + std::to_string(r));
        }
      }
    }
    for (const sass::RegisterUse& use : operation.writes) {
      if (use.file != sass::RegisterFile::kGeneral) continue;
      for (int r = use.first; r < use.first + use.count; ++r) written.insert(r);
    }
  }
}

// Index of the first instruction of the room. Throws unless there is one room of the frame's size.
std::size_t room_of(const sass::CubinKernel& kernel, const Frame& frame) {
  constexpr int kRoom = 0x801;  // PMTRIG
  const auto is_room = [](const sass::Instruction& i) { return i.key() == kRoom; };
  const auto begin = std::find_if(kernel.code.begin(), kernel.code.end(), is_room);
  const auto end = std::find_if_not(begin, kernel.code.end(), is_room);
  if (end - begin != frame.slots || std::any_of(end, kernel.code.end(), is_room)) {
    throw std::runtime_error("the room in the cubin has another size");
  }
  return static_cast<std::size_t>(begin - kernel.code.begin());
}

}  // namespace

std::vector<std::byte> patched(std::span<const std::byte> cubin, const Frame& frame,
                               const Code& code) {
  if (code.size() > static_cast<std::size_t>(frame.slots)) {
    throw std::runtime_error(std::to_string(code.size()) + " instructions do not fit in " +
                             frame.entry);
  }
  const sass::CubinFile file = sass::read_cubin(cubin);
  const sass::CubinKernel* kernel = file.find(frame.entry);
  if (!kernel) throw std::runtime_error(std::string("no kernel ") + frame.entry);
  const std::size_t room = room_of(*kernel, frame);
  check_frame(*kernel, room + frame.slots);
  Code all = kernel->code;
  std::copy(code.begin(), code.end(), all.begin() + room);
  return sass::with_code(cubin, *kernel, all);
}

}  // namespace tessera::calibration
