// What a CUDA source says about its launches: which function launches which kernel, with what.
#pragma once

#include <string>
#include <vector>

#include "check/propose/tokens.h"

namespace tessera::checking {

struct SourceParameter {
  std::string name;  // empty where the source gives none
  TokenRange words;  // "const float* x"
};

struct SourceFunction {
  std::string name;
  std::vector<std::string> template_parameters;
  std::vector<SourceParameter> parameters;
  TokenRange body;  // with its braces
  bool is_kernel = false, is_device = false;
};

// name<template_arguments><<<shape>>>(arguments)
struct LaunchSite {
  std::string kernel;
  std::vector<TokenRange> template_arguments, shape, arguments;
  const Token* at = nullptr;
  int line = 0;
  std::string file;

  std::string text() const;  // "add<<<(n + 255) / 256, 256>>>"
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
  const std::vector<SourceFunction>& functions() const { return functions_; }
  const std::vector<LaunchSite>& launches() const { return launches_; }

  // The function whose body this token is in; null outside of all.
  const SourceFunction* around(const Token* token) const;
  const SourceFunction* kernel(const std::string& name) const;
  const SourceFunction* function(const std::string& name) const;  // not of the device
  // Names that code of the device uses: changing their values changes the kernel.
  bool is_used_on_device(const std::string& name) const { return device_names_.count(name) != 0; }

 private:
  void find_functions();
  void find_launches();

  SourceWords source_;
  std::vector<SourceFunction> functions_;
  std::vector<LaunchSite> launches_;
  std::set<std::string> device_names_;
};

}  // namespace tessera::checking
