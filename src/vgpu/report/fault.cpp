// A fault must be readable without a debugger: the first line describes the error, the second line
// says where it happened, as far as this is known.
#include "vgpu/report/fault.h"

#include <fmt/format.h>

#include <utility>

namespace tessera::vgpu {
namespace {

// Returns "PTX line 12: ld.global.f32, kernel sgemm, CTA 3, thread 7, address 0x1000".
std::string describe(const FaultPlace& place) {
  std::string text;
  const auto add = [&text](const std::string& part) {
    if (!text.empty()) text += ", ";
    text += part;
  };
  if (place.ptx_line > 0) add(fmt::format("PTX line {}", place.ptx_line));
  if (!place.form.empty()) add(place.form);
  if (!place.kernel.empty()) add(fmt::format("kernel {}", place.kernel));
  if (place.thread >= 0) add(fmt::format("CTA {}, thread {}", place.cta, place.thread));
  if (place.has_address) add(fmt::format("address {:#x}", place.address));
  return text;
}

std::string compose(const std::string& message, const FaultPlace& place) {
  const std::string where = describe(place);
  return where.empty() ? message : message + "\n  at " + where;
}

}  // namespace

Fault::Fault(FaultKind kind, const std::string& message, FaultPlace place)
    : std::runtime_error(compose(message, place)),
      kind_(kind),
      message_(message),
      place_(std::move(place)) {}

}  // namespace tessera::vgpu
