#include "device/cuda/modules.h"
#include "base/hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace tessera::cuda {
namespace {

// One code of an image: a cubin or a PTX. The codes are tried in order.
struct Candidate {
  std::string description;
  std::span<const std::byte> cubin;
  std::string misfit;  // why the code is not tried; "" if it is tried
  bool is_patched = false;
  CodeText ptx = {};  // if there is no cubin; read only when tried

  std::span<const std::byte> bytes() const {
    return ptx.empty() ? cubin : std::as_bytes(std::span<const char>(ptx.view()));
  }
};

std::string misfit_of(bool fits, int sm) {
  return fits ? "" : fmt::format("this GPU is sm_{}", sm);
}

Candidate candidate_of(const Cubin& cubin, int sm) {
  return {fmt::format("cubin {}", cubin.arch), cubin.bytes,
          misfit_of(cubin_fits(cubin.arch, sm), sm)};
}

Candidate candidate_of(const CodeText& ptx, std::string_view arch, int sm) {
  Candidate text{fmt::format("ptx {} (compiled by driver)", arch), {}, {}};
  text.misfit = misfit_of(ptx_fits(arch, sm), sm);
  text.ptx = ptx;
  return text;
}

// The patched cubin of an image, whose code was reordered by rules for sm_90. The patched cubin
// fits only if it was made from the image's cubin.
Candidate patched_candidate_of(const CodeImage& image, int sm) {
  Candidate patched = candidate_of({image.cubin_arch, image.patched.bytes}, sm);
  patched.description = "patched " + patched.description;
  patched.is_patched = true;
  if (image.patched.bytes.empty()) {
    patched.misfit = "the build has none";
  } else if (!image.patched.is_checked && hash_of(image.cubin) != image.patched.made_from) {
    patched.misfit = "it was made from another cubin";
  } else if (sm != 90) {
    patched.misfit = misfit_of(false, sm);
  }
  return patched;
}

std::vector<Candidate> candidates_of(const CodeImage& image, int sm) {
  std::vector<Candidate> list;
  if (!image.patched.made_from.empty()) list.push_back(patched_candidate_of(image, sm));
  if (!image.cubin.empty()) list.push_back(candidate_of({image.cubin_arch, image.cubin}, sm));
  if (!image.ptx.empty()) list.push_back(candidate_of(image.ptx, image.cubin_arch, sm));
  for (const Cubin& cubin : image.further_cubins) list.push_back(candidate_of(cubin, sm));
  if (!image.portable_ptx.empty()) {
    list.push_back(candidate_of(image.portable_ptx, image.portable_arch, sm));
  }
  return list;
}

// True for results which mean that the GPU or the driver cannot use this code, so that another code
// of the image may still load.
bool is_wrong_code(Result result) {
  constexpr std::array kWrongCode = {
      kInvalidImage,          kNoBinaryForGpu,         kInvalidPtx,   kJitCompilerNotFound,
      kUnsupportedPtxVersion, kJitCompilationDisabled, kInvalidSource};
  return std::find(kWrongCode.begin(), kWrongCode.end(), result) != kWrongCode.end();
}

// The first line of the driver's error log, without its line break.
std::string first_line(const char* log) {
  const std::string_view text(log);
  return std::string(text.substr(0, text.find_first_of("\r\n")));
}

// Tries to load one code. If the driver refuses the code, returns no module and fills `reason`.
Module try_load(const Driver& driver, const Candidate& code, std::string& reason) {
  std::array<char, 4096> log{};
  std::array<JitOption, 2> options = {kErrorLogBuffer, kErrorLogBufferBytes};
  std::array<void*, 2> values = {log.data(), reinterpret_cast<void*>(log.size())};
  Module module = nullptr;
  // WHY a copy of PTX: the driver requires PTX that ends with a zero byte.
  const std::string ptx(code.ptx.view());
  const void* const first =
      code.ptx.empty() ? code.cubin.data() : static_cast<const void*>(ptx.c_str());
  const Result result =
      driver.module_load_data_ex(&module, first, options.size(), options.data(), values.data());
  if (result == kSuccess) return module;
  log.back() = '\0';
  if (!is_wrong_code(result) && !code.is_patched) check(driver, "cuModuleLoadDataEx", result);
  reason = describe(driver, "cuModuleLoadDataEx", result);
  if (log.front() != '\0') reason += ": " + first_line(log.data());
  return nullptr;
}

}  // namespace

LoadedModule load_module(const Driver& driver, const CodeImage& image, int sm) {
  std::string reasons, without_patch;
  for (const Candidate& code : candidates_of(image, sm)) {
    std::string reason = code.misfit;
    if (reason.empty()) {
      // WHY `loaded` is made before the module is loaded: if its allocation failed afterwards, the
      // module would never be unloaded.
      LoadedModule loaded{nullptr, code.description + without_patch, code.bytes(), code.is_patched};
      loaded.module = try_load(driver, code, reason);
      if (loaded.module) return loaded;
    }
    if (code.is_patched) without_patch = fmt::format(" (patched one not used: {})", reason);
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", code.description, reason);
  }
  throw StatusError(Status::unavailable(fmt::format(
      "image {} cannot be loaded by this GPU and driver ({}): {}; "
      "a newer driver may load it",
      image.name, release_name(driver.version), reasons.empty() ? "it holds no code" : reasons)));
}

}  // namespace tessera::cuda
