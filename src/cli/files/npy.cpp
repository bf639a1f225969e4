#include "cli/files/npy.h"

#include <fmt/format.h>

#include <utility>

#include "lab/data/host_memory.h"
#include "lab/data/npy_header.h"

namespace tessera::cli {
namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& why) {
  throw StatusError(Status::bad_argument(fmt::format("{} {}", what, why)));
}

// The element types of .npy files. NumPy has no BF16 and no 8-bit floats.
constexpr std::pair<ElementType, const char*> kDescriptions[] = {
    {ElementType::kF16, "<f2"}, {ElementType::kF32, "<f4"}, {ElementType::kF64, "<f8"}};

ElementType type_of(const std::string& descr, const std::string& what) {
  for (const auto& [type, name] : kDescriptions) {
    if (descr == name) return type;
  }
  refuse(what, fmt::format("holds type '{}'; it must hold little-endian float16 ('<f2'), float32 "
                           "('<f4') or float64 ('<f8'); NumPy's astype() converts",
                           lab::printable(descr)));
}

const char* descr_of(ElementType type) {
  for (const auto& [known, name] : kDescriptions) {
    if (known == type) return name;
  }
  refuse_type("a NumPy file", type);
}

// Refuses a shape whose number of elements or of bytes does not fit 64 bits.
void check_extent(const NpyHeader& header, const std::string& what) {
  std::int64_t elements = 0, bytes = 0;
  if (__builtin_mul_overflow(header.rows, header.cols, &elements) ||
      __builtin_mul_overflow(elements, std::int64_t{size_of(header.type)}, &bytes)) {
    refuse(what, fmt::format("has shape ({}, {}), which is beyond 64-bit addresses; save a part",
                             header.rows, header.cols));
  }
}

std::string header_for(const NpyHeader& header) {
  return lab::npy_header(descr_of(header.type), header.fortran_order, {header.rows, header.cols});
}

}  // namespace

std::size_t NpyHeader::data_bytes() const {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols) * size_of(type);
}

NpyHeader parse_npy(std::string_view file, const std::string& what) {
  const lab::NpyFields fields = lab::parse_npy_fields(file, what);
  NpyHeader header;
  header.type = type_of(fields.descr, what);
  header.fortran_order = fields.fortran_order;
  if (fields.shape.size() != 2) {
    refuse(what,
           fmt::format("has {} dimensions; a matrix has 2: reshape it, or save one matrix of it",
                       fields.shape.size()));
  }
  header.rows = fields.shape[0];
  header.cols = fields.shape[1];
  check_extent(header, what);
  header.data_offset = fields.data_offset;
  const std::size_t present = file.size() - header.data_offset;
  if (present != header.data_bytes()) {
    refuse(what,
           fmt::format("{}: a {} x {} matrix of {} needs {} bytes after the header, and the "
                       "file has {}; save it again",
                       present < header.data_bytes() ? "is truncated" : "is too long", header.rows,
                       header.cols, name_of(header.type), header.data_bytes(), present));
  }
  return header;
}

NpyFile NpyFile::read(const std::string& path, const std::string& argument) {
  const std::string what = fmt::format("{} ({})", argument, path);
  NpyFile file;
  file.bytes_ = lab::read_whole_file(path, what);
  file.header_ = parse_npy(file.bytes_, what);
  return file;
}

NpyFile NpyFile::make(ElementType type, std::int64_t rows, std::int64_t cols, bool fortran_order) {
  const std::string what = fmt::format("the result ({} x {})", rows, cols);
  NpyFile file;
  file.header_ = {type, fortran_order, rows, cols, 0};
  check_extent(file.header_, what);
  lab::require_host_memory(file.header_.data_bytes(), what);
  file.bytes_ = header_for(file.header_);
  file.header_.data_offset = file.bytes_.size();
  file.bytes_.resize(file.bytes_.size() + file.header_.data_bytes());
  return file;
}

}  // namespace tessera::cli
