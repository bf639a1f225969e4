#include "lab/counts/count_tag.h"

#include <map>
#include <mutex>
#include <stdexcept>

#include "sass/container/cubin.h"
#include "sass/report/ptx_counts.h"

namespace tessera::lab {
namespace {

// PTX and cubin of one image, read once.
struct Code {
  std::vector<sass::PtxKernel> ptx;
  sass::CubinFile cubin;
  std::string problem;  // why they cannot be read
};

const Code& code_of(const CodeImage& image) {
  static std::mutex guard;
  static std::map<std::string, Code, std::less<>> known;
  const std::lock_guard lock(guard);
  const auto at = known.find(image.name);
  if (at != known.end()) return at->second;
  Code& code = known[std::string(image.name)];
  try {
    code.ptx = sass::count_ptx(image.ptx);
    code.cubin = sass::read_cubin(image.cubin);
  } catch (const std::runtime_error& error) {
    code.problem = error.what();
  }
  return code;
}

const sass::PtxKernel* find(const std::vector<sass::PtxKernel>& kernels, const std::string& name) {
  for (const sass::PtxKernel& kernel : kernels) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

}  // namespace

std::vector<std::string> cubin_differences(const Kernel& kernel,
                                           const std::vector<std::string>& entries) {
  std::vector<std::string> found;
  for (const std::string& entry : entries) {
    const Code& code = code_of(image_of(kernel, entry));
    if (!code.problem.empty()) return {code.problem};
    const sass::PtxKernel* ptx = find(code.ptx, entry);
    const sass::CubinKernel* cubin = code.cubin.find(entry);
    if (!ptx || !cubin) {
      found.push_back(entry + " is not in both PTX and cubin");
      continue;
    }
    for (std::string& difference : sass::differences(*ptx, *cubin)) {
      found.push_back(std::move(difference));
    }
  }
  return found;
}

void set_tag(CountSummary& counts, const Kernel& kernel, const std::vector<std::string>& entries) {
  counts.cubin_differences = cubin_differences(kernel, entries);
  const bool is_exact = counts.cubin_differences.empty() && !counts.is_sample();
  counts.tag = is_exact ? "exact" : "model";
  if (!counts.approximate_forms.empty()) counts.tag = "approximate";
}

std::string wavefront_tag(const CountSummary& counts) {
  if (counts.tag != "exact") return counts.tag;
  const auto agree = [](const vgpu::MemoryCounts& part) {
    return part.shared.plain.wavefronts == part.shared.pair.wavefronts;
  };
  const vgpu::LaunchMemory& memory = counts.memory;
  const bool all = agree(memory.loads) && agree(memory.stores) && agree(memory.atomics) &&
                   agree(memory.copies_in);
  return all ? "exact" : "model";
}

std::string footprint_tag(const CountSummary& counts) {
  return counts.is_sample() ? "model" : "exact";
}

}  // namespace tessera::lab
