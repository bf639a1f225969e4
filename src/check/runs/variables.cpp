#include "check/runs/variables.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/status.h"
#include "check/code.h"

namespace tessera::checking {
namespace {

using vgpu::ModuleVariable;

// Returns the names by which a user may mean a variable: for "_ZN4demo5tableE" also "demo::table"
// and "table".
std::vector<std::string> names_of(const std::string& mangled) {
  const std::string plain = plain_kernel_name(mangled);
  std::vector<std::string> names = {mangled, plain};
  const std::size_t scope = plain.rfind("::");
  if (scope != std::string::npos) names.push_back(plain.substr(scope + 2));
  return names;
}

bool is_named(const ModuleVariable& variable, const std::string& name) {
  const std::vector<std::string> names = names_of(variable.name);
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Whether a user knows the variable. The strings of printf and assert are variables of the
// compiler.
bool is_shown(const ModuleVariable& variable) {
  return !variable.name.starts_with("$str") && !variable.name.starts_with("__unnamed");
}

const ModuleVariable& find(const std::vector<ModuleVariable>& variables, const Argument& argument) {
  const auto found =
      std::find_if(variables.begin(), variables.end(),
                   [&](const ModuleVariable& one) { return is_named(one, argument.name); });
  if (found != variables.end()) return *found;
  std::vector<std::string> names;
  for (const ModuleVariable& one : variables) {
    if (is_shown(one)) names.push_back(plain_kernel_name(one.name));
  }
  throw StatusError(Status::bad_argument(
      fmt::format("--set names the variable '{}', but {}", argument.name,
                  names.empty() ? "the code has no variable in global or constant memory"
                                : "there are: " + closest_list(argument.name, names))));
}

std::vector<std::byte> bytes_of(const CheckPlan& plan, const Argument& argument,
                                const Placed& placed, std::size_t alignment) {
  const auto array = std::find_if(plan.arrays.begin(), plan.arrays.end(),
                                  [&](const auto& one) { return one.name == argument.name; });
  const bool is_array = std::holds_alternative<ArrayArgument>(argument.value);
  return is_array && array != plan.arrays.end() ? array->bytes
                                                : value_bytes(argument, placed, alignment);
}

}  // namespace

void set_variables(const CheckPlan& plan, const Placed& placed, const LoadedImage& image,
                   VirtualDevice& device) {
  if (plan.variables.empty()) return;
  const std::vector<ModuleVariable> variables = device.variables(image);
  for (const Argument& argument : plan.variables) {
    const ModuleVariable& variable = find(variables, argument);
    const bool is_whole = std::holds_alternative<StructArgument>(argument.value);
    std::vector<std::byte> bytes = bytes_of(plan, argument, placed, 128);
    // The struct may hold tensor maps of CUDA 12, which are aligned to 64 bytes. With maps of CUDA
    // 13, which are aligned to 128 bytes, the struct would be at least 64 bytes longer.
    if (is_whole && bytes.size() != variable.bytes) bytes = bytes_of(plan, argument, placed, 64);
    if (bytes.size() > variable.bytes || (is_whole && bytes.size() != variable.bytes)) {
      throw StatusError(Status::bad_argument(
          fmt::format("--set is '{}={}', which is {} bytes, but the variable has {}", argument.name,
                      argument.text, bytes.size(), variable.bytes)));
    }
    device.copy_in(variable.address, bytes.data(), bytes.size());
  }
}

std::vector<std::string> zero_constants(const CheckPlan& plan) {
  const std::unique_ptr<VirtualDevice> device = make_virtual_device({.host_threads = 1});
  CodeImage image;
  image.name = plan.code.path;
  image.ptx = plan.code.ptx;
  const std::string& ptx = plan.code.ptx;
  const std::size_t begin = ptx.find(".entry " + plan.kernel.name + "(");
  const std::size_t end = begin == ptx.npos ? begin : ptx.find(".entry ", begin + 7);
  const std::string body = begin == ptx.npos ? ptx : ptx.substr(begin, end - begin);
  std::vector<std::string> names;
  for (const ModuleVariable& one : device->variables(device->load(image))) {
    if (!one.is_constant || one.has_initial_value || body.find(one.name) == body.npos) continue;
    const bool set = std::any_of(plan.variables.begin(), plan.variables.end(),
                                 [&](const Argument& by) { return is_named(one, by.name); });
    if (!set) names.push_back(names_of(one.name).back());
  }
  return names;
}

}  // namespace tessera::checking
