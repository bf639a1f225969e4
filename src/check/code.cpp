#include "check/code.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include "base/status.h"
#include "check/compile/nvcc.h"
#include "check/loose_name.h"
#include "lab/data/npy_header.h"

namespace tessera::checking {
namespace {

constexpr std::size_t kMostListed = 8, kMostClose = 4, kSpellings = 6;

std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? text.get() : name;
}

int depth_change(char c) {
  if (c == '(' || c == '<' || c == '[') return 1;
  return c == ')' || c == '>' || c == ']' ? -1 : 0;
}

// Returns the position of the '(' that the ')' at the end of the text closes: the begin of the
// parameters. Returns npos if there are no such parentheses.
std::size_t parameters_begin(const std::string& text) {
  if (!text.ends_with(')')) return std::string::npos;
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    depth -= depth_change(text[i]);
    if (depth == 0) return i;
  }
  return std::string::npos;
}

// Removes the return type, with which the name of a function template begins.
std::string without_return_type(const std::string& text) {
  return text.starts_with("void ") ? text.substr(5) : text;
}

// Returns all names by which a kernel may be called, the most exact first.
std::vector<std::string> spellings(const std::string& name) {
  const std::string full = plain_kernel_name(name);
  const std::string bare = full.substr(0, parameters_begin(full));
  std::vector<std::string> all = {name, full, bare};
  // The template's arguments are at the end: "gemm<128, 4>".
  std::size_t end = bare.size();
  if (bare.ends_with('>')) {
    int depth = 0;
    do depth -= depth_change(bare[--end]);
    while (depth != 0 && end > 0);
  }
  const std::string no_arguments = bare.substr(0, end);
  all.push_back(no_arguments);
  const std::size_t scope = no_arguments.rfind("::");
  if (scope != std::string::npos) {
    all.push_back(bare.substr(scope + 2));
    all.push_back(no_arguments.substr(scope + 2));
  }
  return all;
}

std::string list_of(const std::vector<const vgpu::KernelSignature*>& kernels,
                    const std::string& wanted = "") {
  std::vector<std::string> names;
  for (const auto* kernel : kernels) names.push_back(plain_kernel_name(kernel->name));
  return closest_list(wanted, names);
}

std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

// Returns the kernels with this name in any spelling. If there are no such kernels, returns the
// kernels whose template arguments begin with the template arguments in `name`.
std::vector<const vgpu::KernelSignature*> loosely_named(
    const std::vector<const vgpu::KernelSignature*>& kernels, const std::string& name) {
  const std::string wanted = loosely(name);
  std::vector<const vgpu::KernelSignature*> found;
  for (std::size_t exactness = 0; exactness < kSpellings && found.empty(); ++exactness) {
    for (const auto* kernel : kernels) {
      const std::vector<std::string> names = spellings(kernel->name);
      if (exactness < names.size() && loosely(names[exactness]) == wanted) found.push_back(kernel);
    }
  }
  if (!found.empty() || !wanted.ends_with('>')) return found;
  const std::string begin = wanted.substr(0, wanted.size() - 1) + ',';
  for (const auto* kernel : kernels) {
    const std::vector<std::string> names = spellings(kernel->name);
    const auto begins = [&](const std::string& one) { return loosely(one).starts_with(begin); };
    if (std::any_of(names.begin(), names.end(), begins)) found.push_back(kernel);
  }
  return found;
}

std::vector<const vgpu::KernelSignature*> named(
    const std::vector<const vgpu::KernelSignature*>& all, const std::string& name) {
  std::vector<const vgpu::KernelSignature*> found;
  for (std::size_t exactness = 0; exactness < kSpellings && found.empty(); ++exactness) {
    for (const auto* kernel : all) {
      const std::vector<std::string> names = spellings(kernel->name);
      if (exactness < names.size() && names[exactness] == name) found.push_back(kernel);
    }
  }
  return found.empty() ? loosely_named(all, name) : found;
}

[[noreturn]] void refuse_code(const std::string& message) {
  throw StatusError(Status::bad_argument(message));
}

}  // namespace

Code read_code(const std::string& path, const std::vector<std::string>& nvcc_arguments) {
  const bool is_ptx = path.ends_with(".ptx");
  if (!is_ptx && !path.ends_with(".cu")) {
    refuse_code(fmt::format("FILE is '{}', but must end with .ptx or .cu", path));
  }
  Code code{path, lab::read_whole_file(path, fmt::format("FILE ({})", path))};
  if (is_ptx && !nvcc_arguments.empty()) {
    refuse_code(fmt::format("--nvcc-arg is '{}', but nothing of '{}' is compiled",
                            nvcc_arguments[0], path));
  }
  if (!is_ptx) code.ptx = compile_to_ptx(path, nvcc_arguments);
  if (code.ptx.find('\0') != std::string::npos) {
    refuse_code(fmt::format("FILE is '{}', but holds zero bytes, so it is no PTX text", path));
  }
  if (code.ptx.empty())
    refuse_code(fmt::format("FILE is '{}', but there is no kernel in it", path));
  return code;
}

const vgpu::KernelSignature& choose_kernel(const std::vector<vgpu::KernelSignature>& kernels,
                                           const std::string& name, const std::string& path,
                                           const ReadOptions& read) {
  if (kernels.empty()) refuse_code(fmt::format("FILE is '{}', but there is no kernel in it", path));
  std::vector<const vgpu::KernelSignature*> all, found;
  for (const vgpu::KernelSignature& kernel : kernels) all.push_back(&kernel);
  if (name.empty()) {
    if (all.size() == 1) return *all[0];
    refuse_code(fmt::format("--kernel is not given, and '{}' has {} kernels: {}", path, all.size(),
                            list_of(all)));
  }
  found = named(all, name);
  const bool may_name_enumerator = found.empty() && path.ends_with(".cu");
  if (may_name_enumerator) found = loosely_named(all, with_enumerators(name, path, read));
  if (found.size() == 1) return *found[0];
  if (found.empty()) {
    refuse_code(fmt::format("--kernel is '{}', but '{}' has {}: {}", name, path,
                            all.size() == 1 ? "only" : "these", list_of(all, name)));
  }
  refuse_code(fmt::format("--kernel is '{}', which names {} kernels of '{}': {}", name,
                          found.size(), path, list_of(found)));
}

std::vector<vgpu::KernelSignature> kernels_named(const std::vector<vgpu::KernelSignature>& kernels,
                                                 const std::string& name) {
  std::vector<const vgpu::KernelSignature*> all;
  for (const vgpu::KernelSignature& kernel : kernels) all.push_back(&kernel);
  std::vector<vgpu::KernelSignature> found;
  for (const auto* kernel : named(all, name)) found.push_back(*kernel);
  return found;
}

std::string closest_list(const std::string& wanted, std::vector<std::string> names) {
  // Returns "doubled" for "void ns::doubled<float>(float*)".
  const auto stem = [](const std::string& name) {
    const std::string bare = name.substr(0, name.find_first_of("<("));
    const std::size_t scope = bare.rfind("::");
    return scope == bare.npos ? bare : bare.substr(scope + 2);
  };
  const auto far = [&](const std::string& name) {
    const std::string bare = name.substr(0, name.find('('));
    const std::size_t scope = bare.rfind("::");
    return std::min(distance(wanted, bare), scope == bare.npos
                                                ? bare.size() + wanted.size()
                                                : distance(wanted, bare.substr(scope + 2)));
  };
  std::size_t shown = std::min(names.size(), kMostListed);
  if (!wanted.empty()) {
    shown = std::min(shown, kMostClose);
    const auto rank = [&](const std::string& name) {
      return std::pair(distance(stem(wanted), stem(name)), far(name));
    };
    std::stable_sort(names.begin(), names.end(),
                     [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
    // If some names are close to the wanted name, all other names are left out.
    const auto is_close = [&](const std::string& name) {
      return distance(stem(wanted), stem(name)) <= stem(wanted).size() / 3;
    };
    const auto close = std::count_if(names.begin(), names.end(), is_close);
    if (close > 0) shown = std::min(shown, static_cast<std::size_t>(close));
  }
  std::string list;
  for (std::size_t i = 0; i < shown; ++i) list += (i == 0 ? "'" : ", '") + names[i] + "'";
  if (names.size() > shown) list += fmt::format(" and {} more", names.size() - shown);
  return list;
}

std::string short_kernel_name(const std::vector<vgpu::KernelSignature>& kernels,
                              const vgpu::KernelSignature& kernel) {
  std::vector<std::string> names = spellings(kernel.name);
  std::stable_sort(names.begin(), names.end(),
                   [](const auto& a, const auto& b) { return a.size() < b.size(); });
  for (const std::string& name : names) {
    const auto means = [&](const vgpu::KernelSignature& other) {
      const std::vector<std::string> all = spellings(other.name);
      return std::find(all.begin(), all.end(), name) != all.end();
    };
    if (std::count_if(kernels.begin(), kernels.end(), means) == 1) return name;
  }
  return kernel.name;
}

std::string plain_kernel_name(const std::string& name) {
  return without_return_type(demangled(name));
}

std::vector<std::string> parameter_types(const std::string& name) {
  const std::string text = demangled(name);
  const std::size_t begin = parameters_begin(text);
  if (begin == std::string::npos) return {};
  std::vector<std::string> types(1);
  int depth = 0;
  for (std::size_t i = begin + 1; i + 1 < text.size(); ++i) {
    depth += depth_change(text[i]);
    if (text[i] == ',' && depth == 0) {
      types.emplace_back();
      ++i;  // the space after the comma
    } else {
      types.back() += text[i];
    }
  }
  return types == std::vector<std::string>{""} ? std::vector<std::string>{} : types;
}

std::string line_of(const std::string& text, int number) {
  std::size_t begin = 0;
  for (int line = 1; line < number; ++line) {
    begin = text.find('\n', begin);
    if (begin == std::string::npos) return "";
    ++begin;
  }
  const std::string line = text.substr(begin, text.find('\n', begin) - begin);
  return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

}  // namespace tessera::checking
