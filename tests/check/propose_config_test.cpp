// Launch shapes that other functions of the same files make: returned, as a tuple or a struct, or
// filled in by reference; and what is said of those that nobody can tell.
#include "tests/check/propose.h"

namespace tessera::checking {
namespace {

class FilledText : public LaunchText {
 protected:
  // The shape of the only launch: "4 2 1 | 256 | 96"; "?" for what is not told.
  std::string shape(const std::string& text) {
    const auto& sites = launches(text);
    if (sites.size() != 1) return std::to_string(sites.size()) + " launches";
    const LaunchSite& site = sites[0];
    std::string all;
    for (const TokenRange& words : site.shape) {
      const auto found =
          evaluator_->value(words, {source_->around(site.at), site.at, {}, site.call});
      all += all.empty() ? "" : " | ";
      if (!found) {
        all += "?";
      } else if (found->dims) {
        const auto& dims = *found->dims;
        all +=
            std::to_string(dims[0]) + " " + std::to_string(dims[1]) + " " + std::to_string(dims[2]);
      } else {
        all += std::to_string(found->whole());
      }
    }
    return all;
  }
  // With "int n = 1000" in main(), before the launch.
  std::string of(const std::string& functions, const std::string& words,
                 const std::string& launch = "k<<<grid, block>>>(x, n);") {
    return shape(functions + "\nint main() { const int n = 1000; " + words + " " + launch + " }");
  }
};

TEST_F(FilledText, AFunctionReturnsTheGrid) {
  EXPECT_EQ(of("dim3 make_grid(int n) { const int b = 32; return dim3((n + b - 1) / b, 2); }",
               "dim3 grid = make_grid(n), block(b_of(1));"),
            "32 2 1 | ?");
  EXPECT_EQ(of("namespace s { template <int B> dim3 grid_for(int n) { return (n + B - 1) / B; } }",
               "const int block = 128; auto grid = s::grid_for<64>(n);"),
            "16 | 128");
  EXPECT_EQ(of("",
               "auto grid_of = [](int m) { dim3 g; g.x = m / 8; g.y = 3; return g; };"
               "dim3 grid = grid_of(n); int block = 32;"),
            "125 3 1 | 32");
  EXPECT_EQ(of("int one(int n, int per = 10) { return n / per; }\nint one(int n, int a, int b) "
               "{ return n / a / b; }",
               "int grid = one(n), block = one(n, 5, 2);"),
            "100 | 100")
      << "with a default, and the one of three parameters";
}
TEST_F(FilledText, AFunctionChooses) {
  const std::string block =
      "int block_for(int n) {\n"
      "  if (n <= 0) throw std::invalid_argument(\"n\");\n"
      "  if (n < 256) { return 64; } else if (n < 2000) return 192;\n"
      "  return 512;\n}\n";
  EXPECT_EQ(of(block, "int block = block_for(n), grid = block_for(n / 10);"), "64 | 192");
  const std::string power =
      "unsigned power(unsigned n) { unsigned p = 1; while (p * 2 <= n) p *= 2; return p; }\n"
      "int halves(int n) { int h = 0; for (int i = n; i > 1; i /= 2) ++h; return h; }\n";
  EXPECT_EQ(of(power, "int grid = halves(n), block = power(n);"), "9 | 512");
  const std::string by_case =
      "int size_of_case(int kind) { int s = 7; switch (kind) { case 1: s = 32; break;\n"
      "  case 2: case 3: s = 64; s += 1; break; default: s = 96; } return s; }\n";
  EXPECT_EQ(of(by_case, "int grid = size_of_case(3), block = size_of_case(n);"), "65 | 96");
  const std::string rounded = "int up(double x) { int whole = x * 1.5; return whole / 2; }\n";
  EXPECT_EQ(of(rounded, "int grid = up(7), block = up(8);"), "5 | 6") << "a whole number by type";
}
TEST_F(FilledText, SeveralAtOnce) {
  EXPECT_EQ(of("std::pair<dim3, int> config(int n) { dim3 g(n / 10); return {g, 64}; }",
               "auto [grid, block] = config(n);"),
            "100 1 1 | 64");
  EXPECT_EQ(of("auto config(int n) { return std::make_tuple(dim3(n / 10, 4), 96u, 5); }",
               "const auto& [grid, block, bytes] = config(n);", "k<<<grid, block, bytes>>>(x, n);"),
            "100 4 1 | 96 | 5");
  EXPECT_EQ(of("auto config(int n) { return std::make_pair(n / 10, 96); }",
               "int grid, block; std::tie(grid, block) = config(n);"),
            "100 | 96");
  EXPECT_EQ(of("auto config(int n) { return std::make_pair(n / 10, 96); }", "auto c = config(n);",
               "k<<<c.first, c.second>>>(x, n);"),
            "100 | 96");
}
TEST_F(FilledText, AStruct) {
  const std::string type = "struct Shape { dim3 grid, block = dim3(48); int bytes = 16; };\n";
  const std::string launch = "k<<<s.grid, s.block, s.bytes>>>(x, n);";
  EXPECT_EQ(of(type + "Shape shape(int n) { Shape s; s.grid.x = n / 8; s.bytes += n; return s; }",
               "Shape s = shape(n);", launch),
            "125 1 1 | 48 1 1 | 1016");
  EXPECT_EQ(of(type + "Shape shape(int n) { return {dim3(n / 8), 32, 4 * n}; }",
               "const auto s = shape(n);", launch),
            "125 1 1 | 32 | 4000");
  EXPECT_EQ(of(type + "Shape shape(int n) { return Shape{.grid = n / 8, .bytes = 8}; }",
               "auto s = shape(n);", launch),
            "125 | 48 1 1 | 8");
  EXPECT_EQ(of(type + "void shape(int n, Shape* s) { s->grid = dim3(n, 2); s->block = {8, 4}; }",
               "Shape s; shape(n, &s);", launch),
            "1000 2 1 | 8 4 1 | 16");
}
TEST_F(FilledText, ByReference) {
  const std::string config =
      "int ceil_div(int a, int b) { return (a + b - 1) / b; }\n"
      "void inner(int n, int b, dim3& out) { out.x = ceil_div(n, b); out.y = 3; }\n"
      "void config(int n, dim3& grid, dim3& block, size_t* bytes = nullptr) {\n"
      "  block = dim3(96); inner(n, block.x, grid); if (bytes) *bytes = n * sizeof(float); }\n";
  EXPECT_EQ(of(config, "dim3 grid, block; size_t bytes = 0; config(n, grid, block, &bytes);",
               "k<<<grid, block, bytes>>>(x, n);"),
            "11 3 1 | 96 1 1 | 4000");
  EXPECT_EQ(of(config, "dim3 grid(1), block(1); inner(n, 500, grid);"), "2 3 1 | 1 1 1");
  EXPECT_EQ(of(config, "dim3 grid, block(1); inner(n, 500, grid); grid = dim3(77);"),
            "77 1 1 | 1 1 1")
      << "what comes later counts";
}
TEST_F(FilledText, OnlyABranchThatEndsTheProgramIsTakenForPassed) {
  const auto grid = [&](const std::string& branch) {
    return of("int f(int n) { int b = 1; if (wide()) " + branch + " return b; }",
              "int grid = f(n), block = 32;");
  };
  for (const char* passed :
       {"exit(1);", "{ printf(\"wide\"); ::exit(1); }", "throw std::runtime_error(\"wide\");",
        "{ b = 2; do { b = 3; std::abort(); } while (0); }", "{ b = 2; assert(!\"wide\"); }",
        "{ if (n < 0) b = 5; { throw 1; } }", "{ b = 2; exit(1); return 4; }",
        "{ std::terminate(); }", "{ b = 2; std::_Exit(1); break; }", "quick_exit(b = 2);"}) {
    EXPECT_EQ(grid(passed), "1 | 32") << passed;
  }
  for (const char* lost :
       {"{ if (n < 0) exit(1); b = n / 64; }", "{ b = 2; assert(b > 1); }", "{ b = exit_code(); }",
        "{ if (n < 0) throw 1; else b = 3; }", "{ b = 2; while (n < 0) abort(); }", "return 3;"}) {
    EXPECT_EQ(grid(lost), "? | 32") << lost;
  }
  EXPECT_EQ(grid("exit(1); else b = 2;"), "2 | 32");
}
TEST_F(FilledText, ABranchThatChangesNothingIsPassedOver) {
  const auto grid = [&](const std::string& branch) {
    return of(
        "void set(int& x) { x = 7; }\n"
        "int f(int n) { int b = 1, c = 4; S s; if (wide()) " +
            branch + " return b; }",
        "int grid = f(n), block = 32;");
  };
  for (const char* passed :
       {"{}", "printf(\"wide %d\", b);", "{ int d = b; ++d; printf(\"%d\", d); }", "c = 3;",
        "{ c += b; s.b = 2; } else { c = 5; }", "std::cout << b << std::endl;", "set(c);",
        "{ for (int i = 0; i < b; ++i) c *= 2; }"}) {
    EXPECT_EQ(grid(passed), "1 | 32") << passed;
  }
  for (const char* lost :
       {"b = 2;", "++b;", "b++;", "b <<= 1;", "b %= 2;", "ask(&b);", "std::cin >> b;", "set(b);",
        "{ int d = 2; b = d; }", "c = 1; else b = 3;", "{ if (n < 0) b /= 2; }"}) {
    EXPECT_EQ(grid(lost), "? | 32") << lost;
  }
}
TEST_F(FilledText, ADim3IsLostWithAComponentOfIt) {
  const auto in_function = [&](const std::string& words) {
    return of("dim3 grid_for(int n) { " + words + " return g; }",
              "int block = 32; dim3 grid = grid_for(n);");
  };
  const auto in_text = [&](const std::string& words) {
    return of("", words + " int block = 32;", "k<<<g, block>>>(x, n);");
  };
  for (const char* words :
       {"dim3 g(1); g.x = device_sms() * 2;", "dim3 g(7, 2); g.x = ask(); g.y = 5;",
        "dim3 g(7, 2); g.y = ask(); g.x = 5;"}) {
    EXPECT_EQ(in_function(words), "? | 32") << words;
    EXPECT_EQ(in_text(words), "? | 32") << words;
  }
  for (const char* change : {"g.x %= 5;", "g.x ^= 1;", "g.x *= ask();", "g.y += ask();"}) {
    EXPECT_EQ(in_function(std::string("dim3 g(7, 2); ") + change), "? | 32") << change;
    EXPECT_EQ(in_text(std::string("dim3 g(7, 2); ") + change), "? | 32") << change;
  }
  for (const char* change : {"g.x *= 2;", "++g.x;", "g.y--;", "g.y = 3; g.y <<= 1;"}) {
    EXPECT_EQ(in_text(std::string("dim3 g(7, 2); ") + change), "? | 32") << change;
  }
  EXPECT_EQ(in_function("dim3 g(7, 2); g.x = 3; for (int i = 0; i < 3; ++i) g.x *= 2;"),
            "24 2 1 | 32");
  EXPECT_EQ(in_function("dim3 g(7, 2); g.x = ask(); g = dim3(9);"), "9 1 1 | 32");
  EXPECT_EQ(in_text("dim3 g(7, 2); g.x = ask(); g.y *= 2; g = dim3(9); g.z = 3;"), "9 1 3 | 32");
}
TEST_F(FilledText, AFieldThatIsChangedIsNotWhatItWas) {
  const std::string launch = "k<<<s.blocks, g.x>>>(x, n);";
  const std::string type = "struct Shape { int blocks = 3; };";
  EXPECT_EQ(of(type, "Shape s; dim3 g; s.blocks = 4; g.x = 32;", launch), "4 | 32");
  EXPECT_EQ(
      of(type, "Shape s; dim3 g; s.blocks = 4; g.x = 32; s.blocks *= ask(); g.x /= 2;", launch),
      "? | ?");
}
TEST_F(FilledText, NothingIsReadBeforeTheFirstWord) {
  EXPECT_FALSE(value("(unknown) int main() {}", "unknown"));
}
TEST_F(FilledText, AConfigOfTheRuntime) {
  const std::string launch = "cudaLaunchKernelEx(&config, k, x, n);";
  EXPECT_EQ(of("void fill(cudaLaunchConfig_t* c, int n) { c->gridDim = dim3(n / 4, 2);\n"
               "  c->blockDim.x = 64; c->dynamicSmemBytes = 2 * n; }",
               "cudaLaunchConfig_t config = {0}; fill(&config, n);", launch),
            "250 2 1 | 64 1 1 | 2000");
  EXPECT_EQ(of("cudaLaunchConfig_t made(int n) { cudaLaunchConfig_t c{}; c.gridDim = n / 4;\n"
               "  c.blockDim = 64; c.dynamicSmemBytes = 8; return c; }",
               "cudaLaunchConfig_t config = made(n);", launch),
            "250 | 64 | 8");
  EXPECT_EQ(shape("void go(cudaLaunchConfig_t& config, int n) { cudaLaunchKernelEx(&config, k, x, "
                  "n); }\nint main() { cudaLaunchConfig_t c; c.gridDim = dim3(5); "
                  "c.blockDim = dim3(32, 2); go(c, 100); }"),
            "5 1 1 | 32 2 1 | ?");
}
TEST_F(FilledText, WhatNobodyKnowsIsNotTold) {
  const std::string asks =
      "int blocks(int n) { int sms = 0; cudaDeviceGetAttribute(&sms, attribute, 0); "
      "if (sms > 100) return n; return 7; }\n";
  EXPECT_EQ(of(asks, "int grid = blocks(n), block = 32;"), "? | 32");
  EXPECT_EQ(evaluator_->not_run.count("blocks"), 1u);
  EXPECT_EQ(of("void config(int n, dim3& g) { g = dim3(n); while (busy()) g.x /= 2; }",
               "dim3 grid(1), block(2); config(n, grid);"),
            "? | 2 1 1");
  EXPECT_EQ(of("int endless(int n) { while (true) ++n; return n; }\n"
               "int itself(int n) { return itself(n + 1); }",
               "int grid = endless(n), block = itself(n);"),
            "? | ?");
  EXPECT_EQ(of("int one(int n) { for (int i : list) n += i; return n; }\n"
               "int two(int n) { if (n > 3) throw 1; return n; }",
               "int grid = one(n), block = two(n);"),
            "? | ?");
}

struct Configs {
  static constexpr const char* kFile = "configs.ptx";
};
using ProposeConfigs = ProposeOf<Configs>;

TEST_F(ProposeConfigs, AStructThatALoopMakes) {
  const Words words = proposed("scale");
  expect_clean(words);
  EXPECT_EQ(after(words, "--grid"), "64");
  EXPECT_EQ(after(words, "--block"), "1024");
}
TEST_F(ProposeConfigs, ATuple) {
  const Words words = proposed("tiles");
  expect_clean(words);
  EXPECT_EQ(after(words, "--block"), "16,8");
  EXPECT_EQ(after(words, "--shared"), "512");
}
TEST_F(ProposeConfigs, AConfigThatIsFilled) {
  const Words words = proposed("fill");
  expect_clean(words);
  EXPECT_EQ(after(words, "--block"), "160");
  EXPECT_EQ(after(words, "--grid"), "410");
  EXPECT_FALSE(contains(shown_, "instead of")) << shown_;
}
TEST_F(ProposeConfigs, WhatToGiveByHandIsSaid) {
  expect_clean(proposed("resident"));
  expect_shown(
      "grid 4 (the launch has blocks_of_gpu(2), and what blocks_of_gpu() does depends on "
      "what only a run tells: give --grid)");
  expect_shown(
      "shared 32768 (the launch has bytes_of_gpu(), and bytes_of_gpu() is not in the "
      "files that were read: give --shared)");
  expect_clean(proposed("resident", {"--grid", "3", "--shared", "512"}));
  EXPECT_FALSE(contains(shown_, "assumed")) << shown_;
}

}  // namespace
}  // namespace tessera::checking
