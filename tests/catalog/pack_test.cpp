#include "catalog/pack.h"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

namespace tessera {
namespace {

std::vector<std::string> unpacked(std::string_view packed, std::string_view known = {}) {
  const UnpackedParts all = unpack(packed, known);
  return {all.parts.begin(), all.parts.end()};
}

std::vector<std::string> there_and_back(const std::vector<std::string>& parts) {
  return unpacked(pack({parts.begin(), parts.end()}));
}

std::string random_text(std::mt19937& random, std::size_t size, int letters) {
  std::string text;
  while (text.size() < size) text.push_back(static_cast<char>(random() % letters));
  return text;
}

TEST(Pack, EveryTextComesBack) {
  std::mt19937 random(1);
  std::vector<std::string> parts = {"", "a", std::string(100'000, 'x'), "abcabcabcabcabcabcabcabc"};
  for (const int letters : {2, 4, 256}) {
    for (const std::size_t size : {7, 8, 9, 1000, 70'000}) {
      parts.push_back(random_text(random, size, letters));
    }
  }
  parts.push_back(parts[2] + parts.back());
  EXPECT_EQ(there_and_back(parts), parts);
  EXPECT_EQ(there_and_back({}), std::vector<std::string>{});
  EXPECT_EQ(there_and_back({""}), std::vector<std::string>{""});
}

TEST(Pack, RepetitionShrinks) {
  std::string text;
  for (int i = 0; i < 10'000; ++i) {
    text += "\tfma.rn.f32 %f" + std::to_string(i % 97) + ", %f1, %f2;\n";
  }
  EXPECT_LT(pack({text}).size(), text.size() / 50);
  // What is built once and copied often is packed as far as it goes.
  std::mt19937 random(4);
  std::string code;
  for (int i = 0; i < 20'000; ++i) {
    code += "\tfma.rn.f32 %f" + std::to_string(random() % 97) + ", %f" +
            std::to_string(random() % 7) + ";\n";
  }
  EXPECT_LT(pack({code}).size(), 40'000u) << "with the usual level of zstd: 45,611";
}

// A text beside one that it is like, in pieces of another order and far apart.
TEST(Pack, WhatIsKnownTakesNextToNoRoom) {
  std::mt19937 random(3);
  const std::string known = random_text(random, 6'000'000, 256);
  std::string text = known.substr(3'000'000) + "something else" + known.substr(0, 3'000'000);
  const std::string packed = pack({text, "tail"}, known);
  EXPECT_LT(packed.size(), text.size() / 100);
  EXPECT_EQ(unpacked(packed, known), (std::vector<std::string>{text, "tail"}));
  EXPECT_THROW(unpack(packed), std::runtime_error);
  EXPECT_THROW(unpack(packed, std::string(known.size(), 'x')), std::runtime_error);
}

TEST(Pack, DamageIsAnErrorOrAnotherTextButNeverACrash) {
  std::mt19937 random(2);
  const std::string packed = pack({random_text(random, 3000, 3), "tail"});
  for (std::size_t size = 0; size < packed.size(); ++size) {
    EXPECT_THROW(unpack(packed.substr(0, size)), std::runtime_error) << size;
  }
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = packed;
    damaged[random() % damaged.size()] ^= static_cast<char>(1 << random() % 8);
    try {
      unpack(damaged);
    } catch (const std::runtime_error&) {
    }
  }
}

}  // namespace
}  // namespace tessera
