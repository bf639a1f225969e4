// WHY these loops are so simple: they run for each lane of each access to shared memory. They only
// flag unlikely cases, which are examined elsewhere.
#include "vgpu/observe/check/shadow/shared_shadow.h"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>

namespace tessera::vgpu::check {

SharedShadow::SharedShadow(std::uint32_t bytes, std::uint32_t cell_shift)
    // There is room for an access of 16 cells that begins in the last cell.
    : cells_((bytes >> cell_shift) + 17),
      shift_(cell_shift),
      written_(cells_),
      read_(cells_),
      writers_(cells_) {}

// WHY calloc: its pages take no memory until they are written.
SharedShadow::Cells SharedShadow::fresh_cells() const {
  void* cells = std::calloc(cells_, sizeof(std::uint64_t));
  if (!cells) throw std::bad_alloc();
  return {static_cast<std::uint64_t*>(cells), std::free};
}

SharedShadow::Plane& SharedShadow::plane_of(Entity entity) {
  std::uint32_t& index = at(plane_of_, entity);
  if (index == 0) {
    planes_.push_back({entity, 0, fresh_cells(), fresh_cells()});
    index = static_cast<std::uint32_t>(planes_.size());
  }
  return planes_[index - 1];
}

void SharedShadow::find_later_reads(std::uint32_t begin, std::uint32_t end, Time floor,
                                    std::vector<Reads>& to) const {
  for (const Plane& plane : planes_) {
    if (plane.last <= floor) continue;
    for (const std::uint64_t* cells : {plane.cells.get(), plane.earlier.get()}) {
      const bool any = std::any_of(cells + begin, cells + end,
                                   [&](std::uint64_t read) { return time_of(read) > floor; });
      if (any) to.push_back({plane.entity, cells});
    }
  }
}

void SharedShadow::forget_everything() {
  std::fill(written_.begin(), written_.end(), 0);
  std::fill(read_.begin(), read_.end(), 0);
  planes_.clear();
  plane_of_.clear();
}

namespace {

// Whether one of `count` times is outside [first, first + span).
template <std::uint32_t count>
bool any_outside(const Time* times, Time first, Time span) {
  Time outside = 0;
  for (std::uint32_t i = 0; i < count; ++i) outside |= times[i] - first >= span;
  return outside != 0;
}
template <>
bool any_outside<4>(const Time* times, Time first, Time span) {
  const __m128i all = _mm_loadu_si128(reinterpret_cast<const __m128i*>(times));
  const __m128i since = _mm_sub_epi32(all, _mm_set1_epi32(static_cast<int>(first)));
  const __m128i most = _mm_max_epu32(since, _mm_set1_epi32(static_cast<int>(span)));
  return _mm_movemask_epi8(_mm_cmpeq_epi32(most, since)) != 0;
}

bool are_halves_equal(const std::uint64_t* address) {
  std::uint64_t different = 0;
  for (int l = 0; l < 16; ++l) different |= address[l] ^ address[l + 16];
  return different == 0;
}

}  // namespace

// If lanes read one cell, and are neighbours or half a warp apart, the cell is checked only once.
template <std::uint32_t count>
std::uint32_t SharedShadow::read_cells(const Visitor& by, std::uint32_t mask,
                                       const std::uint64_t* address) {
  Plane& plane = plane_of(by.entity);
  plane.last = by.now;
  const Time first = by.start + 1, span = by.floor - by.start;
  const bool halves = mask == ~std::uint32_t{0} && are_halves_equal(address);
  const std::uint64_t stamp = std::uint64_t{by.now} << 32 | by.site | (halves ? kSiteSeveral : 0);
  std::uint32_t flagged = 0;
  for (std::uint32_t left = halves ? 0xffff : mask; left != 0;) {
    const int lane = std::countr_zero(left);
    left &= left - 1;
    std::uint64_t site = stamp | static_cast<std::uint32_t>(lane);
    for (; left != 0 && address[std::countr_zero(left)] == address[lane]; left &= left - 1) {
      site |= kSiteSeveral;
    }
    const std::uint32_t cell = cell_of(address[lane]);
    const bool odd = any_outside<count>(written_.data() + cell, first, span);
    flagged |= std::uint32_t{odd} << lane;
    for (std::uint32_t i = 0; i < count; ++i) plane.note(cell + i, site, by.floor);
    for (std::uint32_t i = 0; i < count; ++i) read_[cell + i] = by.now;
  }
  return flagged;
}

std::uint32_t SharedShadow::read(const Visitor& by, std::uint32_t mask,
                                 const std::uint64_t* address, std::uint32_t bytes) {
  switch (cells_in(bytes)) {
    case 1:
      return read_cells<1>(by, mask, address);
    case 2:
      return read_cells<2>(by, mask, address);
    case 4:
      return read_cells<4>(by, mask, address);
    case 8:
      return read_cells<8>(by, mask, address);
    default:
      return read_cells<16>(by, mask, address);
  }
}

std::uint32_t SharedShadow::look_before_write(const Visitor& by, std::uint32_t mask,
                                              const std::uint64_t* address,
                                              std::uint32_t bytes) const {
  const std::uint32_t count = cells_in(bytes);
  std::uint32_t flagged = 0;
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const std::uint32_t cell = cell_of(address[lane]);
    bool newer = false;
    for (std::uint32_t i = 0; i < count; ++i) {
      newer |= std::max(written_[cell + i], read_[cell + i]) > by.floor;
    }
    flagged |= std::uint32_t{newer} << lane;
  }
  return flagged;
}

template <std::uint32_t count>
std::uint32_t SharedShadow::write_cells(const Visitor& by, std::uint32_t mask,
                                        const std::uint64_t* address) {
  std::uint32_t twice = 0;
  ++access_;
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const std::uint32_t cell = cell_of(address[lane]);
    const Writer writer{by.entity, with_lane(by.site, lane), access_};
    bool same = false;
    for (std::uint32_t i = 0; i < count; ++i) same |= writers_[cell + i].access == access_;
    twice |= std::uint32_t{same} << lane;
    for (std::uint32_t i = 0; i < count; ++i) {
      written_[cell + i] = by.now;
      writers_[cell + i] = writer;
    }
  }
  return twice;
}

std::uint32_t SharedShadow::write(const Visitor& by, std::uint32_t mask,
                                  const std::uint64_t* address, std::uint32_t bytes) {
  switch (cells_in(bytes)) {
    case 1:
      return write_cells<1>(by, mask, address);
    case 2:
      return write_cells<2>(by, mask, address);
    case 4:
      return write_cells<4>(by, mask, address);
    case 8:
      return write_cells<8>(by, mask, address);
    default:
      return write_cells<16>(by, mask, address);
  }
}

void SharedShadow::read_cell(const Visitor& by, std::uint32_t cell) {
  Plane& plane = plane_of(by.entity);
  plane.last = by.now;
  plane.note(cell, std::uint64_t{by.now} << 32 | by.site, by.floor);
  read_[cell] = by.now;
}

void SharedShadow::write_cell(const Visitor& by, std::uint32_t cell) {
  written_[cell] = by.now;
  writers_[cell] = {by.entity, by.site, ++access_};
}

}  // namespace tessera::vgpu::check
