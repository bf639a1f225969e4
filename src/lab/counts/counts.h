// The counts of a kernel's run: the sums over its launches by kind and width of access, by class of
// instruction and by source line. docs/counts.md defines every count.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.h"
#include "device/virtual/observer.h"
#include "problem/problem.h"

namespace tessera::lab {

struct Count {
  std::uint64_t warp = 0, thread = 0;  // issues, and the sum of their active lanes
  Count& operator+=(const Count& other);
};

// Numbers of accesses by the bytes that one lane moves.
using Accesses = std::map<int, Count>;

// The unit that an instruction keeps busy, as far as its PTX form shows.
enum class InstructionClass {
  kFmaF32,
  kFmaF64,
  kFmaHalf,  // f16, bf16, packed or not
  kFloat,    // other arithmetic of floats
  kSpecial,  // reciprocals, roots, exponentials, ...
  kInteger,
  kCompare,
  kMove,
  kConvert,
  kMatrix,
  kGlobalLoad,
  kGlobalStore,
  kSharedLoad,
  kSharedStore,
  kOtherAccess,  // local, constant, parameter and generic memory
  kAtomic,
  kCopy,  // asynchronous copies, their groups and tensor maps
  kBarrier,
  kWarp,  // shuffles, votes and other exchanges of a warp
  kControl,
  kOther
};
std::string_view name_of(InstructionClass kind);  // Returns "fma f32", "shared load" and the like.
InstructionClass class_of(std::string_view form);

// Floating-point operations of multiply-adds and matrix products per byte of global memory, read or
// written. Bytes are counted in three ways: those that lanes request, those that sectors move
// without any cache, and those that a perfect cache would move. 0: not known.
struct FlopPerByte {
  double requested = 0, sector = 0, footprint = 0;
};

// The counts of one source line.
struct LineCounts {
  std::string file;
  int line = 0;
  Count total;
  vgpu::MemoryCounts memory;

  // Returns issue slots plus excess wavefronts of the load/store unit, which are those beyond one
  // per access: wavefronts of shared memory (pair model) and data wavefronts of global and local
  // memory. A model, used only to sort lines.
  std::uint64_t cost() const;
};

struct CountSummary {
  Count total, fma, matrix, barrier;  // matrix: tensor-core multiplies
  Accesses global_loads, global_stores, shared_loads, shared_stores, other_accesses;
  std::map<InstructionClass, Count> mix;
  std::uint64_t flop = 0;                      // executed: an fma is 2, a matrix product 2 MNK
  std::uint64_t useful_flop = 0;               // 2MNK of the problem: less where tiles overhang
  vgpu::LaunchMemory memory;                   // all launches; their footprints added up
  vgpu::LaunchResources resources;             // resources of the launch with the most instructions
  std::uint64_t clusters = 0, ran = 0;         // if fewer ran, counts are scaled up from a sample
  std::vector<LineCounts> lines;               // the costliest first
  std::string tag = "exact";                   // "exact", "model" or "approximate"; see count_tag.h
  std::vector<std::string> cubin_differences;  // why the tag is "model"; each has both numbers
  std::vector<std::string> approximate_forms;
  int launches = 0;
  double host_seconds = 0;

  // Returns the FMA:LDS column of every report: useful multiply-adds per load from shared memory,
  // both counted per thread. 0 if there are no loads, or if tensor cores multiply.
  double fma_per_shared_load() const;
  // Returns the number of multiply-adds per warp that the problem needs; 0 if tensor cores
  // multiply.
  double useful_fmas() const;
  // Returns the useful FLOP per byte.
  FlopPerByte flop_per_byte() const;
  bool is_sample() const { return ran < clusters; }
};

// Returns the summary of launches that together multiply a problem once.
CountSummary summarize(const std::vector<LaunchCounts>& launches, const Problem& problem);
// Returns the summary of any launches, all of whose FLOP count as useful.
CountSummary summarize(const std::vector<LaunchCounts>& launches);

// Describes an instruction form: "ld.volatile.shared.v4.f32" is a load of 16 bytes from shared
// memory.
enum class FormKind { kOther, kFma, kMatrix, kBarrier, kLoad, kStore };
enum class FormSpace { kNone, kGlobal, kShared, kOther };
struct FormClass {
  FormKind kind = FormKind::kOther;
  FormSpace space = FormSpace::kNone;
  int bytes = 0;  // per lane
};
FormClass classify(std::string_view form);

// Whether a form is of FP64: "fma.rn.f64", "wmma.mma....m8n8k4.f64.f64.f64.f64.rn".
inline bool is_double(std::string_view form) { return form.find(".f64") != form.npos; }

// Returns the FLOP that a matrix product adds for each warp that issues it: 2 MNK of
// "...m16n8k16...", 0 without a shape. A wgmma is issued by four warps together, so each of the
// four warps counts a fourth of 2 MNK.
std::uint64_t matrix_flop(std::string_view form);

}  // namespace tessera::lab
