// A function is decoded only if a decoded instruction names it, so code that the kernel does not
// use may contain anything. Shared memory is laid out for each kernel: first the variables that it
// uses, then the dynamic part.
#include "vgpu/exec/decode/kernel.h"

#include <algorithm>
#include <map>
#include <utility>

#include "vgpu/exec/decode/decoder.h"
#include "vgpu/exec/decode/spins.h"
#include "vgpu/report/fault.h"

namespace tessera::vgpu {
namespace {

const ptx::Variable* find(const std::vector<ptx::Variable>& variables, const std::string& name) {
  const auto found =
      std::find_if(variables.begin(), variables.end(),
                   [&](const ptx::Variable& variable) { return variable.name == name; });
  return found == variables.end() ? nullptr : &*found;
}

// Places each variable after the previous one, at its alignment, when it is first used.
class SharedLayout {
 public:
  std::uint64_t address_of(const ptx::Variable& variable) {
    if (variable.count == 0) return dynamic_address(variable);
    const auto [at, is_new] = offsets_.try_emplace(&variable, 0);
    if (is_new) {
      bytes_ = align_up(bytes_, alignment_of(variable));
      at->second = bytes_;
      bytes_ += variable.count * variable.type.bits / 8;
    }
    return kSharedBase + at->second;
  }
  std::vector<SharedArray> arrays() const {
    std::vector<SharedArray> all;
    for (const auto& [variable, offset] : offsets_) all.push_back({variable->name, offset});
    return all;
  }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t dynamic_offset() const { return align_up(bytes_, dynamic_alignment_); }
  // Whether an address in the dynamic part was returned before that part moved.
  bool dynamic_part_moved() const { return lowest_given_ < dynamic_offset(); }

 private:
  std::uint64_t dynamic_address(const ptx::Variable& variable) {
    dynamic_alignment_ = std::max(dynamic_alignment_, alignment_of(variable));
    lowest_given_ = std::min(lowest_given_, dynamic_offset());
    return kSharedBase + dynamic_offset();
  }

  std::map<const ptx::Variable*, std::uint64_t> offsets_;
  std::uint64_t bytes_ = 0, dynamic_alignment_ = 16;
  std::uint64_t lowest_given_ = ~std::uint64_t{0};
};

class KernelBuilder : public KernelScope {
 public:
  KernelBuilder(const ptx::Module& module, const std::string& entry, const GlobalAddresses& globals,
                const OperationSet& operations)
      : module_(module), name_(entry), globals_(globals), operations_(operations) {}

  std::unique_ptr<const Kernel> build() {
    const ptx::Function* entry = function_named(name_);
    if (!entry || !entry->is_entry) {
      throw Fault(FaultKind::kBadLaunch, "there is no kernel " + name_, {});
    }
    auto kernel = decode_all(*entry);
    // WHY again: the start of the dynamic part is known only after all static variables are placed.
    if (shared_.dynamic_part_moved()) kernel = decode_all(*entry);
    describe(*entry, *kernel);
    return kernel;
  }

  // ---- KernelScope ----------------------------------------------------------------------------
  const std::string& kernel_name() const override { return name_; }

  ptx::SourceLine source_line(const ptx::Function& function,
                              const ptx::SourceLocation& location) const override {
    return ptx::source_line(module_, function, location);
  }

  bool find_variable(const ptx::Function& from, const std::string& name, Window& window,
                     std::uint64_t& address) override {
    if (from.is_entry && find_param(from, name, address)) {
      window = Window::kParam;
      return true;
    }
    const ptx::Variable* variable = find(from.variables, name);
    if (!variable) variable = find(module_.variables, name);
    if (!variable) return false;
    if (variable->space == ptx::Space::kShared) {
      window = Window::kShared;
      address = shared_.address_of(*variable);
      return true;
    }
    const auto global = globals_.find(name);
    if (global == globals_.end()) return false;
    window = Window::kGlobal;
    address = global->second;
    return true;
  }

  bool find_function(const std::string& name, std::uint32_t& index) override {
    const ptx::Function* function = function_named(name);
    if (!function) return false;
    const auto known = std::find(reachable_.begin(), reachable_.end(), function);
    index = static_cast<std::uint32_t>(known - reachable_.begin());
    if (known == reachable_.end()) reachable_.push_back(function);
    return true;
  }

  const ptx::Function& function_at(std::uint32_t index) override { return *reachable_[index]; }

  std::uint64_t function_address(const std::string& name) override {
    return address_of_function(module_, name);
  }

  std::vector<std::string> functions_like(std::size_t returns, std::size_t params) override {
    std::vector<std::string> names;
    for (const auto& function : module_.functions) {
      if (function.is_entry || !function.has_body) continue;
      if (function.returns.size() != returns || function.params.size() != params) continue;
      names.push_back(function.name);
    }
    return names;
  }

 private:
  const ptx::Function* function_named(const std::string& name) const {
    for (const auto& function : module_.functions) {
      if (function.name == name && function.has_body) return &function;
    }
    return nullptr;
  }

  bool find_param(const ptx::Function& entry, const std::string& name, std::uint64_t& address) {
    std::uint64_t at = 0;
    for (const auto& param : entry.params) {
      at = align_up(at, alignment_of(param));
      if (param.name == name) {
        address = at;
        return true;
      }
      at += param.count * param.type.bits / 8;
    }
    return false;
  }

  std::unique_ptr<Kernel> decode_all(const ptx::Function& entry) {
    auto kernel = std::make_unique<Kernel>();
    reachable_ = {&entry};
    for (std::size_t i = 0; i < reachable_.size(); ++i) {
      Function function;
      Decoder(*reachable_[i], *this, operations_).decode(*kernel, function);
      mark_spins(kernel->instructions, function);
      kernel->functions.push_back(std::move(function));
    }
    return kernel;
  }

  void describe(const ptx::Function& entry, Kernel& kernel) {
    kernel.name = name_;
    for (const auto& param : entry.params) {
      const std::uint64_t at = align_up(kernel.param_bytes, alignment_of(param));
      kernel.param_bytes = static_cast<std::uint32_t>(at + param.count * param.type.bits / 8);
    }
    kernel.shared_arrays = shared_.arrays();
    kernel.static_shared_bytes = static_cast<std::uint32_t>(shared_.bytes());
    kernel.dynamic_shared_offset = static_cast<std::uint32_t>(shared_.dynamic_offset());
    kernel.max_threads = entry.max_threads;
    kernel.required_threads = entry.required_threads;
    for (int d = 0; d < 3; ++d) kernel.cluster[d] = static_cast<std::uint32_t>(entry.cluster[d]);
    kernel.explicit_cluster = entry.explicit_cluster;
    kernel.max_cluster_ctas = static_cast<std::uint32_t>(entry.max_cluster_rank);
  }

  const ptx::Module& module_;
  const std::string& name_;
  const GlobalAddresses& globals_;
  const OperationSet& operations_;
  SharedLayout shared_;
  std::vector<const ptx::Function*> reachable_;
};

}  // namespace

std::uint64_t address_of_function(const ptx::Module& module, const std::string& name) {
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    if (module.functions[i].name == name) return kFunctionBase + 16 * i;
  }
  return 0;
}

std::unique_ptr<const Kernel> decode_kernel(const ptx::Module& module, const std::string& entry,
                                            const GlobalAddresses& globals,
                                            const OperationSet& operations) {
  return KernelBuilder(module, entry, globals, operations).build();
}

}  // namespace tessera::vgpu
