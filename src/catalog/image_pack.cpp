#include "catalog/image_pack.h"

#include <fstream>
#include <iterator>
#include <span>
#include <sstream>
#include <stdexcept>

#include "base/hash.h"
#include "base/status.h"
#include "catalog/pack.h"

namespace tessera {
namespace {

constexpr std::string_view kMagic = "tessera images 2\n";

std::string hash_of_text(std::string_view text) {
  return hash_of(std::as_bytes(std::span<const char>(text)));
}

// "sm_90a,sm_86"; "-" for nothing.
std::string comma_list(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text.empty() ? "-" : text;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text == "-" ? "" : text);
  for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
  return words;
}

std::string line_of(const PackedImage& image) {
  return "image " + image.name + " portable " +
         (image.portable_arch.empty() ? "-" : image.portable_arch) + " cubins " +
         comma_list(image.cubin_archs) + " packed " + std::to_string(image.packed.size()) + " " +
         hash_of_text(image.packed) + " patch " + std::to_string(image.patch.size()) + " " +
         hash_of_text(image.patch) + "\n";
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (file) return bytes;
  throw StatusError(Status::unavailable("compiled kernels: cannot read '" + path +
                                        "', which must be next to the program; 'make build' "
                                        "writes it"));
}

}  // namespace

struct ImagePack::Row {
  std::string name, portable_arch;
  std::vector<std::string> cubin_archs;
  std::string_view packed, patch;
  std::string packed_hash, patch_hash;
};

// An image and what it points to.
struct ImagePack::Unpacked {
  explicit Unpacked(const Row& row) : parts(unpack(row.packed)) {
    for (std::size_t i = 0; i < row.cubin_archs.size(); ++i) {
      cubins.push_back({row.cubin_archs[i], std::as_bytes(std::span<const char>(parts.at(2 + i)))});
    }
    const Cubin& first = cubins.at(0);
    image = {row.name,
             parts.at(0),
             first.bytes,
             first.arch,
             parts.at(1),
             row.portable_arch,
             std::span<const Cubin>(cubins).subspan(1)};
    if (row.patch.empty()) return;
    patch = unpack(row.patch, parts.at(2));
    image.patched = {std::as_bytes(std::span<const char>(patch.at(0))), patch.at(1), patch.at(2)};
  }

  std::vector<std::string> parts, patch;
  std::vector<Cubin> cubins;
  CodeImage image;
};

std::string image_file(const PackOrigin& origin, const std::vector<PackedImage>& images) {
  std::string file =
      std::string(kMagic) + "commit " + origin.commit + "\nmanifest " + origin.manifest + "\n";
  for (const PackedImage& image : images) file += line_of(image);
  file += "hash " + hash_of_text(file) + "\n";
  for (const PackedImage& image : images) file += image.packed + image.patch;
  return file;
}

ImagePack::ImagePack(const std::string& path) : path_(path), own_bytes_(read_file(path)) {
  bytes_ = own_bytes_;
  read_header();
}

ImagePack::ImagePack(std::string path, std::string_view bytes)
    : path_(std::move(path)), bytes_(bytes) {
  read_header();
}

ImagePack::~ImagePack() = default;

void ImagePack::read_header() {
  const auto fail = [&](const std::string& rule) {
    throw StatusError(Status::unavailable("compiled kernels: '" + path_ + "' " + rule +
                                          "; 'make build' writes it anew"));
  };
  if (!bytes_.starts_with(kMagic)) fail("does not begin as a file of images");
  std::size_t at = kMagic.size();
  const auto next_line = [&] {
    const std::size_t end = bytes_.find('\n', at);
    if (end == bytes_.npos) fail("ends within its first lines");
    const std::string line(bytes_.substr(at, end - at));
    at = end + 1;
    return line;
  };
  std::vector<std::pair<std::size_t, std::size_t>> sizes;
  for (std::string line = next_line();; line = next_line()) {
    std::istringstream words(line);
    std::string key, word, cubins;
    words >> key;
    if (key == "hash") {
      words >> word;
      const std::string found = hash_of_text(bytes_.substr(0, at - line.size() - 1));
      if (word != found) fail("has first lines of hash " + found + ", but they say " + word);
      break;
    }
    if (key == "commit") words >> origin_.commit;
    if (key == "manifest") words >> origin_.manifest;
    if (key != "image") continue;
    Row row;
    auto& [packed, patch] = sizes.emplace_back();
    words >> row.name >> word >> row.portable_arch >> word >> cubins;
    words >> word >> packed >> row.packed_hash >> word >> patch >> row.patch_hash;
    if (row.portable_arch == "-") row.portable_arch.clear();
    row.cubin_archs = split(cubins);
    rows_.push_back(std::move(row));
  }
  std::size_t size = at;
  for (const auto& [packed, patch] : sizes) size += packed + patch;
  if (size != bytes_.size()) {
    fail("is " + std::to_string(bytes_.size()) + " bytes long, but its first lines say " +
         std::to_string(size));
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    rows_[i].packed = bytes_.substr(at, sizes[i].first);
    rows_[i].patch = bytes_.substr(at += sizes[i].first, sizes[i].second);
    at += sizes[i].second;
  }
}

std::vector<std::string_view> ImagePack::names() const {
  std::vector<std::string_view> names;
  for (const Row& row : rows_) names.push_back(row.name);
  return names;
}

const ImagePack::Unpacked& ImagePack::unpack_row(const Row& row) {
  const auto fail = [&](const std::string& rule) {
    throw StatusError(Status::unavailable("compiled kernels: image " + row.name + " in '" + path_ +
                                          "' " + rule + "; 'make build' writes it anew"));
  };
  for (const auto& [bytes, hash] :
       {std::pair{row.packed, &row.packed_hash}, {row.patch, &row.patch_hash}}) {
    const std::string found = hash_of_text(bytes);
    if (found != *hash) fail("has hash " + found + ", but the file's first lines say " + *hash);
  }
  try {
    return *unpacked_.emplace(row.name, std::make_unique<Unpacked>(row)).first->second;
  } catch (const std::exception& error) {
    fail(std::string("cannot be unpacked (") + error.what() + ")");
    throw;
  }
}

const CodeImage* ImagePack::find(std::string_view name) {
  const std::lock_guard lock(mutex_);
  if (const auto known = unpacked_.find(name); known != unpacked_.end()) {
    return &known->second->image;
  }
  for (const Row& row : rows_) {
    if (row.name == name) return &unpack_row(row).image;
  }
  return nullptr;
}

}  // namespace tessera
