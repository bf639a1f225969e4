// Kernels of some lines of PTX, for tests of check.
#pragma once

#include <string>

namespace tessera::checking {

// A kernel of a pointer to one word and one to a result a thread.
inline std::string kernel_of(const std::string& body) {
  return ".version 8.0\n.target sm_90a\n.address_size 64\n"
         ".visible .entry kernel(.param .u64 word, .param .u64 out)\n{\n"
         ".reg .pred %p<9>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<20>;\n"
         "ld.param.u64 %rd1, [word];\nld.param.u64 %rd2, [out];\n"
         "mov.u32 %r10, %ctaid.x;\nmov.u32 %r11, %ntid.x;\nmov.u32 %r12, %tid.x;\n"
         "mad.lo.s32 %r13, %r10, %r11, %r12;\nmov.u32 %r15, 1;\n"
         "mul.wide.u32 %rd3, %r13, 4;\n"
         "add.s64 %rd4, %rd2, %rd3;\nadd.s32 %r14, %r13, 1;\n" +
         body + "ret;\n}\n";
}

}  // namespace tessera::checking
