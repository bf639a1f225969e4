// Puts all images that have been compiled into one file. `make run` compiles a few of them, `make
// build` the rest, and both call this: what is not there yet is left out, and so is what was
// compiled from files that have changed since.
//
// pack_images [--all] OUTPUT MANIFEST FOLDER "ARCH;ARCH..." "KERNEL;KERNEL..." COMMIT_FILE
//     --all       fails where an image is missing
//     the kernels those whose cubins are patched
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>
#include <span>

#include "base/hash.h"
#include "catalog/image_pack.h"
#include "catalog/pack.h"
#include "tools/build/manifest_lines.h"

namespace tessera::build {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, separator);) words.push_back(word);
  return words;
}

bool is_newer(const fs::path& made, const fs::path& from) {
  return fs::exists(from) && fs::last_write_time(made) >= fs::last_write_time(from);
}

// Compiled, and from the files as they are now.
bool is_fresh(const std::string& stem) {
  const fs::path text = stem + ".text", code = stem + ".code", inputs = stem + ".inputs";
  if (!fs::exists(text) || !fs::exists(code) || !fs::exists(inputs)) return false;
  const std::vector<std::string> files = split(read(inputs), '\n');
  return !files.empty() && std::ranges::all_of(files, [&](const auto& file) {
    return is_newer(text, file) && is_newer(code, file);
  });
}

struct Call {
  bool all = false;
  fs::path output, manifest, folder;
  std::vector<std::string> archs, patched_kernels;
  std::string commit;
};

const ManifestImage& image_named(const std::vector<ManifestImage>& images,
                                 const std::string& name) {
  const auto found =
      std::ranges::find_if(images, [&](const auto& image) { return image.name() == name; });
  if (found == images.end()) throw std::runtime_error("the manifest has no image " + name);
  return *found;
}

// WHY here: programs that load the patched cubin then need not hash the other one.
void check_patch(const PackedImage& image) {
  const UnpackedParts code = unpack(image.code);
  const std::string_view cubin = code.parts.at(0);
  const UnpackedParts patch = unpack(image.patch, cubin);
  const std::string hash = hash_of(std::as_bytes(std::span<const char>(cubin)));
  if (patch.parts.at(1) == hash) return;
  throw std::runtime_error("the patch of " + image.name + " was made from a cubin of hash " +
                           std::string(patch.parts[1]) + ", but the cubin has hash " + hash);
}

// Nothing where it is not there yet.
std::optional<PackedImage> packed_image(const ManifestImage& image,
                                        const std::vector<ManifestImage>& images,
                                        const Call& call) {
  const std::string from = value_of(image.line, "patched_from");
  const ManifestImage& code = from.empty() ? image : image_named(images, from);
  const std::string stem = (call.folder / code.name()).string();
  if (!is_fresh(stem)) return {};

  PackedImage packed{.name = image.name(),
                     .portable_arch = {},
                     .cubin_archs = call.archs,
                     .text = read(stem + ".text"),
                     .code = read(stem + ".code"),
                     .patch = {}};
  // Cubins of further GPUs are made from the portable PTX.
  const std::string portable = value_of(code.line, "portable");
  if (portable == "0") packed.cubin_archs.resize(1);
  if (portable != "0") packed.portable_arch = "compute_" + portable;
  const std::string kernel = packed.name.substr(0, packed.name.find("__"));
  if (!from.empty() || std::ranges::count(call.patched_kernels, kernel)) {
    const fs::path cubin = stem + "." + call.archs.at(0) + ".cubin", patch = stem + ".patch";
    if (!fs::exists(patch) || !is_newer(patch, cubin)) return {};
    packed.patch = read(patch);
    check_patch(packed);
  }
  return packed;
}

// Leaves an equal file alone, and never shows half a file to a program that starts meanwhile.
void write_if_changed(const fs::path& path, const std::string& bytes) {
  if (fs::exists(path) && read(path) == bytes) return;
  const fs::path beside = path.string() + ".new";
  std::ofstream file(beside, std::ios::binary);
  file << bytes;
  if (!file.flush()) throw std::runtime_error("cannot write " + beside.string());
  fs::rename(beside, path);
}

void pack_images(const Call& call) {
  const std::string text = read(call.manifest);
  const std::vector<ManifestImage> images = read_manifest(call.manifest);
  std::vector<PackedImage> packed;
  for (const ManifestImage& image : images) {
    std::optional<PackedImage> one = packed_image(image, images, call);
    if (!one && call.all) throw std::runtime_error("image " + image.name() + " is not compiled");
    if (one) packed.push_back(std::move(*one));
  }
  const std::string manifest = hash_of(std::as_bytes(std::span<const char>(text)));
  write_if_changed(call.output, image_file({call.commit, manifest}, packed));
}

}  // namespace
}  // namespace tessera::build

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool all = !words.empty() && words[0] == "--all";
  if (all) words.erase(words.begin());
  if (words.size() != 6) {
    std::fprintf(stderr,
                 "usage: pack_images [--all] OUTPUT MANIFEST FOLDER ARCHS KERNELS COMMIT_FILE\n");
    return 2;
  }
  try {
    using tessera::build::read, tessera::build::split;
    tessera::build::pack_images({all, words[0], words[1], words[2], split(words[3], ';'),
                                 split(words[4], ';'), split(read(words[5]), '\n').at(0)});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "pack_images: %s\n", error.what());
    return 1;
  }
  return 0;
}
