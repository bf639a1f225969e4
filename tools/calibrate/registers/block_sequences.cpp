// The multiply-adds of a thread's tile for one k: a column of A times a row of B. The order in
// which they come and the banks of the accumulators decide how often registers are read.
#include <fmt/format.h>

#include <random>

#include "tools/calibrate/registers/sequence.h"

namespace tessera::calibration {
namespace {

struct Place {
  int i, j;  // rows and columns of the tile
};

enum class Order { kRows, kSerpentine, kSquares, kSquaresSerpentine };
constexpr Order kOrders[] = {Order::kRows, Order::kSerpentine, Order::kSquares,
                             Order::kSquaresSerpentine};

const char* name(Order order) {
  constexpr const char* kNames[] = {"rows", "rows, serpentine", "2x2", "2x2, serpentine"};
  return kNames[static_cast<int>(order)];
}

std::vector<Place> places(int rows, int columns, Order order) {
  std::vector<Place> all;
  const bool squares = order == Order::kSquares || order == Order::kSquaresSerpentine;
  const bool turns = order == Order::kSerpentine || order == Order::kSquaresSerpentine;
  const int step = squares ? 2 : 1;
  for (int i = 0; i < rows; i += step) {
    for (int at = 0; at < columns; at += step) {
      const bool is_back = turns && i / step % 2 == 1;
      const int j = is_back ? columns - step - at : at;
      all.push_back({i, j});
      if (!squares) continue;
      all.push_back({i + 1, j});
      all.push_back({i + 1, j + 1});
      all.push_back({i, j + 1});
    }
  }
  return all;
}

enum class Bank { kOfA, kNotOfA, kOfB, kNotOfB, kChecker };
constexpr Bank kBanks[] = {Bank::kOfA, Bank::kNotOfA, Bank::kOfB, Bank::kNotOfB, Bank::kChecker};

const char* name(Bank bank) {
  constexpr const char* kNames[] = {"A's", "not A's", "B's", "not B's", "checkered"};
  return kNames[static_cast<int>(bank)];
}

// Register of accumulator (i, j), from an even first one on.
int accumulator(Place p, int rows, int columns, Bank bank) {
  switch (bank) {
    case Bank::kOfA:
      return p.j * rows + p.i;
    case Bank::kNotOfA:
      return p.j * rows + (p.i ^ 1);
    case Bank::kOfB:
      return p.i * columns + p.j;
    case Bank::kNotOfB:
      return p.i * columns + (p.j ^ 1);
    case Bank::kChecker:
      return p.i * columns + (p.j ^ (p.i & 1));
  }
  return 0;
}

std::vector<Fma> block(int rows, int columns, Order order, Bank bank) {
  const int a = 16, b = a + rows, c = b + columns;
  std::vector<Fma> fmas;
  for (const Place& p : places(rows, columns, order)) {
    const int d = c + accumulator(p, rows, columns, bank);
    fmas.push_back({d, a + p.i, b + p.j, d});
  }
  return fmas;
}

Sequence block_sequence(int rows, int columns, Order order, Bank bank, bool reuse) {
  std::vector<Fma> fmas = block(rows, columns, order, bank);
  if (reuse) fmas = with_reuse(fmas);
  return {"E4",
          fmt::format("{}x{}, {}, accumulators in {} bank{}", rows, columns, name(order),
                      name(bank), reuse ? "" : ", no flags"),
          encode(fmas),
          {},
          columns * rows > 64 ? &wide_frame() : &middle_frame()};
}

// A block with an LDS.128 every 16 FFMAs, as a kernel needs them for the next k.
Sequence block_with_loads(int rows, int columns, Order order, Bank bank) {
  const Code fmas = encode(with_reuse(block(rows, columns, order, bank)));
  const int target = rows * columns > 64 ? 176 : 96;
  const int loads = (rows + columns) / 4;
  const std::size_t apart = fmas.size() / loads;
  Code code;
  for (std::size_t i = 0; i < fmas.size(); ++i) {
    if (i % apart == 0) {
      const int quad = target + 4 * static_cast<int>(i / apart);
      code.push_back(with_control(sass::lds(128, quad, sass::kZeroRegister, kSharedBase),
                                  {.stall = 1, .write_scoreboard = 0}));
    }
    code.push_back(fmas[i]);
  }
  return {"E6",
          fmt::format("{}x{}, {}, accumulators in {} bank, {} LDS.128", rows, columns, name(order),
                      name(bank), loads),
          code,
          {},
          rows * columns > 64 ? &wide_frame() : &middle_frame()};
}

}  // namespace

std::vector<Sequence> block_sequences() {
  std::vector<Sequence> all;
  for (Order order : kOrders) {
    for (Bank bank : kBanks) {
      for (bool reuse : {true, false}) all.push_back(block_sequence(8, 8, order, bank, reuse));
      all.push_back(block_sequence(16, 8, order, bank, true));
    }
    for (Bank bank : {Bank::kNotOfA, Bank::kOfB}) {
      all.push_back(block_with_loads(8, 8, order, bank));
      all.push_back(block_with_loads(16, 8, order, bank));
    }
  }
  return all;
}

std::vector<Fma> good_block(int rows, int columns) {
  return with_reuse(block(rows, columns, Order::kSquaresSerpentine, Bank::kNotOfA));
}

// Streams without a plan, which hold whatever model comes out to account.
std::vector<Sequence> random_sequences() {
  std::vector<Sequence> all;
  for (unsigned seed = 1; seed <= 24; ++seed) {
    std::mt19937 random(seed);
    const int choice = seed % 3 == 0 ? 4 : 16;  // few registers, so that some are met again
    const auto source = [&] { return 16 + static_cast<int>(random() % choice); };
    std::vector<Fma> fmas;
    for (int i = 0; i < 32; ++i) {
      const int c = 32 + static_cast<int>(random() % 24);
      fmas.push_back({c, source(), source(), c});
    }
    all.push_back({"random", fmt::format("seed {}, no flags", seed), encode(fmas)});
    all.push_back(
        {"random", fmt::format("seed {}, flags where read next", seed), encode(with_reuse(fmas))});
    for (Fma& f : fmas) f.reuse = random() % 4;
    all.push_back({"random", fmt::format("seed {}, random flags", seed), encode(fmas)});
  }
  return all;
}

}  // namespace tessera::calibration
