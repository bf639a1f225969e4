// The value that a program's text last gives a field of a variable, by assignment or in its initial
// value.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/propose/source/host_source.h"

namespace tessera::checking {

using FieldOrder = std::vector<std::string>;  // field names in the order of an initializer list

// "x" of "(T)x", "&x", "*x", "(x)", "static_cast<T>(x)", "std::forward<T>(x)", "std::move(x)".
TokenRange without_casts(TokenRange words);

// VALUE of the last "a.b.c = VALUE" or "a->b.c = VALUE" in the text; empty where there is none.
TokenRange assigned_last(const HostSource& source, TokenRange text,
                         const std::vector<std::string>& path);

// Whether the text changes it after that place, as "a.b *= VALUE" and "++a.b" do.
bool is_changed_after(const HostSource& source, const Token* place, TokenRange text,
                      const std::vector<std::string>& path);

// The value of the field in "{.field = VALUE}" or "{VALUE, VALUE}", with or without the type before
// it. Nothing if the words are not such a list, or if the list does not set the field.
std::optional<TokenRange> listed_field(TokenRange list, const std::string& field,
                                       const FieldOrder& order);

// The one of the two that comes last in the text.
std::optional<TokenRange> field_words(const HostSource& source, TokenRange text,
                                      const std::string& variable, const std::string& field,
                                      const FieldOrder& order);

// The last initial value, or value assigned to the whole variable; empty where there is none.
TokenRange whole_words(const HostSource& source, TokenRange text, const std::string& variable);

}  // namespace tessera::checking
