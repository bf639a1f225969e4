// For each cell of a CTA's shared memory: its last writer, and when each entity last read it.
//
// A cell is as wide as the kernel's narrowest access to memory, at most four bytes, so that writes
// to neighbouring bytes do not look like a race. Times before the start of the cluster count as
// never, so nothing is cleared between clusters.
#pragma once

#include <memory>
#include <vector>

#include "vgpu/observe/check/site.h"

namespace tessera::vgpu::check {

// The thread or agent that makes the current access to a cell.
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
  // Returns the number after that of the last cell of [offset, offset + bytes).
  std::uint32_t end_of(std::uint64_t offset, std::uint64_t bytes) const {
    return cell_of(offset + bytes + cell_bytes() - 1);
  }

  // Records a read of `bytes` bytes at each lane's address. Returns the lanes with a cell that was
  // never written, or whose last write the visitor does not know of.
  std::uint32_t read(const Visitor& by, std::uint32_t mask, const std::uint64_t* address,
                     std::uint32_t bytes);
  // Returns the lanes that meet accesses unknown to the visitor. Records nothing.
  std::uint32_t look_before_write(const Visitor& by, std::uint32_t mask,
                                  const std::uint64_t* address, std::uint32_t bytes) const;
  // Records a write. Returns the lanes that write to the cell of another lane of this access.
  std::uint32_t write(const Visitor& by, std::uint32_t mask, const std::uint64_t* address,
                      std::uint32_t bytes);

  // ---- one cell -------------------------------------------------------------------------------
  void read_cell(const Visitor& by, std::uint32_t cell);
  void write_cell(const Visitor& by, std::uint32_t cell);
  Past writer(std::uint32_t cell) const {
    return {writers_[cell].entity, written_[cell], writers_[cell].site, true};
  }
  // By cell, time and site of an entity's last read, or of the read by another lane before that.
  struct Reads {
    Entity entity = 0;
    const std::uint64_t* cells = nullptr;
  };
  // Adds the entities that have read any of the cells [begin, end) after `floor`.
  // WHY entity by entity: each array streams through memory; asking all entities cell by cell took
  // a fifth of the time of all tests of tensor copies.
  void find_later_reads(std::uint32_t begin, std::uint32_t end, Time floor,
                        std::vector<Reads>& to) const;
  static Time time_of(std::uint64_t read) { return static_cast<Time>(read >> 32); }

  // The write time of cells that no thread may access: later than any time, so all accesses race.
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
  // The reads of one entity: by cell, the time and site of the last read, and of the last earlier
  // read by another lane.
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
