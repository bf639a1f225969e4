// Evaluates expressions of a CUDA program's host code as far as the text alone allows: literals,
// macros, variables, parameters through the calls in the same file, small functions.
#pragma once

#include <array>
#include <cstdint>
#include <ctime>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "check/propose/source/assigned.h"
#include "check/propose/source/host_source.h"

namespace tessera::checking {

struct HostObject;
struct TextCall;

struct HostValue {
  bool is_real = false;
  double real = 0;
  std::int64_t integer = 0;
  std::optional<std::array<std::int64_t, 3>> dims;  // a dim3

  double number() const { return is_real ? real : static_cast<double>(integer); }
  std::int64_t whole() const { return is_real ? static_cast<std::int64_t>(real) : integer; }
};

// The context of an expression: its place in a function, and known values that are not in the text.
struct Scope {
  const SourceFunction* function = nullptr;  // null: outside of functions
  const Token* at = nullptr;                 // definitions after `at` do not count
  // Known values of template parameters, and of variables of a function that is run. A key is a
  // name or a path, "config.gridDim".
  std::map<std::string, HostValue> bound;
  const Token* call = nullptr;   // the relevant call of the function; null: the first
  std::set<std::string> hidden;  // variables of unknown value, whatever the text says
};

class Evaluator {
 public:
  explicit Evaluator(const HostSource& source) : source_(source) {}

  // Values that override the text: of variables with a literal value ("roots"), and of undefined
  // names.
  std::map<std::string, std::int64_t> overrides;
  double until = std::numeric_limits<double>::infinity();  // limit of processor time
  bool is_late() const { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC > until; }
  int size_of_unknown = 4;  // sizeof() of a type that is not known

  std::optional<HostValue> value(TokenRange words, const Scope& scope, int depth = 0);

  // What the values evaluated since the last clear() depend on.
  std::map<std::string, std::int64_t> roots;  // names, with the values in the text
  std::set<std::string> free;                 // undefined names
  std::set<std::string> not_run;              // functions that depend on unknown values
  std::set<std::string> not_found;            // functions that are not in the source
  int runs = 0;                               // functions that were run
  void clear() {
    roots.clear();
    free.clear();
    not_run.clear();
    not_found.clear();
    runs = 0;
    steps_ = 0;
  }

  // Returns the field of a struct: of a variable, of "{1, 2}", or of the result of a function.
  // `order` lists the fields, for lists whose type the text does not name.
  std::optional<HostValue> field(TokenRange words, const std::string& field,
                                 const FieldOrder& order, const Scope& scope, int depth = 0);

  // Where the value of a parameter comes from: the argument in a call of the function, with the
  // scope of the call. Nothing if there is no call.
  struct Argument {
    TokenRange words;
    Scope scope;
  };
  std::optional<Argument> argument_of(const std::string& parameter, const Scope& scope);

  // Evaluates name(arguments), a function of the source or of a library.
  std::optional<HostValue> called(const std::string& name, const std::vector<TokenRange>& arguments,
                                  const Scope& scope, int depth);

  // Evaluates a call in the text. A function of the source is run.
  std::optional<HostValue> called(const TextCall& call, const Scope& scope, int depth);

 private:
  friend class ExpressionReader;

  bool is_dims(const std::string& name) const;
  std::optional<HostValue> named(const std::string& name, const Scope& scope, int depth);
  std::optional<HostValue> in_functions(const std::string& name, const Scope& scope, int depth,
                                        bool& is_lost);
  std::optional<HostValue> in_constructors(const std::string& name, int depth);
  std::optional<HostValue> with_components(const std::string& name, TokenRange text,
                                           const Scope& scope, std::optional<HostValue> whole,
                                           int depth, bool& is_lost);
  std::optional<HostValue> member(const std::string& name, const std::string& field,
                                  const FieldOrder& order, const Scope& scope, int depth);
  std::optional<HostValue> member_in(TokenRange text, const std::string& name,
                                     const std::string& field, const FieldOrder& order,
                                     const Scope& scope, int depth);
  // set_at() returns the value that the variable at `place` gets from "auto [a, b] = f()" or
  // "std::tie(a, b) = f()", or from a function that takes it by reference or by address. Returns
  // nullopt if the variable gets no value there, and an unknown object if the effect of the
  // function is not known.
  std::optional<HostObject> set_at(const Token* place, TokenRange text, const Scope& scope,
                                   int depth);
  std::optional<HostObject> bound_at(const Token* place, TokenRange text, const Scope& scope,
                                     int depth);
  const SourceParameter* filled_by(const Token* place, TokenRange text, TextCall& call,
                                   const SourceFunction*& function) const;
  std::optional<HostObject> filled_at(const Token* place, TokenRange text, const Scope& scope,
                                      int depth);
  std::optional<HostValue> size_of_container(const std::string& name, const Scope& scope,
                                             int depth);
  // Returns the scope around the lambda that this scope is in, at the position of the lambda.
  Scope outside_of(const Scope& scope) const;
  std::optional<HostValue> defined_in(TokenRange text, const std::string& name, const Scope& scope,
                                      int depth, bool is_global);
  // Whether `place` is in a function that has another variable of this name.
  bool is_of_function(const Token* place, const std::string& name) const;
  bool is_constant(const std::string& name) const;  // outside of functions
  std::optional<HostValue> root(const std::string& name, TokenRange words, const Scope& scope,
                                int depth, bool is_global);
  std::optional<HostValue> component(const std::string& name, int index, const Scope& scope,
                                     int depth);
  std::optional<HostValue> element(const std::string& name, std::int64_t index, const Scope& scope,
                                   int depth);
  const HostSource& source_;
  int steps_ = 0;
};

}  // namespace tessera::checking
