#include "check/runs/cost.h"

#include <filesystem>

#include "check/compile/nvcc.h"
#include "check/runs/launching.h"
#include "check/source.h"

namespace tessera::checking {
namespace {

// Returns the machine code of the kernel. If there is no assembler, or the assembler refuses the
// PTX, returns nothing and sets `why_not` to the reason.
std::vector<std::byte> machine_code_of(const Code& code, std::string& why_not) {
  try {
    return assemble_ptx(code.ptx, target_of(code.ptx));
  } catch (const StatusError& error) {
    why_not = error.status().message;
    return {};
  }
}

// Whether memory can be accessed through the argument. A number is not such an argument, even if
// the kernel computes an index from it.
bool holds_addresses(const Argument& argument) {
  return !std::holds_alternative<ScalarArgument>(argument.value) &&
         !std::holds_alternative<NullArgument>(argument.value);
}

// Returns the names of address arguments, by the offset of their parameter: "parameter +8".
std::map<std::string, std::string> names_of(const CheckPlan& plan) {
  std::map<std::string, std::string> names;
  for (std::size_t i = 0; i < plan.arguments.size(); ++i) {
    if (!holds_addresses(plan.arguments[i])) continue;
    names["parameter +" + std::to_string(plan.kernel.parameters[i].offset)] =
        plan.arguments[i].name;
  }
  return names;
}

}  // namespace

lab::Explanation cost_of(const CheckPlan& plan, const arch::Gpu& gpu) {
  const Watchdog watchdog(plan.seconds);
  vgpu::Observation observation;
  observation.memory = true;
  const std::unique_ptr<VirtualDevice> device =
      device_for(plan, watchdog, observation, plan.host_threads);
  launch(plan, place(plan, *device), *device);
  SourceLines lines(plan.code);
  lab::ForeignLaunch foreign;
  foreign.counts = std::move(device->take_counts().at(0));
  foreign.entry = plan.kernel.name;
  foreign.ptx = plan.code.ptx;
  foreign.file = std::filesystem::path(plan.code.path).stem().string() + ".cu";
  foreign.arguments = names_of(plan);
  foreign.text = [&](const std::string& file, int line) {
    const std::string text = lines.at(file, line).text;
    return text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
  };
  foreign.shown = [&](const std::string& file) {
    return file.empty() ? plan.code.path : lines.at(file, 1).file;
  };
  const std::vector<std::byte> machine_code = machine_code_of(plan.code, foreign.no_code);
  return lab::explain_launch(foreign, machine_code, gpu);
}

}  // namespace tessera::checking
