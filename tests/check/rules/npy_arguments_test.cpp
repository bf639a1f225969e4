// An .npy file must have the parameter's type; a message says where one is in Fortran order.
#include <gtest/gtest.h>

#include "tests/check/call.h"

namespace tessera::checking {
namespace {

class CheckNpy : public Check {
 protected:
  // Of 64 x 64 zeros.
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
  for (const ElementType type : {ElementType::kF64, ElementType::kF16, ElementType::kS8}) {
    const std::string path = file(type, false);
    expect_refused(transposed(path), {"--arg is 'in=" + path + "', which is an array of ",
                                      ", but the kernel takes float const*"});
  }
  expect_says(transposed(file(ElementType::kF32, false)), 0, {"clean: no finding\n"});
}

TEST_F(CheckNpy, InFortranOrderIsTold) {
  expect_says(transposed(file(ElementType::kF32, true)), 0,
              {"note: array in (f32[64,64]) comes from a file in Fortran order: its first index is "
               "the one that is contiguous in memory\n"});
  expect_parts(check(transposed(file(ElementType::kF32, false))).out, {"clean"}, {"Fortran"});
}

}  // namespace
}  // namespace tessera::checking
