// Calls a generic function with the C++ type that represents an element type (an enum value). Only
// this file lists which C++ type represents which element type.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/small_float.h"
#include "base/types.h"

namespace tessera {

// Calls body with a zero of the C++ type: on_element(type, "a fill", [](auto zero) {...}). Throws
// kUnsupported, with `what` and the type in the message, for a type that has no C++ type.
template <class Body>
decltype(auto) on_element(ElementType type, const char* what, Body&& body) {
  switch (type) {
    case ElementType::kF64:
      return body(double{});
    case ElementType::kF32:
      return body(float{});
    case ElementType::kF16:
      return body(Half{});
    case ElementType::kBf16:
      return body(Bfloat16{});
    case ElementType::kE4m3:
      return body(E4m3{});
    case ElementType::kE5m2:
      return body(E5m2{});
    case ElementType::kS8:
      return body(std::int8_t{});
    case ElementType::kU8:
      return body(std::uint8_t{});
    case ElementType::kS16:
      return body(std::int16_t{});
    case ElementType::kU16:
      return body(std::uint16_t{});
    case ElementType::kS32:
      return body(std::int32_t{});
    case ElementType::kU32:
      return body(std::uint32_t{});
    case ElementType::kS64:
      return body(std::int64_t{});
    case ElementType::kU64:
      return body(std::uint64_t{});
    case ElementType::kMadeUp:
      break;
  }
  refuse_type(what, type);
}

// Converts a double to an element: rounds to nearest even. For an integer type, a number beyond the
// type's range becomes the nearest limit, and a NaN becomes 0.
template <class T>
T element_of(double value) {
  if constexpr (std::is_integral_v<T>) {
    constexpr auto least = static_cast<double>(std::numeric_limits<T>::min());
    constexpr auto beyond = static_cast<double>(std::numeric_limits<T>::max()) + 1;
    if (std::isnan(value)) return 0;
    value = std::nearbyint(value);
    if (value <= least) return std::numeric_limits<T>::min();
    return value >= beyond ? std::numeric_limits<T>::max() : static_cast<T>(value);
  } else {
    return static_cast<T>(value);
  }
}

// Reads one element from memory, aligned or not.
inline double load_element(ElementType type, const void* from) {
  return on_element(type, "reading a number", [&]<class T>(T value) -> double {
    std::memcpy(&value, from, sizeof value);
    return static_cast<double>(value);
  });
}

inline void store_element(ElementType type, double value, void* to) {
  on_element(type, "writing a number", [&]<class T>(T) {
    const T element = element_of<T>(value);
    std::memcpy(to, &element, sizeof element);
  });
}

// Rounds a value to an element type, and returns the result as a double.
inline double rounded_to(ElementType type, double value) {
  return on_element(type, "rounding", [&]<class T>(T) -> double {
    return static_cast<double>(element_of<T>(value));
  });
}

}  // namespace tessera
