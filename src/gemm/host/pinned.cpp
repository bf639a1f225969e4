#include "gemm/host/pinned.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

namespace tessera::gemm::host {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{16} << 20;
// HW: PCIe 5 x16 takes what several cores copy (H200 host).
constexpr std::size_t kMostThreads = 8, kBytesPerThread = std::size_t{2} << 20;

// Calls copy(first row, last row) from several threads. Where there are none to be had, from this.
template <class Copy>
void over_rows(std::size_t rows, std::size_t bytes, Copy copy) {
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  const std::size_t parts =
      std::clamp<std::size_t>(bytes / kBytesPerThread, 1, std::min({kMostThreads, cores, rows}));
  std::vector<std::thread> others;
  others.reserve(parts);
  std::size_t begun = 1;
  try {
    for (; begun < parts; ++begun) {
      others.emplace_back(copy, rows * begun / parts, rows * (begun + 1) / parts);
    }
  } catch (const std::system_error&) {
    copy(rows * begun / parts, rows);
  }
  copy(0, rows / parts);
  for (std::thread& other : others) other.join();
}

void copy_rows(std::byte* to, std::size_t to_pitch, const std::byte* from, std::size_t from_pitch,
               std::size_t width, std::size_t rows) {
  over_rows(rows, width * rows, [=](std::size_t first, std::size_t last) {
    for (std::size_t row = first; row < last; ++row) {
      std::memcpy(to + row * to_pitch, from + row * from_pitch, width);
    }
  });
}

template <class Part>
void for_each_part(const Rectangle& all, Part part) {
  // WHY: rows wider than a buffer are cut into columns.
  for (std::size_t at = 0; at < all.shape.width; at += kBufferBytes) {
    const std::size_t width = std::min(kBufferBytes, all.shape.width - at);
    const std::size_t fit = std::max<std::size_t>(1, kBufferBytes / width);
    for (std::size_t row = 0; row < all.shape.rows; row += fit) {
      Rectangle one = all;
      one.host += row * all.shape.host_pitch + at;
      one.device += row * all.shape.device_pitch + at;
      one.shape.width = width;
      one.shape.rows = std::min(fit, all.shape.rows - row);
      part(one);
    }
  }
}

CopyShape without_gaps(const CopyShape& shape) {
  return {shape.width, shape.rows, shape.width, shape.device_pitch};
}

}  // namespace

OwnedStream::~OwnedStream() {
  try {
    device_.destroy_stream(stream_);
  } catch (const StatusError&) {
    // WHY: a destructor may not throw, and a device that failed has already said so.
  }
}

OwnedEvent::~OwnedEvent() {
  try {
    device_.destroy_event(event_);
  } catch (const StatusError&) {
    // WHY: as above.
  }
}

Lane::~Lane() {
  const auto ignoring_failures = [](auto&& action) {
    try {
      action();
    } catch (const StatusError&) {
      // WHY: as above.
    }
  };
  // WHY: where a call fails half way, copies from and to the caller's memory may be on their way.
  ignoring_failures([&] { device_.synchronize(stream()); });
  for (Slot& slot : slots_) {
    if (slot.memory) ignoring_failures([&] { device_.free_pinned(slot.memory); });
  }
}

void Lane::reserve() {
  for (Slot& slot : slots_) {
    if (!slot.memory) slot.memory = device_.allocate_pinned(kBufferBytes);
  }
}

void Lane::settle(Slot& slot) {
  if (!slot.is_busy) return;
  device_.wait_for(slot.done.get());
  slot.is_busy = false;
  const Rectangle out = slot.out;
  slot.out = {};
  if (out.host == 0) return;
  copy_rows(reinterpret_cast<std::byte*>(out.host), out.shape.host_pitch,
            static_cast<const std::byte*>(slot.memory), out.shape.width, out.shape.width,
            out.shape.rows);
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
    copy_rows(static_cast<std::byte*>(slot.memory), part.shape.width,
              reinterpret_cast<const std::byte*>(part.host), part.shape.host_pitch,
              part.shape.width, part.shape.rows);
    device_.copy_in(part.device, slot.memory, without_gaps(part.shape), stream());
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
    device_.copy_out(slot.memory, part.device, without_gaps(part.shape), stream());
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
