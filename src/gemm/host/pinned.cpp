#include "gemm/host/pinned.h"

#include <algorithm>
#include <bit>

namespace tessera::gemm::host {
namespace {

constexpr std::size_t kMostBufferBytes = std::size_t{16} << 20;
// A copy in fewer parts leaves the bus or the host idle for too long at its two ends.
constexpr double kLeastParts = 8;
constexpr std::size_t kLeastPartBytes = std::size_t{256} << 10;

// The layout of a part in a pinned buffer. HW: rows with gaps on both sides are copied at a
// fraction of the bus's speed if they are shorter than 8 KB (H200). A part that is copied with
// its gaps is a single row.
struct InBuffer {
  explicit InBuffer(const Rectangle& part)
      : pitch(part.has_free_gaps ? part.shape.device_pitch : part.shape.width),
        shape{part.shape.width, part.shape.rows, pitch, part.shape.device_pitch} {
    if (pitch != part.shape.device_pitch) return;
    const std::size_t bytes = (part.shape.rows - 1) * pitch + part.shape.width;
    shape = {bytes, 1, bytes, bytes};
  }
  std::size_t pitch;
  CopyShape shape;
};

}  // namespace

Lane::~Lane() {
  abandon();
  free_buffers();
}

void Lane::abandon() noexcept {
  try {
    device_.synchronize(stream());
  } catch (const StatusError&) {
    // WHY ignore: a device that failed has already reported the failure.
  }
  for (Slot& slot : slots_) {
    slot.is_busy = false;
    slot.out = {};
  }
}

void Lane::free_buffers() {
  for (Slot& slot : slots_) {
    if (!slot.memory) continue;
    try {
      device_.free_pinned(slot.memory);
    } catch (const StatusError&) {
      // WHY ignore: a device that failed has already reported the failure.
    }
    slot.memory = nullptr;
  }
  buffer_bytes_ = 0;
}

void Lane::reserve(double bytes) {
  const auto part = static_cast<std::size_t>(
      std::clamp(bytes / kLeastParts, double{kLeastPartBytes}, double{kMostBufferBytes}));
  part_bytes_ = part;
  if (part > buffer_bytes_) {
    free_buffers();
    const std::size_t rounded = std::bit_ceil(part);
    for (Slot& slot : slots_) slot.memory = device_.allocate_pinned(rounded);
    buffer_bytes_ = rounded;
  }
}

template <class Part>
void Lane::for_each_part(const Rectangle& all, Part part) {
  if (all.shape.rows == 0) return;
  // WHY: rows wider than a buffer are cut into columns.
  for (std::size_t at = 0; at < all.shape.width; at += part_bytes_) {
    Rectangle one = all;
    one.shape.width = std::min(part_bytes_, all.shape.width - at);
    one.has_free_gaps = all.has_free_gaps && one.shape.width == all.shape.width &&
                        all.shape.device_pitch <= part_bytes_;
    const std::size_t pitch = one.has_free_gaps ? all.shape.device_pitch : one.shape.width;
    const std::size_t fit = std::max<std::size_t>(1, part_bytes_ / pitch);
    for (std::size_t row = 0; row < all.shape.rows; row += fit) {
      one.host = all.host + row * all.shape.host_pitch + at;
      one.device = all.device + row * all.shape.device_pitch + at;
      one.shape.rows = std::min(fit, all.shape.rows - row);
      part(one);
    }
  }
}

void Lane::settle(Slot& slot) {
  if (!slot.is_busy) return;
  device_.wait_for(slot.done.get());
  slot.is_busy = false;
  const Rectangle out = slot.out;
  slot.out = {};
  if (out.host == 0) return;
  threads_.copy({reinterpret_cast<std::byte*>(out.host), out.shape.host_pitch,
                 static_cast<const std::byte*>(slot.memory), InBuffer(out).pitch, out.shape.width,
                 out.shape.rows});
}

Lane::Slot& Lane::next_slot() {
  Slot& slot = slots_[next_++ % slots_.size()];
  settle(slot);
  return slot;
}

void Lane::copy_in(const Rectangle& all, bool is_pinned) {
  if (is_pinned) {
    device_.copy_in(all.device, reinterpret_cast<const void*>(all.host), all.shape, stream());
    return;
  }
  for_each_part(all, [&](const Rectangle& part) {
    Slot& slot = next_slot();
    const InBuffer in_buffer(part);
    threads_.copy({static_cast<std::byte*>(slot.memory), in_buffer.pitch,
                   reinterpret_cast<const std::byte*>(part.host), part.shape.host_pitch,
                   part.shape.width, part.shape.rows});
    device_.copy_in(part.device, slot.memory, in_buffer.shape, stream());
    device_.record(slot.done.get(), stream());
    slot.is_busy = true;
  });
}

void Lane::copy_out(const Rectangle& all, bool is_pinned) {
  if (is_pinned) {
    device_.copy_out(reinterpret_cast<void*>(all.host), all.device, all.shape, stream());
    return;
  }
  for_each_part(all, [&](const Rectangle& part) {
    Slot& slot = next_slot();
    device_.copy_out(slot.memory, part.device, InBuffer(part).shape, stream());
    device_.record(slot.done.get(), stream());
    slot.is_busy = true;
    slot.out = part;
  });
}

void Lane::finish() {
  for (std::size_t i = 0; i < slots_.size(); ++i) settle(slots_[next_++ % slots_.size()]);
  device_.synchronize(stream());
}

}  // namespace tessera::gemm::host
