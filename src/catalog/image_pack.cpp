#include "catalog/image_pack.h"

#include <array>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include "base/hash.h"
#include "base/status.h"
#include "catalog/pack.h"

namespace tessera {
namespace {

constexpr std::string_view kMagic = "tessera images 3\n";
// The first line of a file in the earlier format, which packs texts and cubins together. WHY such
// files can be read: their kernels can be compared with the kernels of this build.
constexpr std::string_view kEarlierMagic = "tessera images 2\n";

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span<const char>(text));
}

std::string hash_of_text(std::string_view text) { return hash_of(bytes_of(text)); }

// Joins words by commas: "sm_90a,sm_86". Returns "-" if there are no words.
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

std::string described(const char* word, const std::string& bytes) {
  return word + std::to_string(bytes.size()) + " " + hash_of_text(bytes);
}

std::string line_of(const PackedImage& image) {
  return "image " + image.name + " portable " +
         (image.portable_arch.empty() ? "-" : image.portable_arch) + " cubins " +
         comma_list(image.cubin_archs) + described(" text ", image.text) +
         described(" code ", image.code) + described(" patch ", image.patch) + "\n";
}

}  // namespace

// Packed bytes, and the hash of the packed bytes that the file's header states.
struct Packed {
  std::string_view bytes;
  std::string hash;
};

struct ImagePack::Row {
  std::string name, portable_arch;
  std::vector<std::string> cubin_archs;
  Packed text, code, patch;
  bool has_text_in_code = false;  // in files of the earlier format
};

// An image, and the unpacked bytes that the image points to.
struct ImagePack::Unpacked : CodeText::Source {
  Unpacked(const ImagePack& of, const Row& from) : pack(of), row(from) {}

  // Returns the image with its cubins unpacked, also the one whose instructions the build has
  // reordered (PatchedCubin). The first call unpacks them.
  const CodeImage& code() {
    const std::lock_guard lock(mutex);
    if (!is_unpacked) unpack_code();
    is_unpacked = true;
    return image;
  }
  std::string_view text(int part) const override {
    const std::lock_guard lock(mutex);
    if (texts.empty()) keep_texts(parts_of(row.text, 2).parts);
    return texts[static_cast<std::size_t>(part)];
  }

 private:
  // Unpacks `packed`. Refuses the image if there are fewer than `count` parts. More parts are
  // legal: the build also packs cubins for GPUs that this image is not for. WHY the hash is
  // compared only after a failure: zstd has a checksum of its own, and computing the hash takes a
  // tenth of the time of unpacking.
  UnpackedParts parts_of(const Packed& packed, std::size_t count,
                         std::string_view known = {}) const {
    std::string reason = "it has too few parts";
    try {
      UnpackedParts unpacked = unpack(packed.bytes, known);
      if (unpacked.parts.size() >= count) return unpacked;
    } catch (const std::runtime_error& error) {
      reason = error.what();
    }
    const std::string found = hash_of_text(packed.bytes);
    if (found != packed.hash) {
      pack.refuse(row.name,
                  "has hash " + found + ", but the file's first lines say " + packed.hash);
    }
    pack.refuse(row.name, "cannot be unpacked (" + reason + ")");
  }

  // Copies the PTX and the portable PTX, because a 0 byte must follow each of the two texts.
  void keep_texts(std::span<const std::string_view> two) const {
    texts.assign(two.begin(), two.begin() + 2);
  }

  // Returns the bytes at a multiple of 8: a copy if texts of an earlier file precede them.
  std::string_view aligned(std::string_view bytes) {
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % 8 == 0) return bytes;
    return copies.emplace_back(bytes);
  }

  void unpack_code() {
    const std::size_t texts_in_code = row.has_text_in_code ? 2 : 0;
    codes = parts_of(row.code, row.cubin_archs.size() + texts_in_code);
    if (row.has_text_in_code) keep_texts(codes.parts);
    cubins.clear();
    for (std::size_t i = 0; i < row.cubin_archs.size(); ++i) {
      cubins.push_back({row.cubin_archs[i], bytes_of(aligned(codes.parts[texts_in_code + i]))});
    }
    if (!row.patch.bytes.empty()) {
      patch = parts_of(row.patch, 3, codes.parts.at(texts_in_code));
    }
    const Cubin& first = cubins.at(0);
    image.name = row.name;
    image.ptx = {*this, 0};
    image.cubin = first.bytes;
    image.cubin_arch = first.arch;
    if (!row.portable_arch.empty()) image.portable_ptx = {*this, 1};
    image.portable_arch = row.portable_arch;
    image.further_cubins = std::span<const Cubin>(cubins).subspan(1);
    if (patch.parts.empty()) return;
    // is_checked is false in the earlier format: builds did not compare the hash with the cubin.
    image.patched = {bytes_of(patch.parts[0]), patch.parts[1], patch.parts[2],
                     !row.has_text_in_code};
  }

  const ImagePack& pack;
  const Row& row;
  mutable std::mutex mutex;
  mutable std::vector<std::string> texts;
  UnpackedParts codes, patch;
  std::deque<std::string> copies;  // of cubins
  std::vector<Cubin> cubins;
  CodeImage image;
  bool is_unpacked = false;  // set last: stays false if unpacking throws
};

std::string image_file(const PackOrigin& origin, const std::vector<PackedImage>& images) {
  std::string file =
      std::string(kMagic) + "commit " + origin.commit + "\nmanifest " + origin.manifest + "\n";
  for (const PackedImage& image : images) file += line_of(image);
  file += "hash " + hash_of_text(file) + "\n";
  for (const PackedImage& image : images) file += image.text + image.code + image.patch;
  return file;
}

ImagePack::ImagePack(const std::string& path) : path_(path) {
  try {
    file_ = std::make_unique<MappedFile>(path);
  } catch (const std::system_error&) {
    throw StatusError(Status::unavailable("compiled kernels: cannot read '" + path +
                                          "', which must be next to the program; 'make build' "
                                          "writes it"));
  }
  bytes_ = file_->bytes();
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
  const bool is_earlier = bytes_.starts_with(kEarlierMagic);
  if (!bytes_.starts_with(kMagic) && !is_earlier) fail("does not begin as a file of images");
  std::size_t at = kMagic.size();
  const auto next_line = [&] {
    const std::size_t end = bytes_.find('\n', at);
    if (end == bytes_.npos) fail("ends within its first lines");
    const std::string line(bytes_.substr(at, end - at));
    at = end + 1;
    return line;
  };
  std::vector<std::array<std::size_t, 3>> sizes;
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
    auto& [text, code, patch] = sizes.emplace_back();
    row.has_text_in_code = is_earlier;
    words >> row.name >> word >> row.portable_arch >> word >> cubins;
    if (!is_earlier) words >> word >> text >> row.text.hash;
    words >> word >> code >> row.code.hash;
    words >> word >> patch >> row.patch.hash;
    if (row.portable_arch == "-") row.portable_arch.clear();
    row.cubin_archs = split(cubins);
    rows_.push_back(std::move(row));
  }
  std::size_t size = at;
  for (const auto& [text, code, patch] : sizes) size += text + code + patch;
  if (size != bytes_.size()) {
    fail("is " + std::to_string(bytes_.size()) + " bytes long, but its first lines say " +
         std::to_string(size));
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    Row& row = rows_[i];
    Packed* const all[] = {&row.text, &row.code, &row.patch};
    for (std::size_t part = 0; part < 3; at += sizes[i][part++]) {
      all[part]->bytes = bytes_.substr(at, sizes[i][part]);
    }
  }
  for (const Row& row : rows_) images_.emplace(row.name, std::make_unique<Unpacked>(*this, row));
}

std::vector<std::string_view> ImagePack::names() const {
  std::vector<std::string_view> names;
  for (const Row& row : rows_) names.push_back(row.name);
  return names;
}

void ImagePack::refuse(std::string_view image, const std::string& rule) const {
  throw StatusError(Status::unavailable("compiled kernels: image " + std::string(image) + " in '" +
                                        path_ + "' " + rule + "; 'make build' writes it anew"));
}

const CodeImage* ImagePack::find(std::string_view name) {
  const auto found = images_.find(name);
  return found == images_.end() ? nullptr : &found->second->code();
}

}  // namespace tessera
