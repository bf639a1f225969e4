#include "check/runs/refusals.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <span>

#include "base/hash.h"
#include "check/compile/nvcc.h"

namespace tessera::checking {
namespace {

// The threads of the largest block that fits even if each thread has all 255 registers.
constexpr int kAlwaysFits = 256;

int threads_of(const LaunchShape& shape) { return shape.block * shape.block_y * shape.block_z; }

bool moves_registers(const CheckPlan& plan) {
  return plan.code.ptx.find("setmaxnreg") != std::string::npos;
}

// Whether the kernel states its block size. The assembler then limits the registers per thread so
// that a block of this size fits.
bool states_size(const CheckPlan& plan) {
  return plan.kernel.required_threads != 0 || plan.kernel.max_threads >= threads_of(plan.shape);
}

lab::CodeNeeds assembled(const CheckPlan& plan) {
  try {
    const std::vector<std::byte> cubin =
        assemble_ptx(plan.code.ptx, target_of(plan.code.ptx), Messages::kHidden);
    return lab::needs_of(cubin, plan.kernel.name);
  } catch (const std::exception&) {  // no assembler, or it refuses the PTX
    return {};
  }
}

}  // namespace

lab::CodeNeeds needs_of(const CheckPlan& plan) {
  const bool matters = threads_of(plan.shape) > kAlwaysFits && !states_size(plan);
  if (!matters && !moves_registers(plan)) return {};
  static std::mutex mutex;
  static std::map<std::string, lab::CodeNeeds> known;
  const std::lock_guard lock(mutex);
  const std::string text = plan.kernel.name + '\n' + plan.code.ptx;
  const std::string key = hash_of(std::as_bytes(std::span(text)));
  const auto found = known.find(key);
  return found != known.end() ? found->second : known[key] = assembled(plan);
}

std::optional<vgpu::Finding> refused_for_registers(const CheckPlan& plan) {
  const lab::CodeNeeds needs = needs_of(plan);
  const int threads = threads_of(plan.shape);
  if (needs.registers == 0 || lab::is_started(needs, threads)) return std::nullopt;
  vgpu::Finding finding;
  finding.check = "launch-refused";
  finding.message = fmt::format(
      "A GPU refuses this launch: {} threads of {} registers each do not fit into the {} registers "
      "of an SM",
      threads, needs.registers, lab::registers_of_sm());
  finding.hint = fmt::format(
      "declare the kernel with __launch_bounds__({}), so that the compiler takes fewer registers, "
      "or launch smaller blocks",
      threads);
  return finding;
}

}  // namespace tessera::checking
