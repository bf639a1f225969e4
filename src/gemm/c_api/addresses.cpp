#include "gemm/c_api/addresses.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string_view>

namespace tessera::gemm::c_api {
namespace {

// An operand that the call reads or writes; `bytes` from the first one addressed.
struct Used {
  std::string_view name;
  std::uint64_t address;
  std::uint64_t bytes;
};
using AllUsed = std::array<Used, 6>;  // those that are not used have no bytes

std::uint64_t bytes_of(const Problem& p, const MatrixView& view, std::int64_t stride,
                       ElementType type) {
  const Batch& batch = p.batch;
  const auto count = static_cast<std::uint64_t>(batch.count);
  if (batch.kind == BatchKind::kPointers) return count * sizeof(std::uint64_t);  // check()ed to fit
  if (count == 0 || view.span() == 0) return 0;
  // WHY: a batch may span more bytes than there are, and is then beyond the address space.
  const auto elements =
      static_cast<unsigned __int128>(count - 1) * static_cast<std::uint64_t>(stride) +
      static_cast<std::uint64_t>(view.span());
  const unsigned __int128 bytes = elements * static_cast<std::uint64_t>(size_of(type));
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  return bytes > most ? most : static_cast<std::uint64_t>(bytes);
}

AllUsed used_by(const Problem& p, const Operands& at) {
  const Types& t = p.types;
  const auto bytes = [&](bool is_used, const MatrixView& view, std::int64_t stride,
                         ElementType type) {
    return is_used ? bytes_of(p, view, stride, type) : 0;
  };
  const auto bytes_of_vector = [&](VectorKind kind, ElementType type) {
    return static_cast<std::uint64_t>(view_of(kind, p).span()) *
           static_cast<std::uint64_t>(size_of(type));
  };
  return {{{"A", at.a, bytes(reads_ab(p), view_a(p), p.batch.stride_a, t.a)},
           {"B", at.b, bytes(reads_ab(p), view_b(p), p.batch.stride_b, t.b)},
           {"C", at.c, bytes(p.beta != 0, view_c(p), p.batch.stride_c, t.c)},
           {"D", at.d, bytes(true, view_d(p), p.batch.stride_d, t.d)},
           {"scale", at.scale, bytes_of_vector(p.epilogue.scale, scale_type(t))},
           {"bias", at.bias, bytes_of_vector(p.epilogue.bias, bias_type(t))}}};
}

std::string address_of(const Used& one) {
  return "address of " + std::string(one.name) + " is " + std::to_string(one.address);
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

Memory detected(const Device& device, const AllUsed& all) {
  std::optional<Memory> found;
  const Used* first = nullptr;
  for (const Used& one : all) {
    if (one.bytes == 0 || one.address == 0) continue;
    const AddressKind kind = device.kind_of(one.address);
    if (kind == AddressKind::kOther) {
      throw refused(address_of(one) + ", which is " + text_of(kind) + " than the handle's");
    }
    const Memory memory = kind == AddressKind::kHere ? Memory::kDevice : Memory::kHost;
    if (found && *found != memory) {
      throw refused(address_of(one) + ", which is " + text_of(kind) + ", but " +
                    std::string(first->name) + " is in " +
                    (*found == Memory::kDevice ? "device" : "host") +
                    " memory, and all must be in the same");
    }
    if (!found) first = &one;
    found = memory;
  }
  return found.value_or(Memory::kDevice);
}

}  // namespace

Memory memory_of(const tessera_handle_s& owner, const Asked& asked, const Operands& operands) {
  if (owner.has_gpu()) {
    if (asked.memory != Memory::kDetect) return asked.memory;
    if (!owner.can_use_gpu()) return Memory::kHost;
    return detected(*owner.gpu().device, used_by(asked.problem, operands));
  }
  if (asked.memory == Memory::kDevice) {
    throw refused(
        "memory is TESSERA_DEVICE_MEMORY (0), but the handle is for the CPU, whose operands are "
        "in host memory");
  }
  return Memory::kHost;
}

void check_ranges(const Problem& problem, const Operands& operands, std::uint64_t workspace,
                  std::int64_t workspace_bytes) {
  for (const Used& one : used_by(problem, operands)) {
    if (one.bytes == 0) continue;
    if (one.address != 0 && one.address + (one.bytes - 1) < one.address) {
      throw refused(address_of(one) + ", and its " + std::to_string(one.bytes) +
                    " bytes end beyond the address space");
    }
    const bool is_apart = one.address + (one.bytes - 1) < workspace ||
                          workspace + static_cast<std::uint64_t>(workspace_bytes) <= one.address;
    if (workspace == 0 || workspace_bytes == 0 || is_apart) continue;
    throw refused("workspace at " + std::to_string(workspace) + " overlaps " +
                  std::string(one.name) + ", but must be apart from all operands");
  }
}

void check_device_addresses(const tessera_handle_s& owner, const Problem& problem,
                            const Operands& operands) {
  for (const Used& one : used_by(problem, operands)) {
    if (one.bytes == 0) continue;
    for (const std::uint64_t at : {one.address, one.address + (one.bytes - 1)}) {
      const AddressKind kind = owner.gpu().device->kind_of(at);
      if (kind == AddressKind::kHere) continue;
      throw refused(address_of(one) + ", but its " + (at == one.address ? "first" : "last") +
                    " byte is in " + text_of(kind));
    }
  }
}

}  // namespace tessera::gemm::c_api
