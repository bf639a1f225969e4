// Short ways to ask the parser one question.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "vgpu/ptx/parser.h"
#include "vgpu/report/fault.h"

namespace tessera::vgpu::ptx {

inline const std::string kHead = ".version 8.0\n.target sm_90a\n.address_size 64\n";

// The function of a module whose only entry has this body.
inline Function parse_entry_body(const std::string& body) {
  Module module = parse(kHead + ".visible .entry k(.param .u64 p)\n{\n" + body + "\n}\n");
  return module.functions.at(0);
}

// The instruction behind a list of register declarations that suits most tests.
inline Instruction parse_one(const std::string& text) {
  const std::string registers =
      ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>;\n"
      ".shared .b32 tile[8];\n";
  return parse_entry_body(registers + text).body.at(0);
}

// The fault that the text raises; fails the test when it raises none.
inline Fault syntax_fault(const std::string& text) {
  try {
    parse(text);
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.kind(), FaultKind::kSyntax);
    return fault;
  }
  ADD_FAILURE() << "no error in:\n" << text;
  return Fault(FaultKind::kSyntax, "", {});
}

inline const Variable& variable_named(const Function& function, const std::string& name) {
  const auto found = std::find_if(function.variables.begin(), function.variables.end(),
                                  [&](const Variable& v) { return v.name == name; });
  if (found == function.variables.end()) throw std::out_of_range("no variable " + name);
  return *found;
}

}  // namespace tessera::vgpu::ptx
