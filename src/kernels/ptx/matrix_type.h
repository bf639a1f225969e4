// Element types of the tensor cores, with their names in PTX. mma and wgmma insert the names into
// their instructions (constraint "C"), so that one function serves all types of a shape.
#pragma once

namespace tessera::ptx {

enum class MatrixType { kF16, kBF16, kTF32, kE4M3, kE5M2, kS8, kU8 };

template <MatrixType type>
struct MatrixTypeName;
template <>
struct MatrixTypeName<MatrixType::kF16> {
  static constexpr char text[] = "f16";
};
template <>
struct MatrixTypeName<MatrixType::kBF16> {
  static constexpr char text[] = "bf16";
};
template <>
struct MatrixTypeName<MatrixType::kTF32> {
  static constexpr char text[] = "tf32";
};
template <>
struct MatrixTypeName<MatrixType::kE4M3> {
  static constexpr char text[] = "e4m3";
};
template <>
struct MatrixTypeName<MatrixType::kE5M2> {
  static constexpr char text[] = "e5m2";
};
template <>
struct MatrixTypeName<MatrixType::kS8> {
  static constexpr char text[] = "s8";
};
template <>
struct MatrixTypeName<MatrixType::kU8> {
  static constexpr char text[] = "u8";
};

constexpr int bits_of(MatrixType type) {
  switch (type) {
    case MatrixType::kTF32:
      return 32;
    case MatrixType::kF16:
    case MatrixType::kBF16:
      return 16;
    default:
      return 8;
  }
}

}  // namespace tessera::ptx
