#include "check/bind.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/status.h"
#include "base/table.h"
#include "check/code.h"
#include "check/values.h"

namespace tessera::checking {
namespace {

using vgpu::KernelParameter;
using vgpu::KernelSignature;

constexpr std::size_t kPointerBytes = 8, kMapBytes = 128;

// A parameter with its C++ type, by which users know it.
struct Known {
  const KernelParameter& parameter;
  std::string cpp;  // "float const*"; empty if the kernel's name has no types

  bool is_pointer() const { return parameter.is_pointer || cpp.ends_with('*'); }
  bool may_be_pointer() const {
    return is_pointer() || (cpp.empty() && parameter.count == 1 &&
                            parameter.bytes == kPointerBytes && parameter.type != "f64");
  }
  std::string ptx_type() const {
    return parameter.count == 1 ? parameter.type
                                : fmt::format("{}[{}]", parameter.type, parameter.count);
  }
  std::string type_text() const {
    if (cpp.empty()) return is_pointer() ? "pointer" : ptx_type();
    return cpp;
  }
};

std::vector<Known> known_parameters(const KernelSignature& kernel) {
  const std::vector<std::string> types = parameter_types(kernel.name);
  const bool tells = types.size() == kernel.parameters.size();
  std::vector<Known> known;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    known.push_back({kernel.parameters[i], tells ? types[i] : ""});
  }
  return known;
}

// Whether a .npy file of `type` may hold elements of type `element`. Integers may differ in having
// a sign. NumPy has no bf16: a file holds the bits of bf16 elements as integers.
bool fits_file(ElementType element, ElementType type) {
  if (size_of(element) != size_of(type)) return false;
  const auto stored = lab::type_of_npy(lab::npy_descr(element));
  return stored == type || (stored && !is_float(*stored) && !is_float(type));
}

std::string misfit_of(const Known& known, const ArrayArgument& array) {
  if (!known.may_be_pointer()) return "an array, but the kernel takes no address there";
  const auto element = element_of(known.cpp);
  const bool is_file = !array.file.empty();
  const std::optional<ElementType> type = is_file ? type_of_file(array.file) : array.type;
  if (!element || !type) return "";
  // If the user wrote the type of the array, any type of the same size fits.
  if (is_file ? fits_file(*element, *type) : size_of(*element) == size_of(*type)) return "";
  return fmt::format("an array of {}, but the kernel takes {}", lab::word_of(*type), known.cpp);
}

std::string misfit_of(const Known& known, const ScalarArgument& scalar) {
  if (known.is_pointer()) return "a number, but the kernel takes an address: give an array";
  const std::size_t bytes = known.parameter.bytes;
  if (static_cast<std::size_t>(size_of(scalar.type)) != bytes) {
    return fmt::format("a number of {} bytes, but the kernel takes {}", size_of(scalar.type),
                       bytes);
  }
  const char kind = known.parameter.type[0];
  if ((kind == 'f' && !is_float(scalar.type)) ||
      ((kind == 'u' || kind == 's') && is_float(scalar.type) && bytes > 2)) {
    return fmt::format("of type {}, but the kernel takes {}", lab::word_of(scalar.type),
                       known.type_text());
  }
  return "";
}

std::string misfit_of_size(std::size_t given, const Known& known) {
  if (given == known.parameter.bytes) return "";
  return fmt::format("{} bytes, but the kernel takes {}", given, known.parameter.bytes);
}

std::string misfit_of(const Known& known, const BytesArgument& argument) {
  return misfit_of_size(argument.bytes.size(), known);
}
std::string misfit_of(const Known& known, const StructArgument& argument) {
  const std::string text = misfit_of_size(size_of(argument, known.parameter.alignment), known);
  return text.empty() ? "" : "a struct of " + text;
}
std::string misfit_of(const Known& known, const TensorMapArgument&) {
  const std::string text = misfit_of_size(kMapBytes, known);
  return text.empty() ? "" : "a tensor map of " + text;
}

// A texture handle is a number of 64 bits.
std::string misfit_of(const Known& known, const TextureArgument&) {
  if (known.is_pointer()) return "a texture, but the kernel takes an address: give an array";
  const std::string text = misfit_of_size(kPointerBytes, known);
  return text.empty() ? "" : "a texture handle of " + text;
}

std::string misfit_of_address(const Known& known) {
  return known.may_be_pointer()
             ? ""
             : "an address, but the kernel takes none there: a value is TYPE:NUMBER";
}
std::string misfit_of(const Known& known, const NullArgument&) { return misfit_of_address(known); }
std::string misfit_of(const Known& known, const AliasArgument&) { return misfit_of_address(known); }
std::string misfit_of(const Known& known, const PointersArgument&) {
  return misfit_of_address(known);
}
std::string misfit_of(const Known& known, const PointerArgument&) {
  return misfit_of_address(known);
}

// Whether every argument that has the name of a parameter is at that parameter's position.
bool are_in_place(const std::vector<Argument>& arguments, const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto found = std::find(names.begin(), names.end(), arguments[i].name);
    if (found != names.end() && found != names.begin() + static_cast<std::ptrdiff_t>(i)) {
      return false;
    }
  }
  return true;
}

// Throws unless each argument has the name of a parameter.
void require_names(const KernelSignature& kernel, const std::vector<Argument>& arguments,
                   const std::vector<std::string>& names) {
  for (const Argument& argument : arguments) {
    if (std::find(names.begin(), names.end(), argument.name) != names.end()) continue;
    throw StatusError(Status::bad_argument(fmt::format(
        "--arg is '{}={}', but the parameters of kernel '{}' are {}: use these names for all "
        "arguments, or give them in this order",
        argument.name, argument.text, plain_kernel_name(kernel.name), fmt::join(names, ", "))));
  }
}

// Throws unless the named arguments are the first parameters. A name that is given twice is refused
// later.
void require_no_gap(const KernelSignature& kernel, const std::vector<Argument>& arguments,
                    const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < arguments.size() && i < names.size(); ++i) {
    if (arguments[i].name == names[i] || (i > 0 && arguments[i].name == arguments[i - 1].name)) {
      continue;
    }
    throw StatusError(Status::bad_argument(
        fmt::format("--arg is '{}={}', but parameter {} of kernel '{}' is not given, and {} comes "
                    "before it; the parameters are {}",
                    arguments[i].name, arguments[i].text, names[i], plain_kernel_name(kernel.name),
                    names[i], fmt::join(names, ", "))));
  }
}

std::string example_value(const Known& known) {
  const auto element = element_of(known.cpp);
  if (known.cpp.find("CUtensorMap") != std::string::npos) return "tensormap(a, 64x32, 128)";
  if (known.is_pointer() || (known.may_be_pointer() && known.cpp.empty())) {
    const ElementType type = element.value_or(ElementType::kF32);
    return fmt::format("{}[4096]:{}", lab::word_of(type), is_float(type) ? "uniform" : "integers");
  }
  if (element) return fmt::format("{}:{}", lab::word_of(*element), is_float(*element) ? "1" : "64");
  if (known.parameter.count > 1) {
    const std::size_t bytes = known.parameter.bytes;
    return bytes <= 16 ? "bytes:" + std::string(2 * bytes, '0')
                       : fmt::format("struct(pad({}))", bytes);
  }
  const bool real = known.parameter.type[0] == 'f';
  return fmt::format("{}{}:{}", real ? 'f' : 'i', 8 * known.parameter.bytes, real ? "1" : "64");
}

}  // namespace

std::optional<ElementType> element_of(std::string cpp) {
  static const std::map<std::string, ElementType> kTypes = {
      {"char", ElementType::kS8},          {"signed char", ElementType::kS8},
      {"unsigned char", ElementType::kU8}, {"bool", ElementType::kU8},
      {"short", ElementType::kS16},        {"unsigned short", ElementType::kU16},
      {"int", ElementType::kS32},          {"unsigned int", ElementType::kU32},
      {"long", ElementType::kS64},         {"unsigned long", ElementType::kU64},
      {"long long", ElementType::kS64},    {"unsigned long long", ElementType::kU64},
      {"__half", ElementType::kF16},       {"__nv_bfloat16", ElementType::kBf16},
      {"float", ElementType::kF32},        {"double", ElementType::kF64}};
  for (const char* suffix : {"*", " const", " volatile", " const"}) {
    if (cpp.ends_with(suffix)) cpp.resize(cpp.size() - std::strlen(suffix));
  }
  const auto found = kTypes.find(cpp);
  if (found == kTypes.end()) return std::nullopt;
  return found->second;
}

std::vector<Argument> in_order_of(const KernelSignature& kernel, std::vector<Argument> arguments,
                                  const std::vector<std::string>& source_names) {
  std::vector<std::string> names;
  for (const KernelParameter& parameter : kernel.parameters) names.push_back(parameter.name);
  const auto has_name_of = [](const std::vector<std::string>& all) {
    return [&all](const Argument& one) {
      return std::find(all.begin(), all.end(), one.name) != all.end();
    };
  };
  const bool is_of_source =
      source_names.size() == kernel.parameters.size() &&
      std::any_of(arguments.begin(), arguments.end(), has_name_of(source_names));
  if (is_of_source) {
    if (are_in_place(arguments, source_names)) return arguments;
    names = source_names;
    require_names(kernel, arguments, names);
  }
  const auto index_of = [&](const Argument& argument) {
    return std::find(names.begin(), names.end(), argument.name) - names.begin();
  };
  if (!std::all_of(arguments.begin(), arguments.end(), has_name_of(names))) return arguments;
  if (!is_of_source && arguments.size() != names.size()) return arguments;
  std::stable_sort(arguments.begin(), arguments.end(),
                   [&](const Argument& a, const Argument& b) { return index_of(a) < index_of(b); });
  if (is_of_source) require_no_gap(kernel, arguments, names);
  return arguments;
}

std::string misfit(const KernelSignature& kernel, const std::vector<Argument>& arguments) {
  const std::size_t takes = kernel.parameters.size(), given = arguments.size();
  if (takes != given) {
    return fmt::format("kernel '{}' takes {} argument{}, but {} {} given with --arg",
                       plain_kernel_name(kernel.name), takes, takes == 1 ? "" : "s", given,
                       given == 1 ? "is" : "are");
  }
  return misfit_of_given(kernel, arguments);
}

std::string misfit_of_given(const KernelSignature& kernel, const std::vector<Argument>& arguments) {
  const std::size_t given = arguments.size();
  if (given > kernel.parameters.size()) return misfit(kernel, arguments);
  const std::vector<Known> known = known_parameters(kernel);
  for (std::size_t i = 0; i < given; ++i) {
    const std::string why = std::visit(
        [&](const auto& value) { return misfit_of(known[i], value); }, arguments[i].value);
    if (why.empty()) continue;
    return fmt::format("--arg is '{}={}', which is {} (parameter {} of kernel '{}': {})",
                       arguments[i].name, arguments[i].text, why, i, plain_kernel_name(kernel.name),
                       known[i].type_text());
  }
  return "";
}

std::string parameter_table(const KernelSignature& kernel, const std::vector<Argument>& arguments) {
  if (kernel.parameters.empty()) return "";
  Table table;
  table.header = {"index", "parameter", "type", "in PTX", "bytes", "given"};
  const std::vector<Known> known = known_parameters(kernel);
  for (std::size_t i = 0; i < known.size(); ++i) {
    const std::string given =
        i < arguments.size() ? arguments[i].name + "=" + arguments[i].text : "-";
    table.rows.push_back({std::to_string(i), known[i].parameter.name, known[i].type_text(),
                          known[i].ptx_type(), std::to_string(known[i].parameter.bytes), given});
  }
  return render(table, Format::kText);
}

std::vector<std::string> example_arguments(const KernelSignature& kernel,
                                           const std::vector<Argument>& arguments,
                                           const std::vector<std::string>& source_names) {
  const std::vector<Known> known = known_parameters(kernel);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < known.size(); ++i) {
    const bool stays = i < arguments.size() &&
                       std::visit([&](const auto& value) { return misfit_of(known[i], value); },
                                  arguments[i].value)
                           .empty();
    texts.push_back(
        stays ? arguments[i].name + "=" + arguments[i].text
              : fmt::format("{}={}",
                            i < source_names.size() ? source_names[i] : fmt::format("p{}", i),
                            example_value(known[i])));
  }
  return texts;
}

}  // namespace tessera::checking
