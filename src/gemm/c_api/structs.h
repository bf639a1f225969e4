// Reads the structs of include/tessera/gemm.h into the library's own types. A struct begins with
// its size, which identifies its version. Illegal fields are refused by name.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "base/status.h"
#include "gemm/options.h"
#include "tessera/gemm.h"

namespace tessera::gemm::c_api {

inline StatusError refused(std::string why) {
  return StatusError(Status::bad_argument(std::move(why)));
}

// The object that a pointer points to. Throws if the pointer is null.
template <class T>
T& given(T* pointer, const char* name) {
  if (pointer) return *pointer;
  throw refused(std::string(name) + " is null, but must be given");
}

// Throws, with the argument's name, if the value is not 0.
void require_zero(const char* name, std::int64_t value);

// The size in bytes that the caller's struct states: at least `known`, or one of `earlier`. Throws
// for other sizes, and if an input struct has bytes after `known` that are not 0.
std::size_t size_of_struct(const void* given, std::size_t known, const char* name, bool is_input,
                           std::span<const std::size_t> earlier = {});

// The sizes in bytes that a struct had in earlier versions. The fields that such a
// version lacks are read as 0.
template <class Struct>
inline constexpr std::array<std::size_t, 0> kEarlierSizes{};
template <>
inline constexpr std::array kEarlierSizes<tessera_place>{offsetof(tessera_place, fp32)};
template <>
inline constexpr std::array kEarlierSizes<tessera_problem>{offsetof(tessera_problem, auxiliary)};
template <>
inline constexpr std::array kEarlierSizes<tessera_arguments>{offsetof(tessera_arguments, scale),
                                                             offsetof(tessera_arguments, packed_a),
                                                             offsetof(tessera_arguments, x)};
template <>
inline constexpr std::array kEarlierSizes<tessera_plan_options>{
    offsetof(tessera_plan_options, kernel), offsetof(tessera_plan_options, packed)};
template <>
inline constexpr std::array kEarlierSizes<tessera_choice>{offsetof(tessera_choice, plan)};

// A caller's struct of any version, read as a struct of this version.
template <class Struct>
Struct read(const Struct* from, const char* name) {
  Struct known{};
  const std::size_t size = size_of_struct(from, sizeof(Struct), name, true, kEarlierSizes<Struct>);
  std::memcpy(&known, from, std::min(size, sizeof(Struct)));
  return known;
}

// Writes a struct of this version (`bytes`) over the caller's (`size` bytes), and keeps the
// caller's size field. Fields of a later version are set to 0.
void write_struct(void* to, const void* from, std::size_t bytes, std::size_t size);

// The size in bytes of each tessera_choice in the caller's array.
inline std::size_t size_of_choices(const tessera_choice* first) {
  return size_of_struct(first, sizeof *first, "choices[0]", false, kEarlierSizes<tessera_choice>);
}

enum class Memory { kDevice, kHost, kDetect };

struct Asked {
  Problem problem;
  Memory memory = Memory::kDevice;
  bool is_usual = false;  // the compute type is TESSERA_COMPUTE_USUAL
};

Asked asked_of(const tessera_problem* given);

struct Options {
  PlanOptions plan;
  Alignment alignment;
};
// The options that the caller gives; a null pointer means the defaults.
Options options_of(const tessera_plan_options* given);

// The side, GPU or CPU, that multiplies operands in host memory.
enum class HostSide { kFaster, kGpu, kCpu };

// Products of the types `asked` are computed in the types `taken`.
struct TypesInstead {
  Types asked = kF32Types, taken = kF32Types;

  void replace(Types& types) const {
    if (types == asked) types = taken;
  }
};

struct Place {
  std::int32_t gpu = TESSERA_CURRENT_CONTEXT;
  std::size_t plan_cache = 256;
  bool checks_addresses = false;
  HostSide host_side = HostSide::kFaster;
  TypesInstead fp32;
};
// The place that the caller gives; a null pointer means the defaults. If the caller leaves the type
// of FP32 products open, the environment variable TESSERA_FP32 is read.
Place place_of(const tessera_place* given);

// The operand that TESSERA_A or TESSERA_B names; throws for any other number.
OperandId operand_of(std::int32_t operand);

// The caller's arguments. Throws if they do not fit the problem or if alpha or beta is on the GPU.
tessera_arguments arguments_of(const tessera_arguments* given, const Problem& problem);

inline Operands operands_of(const tessera_arguments& from) {
  const auto address = [](const void* p) { return reinterpret_cast<std::uint64_t>(p); };
  return {address(from.a),     address(from.b),    address(from.c), address(from.d),
          address(from.scale), address(from.bias), address(from.x)};
}

}  // namespace tessera::gemm::c_api
