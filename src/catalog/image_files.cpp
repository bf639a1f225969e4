#include "catalog/image_files.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/renamed.h"
#include "base/status.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kArch = "sm_90a";  // the architecture of cubins made from the PTX

std::string cubin_of(std::string_view name) {
  return std::string(name) + "." + std::string(kArch) + ".cubin";
}

// The contents of a file; empty if there is no such file.
std::string bytes_of(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::span<const std::byte> as_bytes(const std::string& text) {
  return std::as_bytes(std::span<const char>(text));
}

// Returns the file name, without its ending, that the files of image `name` have in a folder. In an
// older build, the image may have another name.
std::string stem_of(const fs::path& folder, std::string_view name) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string file = entry.path().filename().string();
    if (with_current_names(file) == cubin_of(name)) {
      return file.substr(0, file.size() - cubin_of("").size());
    }
  }
  return std::string(name);
}

bool holds_images(const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().filename().string().ends_with(cubin_of(""))) return true;
  }
  return false;
}

}  // namespace

// The data that an image points to.
struct ImageFiles::Files {
  std::string name, ptx, cubin, patched, made_from, note;
  CodeImage image;
};

ImageFiles::ImageFiles(std::string path, std::string_view option) : path_(std::move(path)) {
  if (holds_images(path_)) return;
  std::string reason;
  try {
    pack_ = load_images(path_);
    return;
  } catch (const StatusError& error) {
    if (fs::is_regular_file(path_)) reason = std::string(" (") + error.what() + ")";
  }
  throw StatusError(Status::bad_argument(
      std::string(option) + " is '" + path_ +
      "', but must be a build's tessera.images, or a folder of its images (build/images), with "
      "files such as " +
      cubin_of("simt_f32__256x128") + reason));
}

ImageFiles::~ImageFiles() = default;

bool ImageFiles::read(std::string_view name, bool with_patch, Files& files) const {
  const fs::path folder(path_);
  const std::string stem = stem_of(folder, name);
  files.cubin = bytes_of(folder / cubin_of(stem));
  files.ptx = bytes_of(folder / (stem + ".ptx"));
  if (files.cubin.empty() || files.ptx.empty()) return false;
  files.image.ptx = files.ptx;
  files.image.cubin = as_bytes(files.cubin);
  files.image.cubin_arch = kArch;
  if (with_patch) {
    files.patched = bytes_of(folder / (stem + ".patched.cubin"));
    files.made_from = bytes_of(folder / (stem + ".patched.from"));
    files.note = bytes_of(folder / (stem + ".patched.txt"));
    files.image.patched = {as_bytes(files.patched), files.made_from, files.note};
  }
  return true;
}

bool ImageFiles::take(std::string_view name, bool with_patch, Files& files) {
  for (const std::string_view known : pack_->names()) {
    if (with_current_names(known) != name) continue;
    files.image = *pack_->find(known);
    if (!with_patch) files.image.patched = {};
    return true;
  }
  return false;
}

const CodeImage* ImageFiles::find(std::string_view name, bool with_patch) {
  const std::string key = std::string(name) + (with_patch ? ", patched" : "");
  if (const auto known = read_.find(key); known != read_.end()) return &known->second->image;
  auto files = std::make_unique<Files>();
  if (!(pack_ ? take(name, with_patch, *files) : read(name, with_patch, *files))) return nullptr;
  files->name = key + " of " + path_;
  files->image.name = files->name;
  return &read_.emplace(key, std::move(files)).first->second->image;
}

}  // namespace tessera
