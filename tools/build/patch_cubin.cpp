// The step between ptxas and embedding for images that are patched at build time: writes a cubin
// with its FFMAs reordered, and the proof.
//
//     patch_cubin IN.cubin OUT.cubin [KERNEL]
//         fails, and writes nothing, when something is not proved or when no kernel gained anything
//     patch_cubin --image IN.cubin STEM
//         for the build, which goes on without a patch: writes STEM.patched.cubin (empty if there
//         is none), STEM.patched.from (the hash of IN.cubin) and STEM.patched.txt (the proof, or
//         why there is none)
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "launch/image.h"
#include "sass/container/cubin.h"
#include "sass/rewrite/patch.h"

namespace {

std::vector<char> read(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw std::runtime_error(path + " cannot be read.");
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write(const std::string& path, std::string_view text) {
  std::ofstream stream(path, std::ios::binary);
  stream << text;
  if (!stream.flush()) throw std::runtime_error(path + " cannot be written.");
}

std::string_view text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Nothing to put into a better order, as in an image of launches before and after a product.
bool is_without_ffmas(std::span<const std::byte> cubin) {
  for (const auto& kernel : tessera::sass::read_cubin(cubin).kernels) {
    if (kernel.histogram.contains("FFMA")) return false;
  }
  return true;
}

tessera::sass::PatchResult patched(std::span<const std::byte> cubin, const std::string& kernel) {
  tessera::sass::PatchResult result = tessera::sass::optimise(cubin, {.kernel = kernel});
  bool is_changed = false;
  for (const tessera::sass::KernelPatch& patch : result.kernels) is_changed |= patch.is_changed();
  if (!is_changed) throw std::runtime_error("No kernel gained anything.");
  return result;
}

void patch(const std::string& in, const std::string& out, const std::string& kernel) {
  const std::vector<char> file = read(in);
  const tessera::sass::PatchResult result = patched(std::as_bytes(std::span(file)), kernel);
  write(out, text_of(result.cubin));
  std::fputs(proof_text(result).c_str(), stdout);
}

void patch_image(const std::string& in, const std::string& stem) {
  const std::vector<char> file = read(in);
  const auto cubin = std::as_bytes(std::span(file));
  tessera::sass::PatchResult result;
  std::string note = "It holds no FFMA.";
  try {
    if (!is_without_ffmas(cubin)) {
      result = patched(cubin, "");
      note = proof_text(result);
    }
  } catch (const std::exception& error) {
    note = error.what();
    std::fprintf(stderr, "warning: %s stays as ptxas wrote it: %s\n", in.c_str(), note.c_str());
  }
  write(stem + ".patched.cubin", text_of(result.cubin));
  write(stem + ".patched.from", tessera::hash_of(cubin));
  write(stem + ".patched.txt", note);
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  try {
    if (words.size() == 3 && words[0] == "--image") {
      patch_image(words[1], words[2]);
    } else if (words.size() == 2 || words.size() == 3) {
      patch(words[0], words[1], words.size() == 3 ? words[2] : "");
    } else {
      std::fprintf(stderr,
                   "usage: patch_cubin IN.cubin OUT.cubin [KERNEL]\n"
                   "       patch_cubin --image IN.cubin STEM\n");
      return 2;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
