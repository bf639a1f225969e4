#include "cli/options/fields.h"

#include <algorithm>
#include <array>

namespace tessera::cli {
namespace {

constexpr std::array kFields = {
    FieldOption{"m", "-m"},
    FieldOption{"n", "-n"},
    FieldOption{"k", "-k"},
    FieldOption{"lda", "--lda"},
    FieldOption{"ldb", "--ldb"},
    FieldOption{"ldc", "--ldc"},
    FieldOption{"ldd", "--ldd"},
    FieldOption{"alpha", "--alpha"},
    FieldOption{"beta", "--beta"},
    FieldOption{"type", "--type"},
    FieldOption{"layout", "--layout"},
    FieldOption{"order", "--order"},
    FieldOption{"kernel", "--kernel"},
    FieldOption{"workspace_limit", "--workspace-limit"},
    FieldOption{"workspace_bytes", ""},
    FieldOption{"workspace", ""},
    FieldOption{"gpu", ""},
    FieldOption{"fill", "--fill"},
    FieldOption{"vendor_library", "--vendor-lib"},
    FieldOption{"element type", ""},
    FieldOption{"compute type", ""},
    FieldOption{"matrix", ""},
    FieldOption{"address of", ""},
    FieldOption{"D shares", ""},
    FieldOption{"batch_count", "--batch"},
    FieldOption{"stride_a", "--stride-a"},
    FieldOption{"stride_b", "--stride-b"},
    FieldOption{"stride_c", "--stride-c"},
    FieldOption{"stride_d", "--stride-d"},
    FieldOption{"batch_alignment", "--pointers"},
    FieldOption{"batch", ""},
    FieldOption{"epilogue scale", ""},
    FieldOption{"epilogue bias", ""},
    FieldOption{"epilogue activation", ""},
    FieldOption{"epilogue", "--epilogue"},
    FieldOption{"scale of", ""},
    FieldOption{"context", ""},
};

constexpr std::string_view kOrVirtual = " or use the virtual GPU (--device virtual)";
constexpr std::array kAdvice = {
    Advice{"install the driver", kOrVirtual},
    Advice{"install a newer driver", kOrVirtual},
    Advice{"the GPU is visible (nvidia-smi, CUDA_VISIBLE_DEVICES)", kOrVirtual},
    Advice{"a newer driver may load it", ", and the virtual GPU runs it (--device virtual)"},
    Advice{"a kernel has failed, and nothing more runs in this context",
           "; run the same problem with --device virtual, which names the instruction, the thread "
           "and the address"},
};

// Whether text that continues with `rest` is about the field before it.
bool is_about(std::string_view rest) {
  constexpr std::string_view kVerbs[] = {" is ", " holds ", " names "};
  return std::ranges::any_of(kVerbs, [&](auto verb) { return rest.starts_with(verb); });
}

bool begins_a_word(std::string_view text, std::size_t at) { return at == 0 || text[at - 1] == ' '; }

// The option for the field whose name begins at `at`; null if no field does.
const FieldOption* option_at(std::string_view text, std::size_t at) {
  if (!begins_a_word(text, at)) return nullptr;
  const std::string_view rest = text.substr(at);
  const auto found = std::ranges::find_if(kFields, [&](const FieldOption& row) {
    return !row.option.empty() && rest.starts_with(row.field) &&
           is_about(rest.substr(row.field.size()));
  });
  return found == kFields.end() ? nullptr : &*found;
}

}  // namespace

std::span<const FieldOption> field_options() { return kFields; }
std::span<const Advice> advice() { return kAdvice; }

std::string in_options(std::string message) {
  for (const Advice& advice : kAdvice) {
    const auto at = message.find(advice.said);
    if (at != message.npos) message.insert(at + advice.said.size(), advice.more);
  }
  // WHY: a message that does not begin with a field is not about the caller's input.
  if (!option_at(message, 0)) return message;
  bool is_quoted = false;
  for (std::size_t i = 0;
       i < message.size() && !std::string_view(message).substr(i).starts_with(", but"); ++i) {
    if (message[i] == '\'') is_quoted = !is_quoted;
    const FieldOption* const row = is_quoted ? nullptr : option_at(message, i);
    if (!row) continue;
    message.replace(i, row->field.size(), row->option);
    i += row->option.size();
  }
  return message;
}

}  // namespace tessera::cli
