// Describes the launches in a CUDA source: which function launches which kernel, with which
// arguments.
#pragma once

#include <deque>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "check/propose/source/launches.h"
#include "check/words/tokens.h"

namespace tessera::checking {

struct SourceParameter {
  std::string name;    // empty where the source gives none
  TokenRange words;    // "const float* x"
  TokenRange initial;  // "256" of "int threads = 256"
};

// A member that a constructor's initializer list sets: "n_(n)".
struct MemberInitial {
  std::string name;
  TokenRange words;
};

// A function of the source, or a lambda that has a name.
struct SourceFunction {
  std::string name;
  std::vector<std::string> template_parameters;
  std::vector<SourceParameter> parameters;
  std::vector<MemberInitial> initials;
  std::string returns;  // last name of the returned type: "dim3"; empty if unknown
  TokenRange body;      // with its braces
  bool is_kernel = false, is_device = false, is_constructor = false;
  const SourceFunction* outer = nullptr;  // the function around a lambda
};

// A place where a function is called, and the arguments of the call.
struct FunctionCall {
  const Token* at = nullptr;
  const SourceFunction* function = nullptr;
  std::vector<TokenRange> template_arguments, arguments;

  TokenRange given_for(const std::string& parameter) const;  // or template parameter; may be empty
  std::vector<TokenRange> given_from(const std::string& parameter) const;  // from this parameter on
};

class HostSource {
 public:
  HostSource(const std::string& path, const ReadOptions& options);
  HostSource(const HostSource&) = delete;
  HostSource& operator=(const HostSource&) = delete;

  const SourceWords& source() const { return source_; }
  TokenRange all() const {
    return {source_.tokens.data(), source_.tokens.data() + source_.tokens.size()};
  }
  // Returns the positions of the name in these words of the source.
  std::span<const Token* const> places_of(const std::string& name, TokenRange words) const;
  const std::vector<SourceFunction>& functions() const { return functions_; }
  const std::vector<LaunchSite>& launches() const { return launches_; }

  // Returns the innermost function whose body contains this token; null outside of all functions.
  const SourceFunction* around(const Token* token) const;
  // Returns the function that contains a lambda.
  const SourceFunction* outside_of(const SourceFunction& function) const { return function.outer; }
  // Returns the calls of this function from other functions of the source.
  const std::vector<FunctionCall>& calls_of(const SourceFunction& function) const;
  const SourceFunction* kernel(const std::string& name) const;
  const SourceFunction* function(const std::string& name) const;  // not a kernel
  // Returns the function of this name with this number of arguments, if there is one.
  const SourceFunction* function(const std::string& name, std::size_t arguments) const;
  // Whether device code uses the name: changing its value then changes the kernel.
  bool is_used_on_device(const std::string& name) const { return device_names_.count(name) != 0; }

 private:
  SourceWords source_;
  std::unordered_map<std::string, std::vector<const Token*>> places_;
  std::vector<SourceFunction> functions_;  // in the order of their bodies
  std::deque<std::vector<Token>> made_;    // words of launches that are put together
  std::vector<LaunchSite> launches_;
  mutable std::map<const SourceFunction*, std::vector<FunctionCall>> calls_;
  std::set<std::string> device_names_;
};

}  // namespace tessera::checking
