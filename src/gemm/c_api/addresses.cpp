#include "gemm/c_api/addresses.h"

#include <optional>
#include <string_view>

namespace tessera::gemm::c_api {
namespace {

std::string address_text(std::string_view name, std::uint64_t at) {
  return "address of " + std::string(name) + " is " + std::to_string(at);
}
std::string address_text(const Operand& one, const Operands& at) {
  return address_text(one.name, at[one.id]);
}

std::string text_of(AddressKind kind) {
  switch (kind) {
    case AddressKind::kHere:
      return "memory of the GPU";
    case AddressKind::kOther:
      return "memory of another GPU";
    case AddressKind::kHost:
      return "pinned host memory";
    case AddressKind::kUnknown:
      break;
  }
  return "no memory of the driver: host memory, or freed";
}

Memory detected(const Device& device, const Problem& problem, const Operands& at) {
  std::optional<Memory> found;
  std::string_view first;
  for (const Operand& one : OperandTable(problem)) {
    if (one.bytes == 0 || at[one.id] == 0) continue;
    const AddressKind kind = device.kind_of(at[one.id]);
    if (kind == AddressKind::kOther) {
      throw refused(address_text(one, at) + ", which is " + text_of(kind) + " than the handle's");
    }
    const Memory memory = kind == AddressKind::kHere ? Memory::kDevice : Memory::kHost;
    if (found && *found != memory) {
      throw refused(address_text(one, at) + ", which is " + text_of(kind) + ", but " +
                    std::string(first) + " is in " +
                    (*found == Memory::kDevice ? "device" : "host") +
                    " memory, and all must be in the same");
    }
    if (!found) first = one.name;
    found = memory;
  }
  return found.value_or(Memory::kDevice);
}

}  // namespace

Memory memory_of(const tessera_handle_s& owner, const Asked& asked, const Operands& operands) {
  if (owner.has_gpu()) {
    if (asked.memory != Memory::kDetect) return asked.memory;
    if (!owner.can_use_gpu()) return Memory::kHost;
    return detected(*owner.gpu().device, asked.problem, operands);
  }
  if (asked.memory == Memory::kDevice) {
    throw refused(
        "memory is TESSERA_DEVICE_MEMORY (0), but the handle is for the CPU, whose operands are "
        "in host memory");
  }
  return Memory::kHost;
}

void require_here(const tessera_handle_s& owner, const std::string& name, std::uint64_t first,
                  std::uint64_t bytes) {
  if (!owner.place.checks_addresses || bytes == 0) return;
  for (const std::uint64_t at : {first, first + (bytes - 1)}) {
    const AddressKind kind = owner.gpu().device->kind_of(at);
    if (kind == AddressKind::kHere) continue;
    throw refused(address_text(name, first) + ", but its " + (at == first ? "first" : "last") +
                  " byte is in " + text_of(kind));
  }
}

void check_device_addresses(const tessera_handle_s& owner, const Problem& problem,
                            const Operands& operands) {
  for (const Operand& one : OperandTable(problem)) {
    require_here(owner, std::string(one.name), operands[one.id], one.bytes);
  }
}

}  // namespace tessera::gemm::c_api
