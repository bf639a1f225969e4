#include "gemm/overlay/overlay_file.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <system_error>

#include "catalog/image_pack.h"

namespace tessera::gemm {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVariable = "TESSERA_TUNING";
constexpr const char* kExtension = ".tuning";

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

// The user's cache folder; empty if the user has none.
std::string cache_folder() {
  const std::string cache = environment("XDG_CACHE_HOME"), home = environment("HOME");
  if (!cache.empty()) return cache + "/tessera";
  return home.empty() ? "" : home + "/.cache/tessera";
}

// The file for a GPU: "NVIDIA H100 80GB HBM3" -> "nvidia-h100-80gb-hbm3" and the extension.
std::string file_name_of(const std::string& gpu) {
  std::string name;
  for (const unsigned char c : gpu) {
    if (std::isalnum(c)) {
      name += static_cast<char>(std::tolower(c));
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  return name + kExtension;
}

// The value of TESSERA_TUNING: null if it is not set, empty if it is "off".
const char* given_path() {
  const char* const path = std::getenv(kVariable);
  return path && std::strcmp(path, "off") == 0 ? "" : path;
}

[[noreturn]] void cannot_write(const std::string& path, int error) {
  throw StatusError(Status::unavailable("the overlay is '" + path +
                                        "', but cannot be written: " + std::strerror(error)));
}

// The overlay for a GPU that plans are made for; null if there is none. Errors are ignored.
std::unique_ptr<const Overlay> overlay_for(const DeviceInfo& info) {
  try {
    const std::string path = overlay_path(info.name);
    if (path.empty() || access(path.c_str(), F_OK) != 0) return nullptr;
    Overlay overlay = read_overlay(path);
    ignore_if_foreign(overlay, {info.name, info.driver, library_version()});
    return std::make_unique<const Overlay>(std::move(overlay));
  } catch (const std::exception&) {
    return nullptr;
  }
}

}  // namespace

std::string overlay_path(const std::string& gpu) {
  if (const char* const path = given_path()) return path;
  const std::string folder = cache_folder();
  return folder.empty() ? folder : folder + "/" + file_name_of(gpu);
}

std::vector<std::string> overlay_paths() {
  std::vector<std::string> paths;
  std::error_code none;
  if (const char* const path = given_path()) {
    if (fs::exists(path, none)) paths.emplace_back(path);
    return paths;
  }
  for (const auto& file : fs::directory_iterator(cache_folder(), none)) {
    if (file.path().extension() == kExtension) paths.push_back(file.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string library_version() { return own_images().origin().commit; }

Overlay read_overlay(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return {path, {}, {}, {}};
  if (!fs::is_regular_file(path, error)) return {path, {}, {}, path + " is no file"};
  std::ifstream file(path, std::ios::binary);
  // WHY one byte more: a longer file is noticed, and the rest of it is not read.
  std::string text(kMostOverlayBytes + 1, '\0');
  if (!file.read(text.data(), static_cast<std::streamsize>(text.size())) && !file.eof()) {
    return {path, {}, {}, path + " cannot be read"};
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  return overlay_of(text, path);
}

void write_overlay(const Overlay& overlay) {
  const std::string& path = overlay.path;
  const std::string text = text_of(overlay);
  if (text.size() > kMostOverlayBytes) {
    throw StatusError(Status::unavailable("the overlay is '" + path +
                                          "', but would be longer than 4 MiB; remove the file"));
  }
  std::error_code error;
  if (const fs::path folder = fs::path(path).parent_path(); !folder.empty()) {
    fs::create_directories(folder, error);
    if (error) cannot_write(path, error.value());
  }
  // The temporary file is in the same folder because a rename is atomic only within one file
  // system.
  std::string other = path + ".XXXXXX";
  const int file = mkstemp(other.data());
  if (file < 0) cannot_write(path, errno);
  const char* from = text.data();
  std::size_t left = text.size();
  while (left > 0) {
    const ssize_t written = write(file, from, left);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) break;
    from += written;
    left -= static_cast<std::size_t>(written);
  }
  const int failed = left > 0 ? errno : 0;
  if (close(file) == 0 && failed == 0 && rename(other.c_str(), path.c_str()) == 0) return;
  const int why = failed != 0 ? failed : errno;
  unlink(other.c_str());
  cannot_write(path, why);
}

void remove_overlay(const std::string& path) {
  if (unlink(path.c_str()) != 0 && errno != ENOENT) cannot_write(path, errno);
}

DeviceLimits tuned_limits_of(const DeviceInfo& info) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<const Overlay>> known;
  DeviceLimits limits = limits_of(info);
  const std::lock_guard lock(mutex);
  const auto [place, is_new] = known.try_emplace(info.name);
  if (is_new) place->second = overlay_for(info);
  limits.overlay = place->second.get();
  return limits;
}

}  // namespace tessera::gemm
