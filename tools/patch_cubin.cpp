// The step between ptxas and embedding for images that are patched at build time: writes IN.cubin
// with its FFMAs reordered to OUT.cubin, and the proof to stdout. Fails, and writes nothing, when
// something is not proved or when no kernel gained anything.
//
//     patch_cubin IN.cubin OUT.cubin [KERNEL]
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <span>
#include <vector>

#include "sass/patch.h"

namespace {

std::vector<char> read(const char* path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

int patch(const char* in, const char* out, const char* kernel) {
  const std::vector<char> file = read(in);
  const tessera::sass::PatchResult result =
      tessera::sass::optimise(std::as_bytes(std::span(file)), {.kernel = kernel});
  bool is_changed = false;
  for (const tessera::sass::KernelPatch& patch : result.kernels) is_changed |= patch.is_changed();
  if (!is_changed) {
    std::fprintf(stderr, "%s: no kernel gained anything.\n", in);
    return 1;
  }
  std::ofstream stream(out, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(result.cubin.data()),
               static_cast<std::streamsize>(result.cubin.size()));
  if (!stream.flush()) {
    std::fprintf(stderr, "%s cannot be written.\n", out);
    return 1;
  }
  std::fputs(proof_text(result).c_str(), stdout);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3 || count > 4) {
    std::fprintf(stderr, "usage: patch_cubin IN.cubin OUT.cubin [KERNEL]\n");
    return 2;
  }
  try {
    return patch(arguments[1], arguments[2], count == 4 ? arguments[3] : "");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
