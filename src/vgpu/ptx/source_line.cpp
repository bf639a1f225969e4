#include "vgpu/ptx/source_line.h"

#include <string_view>

namespace tessera::vgpu::ptx {
namespace {

std::string_view file_of(const Module& module, const SourceLocation& location) {
  const auto at = static_cast<std::size_t>(location.file);
  return location.file > 0 && at < module.files.size() ? std::string_view(module.files[at]) : "";
}

bool is_wrapper(std::string_view file) {
  return file.find("/include/") != file.npos || file.find("/ptx/") != file.npos;
}

}  // namespace

SourceLine source_line(const Module& module, const Function& function,
                       const SourceLocation& location) {
  const SourceLocation* shown = &location;
  while (shown->caller >= 0 && is_wrapper(file_of(module, *shown))) {
    shown = &function.locations[static_cast<std::size_t>(shown->caller)];
  }
  if (is_wrapper(file_of(module, *shown))) shown = &location;
  SourceLine line{std::string(file_of(module, *shown)), shown->line, {}};
  while (shown->caller >= 0) {
    shown = &function.locations[static_cast<std::size_t>(shown->caller)];
    if (is_wrapper(file_of(module, *shown))) continue;
    line.callers.emplace_back(file_of(module, *shown), shown->line);
  }
  return line;
}

}  // namespace tessera::vgpu::ptx
