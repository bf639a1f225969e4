#include "gemm/c_api/packed.h"

#include <string>

#include "gemm/c_api/addresses.h"

namespace tessera::gemm::c_api {
namespace {

void require_gpu(const tessera_handle_s& owner, const Asked& asked) {
  if (owner.has_gpu() && asked.memory == Memory::kDevice) return;
  throw refused(
      "memory is that of the host, or the handle is for the CPU, but operands are packed in the "
      "memory of a GPU; give memory TESSERA_DEVICE_MEMORY and a handle of a GPU");
}

PackedArgument argument_of(const tessera_handle_s& owner, tessera_packed given, const char* name,
                           const Problem& problem, const char* side, std::int64_t outer) {
  if (!given) return {};
  const auto packed = packed_operands().find(given, name);
  const auto require_same = [&](const char* what, const std::string& has,
                                const std::string& wanted) {
    if (has == wanted) return;
    throw refused(std::string(name) + " was packed for " + what + " " + has +
                  ", but the problem's is " + wanted + "; pack the operand for this problem");
  };
  require_same(side, std::to_string(packed->outer), std::to_string(outer));
  require_same("k", std::to_string(packed->k), std::to_string(problem.k));
  require_same("type", name_of(packed->types), name_of(problem.types));
  if (!owner.has_gpu()) return packed->argument;
  require_same("GPU", std::to_string(packed->gpu), std::to_string(owner.info->index));
  require_here(owner, name, packed->argument.address,
               static_cast<std::uint64_t>(packed->argument.bytes));
  return packed->argument;
}

}  // namespace

Packing packing_of(const tessera_handle_s& owner, const Asked& asked, OperandId operand) {
  require_gpu(owner, asked);
  return gemm::packing_of(with_default_ld(asked.problem), operand, limits_of(*owner.info));
}

std::shared_ptr<tessera_packed_s> pack(const tessera_handle_s& owner, const Asked& asked,
                                       OperandId operand, const void* matrix, void* memory,
                                       std::size_t bytes, void* stream) {
  const Packing packing = packing_of(owner, asked, operand);
  if (bytes < static_cast<std::size_t>(packing.bytes)) {
    throw refused("bytes is " + std::to_string(bytes) + ", but the operand takes " +
                  std::to_string(packing.bytes) + " packed; ask tessera_packed_bytes()");
  }
  const auto from = reinterpret_cast<DeviceAddress>(matrix);
  const auto to = reinterpret_cast<DeviceAddress>(memory);
  const Problem one = with_default_ld(asked.problem);
  const OperandTable table(one);
  if (packing.bytes > 0) {
    given(static_cast<const std::byte*>(matrix), "matrix");
    given(static_cast<std::byte*>(memory), "memory");
    if (from % size_of(table[operand].type) != 0) {
      throw refused("matrix is at " + std::to_string(from) + ", but must be at a multiple of " +
                    std::to_string(size_of(table[operand].type)) + " bytes, those of an element");
    }
    if (to % kWorkspaceAlignment != 0) {
      throw refused("memory is at " + std::to_string(to) + ", but must be at a multiple of " +
                    std::to_string(kWorkspaceAlignment) + " bytes");
    }
    const std::uint64_t read = table[operand].bytes;
    const auto written = static_cast<std::uint64_t>(packing.bytes);
    if (overlap(from, read, to, written)) {
      throw refused("memory at " + std::to_string(to) + " overlaps the matrix, but must be apart");
    }
    require_here(owner, "matrix", from, read);
    require_here(owner, "memory", to, written);
  }
  Device& device = *owner.gpu().device;
  gemm::pack(device, device, packing, operand, from, to, stream);
  return std::make_shared<tessera_packed_s>(tessera_packed_s{
      one.types, packing.outer, packing.k, {to, packing.bytes}, owner.info->index});
}

void require_none(const PackedArguments& packed) {
  if (!packed.operands().any()) return;
  throw refused(std::string(packed.a.address != 0 ? "packed_a" : "packed_b") +
                " is given, but operands in host memory are read as they are; give null");
}

PackedArguments packed_of(const tessera_handle_s& owner, const tessera_arguments& given,
                          const Problem& problem) {
  return {argument_of(owner, given.packed_a, "packed_a", problem, "m", problem.m),
          argument_of(owner, given.packed_b, "packed_b", problem, "n", problem.n)};
}

}  // namespace tessera::gemm::c_api
