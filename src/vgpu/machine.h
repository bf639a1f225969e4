// The virtual GPU: memory, loaded PTX modules and launches. It runs real nvcc PTX, IEEE-exact per
// instruction, 32 lanes at a time, several CTAs at once on the host's cores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "vgpu/report/fault.h"
#include "vgpu/report/observation.h"
#include "vgpu/report/report.h"
#include "vgpu/report/signature.h"

namespace tessera::vgpu {

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
};

struct LaunchShape {
  Dim3 grid, block;
  Dim3 cluster = {0, 0, 0};        // 0: what the kernel says, else one CTA
  std::uint32_t shared_bytes = 0;  // dynamic
  // A programmatic dependent launch: a GPU may start it before earlier launches have ended. Here it
  // runs after them, and the checks report accesses that should follow its griddepcontrol.wait.
  bool starts_early = false;
};

struct MachineOptions {
  int host_threads = 0;          // 0: all cores
  std::size_t memory_bytes = 0;  // 0: what the host can give when the machine is made
  Observation observation;
  bool allow_avx512 = true;  // false: the AVX2 path even where the host has AVX-512
};

class Program;  // a loaded module: its decoded functions, and its global variables in memory

class Machine {
 public:
  explicit Machine(const MachineOptions& options = {});
  ~Machine();

  // Global memory has an address space of its own. Allocations are 256-byte aligned and have red
  // zones (unallocated addresses) around them.
  std::uint64_t allocate(std::size_t bytes);  // throws Fault kOutOfMemory
  void free(std::uint64_t address);
  void write(std::uint64_t to, const void* from, std::size_t bytes);  // bounds-checked
  void read(void* to, std::uint64_t from, std::size_t bytes);

  // Whether the host or a checked launch has written all of these bytes. Bytes that an unchecked
  // launch may have written count as written.
  bool is_written(std::uint64_t address, std::size_t bytes) const;

  // The limit of the sum of all allocations, in bytes.
  std::size_t memory_limit() const;

  // Sets what is observed in later launches.
  void observe(const Observation& observation);

  std::shared_ptr<const Program> load(std::string_view ptx);  // throws Fault
  // Returns the entries of a program and their parameters.
  static std::vector<KernelSignature> signatures(const Program& program);
  // Returns the program's variables in global and constant memory.
  static std::vector<ModuleVariable> variables(const Program& program);
  // `params` holds the bytes of the parameter space, each parameter at its natural alignment.
  LaunchReport launch(const Program& program, std::string_view entry, const LaunchShape& shape,
                      std::span<const std::byte> params);  // throws Fault

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::vgpu
