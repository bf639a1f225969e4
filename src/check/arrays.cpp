#include "check/arrays.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <numeric>

#include "base/status.h"
#include "lab/data/fill.h"
#include "lab/data/host_memory.h"
#include "lab/data/npy_header.h"

namespace tessera::checking {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw StatusError(Status::bad_argument(message));
}

// Returns the size of the array in bytes. If it exceeds 64 bits, the error names the array as
// `what`.
std::size_t bytes_of(ElementType type, const std::vector<std::int64_t>& shape,
                     const std::string& what) {
  auto bytes = static_cast<std::int64_t>(size_of(type));
  for (const std::int64_t extent : shape) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) {
      refuse(fmt::format("{} has more bytes than 64-bit addresses reach", what));
    }
  }
  return static_cast<std::size_t>(bytes);
}

std::uint64_t key_of(const std::string& name, std::uint64_t seed) {
  std::uint64_t key = lab::mix_bits(seed);
  for (const char c : name) key = lab::mix_bits(key ^ static_cast<unsigned char>(c));
  return key;
}

// Random values: uniform() is in (-1, 1) and never 0; small_integer() is in -8 .. 8, or in 0 .. 16
// for unsigned types.
double uniform(std::uint64_t bits) { return std::ldexp(double(bits >> 11) + 0.5, -52) - 1; }
double small_integer(std::uint64_t bits, bool is_signed) {
  return double((bits >> 32) * 17 >> 32) - (is_signed ? 8 : 0);
}

bool is_unsigned(ElementType type) { return facts_of(type).kind == NumberKind::kUnsigned; }

// Wraps a number to an integer type's range. WHY: clamped, all larger numbers would be equal.
double wrapped(ElementType type, std::uint64_t value) {
  if (is_float(type)) return double(value);
  const std::size_t bits = 8 * size_of(type) - (is_unsigned(type) ? 0 : 1);
  return double(bits >= 63 ? value : value & ((std::uint64_t{1} << bits) - 1));
}

double value_at(const ArrayArgument& spec, std::uint64_t key, std::size_t i) {
  switch (spec.fill) {
    case ArrayFill::kUniform:
      return uniform(lab::mix_bits(key + i));
    case ArrayFill::kIntegers:
      return small_integer(lab::mix_bits(key + i), !is_unsigned(spec.type));
    case ArrayFill::kIota:
      return wrapped(spec.type, i);
    default:
      return spec.fill == ArrayFill::kOnes ? 1 : 0;
  }
}

// Stores a value in (-1, 1). WHY 0.5: in a narrow type the value may round to 1 or -1.
void store_below_one(ElementType type, double value, std::byte* to) {
  store_element(type, value, to);
  if (std::fabs(load_element(type, to)) >= 1) store_element(type, std::copysign(0.5, value), to);
}

// Returns 0 to count - 1 in an order that depends on the key.
std::vector<std::uint64_t> shuffled(std::size_t count, std::uint64_t key) {
  std::vector<std::uint64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = count; i > 1; --i) {
    std::swap(order[i - 1], order[lab::mix_bits(key + i) % i]);
  }
  return order;
}

// Replaces the value by one of a group of four neighbours, so that some values repeat, and threads
// that use them as indices collide.
constexpr std::size_t kRepeats = 4;
std::size_t repeated(std::size_t value, std::size_t count, std::uint64_t key) {
  const std::size_t group = value / kRepeats, first = group * kRepeats;
  return first + lab::mix_bits(key ^ group) % std::min(kRepeats, count - first);
}

void fill(const ArrayArgument& spec, std::uint64_t key, HostArray& array) {
  const std::size_t step = size_of(spec.type);
  if (spec.fill == ArrayFill::kShuffled || spec.fill == ArrayFill::kRepeated) {
    std::byte* to = array.bytes.data();
    for (const std::uint64_t value : shuffled(array.elements(), key)) {
      const bool repeats = spec.fill == ArrayFill::kRepeated;
      store_element(spec.type,
                    wrapped(spec.type, repeats ? repeated(value, array.elements(), key) : value),
                    to);
      to += step;
    }
    return;
  }
  if (spec.fill == ArrayFill::kConstant) {
    lab::store_text(spec.type, "constant", spec.constant, array.bytes.data());
    for (std::size_t at = step; at < array.bytes.size(); at += step) {
      std::memcpy(array.bytes.data() + at, array.bytes.data(), step);
    }
    return;
  }
  for (std::size_t i = 0; i < array.elements(); ++i) {
    const double value = value_at(spec, key, i);
    std::byte* to = array.bytes.data() + i * step;
    spec.fill == ArrayFill::kUniform ? store_below_one(spec.type, value, to)
                                     : store_element(spec.type, value, to);
  }
}

bool equal(const HostArray& found, const HostArray& expected, std::size_t i, double tolerance,
           double& largest) {
  const std::byte* a = found.bytes.data() + i * size_of(found.type);
  const std::byte* b = expected.bytes.data() + i * size_of(expected.type);
  const bool same_type = found.type == expected.type;
  if (same_type && std::memcmp(a, b, size_of(found.type)) == 0) return true;
  const double x = load_element(found.type, a), y = load_element(expected.type, b);
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  const double difference = x == y ? 0 : std::fabs(x - y);
  largest = std::max(largest, difference);
  // WHY the values are not compared as doubles: different 64-bit integers may become equal doubles.
  if (difference == 0) return !same_type || is_float(found.type);
  return difference <= tolerance * std::max(1.0, std::fabs(y));
}

}  // namespace

HostArray make_array(const std::string& name, const ArrayArgument& spec, std::uint64_t seed) {
  if (!spec.file.empty()) {
    HostArray array = read_array(spec.file, fmt::format("array {}", name));
    array.name = name;
    return array;
  }
  HostArray array;
  array.name = name;
  array.type = spec.type;
  array.shape = spec.shape;
  array.initialised = spec.fill != ArrayFill::kUninitialised;
  const std::string what = fmt::format("array {}", name);
  const std::size_t bytes = bytes_of(spec.type, spec.shape, what);
  lab::require_host_memory(3.0 * bytes, what);  // three copies: here, on the device, read back
  array.bytes.resize(bytes);
  if (array.initialised) fill(spec, key_of(name, seed), array);
  return array;
}

std::optional<ElementType> type_of_file(const std::string& path) {
  constexpr std::size_t kMostOfHeader = 1 << 16;
  std::string begin(kMostOfHeader, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(file.gcount()));
  try {
    return lab::type_of_npy(lab::parse_npy_fields(begin, path).descr);
  } catch (const StatusError&) {
    return std::nullopt;
  }
}

HostArray read_array(const std::string& path, const std::string& argument) {
  const std::string what = fmt::format("{} ({})", argument, path);
  const std::string file = lab::read_whole_file(path, what);
  const lab::NpyFields fields = lab::parse_npy_fields(file, what);
  const auto type = lab::type_of_npy(fields.descr);
  if (!type) {
    refuse(
        fmt::format("{} holds type '{}'; known are little-endian integers of 8 to 64 bits and "
                    "floats of 16 to 64 bits",
                    what, lab::printable(fields.descr)));
  }
  HostArray array;
  array.type = *type;
  array.shape = fields.shape;
  array.fortran_order = fields.fortran_order;
  const std::size_t needed = bytes_of(*type, fields.shape, what);
  const std::size_t present = file.size() - fields.data_offset;
  if (needed != present) {
    refuse(fmt::format("{} is {}: its shape needs {} bytes after the header, and the file has {}",
                       what, present < needed ? "truncated" : "too long", needed, present));
  }
  if (needed == 0) refuse(fmt::format("{} holds no element", what));
  const auto* data = reinterpret_cast<const std::byte*>(file.data()) + fields.data_offset;
  array.bytes.assign(data, data + needed);
  return array;
}

std::string npy_file_of(const HostArray& array) {
  std::string file =
      lab::npy_header(std::string(lab::npy_descr(array.type)), array.fortran_order, array.shape);
  file.append(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
  return file;
}

std::string shape_text(const HostArray& array) {
  return fmt::format("{}[{}]", lab::word_of(array.type), fmt::join(array.shape, ","));
}

std::string index_text(const HostArray& array, std::size_t element) {
  std::vector<std::size_t> index(array.shape.size());
  for (std::size_t n = 0; n < index.size(); ++n) {
    const std::size_t d = array.fortran_order ? n : index.size() - 1 - n;
    index[d] = element % static_cast<std::size_t>(array.shape[d]);
    element /= static_cast<std::size_t>(array.shape[d]);
  }
  return fmt::format("[{}]", fmt::join(index, ","));
}

bool is_nan(const HostArray& array, std::size_t element) {
  return std::isnan(load_element(array.type, array.bytes.data() + element * size_of(array.type)));
}

Difference compare(const HostArray& found, const HostArray& expected, double tolerance) {
  Difference difference;
  for (std::size_t i = 0; i < found.elements(); ++i) {
    if (equal(found, expected, i, tolerance, difference.largest)) continue;
    if (difference.count++ != 0) continue;
    difference.first = fmt::format(
        "{}: {}, expected {}", index_text(found, i),
        lab::text_of(found.type, found.bytes.data() + i * size_of(found.type)),
        lab::text_of(expected.type, expected.bytes.data() + i * size_of(expected.type)));
  }
  return difference;
}

void require_comparable(const HostArray& array, const HostArray& expected,
                        const std::string& argument) {
  const bool kinds_fit = array.type == expected.type ||
                         (is_float(array.type) && is_float(expected.type)) ||
                         lab::npy_descr(array.type) == lab::npy_descr(expected.type);
  const bool order_fits = array.fortran_order == expected.fortran_order || array.shape.size() < 2;
  if (kinds_fit && order_fits && array.shape == expected.shape) return;
  const auto order = [](const HostArray& a) { return a.fortran_order ? " in Fortran order" : ""; };
  refuse(fmt::format("{} holds {}{}, but array {} is {}{}", argument, shape_text(expected),
                     order(expected), array.name, shape_text(array), order(array)));
}

}  // namespace tessera::checking
