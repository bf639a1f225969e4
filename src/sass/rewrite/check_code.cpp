#include "sass/rewrite/check_code.h"

#include <stdexcept>

#include "sass/container/cubin.h"
#include "sass/model/hazards.h"

namespace tessera::sass {
namespace {

CheckedKernel checked(const CubinKernel& kernel, int sm) {
  CheckedKernel result{kernel.name, {}, {}};
  try {
    const Program program = program_of(kernel, sm);
    result.not_checked = reason_not_to_check(program);
    if (!result.not_checked.empty()) return result;
    for (const Hazard& hazard : find_hazards(program)) {
      result.hazards.push_back(text_of(program, hazard));
    }
  } catch (const std::runtime_error& error) {
    result.not_checked = error.what();
  }
  return result;
}

}  // namespace

std::vector<CheckedKernel> check_code(std::span<const std::byte> cubin) {
  const CubinFile file = read_cubin(cubin);
  std::vector<CheckedKernel> all;
  for (const CubinKernel& kernel : file.kernels) all.push_back(checked(kernel, file.sm));
  return all;
}

std::string reason_not_to_check(const Program& program) {
  for (const Operation& operation : program.operations) {
    if (operation.name.ends_with("GMMA"))
      return "it uses warpgroup MMAs, whose waits are not followed.";
  }
  for (const Node& node : program.nodes) {
    const Block& block = program.blocks[node.block];
    for (std::size_t at = block.begin; at < block.end; ++at) {
      if (!program.operations[at].known) {
        return "nothing is known about its instruction " + program.operations[at].name + ".";
      }
    }
  }
  return "";
}

}  // namespace tessera::sass
