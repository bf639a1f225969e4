#include "base/types.h"

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <type_traits>

#include "base/elements.h"

namespace tessera {
namespace {

constexpr auto kNone = static_cast<ElementType>(77);
constexpr ElementType kFloats[] = {ElementType::kF64,  ElementType::kF32,  ElementType::kF16,
                                   ElementType::kBf16, ElementType::kE4m3, ElementType::kE5m2};
constexpr ElementType kIntegers[] = {ElementType::kS8,  ElementType::kU8,  ElementType::kS16,
                                     ElementType::kU16, ElementType::kS32, ElementType::kU32,
                                     ElementType::kS64, ElementType::kU64};

template <class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const StatusError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

// The table against what the types themselves do when numbers are rounded to them.
TEST(Types, FactsOfFloatsAreThoseOfTheirArithmetic) {
  for (const ElementType type : kFloats) {
    const ElementFacts& facts = facts_of(type);
    const double smallest = std::ldexp(1.0, facts.smallest), u = unit_roundoff(type);
    EXPECT_EQ(rounded_to(type, smallest), smallest) << facts.name;
    EXPECT_EQ(rounded_to(type, smallest / 2), 0) << facts.name;
    EXPECT_EQ(rounded_to(type, facts.largest), facts.largest) << facts.name;
    EXPECT_EQ(rounded_to(type, 1 + u), 1) << facts.name << ": a tie goes to even";
    EXPECT_EQ(rounded_to(type, 1 + 3 * u), 1 + 4 * u) << facts.name << ": a tie goes to even";
    EXPECT_EQ(rounded_to(type, 1 + 2 * u), 1 + 2 * u) << facts.name;
    if (type == ElementType::kF64) continue;
    EXPECT_EQ(std::isinf(rounded_to(type, 1e300)), facts.has_infinities) << facts.name;
    EXPECT_EQ(std::isnan(rounded_to(type, -1e300)), !facts.has_infinities) << facts.name;
  }
}

TEST(Types, FactsOfIntegersAreTheirRange) {
  for (const ElementType type : kIntegers) {
    const ElementFacts& facts = facts_of(type);
    EXPECT_EQ(rounded_to(type, 1e30), facts.largest) << facts.name;
    const bool is_signed = facts.kind == NumberKind::kSigned;
    EXPECT_EQ(rounded_to(type, -1e30), is_signed ? -std::ldexp(1.0, facts.digits) : 0)
        << facts.name;
    EXPECT_EQ(rounded_to(type, 2.5), 2) << facts.name;
    EXPECT_EQ(rounded_to(type, std::nan("")), 0) << facts.name;
    EXPECT_EQ(unit_roundoff(type), 0) << facts.name;
  }
}

TEST(Types, SizesAreThoseOfTheElements) {
  for (const std::span<const ElementType> types :
       {std::span<const ElementType>(kFloats), std::span<const ElementType>(kIntegers)}) {
    for (const ElementType type : types) {
      EXPECT_EQ(on_element(type, "a test", [](auto zero) { return static_cast<int>(sizeof zero); }),
                size_of(type));
      EXPECT_EQ(parse_element_type("--type", name_of(type)), type);
    }
  }
}

TEST(Types, WordsAndFiveWordsAreReadBack) {
  for (const Types& types : {kF64Types, kF32Types, kTf32Types, kF16x3Types, kF16Types, kBf16Types,
                             kE4m3Types, kS8Types}) {
    EXPECT_EQ(parse_types("--type", name_of(types)), types);
  }
  EXPECT_EQ(name_of(kBf16Types), "bf16");
  Types mixed = kBf16Types;
  mixed.c = mixed.d = ElementType::kF32;
  EXPECT_EQ(name_of(mixed), "bf16,bf16,f32,f32,f32");
  EXPECT_EQ(parse_types("--type", name_of(mixed)), mixed);
  EXPECT_EQ(describe(mixed), "bf16 x bf16 -> f32 with compute f32");
  mixed.c = ElementType::kBf16;
  EXPECT_EQ(describe(mixed), "bf16 x bf16 + bf16 -> f32 with compute f32");
}

TEST(Types, ErrorsListWhatIsAccepted) {
  EXPECT_EQ(
      message_of([] { parse_types("--type", "f31"); }),
      "--type is 'f31', but must be one of: f64, f32, tf32, f16, bf16, e4m3, s8, f16x3; or five: "
      "types of A, B, C, D and compute");
  EXPECT_EQ(message_of([] { parse_types("--type", "f32,f32,f32,f32,bf16"); }),
            "--type is 'bf16', but must be one of: f64, f32, tf32, f16, s32, f16x3");
  EXPECT_EQ(message_of([] { parse_types("--type", "f32,tf32,f32,f32,f32"); }),
            "--type is 'tf32', but must be one of: f64, f32, f16, bf16, e4m3, e5m2, s8, u8, s16, "
            "u16, s32, u32, s64, u64");
  EXPECT_NE(message_of([] { parse_types("--type", "f32,f32,f32,f32,f32,f32"); }),
            "nothing was thrown");
  EXPECT_NE(message_of([] { parse_types("--type", ""); }), "nothing was thrown");
}

TEST(Types, ValuesThatAreNoTypesAreRefused) {
  EXPECT_EQ(message_of([] { facts_of(kNone); }),
            "element type is number 77, but there is no such type");
  EXPECT_EQ(message_of([] { size_of(static_cast<ElementType>(-1)); }),
            "element type is number -1, but there is no such type");
  EXPECT_EQ(message_of([] { facts_of(static_cast<ComputeType>(99)); }),
            "compute type is number 99, but there is no such type");
  EXPECT_EQ(name_of(kNone), "unknown");
  for (ElementType Types::*field : {&Types::a, &Types::b, &Types::c, &Types::d}) {
    Types types;
    EXPECT_TRUE(check(types).ok());
    types.*field = kNone;
    EXPECT_EQ(check(types).message, "element type is number 77, but there is no such type");
  }
}

TEST(Types, TheMadeUpTypeHasNoArithmetic) {
  EXPECT_EQ(message_of([] { rounded_to(ElementType::kMadeUp, 1); }),
            "rounding does not take elements of type made-up");
  EXPECT_EQ(message_of([] { load_element(ElementType::kMadeUp, nullptr); }),
            "reading a number does not take elements of type made-up");
  EXPECT_NE(message_of([] { parse_types("--type", "made-up"); }), "nothing was thrown");
  EXPECT_NE(message_of([] { parse_element_type("--type", "made-up"); }), "nothing was thrown");
  EXPECT_NE(message_of([] { on_element(kNone, "a test", [](auto) {}); }), "nothing was thrown");
}

template <class T>
class SmallFloats : public testing::Test {};
using AllSmallFloats = testing::Types<Half, Bfloat16, E4m3, E5m2>;
TYPED_TEST_SUITE(SmallFloats, AllSmallFloats);

TYPED_TEST(SmallFloats, PatternsSurviveTheWayToDoubleAndBack) {
  for (int pattern = 0; pattern < 1 << 8 * sizeof(TypeParam); ++pattern) {
    TypeParam number;
    number.bits = static_cast<typename TypeParam::Bits>(pattern);
    const double value = number;
    const TypeParam back(value);
    if (!std::isnan(value)) {
      EXPECT_EQ(back.bits, number.bits) << pattern;
    } else {
      EXPECT_TRUE(std::isnan(double{back})) << pattern;
    }
  }
}

// Between two neighbours the nearer one is chosen, in the middle the even one. Neighbours are
// patterns one apart, so this needs no second rounding.
TYPED_TEST(SmallFloats, RoundToTheNearestPattern) {
  const auto number = [](int pattern) {
    TypeParam out;
    out.bits = static_cast<typename TypeParam::Bits>(pattern);
    return out;
  };
  int pairs = 0;
  for (int low = 0; std::isfinite(double{number(low + 1)}); ++low, ++pairs) {
    const double x = number(low), y = number(low + 1), middle = (x + y) / 2;
    ASSERT_LT(x, y) << low;
    EXPECT_EQ(TypeParam(middle).bits, number(low + low % 2).bits) << low;
    EXPECT_EQ(TypeParam(std::nextafter(middle, x)).bits, number(low).bits) << low;
    EXPECT_EQ(TypeParam(std::nextafter(middle, y)).bits, number(low + 1).bits) << low;
    EXPECT_EQ(double{TypeParam(-std::nextafter(middle, y))}, -y) << low;
  }
  EXPECT_GT(pairs, 100);
}

TYPED_TEST(SmallFloats, MarkedNansKeepTheirMarks) {
  if (std::is_same_v<TypeParam, E4m3>) return;  // it has one NaN
  TypeParam marked(std::nan(""));
  marked.bits |= 1;
  EXPECT_EQ(TypeParam(double{marked}).bits, marked.bits);
}

}  // namespace
}  // namespace tessera
