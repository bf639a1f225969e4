// Runs a small host function of the source on values: declarations, assignments, branches with
// known conditions, and loops that end. Yields the result and the values of reference parameters.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "check/propose/evaluate.h"

namespace tessera::checking {

// The value of an expression: a number or dim3, or a struct field by field. Elements of a tuple, or
// of a list whose type is not known, are the fields "0", "1", ...
struct HostObject {
  std::optional<HostValue> value;
  std::map<std::string, HostValue> fields;

  bool is_known() const { return value || !fields.empty(); }
};

struct FunctionResult {
  HostObject returned;
  std::map<std::string, HostValue> variables;  // by path, "config.gridDim", at the return

  // Returns the variable with its fields.
  HostObject variable(const std::string& name) const;
};

// A call in the text: the position of the function's name, and the arguments as the caller sees
// them.
struct TextCall {
  const Token* at = nullptr;
  std::vector<TokenRange> template_arguments, arguments;
};

// Runs the function. Returns nullopt if the path through the function depends on an unknown value.
std::optional<FunctionResult> run_function(Evaluator& evaluator, const HostSource& source,
                                           const SourceFunction& function, const TextCall& call,
                                           const Scope& caller, int depth);

// Returns the function if the words are one call of a function of the source; else null.
const SourceFunction* called_by(const HostSource& source, TokenRange words, TextCall& call);

// Returns the value of the words. `type` names the struct that a list initializes, if it is known.
HostObject object_of(Evaluator& evaluator, const HostSource& source, TokenRange words,
                     const Scope& scope, const std::string& type, int depth);

// Sets the fields of a new object that have no value to their defaults.
void add_defaults(Evaluator& evaluator, const HostSource& source, const std::string& type,
                  HostObject& object, int depth);

// Whether a function may change the variable that it gets for this parameter.
bool sets_argument(const SourceParameter& parameter);

}  // namespace tessera::checking
