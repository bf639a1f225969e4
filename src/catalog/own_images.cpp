// Finds the pack of a program: the pack in the program itself, the file next to the program, or,
// for a program in bin, the file in share/tessera. Checks that the pack belongs to this build.
#include <filesystem>
#include <span>

#include "base/hash.h"
#include "base/status.h"
#include "catalog/image_pack.h"
#include "catalog/manifest.h"

// Bytes that add_embedded_pack() of cmake/images.cmake puts into a library. WHY weak: a program
// without these bytes reads the file next to the program.
extern "C" {
[[gnu::weak, gnu::visibility("hidden")]] extern const char tessera_embedded_pack[];
[[gnu::weak, gnu::visibility("hidden")]] extern const char tessera_embedded_pack_end[];
}

namespace tessera {
namespace {

constexpr const char* kFileName = "tessera.images";

std::string& expected_commit() {
  static std::string commit;
  return commit;
}

std::unique_ptr<ImagePack> find_own_images() {
  if (tessera_embedded_pack) {
    const auto bytes = static_cast<std::size_t>(tessera_embedded_pack_end - tessera_embedded_pack);
    return std::make_unique<ImagePack>("this library",
                                       std::string_view(tessera_embedded_pack, bytes));
  }
  namespace fs = std::filesystem;
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  const fs::path installed = folder.parent_path() / "share" / "tessera";
  const bool is_installed = !fs::exists(folder / kFileName) && fs::exists(installed / kFileName);
  return load_images((is_installed ? installed : folder).string());
}

std::string manifest_hash() {
  const std::string text = catalog::manifest_text();
  return hash_of(std::as_bytes(std::span<const char>(text)));
}

}  // namespace

std::unique_ptr<ImagePack> load_images(const std::string& path) {
  const bool is_folder = std::filesystem::is_directory(path);
  return std::make_unique<ImagePack>(is_folder ? (std::filesystem::path(path) / kFileName).string()
                                               : path);
}

void check_is_of(const ImagePack& pack, const PackOrigin& program) {
  const auto check = [&](const char* word, const std::string& theirs, const std::string& ours) {
    if (theirs == ours) return;
    throw StatusError(Status::unavailable(
        "compiled kernels: '" + pack.path() + "' is of " + word + " " + theirs +
        ", but this program is of " + word + " " + ours +
        "; take the file from this program's build, or make both anew with 'make build' (after a "
        "change of a config table, build/write_manifest comes first)"));
  };
  check("manifest", pack.origin().manifest, program.manifest);
  if (!program.commit.empty()) check("commit", pack.origin().commit, program.commit);
}

ImagePack& own_images() {
  static const std::unique_ptr<ImagePack> pack = [] {
    std::unique_ptr<ImagePack> found = find_own_images();
    check_is_of(*found, {expected_commit(), manifest_hash()});
    return found;
  }();
  return *pack;
}

void expect_images_of(std::string commit) { expected_commit() = std::move(commit); }

}  // namespace tessera
