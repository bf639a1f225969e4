// For each cell of a CTA's shared memory: its last writer, and when each entity last read it.
//
// A cell is as wide as the kernel's narrowest access to memory, at most four bytes, so that threads
// that write neighbouring bytes are not mistaken for a race. Whatever is older than the cluster's
// start counts as never written, so nothing is cleared between clusters.
#pragma once

#include <memory>
#include <vector>

#include "vgpu/observe/check/site.h"

namespace tessera::vgpu::check {

// The thread or agent that now accesses a cell.
struct Visitor {
  Entity entity = 0;
  Site site = 0;
  Time start = 0;  // start of the cluster
  Time floor = 0;  // the visitor knows everything before this time
  Time now = 0;
};

class SharedShadow {
 public:
  SharedShadow(std::uint32_t bytes, std::uint32_t cell_shift);

  std::uint32_t cell_of(std::uint64_t offset) const {
    return static_cast<std::uint32_t>(offset >> shift_);
  }
  std::uint32_t cell_bytes() const { return 1u << shift_; }
  // One past the last cell of [offset, offset + bytes).
  std::uint32_t end_of(std::uint64_t offset, std::uint64_t bytes) const {
    return cell_of(offset + bytes + cell_bytes() - 1);
  }

  // Notes a read of `bytes` at each lane's address. Returns the lanes that meet a cell whose write
  // the visitor does not know of, or that was never written.
  std::uint32_t read(const Visitor& by, std::uint32_t mask, const std::uint64_t* address,
                     std::uint32_t bytes);
  // The lanes that meet a cell with an access that the visitor does not know of. Notes nothing.
  std::uint32_t look_before_write(const Visitor& by, std::uint32_t mask,
                                  const std::uint64_t* address, std::uint32_t bytes) const;
  // Notes a write. Returns the lanes that write the same cell as another lane of the access.
  std::uint32_t write(const Visitor& by, std::uint32_t mask, const std::uint64_t* address,
                      std::uint32_t bytes);

  // ---- one cell -------------------------------------------------------------------------------
  void read_cell(const Visitor& by, std::uint32_t cell);
  void write_cell(const Visitor& by, std::uint32_t cell);
  Past writer(std::uint32_t cell) const {
    return {writers_[cell].entity, written_[cell], writers_[cell].site, true};
  }
  // Per cell, the last read by one entity, or the one before that: time and site.
  struct Reads {
    Entity entity = 0;
    const std::uint64_t* cells = nullptr;
  };
  // Adds the entities that read any of the cells [begin, end) later than `floor`.
  // WHY: arrays one after the other stream through memory; asking all of them cell by cell took a
  // fifth of the time of all tests of tensor copies.
  void find_later_reads(std::uint32_t begin, std::uint32_t end, Time floor,
                        std::vector<Reads>& to) const;
  static Time time_of(std::uint64_t read) { return static_cast<Time>(read >> 32); }

  // A cell that no thread may touch races with every access: its writer looks newer than any time.
  static constexpr Time kForbidden = ~Time{0};
  void forbid(std::uint32_t cell) { written_[cell] = kForbidden; }
  void allow(std::uint32_t cell) { written_[cell] = 0; }
  void forget_everything();

 private:
  struct Writer {
    Entity entity;
    Site site;
    std::uint32_t access;  // number of the access, to tell lanes of one from each other's
  };
  // The reads of one entity: for each cell, the time and the site of the last read, and of the last
  // one before it by another lane.
  using Cells = std::unique_ptr<std::uint64_t[], void (*)(void*)>;
  struct Plane {
    Entity entity;
    Time last;
    Cells cells, earlier;

    void note(std::uint32_t cell, std::uint64_t read, Time floor) {
      const std::uint64_t before = cells[cell];
      const bool by_others =
          ((before ^ read) & kLaneOfSite) != 0 || (before & ~read & kSiteSeveral) != 0;
      if (by_others && static_cast<Time>(before >> 32) > floor) earlier[cell] = before;
      cells[cell] = read;
    }
  };

  Cells fresh_cells() const;
  Plane& plane_of(Entity entity);
  template <std::uint32_t count>
  std::uint32_t read_cells(const Visitor& by, std::uint32_t mask, const std::uint64_t* address);
  template <std::uint32_t count>
  std::uint32_t write_cells(const Visitor& by, std::uint32_t mask, const std::uint64_t* address);
  std::uint32_t cells_in(std::uint32_t bytes) const { return (bytes + cell_bytes() - 1) >> shift_; }

  std::uint32_t cells_, shift_;
  std::uint32_t access_ = 0;
  std::vector<Time> written_, read_;  // by cell: when anybody did it last
  std::vector<Writer> writers_;
  std::vector<Plane> planes_;
  std::vector<std::uint32_t> plane_of_;  // by entity: 1 + index in planes_; 0: none
};

}  // namespace tessera::vgpu::check
