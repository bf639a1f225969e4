// Finds the value that a program last gives to a field of a variable, by assignment or as its
// initial value.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/propose/source/host_source.h"

namespace tessera::checking {

using FieldOrder = std::vector<std::string>;  // names of fields in the order of an initializer list

// Returns "x" for "(T)x", "&x", "*x", "(x)", "static_cast<T>(x)", "std::forward<T>(x)" and
// "std::move(x)".
TokenRange without_casts(TokenRange words);

// Returns VALUE of the last "a.b.c = VALUE" or "a->b.c = VALUE" in the text; nothing if there is
// none.
TokenRange assigned_last(const HostSource& source, TokenRange text,
                         const std::vector<std::string>& path);

// Whether the text after `place` changes the field by operators other than "=", such as "a.b *=
// VALUE" and "++a.b".
bool is_changed_after(const HostSource& source, const Token* place, TokenRange text,
                      const std::vector<std::string>& path);

// Returns the value of the field in "{.field = VALUE}" or "{VALUE, VALUE}", with or without a type
// before it. Returns nullopt if the words are not such a list, or if the list does not set the
// field.
std::optional<TokenRange> listed_field(TokenRange list, const std::string& field,
                                       const FieldOrder& order);

// Returns the words of the field's value: the last assignment to it, or the last list that sets it,
// whichever comes later in the text.
std::optional<TokenRange> field_words(const HostSource& source, TokenRange text,
                                      const std::string& variable, const std::string& field,
                                      const FieldOrder& order);

// Returns the value that the whole variable last gets, as its initial value or by assignment; no
// words if there is no such value.
TokenRange whole_words(const HostSource& source, TokenRange text, const std::string& variable);

}  // namespace tessera::checking
