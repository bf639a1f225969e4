// Findings and reports about a wgmma: the bytes that it fetches, and its errors.
#include "vgpu/async/wgmma/wgmma_findings.h"

#include <algorithm>
#include <vector>

#include "vgpu/async/parts.h"

namespace tessera::vgpu {

const WgmmaRule kRegisterInFlight = {
    "wgmma-register-in-flight",
    "a register of a wgmma in flight is used before wgmma.wait_group says that it is done",
    "wait for its group first, or use other registers"};
const WgmmaRule kNoFirstFence = {"missing-wgmma-fence",
                                 "the warp's first wgmma comes without a wgmma.fence before it",
                                 "put wgmma.fence before the first wgmma"};
const WgmmaRule kNoFence = {
    "missing-wgmma-fence", "a wgmma uses a register that was touched since the last wgmma.fence",
    "put wgmma.fence between what touches the accumulator, or A's registers, and the wgmma"};
const WgmmaRule kMoveBehindFence = {
    "missing-wgmma-fence", "a register is set between the wgmma.fence and the wgmma that uses it",
    "nothing: compilers sink a plain mov behind the fence, and ptxas places it rightly "
    "(--strict-ptx makes this an error)",
    Severity::kNote};
const WgmmaRule kNoFenceBetweenShapes = {
    "missing-wgmma-fence",
    "two wgmma of different shapes use one accumulator without a wgmma.fence between them",
    "put wgmma.fence between them; only wgmma of the same shape are in order by themselves"};
const WgmmaRule kNoWarpgroup = {
    "warpgroup-incomplete", "wgmma is issued by a warp whose warpgroup has fewer than four warps",
    "launch a multiple of 128 threads; warps 0-3, 4-7 and so on are the warpgroups"};
const WgmmaRule kWarpgroupDiffers = {
    "warpgroup-divergence",
    "the four warps of a warpgroup issue different wgmma, or with different descriptors or scale-d",
    "compute the descriptors and the branches around wgmma alike in all four warps"};

namespace {

const WgmmaRule kLanesDiffer = {"wgmma-descriptor",
                                "the lanes of a warp have different matrix descriptors",
                                "compute descriptors from values that are alike in all lanes"};
const WgmmaRule kStrayBits = {
    "wgmma-descriptor", "a matrix descriptor has bits outside of its fields",
    "start address bits 0-13, leading 16-29, stride 32-45, base offset 49-51, swizzle 62-63"};

constexpr std::uint64_t kDescriptorFields =
    0x3fffull | 0x3fffull << 16 | 0x3fffull << 32 | 7ull << 49 | 3ull << 62;

std::size_t accumulator_count(const WgmmaWork& work) {
  return static_cast<std::size_t>(work.form.tiles_n * registers_of_d(work.form));
}

void tell_chunks(const Lanes& lanes, const Op& op, const std::uint32_t* chunks, int count,
                 AgentId agent) {
  std::vector<std::uint32_t> sorted(chunks, chunks + count);
  std::sort(sorted.begin(), sorted.end());
  AgentAccess access;
  access.agent = agent;
  access.owner = lanes.warp->cta().rank();
  access.instruction = op.instruction;
  for (const std::uint32_t chunk : sorted) {
    if (access.bytes != 0 && chunk <= access.address + access.bytes) {
      access.bytes = std::max<std::uint64_t>(access.bytes, chunk + 16 - access.address);
      continue;
    }
    if (access.bytes != 0) lanes.observer->agent_access(access);
    access.address = chunk;
    access.bytes = 16;
  }
  lanes.observer->agent_access(access);
}

void check_descriptor(const Lanes& lanes, const Op& op, int operand) {
  const auto* bits = reinterpret_cast<const std::uint64_t*>(lanes.registers + op.operand[operand]);
  const bool alike =
      std::all_of(bits, bits + kLanes, [bits](auto other) { return other == *bits; });
  if (!alike) notice_wgmma(lanes, kLanesDiffer, {{op.instruction, "issued here"}});
  if ((*bits & ~kDescriptorFields) != 0) {
    notice_wgmma(lanes, kStrayBits, {{op.instruction, "issued here"}});
  }
}

}  // namespace

std::span<const std::uint32_t> accumulators_of(const WgmmaWork& work) {
  return {work.d, accumulator_count(work)};
}
std::span<const std::uint32_t> factors_of(const WgmmaWork& work) {
  return {work.d + accumulator_count(work), work.a_in_registers ? 4u : 0u};
}
std::span<const std::uint32_t> registers_of(const WgmmaWork& work) {
  return {work.d, accumulator_count(work) + (work.a_in_registers ? 4u : 0u)};
}

void tell_fetches(const Lanes& lanes, const Op& op, const WgmmaWork& work, AgentId agent) {
  if (!work.a_in_registers) tell_chunks(lanes, op, work.a_chunks, 32, agent);
  tell_chunks(lanes, op, work.b_chunks, 16 * work.form.tiles_n, agent);
}

void notice_wgmma(const Lanes& lanes, const WgmmaRule& rule,
                  std::initializer_list<WgmmaPlace> places) {
  const AsyncCta& cta = lanes.warp->cta();
  Finding finding;
  finding.check = rule.check;
  finding.severity = rule.severity;
  finding.message = rule.message;
  finding.hint = rule.hint;
  for (const WgmmaPlace& from : places) {
    const InstructionInfo& info = cta.kernel().instructions[from.instruction];
    FindingPlace& place = finding.places.emplace_back();
    place.what = from.what;
    place.form = info.form;
    place.ptx_line = info.ptx_line;
    place.source_file = info.source_file;
    place.source_line = info.source_line;
    place.callers = info.callers;
    place.cta = cta.index();
    place.warp = static_cast<int>(lanes.warp->index());
  }
  lanes.observer->notice(std::move(finding));
}

void check_wgmma_descriptors(const Lanes& lanes, const Op& op, const WgmmaWork& work) {
  check_descriptor(lanes, op, 0);
  if (!work.a_in_registers) check_descriptor(lanes, op, 1);
}

}  // namespace tessera::vgpu
