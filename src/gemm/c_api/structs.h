// The structs of include/tessera/gemm.h as the library's own types. A struct begins with its size,
// which identifies its version. Illegal fields are refused by name.
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

// Not all of these may be negative, or be other than 0.
void require_zero(const char* name, std::int64_t value);

// The size that the caller's struct states: at least `known`, or that of an earlier version. In an
// input struct of a later version, the fields that this version does not know must be 0.
std::size_t size_of_struct(const void* given, std::size_t known, const char* name, bool is_input,
                           std::span<const std::size_t> earlier = {});

// The sizes of a struct before fields were appended, which are 0 for a caller that does not know
// them.
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

// A caller's struct, of this version, an earlier or a later one.
template <class Struct>
Struct read(const Struct* from, const char* name) {
  Struct known{};
  const std::size_t size = size_of_struct(from, sizeof(Struct), name, true, kEarlierSizes<Struct>);
  std::memcpy(&known, from, std::min(size, sizeof(Struct)));
  return known;
}

// Writes a struct of this version over the caller's, and keeps its size; what a later version has
// beyond that is set to 0.
void write_struct(void* to, const void* from, std::size_t bytes, std::size_t size);

// The size of each tessera_choice in the caller's array.
inline std::size_t size_of_choices(const tessera_choice* first) {
  return size_of_struct(first, sizeof *first, "choices[0]", false, kEarlierSizes<tessera_choice>);
}

enum class Memory { kDevice, kHost, kDetect };

struct Asked {
  Problem problem;
  Memory memory = Memory::kDevice;
  bool is_usual = false;  // the caller leaves open how it is computed
};

Asked asked_of(const tessera_problem* given);

struct Options {
  PlanOptions plan;
  Alignment alignment;
};
// Null gives the defaults.
Options options_of(const tessera_plan_options* given);

// Which side multiplies operands in host memory.
enum class HostSide { kFaster, kGpu, kCpu };

// Products of the types `asked` are computed in others.
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
// Null gives the defaults. Reads TESSERA_FP32 where the caller leaves the type of FP32 products
// open.
Place place_of(const tessera_place* given);

// A or B.
OperandId operand_of(std::int32_t operand);

// Refuses fields that no kernel reads yet: alpha and beta in device memory.
tessera_arguments arguments_of(const tessera_arguments* given, const Problem& problem);

inline Operands operands_of(const tessera_arguments& from) {
  const auto address = [](const void* p) { return reinterpret_cast<std::uint64_t>(p); };
  return {address(from.a),     address(from.b),    address(from.c), address(from.d),
          address(from.scale), address(from.bias), address(from.x)};
}

}  // namespace tessera::gemm::c_api
