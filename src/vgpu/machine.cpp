// The public interface of the virtual GPU. It checks the input of callers and keeps the state that
// persists between launches.
#include "vgpu/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

#include "vgpu/exec/decode/kernel.h"
#include "vgpu/exec/launch.h"
#include "vgpu/memory/device_heap.h"
#include "vgpu/memory/global.h"
#include "vgpu/observe/observers.h"
#include "vgpu/ptx/parser.h"
#include "vgpu/ptx/signatures.h"

namespace tessera::vgpu {
namespace {

// HW: limits of compute capability 9.0 (CUDA C++ Programming Guide, technical specifications).
constexpr std::uint32_t kMaxThreads = 1024;
constexpr std::uint32_t kMaxStaticShared = 48 << 10;
constexpr std::uint32_t kMaxShared = 227 << 10;
constexpr std::uint32_t kMaxGridX = 0x7fffffff, kMaxGridYZ = 65535;
constexpr std::uint32_t kMaxBlockXY = 1024, kMaxBlockZ = 64;

[[noreturn]] void bad_launch(const std::string& kernel, const std::string& message) {
  FaultPlace place;
  place.kernel = kernel;
  throw Fault(FaultKind::kBadLaunch, "a GPU refuses this launch: " + message, place);
}

}  // namespace

class Program {
 public:
  Program(std::string_view ptx, std::shared_ptr<GlobalMemory> memory,
          const OperationSet& operations)
      : module_(ptx::parse(ptx)), memory_(std::move(memory)), operations_(operations) {
    for (const auto& variable : module_.variables) place(variable);
    for (const auto& variable : module_.variables) fill_addresses(variable);
  }
  ~Program() {
    for (const auto& [name, address] : globals_) memory_->free(address);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  std::vector<KernelSignature> signatures() const { return ptx::signatures(module_); }

  std::vector<ModuleVariable> variables() const {
    std::vector<ModuleVariable> all;
    for (const ptx::Variable& variable : module_.variables) {
      const auto placed = globals_.find(variable.name);
      if (placed == globals_.end()) continue;
      all.push_back({variable.name, placed->second, variable.count * variable.type.bits / 8,
                     variable.space == ptx::Space::kConst,
                     !variable.init.empty() || !variable.addresses.empty()});
    }
    return all;
  }

  // A kernel is decoded at its first launch, so that kernels that are never launched may contain
  // anything.
  const Kernel& kernel(const std::string& entry) const {
    const std::lock_guard lock(mutex_);
    auto& kernel = kernels_[entry];
    if (!kernel) kernel = decode_kernel(module_, entry, globals_, operations_);
    return *kernel;
  }

 private:
  void place(const ptx::Variable& variable) {
    if (variable.space != ptx::Space::kGlobal && variable.space != ptx::Space::kConst) return;
    const std::size_t bytes = variable.count * variable.type.bits / 8;
    if (bytes == 0) return;
    const std::uint64_t address = memory_->allocate(bytes);
    globals_.emplace(variable.name, address);
    std::vector<std::byte> init = variable.init;
    init.resize(bytes);  // zero where there is no initial value
    std::memcpy(memory_->host(address, bytes), init.data(), bytes);
    memory_->host_wrote(address, bytes);
  }

  std::uint64_t address_of(const std::string& symbol) const {
    const auto variable = globals_.find(symbol);
    return variable != globals_.end() ? variable->second : address_of_function(module_, symbol);
  }

  // Writes the initial values that are addresses of other variables or of functions.
  void fill_addresses(const ptx::Variable& variable) {
    for (const ptx::InitialAddress& pointer : variable.addresses) {
      const std::uint64_t base = address_of(pointer.symbol);
      if (base == 0) {
        FaultPlace place;
        place.ptx_line = variable.line;
        throw Fault(FaultKind::kUnsupported, "there is no address of " + pointer.symbol, place);
      }
      const std::uint64_t value = base + static_cast<std::uint64_t>(pointer.addend);
      std::byte* to = memory_->host(globals_.at(variable.name) + pointer.offset, sizeof value);
      std::memcpy(to, &value, sizeof value);
    }
  }

  ptx::Module module_;
  std::shared_ptr<GlobalMemory> memory_;
  const OperationSet& operations_;
  GlobalAddresses globals_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::unique_ptr<const Kernel>> kernels_;
};

struct Machine::Impl {
  MachineOptions options;
  std::shared_ptr<GlobalMemory> memory;
  std::unique_ptr<DeviceHeap> heap;              // made for the first kernel that uses it
  std::shared_ptr<const EarlierLaunch> earlier;  // the last launch, if it was checked

  LaunchContext context(const Kernel& kernel, const LaunchShape& shape,
                        std::span<const std::byte> params) const;
};

namespace {

void check_shape(const Kernel& kernel, const LaunchShape& shape) {
  const Dim3 &grid = shape.grid, &block = shape.block;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > kMaxGridX || grid.y > kMaxGridYZ ||
      grid.z > kMaxGridYZ) {
    bad_launch(kernel.name,
               fmt::format("a grid of {} x {} x {} CTAs is out of range", grid.x, grid.y, grid.z));
  }
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  if (threads == 0 || threads > kMaxThreads || block.x > kMaxBlockXY || block.y > kMaxBlockXY ||
      block.z > kMaxBlockZ) {
    bad_launch(kernel.name, fmt::format("a CTA of {} x {} x {} threads is out of range", block.x,
                                        block.y, block.z));
  }
  const int limit = kernel.required_threads != 0 ? kernel.required_threads : kernel.max_threads;
  const bool exact = kernel.required_threads != 0;
  if (limit != 0 && (exact ? int(threads) != limit : int(threads) > limit)) {
    bad_launch(kernel.name, fmt::format("{} threads a CTA, the kernel is compiled for {}{}",
                                        threads, exact ? "" : "at most ", limit));
  }
}

// Returns the cluster shape of the launch, else the shape that the kernel requires, else 1 x 1 x 1.
Dim3 cluster_shape(const Kernel& kernel, const LaunchShape& shape) {
  const Dim3 required = {kernel.cluster[0], kernel.cluster[1], kernel.cluster[2]};
  const Dim3 asked = shape.cluster;
  const bool given = asked.x != 0 || asked.y != 0 || asked.z != 0;
  if (given && (asked.x == 0 || asked.y == 0 || asked.z == 0)) {
    bad_launch(kernel.name, fmt::format("a cluster of {} x {} x {} CTAs is out of range", asked.x,
                                        asked.y, asked.z));
  }
  if (required.x == 0) return given ? asked : Dim3{};
  if (given && (asked.x != required.x || asked.y != required.y || asked.z != required.z)) {
    bad_launch(kernel.name,
               fmt::format("clusters of {} x {} x {} CTAs, the kernel is compiled for {} x {} x {}",
                           asked.x, asked.y, asked.z, required.x, required.y, required.z));
  }
  return required;
}

void check_cluster(const Kernel& kernel, const LaunchShape& shape, const Dim3& cluster) {
  const std::uint64_t ctas = std::uint64_t{cluster.x} * cluster.y * cluster.z;
  const std::uint32_t limit = kernel.max_cluster_ctas != 0 ? kernel.max_cluster_ctas : kMaxCluster;
  if (ctas > std::min<std::uint32_t>(limit, kMaxCluster)) {
    bad_launch(kernel.name, fmt::format("a cluster of {} CTAs, at most {} are possible", ctas,
                                        std::min<std::uint32_t>(limit, kMaxCluster)));
  }
  const Dim3& grid = shape.grid;
  if (grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0) {
    bad_launch(kernel.name,
               fmt::format("a grid of {} x {} x {} CTAs is no whole number of clusters of {} x {} "
                           "x {}",
                           grid.x, grid.y, grid.z, cluster.x, cluster.y, cluster.z));
  }
  const bool named = kernel.cluster[0] != 0 || shape.cluster.x != 0;
  if (kernel.explicit_cluster && !named) {
    bad_launch(kernel.name, "the kernel wants to be launched with a cluster shape");
  }
}

std::uint32_t check_shared(const Kernel& kernel, const LaunchShape& shape) {
  if (kernel.static_shared_bytes > kMaxStaticShared) {
    bad_launch(kernel.name, fmt::format("{} bytes of static shared memory, at most {} are possible",
                                        kernel.static_shared_bytes, kMaxStaticShared));
  }
  const std::uint64_t bytes =
      shape.shared_bytes == 0 ? kernel.static_shared_bytes
                              : std::uint64_t{kernel.dynamic_shared_offset} + shape.shared_bytes;
  if (bytes > kMaxShared) {
    bad_launch(kernel.name, fmt::format("{} bytes of shared memory, at most {} are possible", bytes,
                                        kMaxShared));
  }
  return static_cast<std::uint32_t>(bytes);
}

// The workspace that the driver gives a cooperative launch: zeroed words with which grid.sync()
// works.
class GridWorkspace {
 public:
  GridWorkspace(const Kernel& kernel, GlobalMemory& memory) : memory_(memory) {
    constexpr std::size_t kBytes = 64;
    if (!kernel.uses_grid_workspace) return;
    address_ = memory.allocate(kBytes);
    std::memset(memory.host(address_, kBytes), 0, kBytes);
    memory.host_wrote(address_, kBytes);
  }
  ~GridWorkspace() { memory_.free(address_); }
  GridWorkspace(const GridWorkspace&) = delete;
  GridWorkspace& operator=(const GridWorkspace&) = delete;

  std::uint64_t address() const { return address_; }

 private:
  GlobalMemory& memory_;
  std::uint64_t address_ = 0;
};

}  // namespace

LaunchContext Machine::Impl::context(const Kernel& kernel, const LaunchShape& shape,
                                     std::span<const std::byte> params) const {
  check_shape(kernel, shape);
  if (params.size() != kernel.param_bytes) {
    bad_launch(kernel.name, fmt::format("{} bytes of parameters given, the kernel takes {}",
                                        params.size(), kernel.param_bytes));
  }
  const Dim3 cluster = cluster_shape(kernel, shape);
  check_cluster(kernel, shape, cluster);
  LaunchContext context;
  context.kernel = &kernel;
  context.memory = memory.get();
  const std::uint32_t grid[3] = {shape.grid.x, shape.grid.y, shape.grid.z};
  const std::uint32_t block[3] = {shape.block.x, shape.block.y, shape.block.z};
  std::copy(grid, grid + 3, context.grid);
  std::copy(block, block + 3, context.block);
  const std::uint32_t ctas[3] = {cluster.x, cluster.y, cluster.z};
  std::copy(ctas, ctas + 3, context.cluster);
  context.explicit_cluster = kernel.cluster[0] != 0 || shape.cluster.x != 0;
  context.shared_bytes = check_shared(kernel, shape);
  context.dynamic_shared_bytes = shape.shared_bytes;
  context.params = params;
  context.observation = options.observation;
  return context;
}

Machine::Machine(const MachineOptions& options) : impl_(std::make_unique<Impl>()) {
  impl_->options = options;
  if (impl_->options.host_threads <= 0) {
    impl_->options.host_threads = std::max(1, int(std::thread::hardware_concurrency()));
  }
  impl_->memory = std::make_shared<GlobalMemory>(options.memory_bytes);
}

Machine::~Machine() = default;

std::uint64_t Machine::allocate(std::size_t bytes) { return impl_->memory->allocate(bytes); }
void Machine::free(std::uint64_t address) { impl_->memory->free(address); }

void Machine::write(std::uint64_t to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  std::memcpy(impl_->memory->host(to, bytes), from, bytes);
  impl_->memory->host_wrote(to, bytes);
  impl_->earlier.reset();  // a copy waits for the launches before it, and the next for the copy
}

void Machine::read(void* to, std::uint64_t from, std::size_t bytes) {
  if (bytes != 0) std::memcpy(to, impl_->memory->host(from, bytes), bytes);
  impl_->earlier.reset();
}

bool Machine::is_written(std::uint64_t address, std::size_t bytes) const {
  const MemoryBlock* block = impl_->memory->find(address);
  return block && impl_->memory->written(*block).is_marked(address - block->base, bytes);
}

std::size_t Machine::memory_limit() const { return impl_->memory->limit(); }

void Machine::observe(const Observation& observation) { impl_->options.observation = observation; }

std::shared_ptr<const Program> Machine::load(std::string_view ptx) {
  return std::make_shared<const Program>(ptx, impl_->memory,
                                         OperationSet::choose(impl_->options.allow_avx512));
}

std::vector<KernelSignature> Machine::signatures(const Program& program) {
  return program.signatures();
}

std::vector<ModuleVariable> Machine::variables(const Program& program) {
  return program.variables();
}

LaunchReport Machine::launch(const Program& program, std::string_view entry,
                             const LaunchShape& shape, std::span<const std::byte> params) {
  const Kernel& kernel = program.kernel(std::string(entry));
  LaunchContext context = impl_->context(kernel, shape, params);
  if (kernel.uses_heap && !impl_->heap) {
    impl_->heap = std::make_unique<DeviceHeap>(allocate(DeviceHeap::kSpan));
  }
  context.heap = impl_->heap.get();
  const GridWorkspace workspace(kernel, *impl_->memory);
  context.grid_workspace = workspace.address();
  if (!context.observation.checks) impl_->memory->assume_written();
  if (shape.starts_early) context.earlier = impl_->earlier;
  impl_->earlier.reset();
  context.becomes_earlier = &impl_->earlier;
  return run_launch(context, observers_of, impl_->options.host_threads);
}

}  // namespace tessera::vgpu
