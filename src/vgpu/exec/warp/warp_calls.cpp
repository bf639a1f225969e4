// Calls: each group of lanes that calls together gets a frame. Arguments and results are copied
// between the parameter memories of the caller's and the callee's frame.
#include <algorithm>
#include <bit>
#include <cstring>

#include "vgpu/exec/cluster.h"
#include "vgpu/exec/cta.h"
#include "vgpu/exec/warp/warp.h"
#include "vgpu/report/windows.h"

namespace tessera::vgpu {
namespace {

void copy_params(std::uint32_t mask, const Frame& from, std::uint32_t from_offset, Frame& to,
                 std::uint32_t to_offset, std::uint32_t bytes) {
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(mask));
    std::memcpy(to.call_params.get() + lane * to.function->call_param_bytes + to_offset,
                from.call_params.get() + lane * from.function->call_param_bytes + from_offset,
                bytes);
  }
}

}  // namespace

void Warp::call(std::size_t index, const Control& control) {
  if (!control.indirect) return call_one(splits_[index], control.calls[0]);
  const auto* pointers = reinterpret_cast<const std::uint64_t*>(
      splits_[index].frame->registers.get() + control.op.operand[0]);
  std::uint32_t left = splits_[index].mask;
  while (left != 0) {
    const int lane = std::countr_zero(left);
    std::uint32_t same = 0;
    for (int l = 0; l < kLanes; ++l) {
      if (left >> l & 1 && pointers[l] == pointers[lane]) same |= std::uint32_t{1} << l;
    }
    const auto site = std::find_if(
        control.calls.begin(), control.calls.end(),
        [&](const CallSite& candidate) { return pointers[lane] == candidate.address; });
    if (site == control.calls.end()) {
      fault(FaultKind::kOutOfBounds, "the pointer is none of the functions named", control.op,
            lane);
    }
    left &= ~same;
    Split part = splits_[index];
    part.mask = same;
    call_one(part, *site);
    if (left == 0) {
      splits_[index] = part;
    } else {
      add_split(part);
    }
  }
}

void Warp::call_one(Split& split, const CallSite& site) {
  const Function& callee = cta_.kernel().functions[site.function];
  auto frame = std::make_unique<Frame>(callee);
  Frame& caller = *split.frame;
  frame->parent = &caller;
  frame->site = &site;
  frame->return_block = split.block + 1;
  frame->lanes = split.mask;
  frame->depth = caller.depth + 1;
  frame->local_begin = caller.local_end;
  frame->local_end = caller.local_end + callee.local_bytes;
  if (frame->local_end > kLocalLimit || frame->depth > 4096) {
    const auto& control = caller.function->blocks[split.block].control;
    fault(FaultKind::kOutOfBounds, "the calls are too deep: the stack is full", control.op,
          std::countr_zero(split.mask));
  }
  reserve_local(frame->local_end);
  poison_local(split.mask, frame->local_begin, callee.local_bytes);
  fill_constants(*frame, cta_.rank());
  fill_place(*frame, cta_.place_of(index_));
  for (const ParamCopy& copy : site.arguments) {
    copy_params(split.mask, caller, copy.caller, *frame, copy.callee, copy.bytes);
  }
  split.block = 0;
  split.frame = frame.get();
  frames_.push_back(std::move(frame));
}

void Warp::return_from(std::size_t index) {
  Split& split = splits_[index];
  Frame* frame = split.frame;
  if (!frame->parent) return exit(index);
  for (const ParamCopy& copy : frame->site->returns) {
    copy_params(split.mask, *frame, copy.callee, *frame->parent, copy.caller, copy.bytes);
  }
  split.frame = frame->parent;
  split.block = frame->return_block;
  frame->lanes &= ~split.mask;
  if (frame->lanes != 0) return;
  const auto here = std::find_if(frames_.begin(), frames_.end(),
                                 [&](const auto& owned) { return owned.get() == frame; });
  frames_.erase(here);
}

// A new frame's local memory holds the same bytes in every run, whatever was called before.
void Warp::poison_local(std::uint32_t mask, std::uint32_t begin, std::uint32_t bytes) {
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(mask));
    std::memset(local_.get() + lane * local_stride_ + begin,
                cta_.cluster().context().observation.undefined.local, bytes);
  }
}

// Makes room for `bytes` bytes of local memory per lane. Local memory is laid out lane after lane,
// so all lanes are copied if a deeper call needs more.
void Warp::reserve_local(std::uint32_t bytes) {
  if (local_ && bytes <= local_stride_) return;
  const std::uint32_t stride = std::max(bytes, 2 * local_stride_);
  AlignedBytes grown = allocate_aligned(std::size_t{stride} * kLanes);
  std::memset(grown.get(), 0xff, std::size_t{stride} * kLanes);
  for (std::size_t l = 0; l < kLanes && local_; ++l) {
    std::memcpy(grown.get() + l * stride, local_.get() + l * local_stride_, local_stride_);
  }
  local_ = std::move(grown);
  local_stride_ = stride;
}

}  // namespace tessera::vgpu
