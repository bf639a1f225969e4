// printf, assert, malloc and free: the functions that the driver provides to kernels.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "vgpu/exec/cluster.h"
#include "vgpu/exec/cta.h"
#include "vgpu/exec/print_format.h"
#include "vgpu/exec/warp/warp.h"
#include "vgpu/report/print_log.h"
#include "vgpu/report/windows.h"

namespace tessera::vgpu {
namespace {

std::byte* passed(const Frame& frame, const ParamCopy& place, int lane) {
  return frame.call_params.get() +
         static_cast<std::size_t>(lane) * frame.function->call_param_bytes + place.caller;
}

std::uint64_t argument(const Control& control, const Frame& frame, std::size_t i, int lane) {
  std::uint64_t value;
  std::memcpy(&value, passed(frame, control.calls[0].arguments[i], lane), sizeof value);
  return value;
}

// Returns the value of an operand of the failed comparison in one lane, as text: "3.5".
std::string value_text(const Control& control, const Frame& frame, int operand, int lane) {
  const std::string type = control.comparison.substr(control.comparison.rfind('.') + 1);
  const std::byte* at = frame.registers.get() + control.op.operand[operand];
  const bool wide = type.ends_with("64");
  std::uint64_t bits = 0;
  std::memcpy(&bits, at + static_cast<std::size_t>(lane) * (wide ? 8 : 4), wide ? 8 : 4);
  if (type == "f32") return fmt::format("{}", std::bit_cast<float>(std::uint32_t(bits)));
  if (type == "f64") return fmt::format("{}", std::bit_cast<double>(bits));
  if (type == "s32") return fmt::format("{}", static_cast<std::int32_t>(bits));
  if (type == "s64") return fmt::format("{}", static_cast<std::int64_t>(bits));
  return fmt::format("{}", bits);
}

}  // namespace

// Returns the host memory of a generic address.
std::byte* Warp::system_memory(std::uint64_t generic, std::uint64_t bytes, const Op& op, int lane) {
  const std::uint64_t in_local = generic - kLocalWindow - kLocalBase;
  if (in_local < local_stride_) {
    return local_.get() + static_cast<std::size_t>(lane) * local_stride_ + in_local;
  }
  const std::uint64_t in_shared = generic - kSharedWindow - cta_.lanes().shared_first;
  if (in_shared < cta_.lanes().shared_bytes) return cta_.lanes().shared + in_shared;
  const MemoryBlock* block = cta_.memory().find(generic);
  if (block) return block->host + (generic - block->base);
  fault(FaultKind::kOutOfBounds,
        "printf is given an address that lies nowhere: " + cta_.memory().describe(generic, bytes),
        op, lane, &generic);
}

void Warp::fault_assert(const Control& control, const Frame& frame, std::uint32_t mask) {
  const int lane = std::countr_zero(mask);
  const ReadByte read = [&](std::uint64_t at) {
    return static_cast<unsigned char>(*system_memory(at, 1, control.op, lane));
  };
  std::string text = fmt::format("assertion failed: {}, in {}",
                                 read_string(argument(control, frame, 0, lane), read),
                                 read_string(argument(control, frame, 3, lane), read));
  if (!control.comparison.empty()) {
    text += fmt::format("; what it compares was {} and {}", value_text(control, frame, 0, lane),
                        value_text(control, frame, 1, lane));
  }
  const int lanes = std::popcount(mask);
  if (lanes > 1) text += fmt::format("; it failed in {} lanes of this warp", lanes);
  fault(FaultKind::kAssert, text, control.op, lane);
}

// Calls the system function for one lane and returns its result.
std::uint64_t Warp::call_system(const Control& control, const Frame& frame, int lane) {
  const std::uint64_t first = argument(control, frame, 0, lane);
  const LaunchContext& context = cta_.cluster().context();
  switch (static_cast<SystemFunction>(control.op.immediate)) {
    case SystemFunction::kPrint: {
      const Printed printed =
          print_format(first, argument(control, frame, 1, lane), [&](std::uint64_t at) {
            return static_cast<unsigned char>(*system_memory(at, 1, control.op, lane));
          });
      if (PrintLog* log = context.observation.prints) {
        log->add(cta_.cluster().cta(0).index(), printed.text);
      }
      return static_cast<std::uint64_t>(printed.arguments);
    }
    case SystemFunction::kAllocate:
      return context.heap->allocate(first);
    case SystemFunction::kAllocateAligned:
      return context.heap->allocate(first, argument(control, frame, 1, lane));
    case SystemFunction::kFree: {
      const std::string wrong = context.heap
                                    ? context.heap->free(first)
                                    : std::string(first == 0 ? "" : "this kernel has no malloc()");
      if (!wrong.empty())
        fault(FaultKind::kOutOfBounds, "free: " + wrong, control.op, lane, &first);
      return 0;
    }
    case SystemFunction::kAssertFail:
      break;
  }
  return 0;
}

// Calls the system function for the lanes of the split, in order.
void Warp::system_call(Split& split, const Control& control) {
  const Frame& frame = *split.frame;
  if (static_cast<SystemFunction>(control.op.immediate) == SystemFunction::kAssertFail) {
    fault_assert(control, frame, split.mask);
  }
  for (std::uint32_t left = split.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const std::uint64_t result = call_system(control, frame, lane);
    for (const ParamCopy& place : control.calls[0].returns) {
      std::memcpy(passed(frame, place, lane), &result, place.bytes);
    }
  }
  ++split.block;
}

}  // namespace tessera::vgpu
