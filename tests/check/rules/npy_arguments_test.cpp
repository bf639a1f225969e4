// An .npy file must have the parameter's type; a message says where one is in Fortran order.
#include <gtest/gtest.h>

#include "tests/check/call.h"

namespace tessera::checking {
namespace {

class CheckNpy : public Check {
 protected:
  // The path of a file with 64 x 64 zeros.
  std::string file(ElementType type, bool fortran_order) const {
    HostArray array;
    array.type = type;
    array.shape = {64, 64};
    array.fortran_order = fortran_order;
    array.bytes.resize(static_cast<std::size_t>(64 * 64 * size_of(type)));
    std::string path = folder_ / "in.npy";
    write_text(path, npy_file_of(array));
    return path;
  }
  static Words transposed(const std::string& in) {
    return launch("transpose_fixed.cu", "", "2,2", "32,8",
                  {"out=f32[64,64]", "in=" + in, "n=i32:64"});
  }

  TemporaryFolder folder_;
};

TEST_F(CheckNpy, OfAnotherTypeIsRefusedByName) {
  for (const ElementType type : {ElementType::kF64, ElementType::kF16, ElementType::kS8,
                                 ElementType::kS32, ElementType::kU32}) {
    const std::string path = file(type, false);
    expect_refused(transposed(path), {"--arg is 'in=" + path + "', which is an array of ",
                                      ", but the kernel takes float const*"});
  }
  expect_says(transposed(file(ElementType::kF32, false)), 0, {"clean: no finding\n"});
}

// A sign changes no bits, and NumPy stores bf16 as integers.
TEST_F(CheckNpy, OfTheSameBitsIsTaken) {
  expect_says(launch("rules/beside.cu", "own_arrays", "1", "1",
                     {"out=f32[32]:uniform", "places=" + file(ElementType::kU32, false)}),
              0, {"clean: no finding\n"});
  const std::string path = folder_ / "copies.ptx";
  write_text(path,
             ".version 8.0\n.target sm_90\n.address_size 64\n"
             ".visible .entry _Z6copiesP13__nv_bfloat16PKS_(.param .u64 out, .param .u64 in)\n{\n"
             ".reg .b16 %h;\n.reg .b64 %rd<2>;\n"
             "ld.param.u64 %rd0, [out];\nld.param.u64 %rd1, [in];\n"
             "ld.global.b16 %h, [%rd1];\nst.global.b16 [%rd0], %h;\nret;\n}\n");
  const auto copies = [&](ElementType type) {
    return Words{path,          "--grid", "1",
                 "--block",     "1",      "--arg",
                 "out=bf16[1]", "--arg",  "in=" + file(type, false)};
  };
  expect_says(copies(ElementType::kU16), 0, {"clean: no finding\n"});
  expect_refused(copies(ElementType::kF16),
                 {"an array of f16, but the kernel takes __nv_bfloat16 "});
}

TEST_F(CheckNpy, InFortranOrderIsTold) {
  expect_says(transposed(file(ElementType::kF32, true)), 0,
              {"note: array in (f32[64,64]) comes from a file in Fortran order: its first index is "
               "the one that is contiguous in memory\n"});
  expect_parts(check(transposed(file(ElementType::kF32, false))).out, {"clean"}, {"Fortran"});
}

}  // namespace
}  // namespace tessera::checking
