// Launches that a program makes through the runtime, in classes, by templates and with structs:
// what check reads of them, and that what it proposes of them runs.
#include "tests/check/propose.h"

namespace tessera::checking {
namespace {

// ---- what a source says -------------------------------------------------------------------------

class FieldText : public LaunchText {
 protected:
  std::int64_t field(const std::string& text, const std::string& name,
                     const FieldOrder& order = {}) {
    const auto nothing = value(text, "0");
    EXPECT_TRUE(nothing);
    const SourceFunction* main = source_->function("main");
    const auto& site = source_->launches().at(0);
    const auto found =
        evaluator_->field(site.arguments.at(0), name, order, {main, main->body.last, {}});
    return found ? found->whole() : -999;
  }
};

TEST_F(LaunchText, ByTheFunctionsOfTheRuntime) {
  EXPECT_EQ(only("int main() { void* a[] = {&x, (void*)&n}; "
                 "cudaLaunchKernel((void*)k, dim3(4), 128, a, 64, 0); }"),
            "cudaLaunchKernel(k, dim3(4), 128, 64) | | x; n;");
  EXPECT_EQ(only("int main() { void* a[2]; a[1] = const_cast<int*>(&n); a[0] = &x; "
                 "CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(&k), g, b, &a[0])); }"),
            "cudaLaunchCooperativeKernel(k, g, b) | | x; n;");
  EXPECT_EQ(only("int main() { std::vector<void*> a = {&x, &n,}; "
                 "cudaLaunchKernel((const void*)t<float, 128>, g, b, a.data(), 0, s); }"),
            "cudaLaunchKernel(t, g, b, 0) | float; 128; | x; n;");
  EXPECT_EQ(only("int main() { cudaLaunchKernel(k, g); }"), "0 launches");
}
TEST_F(LaunchText, ByAConfig) {
  EXPECT_EQ(only("int main() { cudaLaunchConfig_t c = {0}; c.gridDim = n / 32; c.blockDim = 32;"
                 "c.dynamicSmemBytes = 96; cudaLaunchKernelEx(&c, t<float, 7>, x, n); }"),
            "cudaLaunchKernelEx(t, n / 32, 32, 96) | float; 7; | x; n;");
  EXPECT_EQ(only("int main() { cudaLaunchConfig_t c = {.gridDim = dim3(9), .blockDim = {8, 4}}; "
                 "void* a[] = {&x, &n}; cudaLaunchKernelExC(&c, (const void*)k, a); }"),
            "cudaLaunchKernelExC(k, dim3(9), dim3 { 8, 4 }) | | x; n;");
  EXPECT_EQ(only("int main() { cudaLaunchConfig_t c{g, b, 16, stream}; "
                 "cudaLaunchKernelEx(&c, k, x, n); }"),
            "cudaLaunchKernelEx(k, g, b, 16) | | x; n;");
  EXPECT_EQ(only("int main() { cudaLaunchConfig_t c{}; c.gridDim.x = 4; c.gridDim.y = 2;"
                 "cudaLaunchKernelEx(&c, k, x, n); }"),
            "cudaLaunchKernelEx(k, dim3(4, 2)) | | x; n;");
}
TEST_F(LaunchText, ClustersOfAConfig) {
  const std::string begin = "int main() { cudaLaunchAttribute a[1]; ",
                    end = " cudaLaunchKernelEx(&c, k, x, n); }";
  const auto extents = [&](const std::string& text) {
    std::string all;
    for (const TokenRange& one : launches(begin + text + end).at(0).cluster) {
      all += text_of(one) + ";";
    }
    return all;
  };
  EXPECT_EQ(extents("a[0].val.clusterDim.x = size; a[0].val.clusterDim.y = 1;"), "size;1;;");
  EXPECT_EQ(extents("a[0].val.clusterDim = {2, 3, 1};"), "2;3;1;");
  EXPECT_EQ(extents("a[0].val.priority = 1;"), "");
}
TEST_F(LaunchText, NamesThatStandForAKernel) {
  EXPECT_EQ(only("int main() { auto f = t<float, 128>; f<<<1, 2>>>(x, n); }"),
            "t<<<1, 2>>> | float; 128; | x; n;");
  EXPECT_EQ(only("int main() { void (*f)(float*, int) = k; f<<<1, 2>>>(x, n); }"),
            "k<<<1, 2>>> | | x; n;");
  EXPECT_EQ(only("int main() { const auto f = &k; void* a[] = {&x, &n};"
                 "cudaLaunchKernel((void*)f, 1, 2, a, 0, 0); }"),
            "cudaLaunchKernel(k, 1, 2, 0) | | x; n;");
}
TEST_F(LaunchText, ACallOfATemplateThatLaunchesIsALaunch) {
  const std::string launch =
      "template <class K, class... A> void run(K f, dim3 g, dim3 b, A&&... a) "
      "{ f<<<g, b>>>(std::forward<A>(a)...); }\n";
  EXPECT_EQ(only(launch + "int main() { run(t<float, 64>, 4, 64, x, n); }"),
            "t<<<g, b>>> | float; 64; | x; n;");
  EXPECT_EQ(launches(launch + "int main() { run(k, 4, 64, x, n); run(k, 5, 32, y, m); }").size(),
            2u);
  Evaluator evaluator(*source_);
  const LaunchSite& second = source_->launches().at(1);
  const Scope scope{source_->around(second.at), second.at, {}, second.call};
  EXPECT_EQ(evaluator.value(second.shape.at(0), scope)->whole(), 5) << "of the second call";
}
TEST_F(LaunchText, InClassesConstructorsAndLambdas) {
  const std::string text =
      "class S { public: S(int n) : n_{n}, grid_((n + 31) / 32) { k<<<grid_, 32>>>(x_, n_); }\n"
      "void go() const { k<<<this->grid_, block_>>>(x_, this->n_); }\n"
      "int n_; dim3 grid_, block_{16, 2}; float* x_; };\n"
      "int main() { S s(320); auto f = [&](int b) { k<<<7, b>>>(x, 1); }; f(96); }";
  const auto& sites = launches(text);
  ASSERT_EQ(sites.size(), 3u);
  const auto shape = [&](std::size_t site, std::size_t part) {
    const Scope scope{source_->around(sites[site].at), sites[site].at, {}};
    const auto found = evaluator_->value(sites[site].shape[part], scope);
    return !found ? -999 : found->dims ? (*found->dims)[0] : found->whole();
  };
  EXPECT_EQ(shape(0, 0), 10);
  EXPECT_EQ(shape(1, 0), 10);
  EXPECT_EQ(shape(1, 1), 16);
  EXPECT_EQ(shape(2, 1), 96);
}
TEST_F(FieldText, FieldsOfStructs) {
  const std::string type =
      "struct P { float* x; int n; int m = 3; };\n__global__ void s(P p) {}\n"
      "P made(int n) { P p; p.n = n; p.m = 8; return p; }\n"
      "void go(const P& q) { s<<<1, 2>>>(q); }\n";
  const auto of = [&](const std::string& text, const char* name) {
    return field(type.substr(0, type.find("void go")) + "int main() { " + text + " }", name,
                 {"x", "n", "m"});
  };
  EXPECT_EQ(of("P p{x, 5, 6}; s<<<1, 2>>>(p);", "n"), 5);
  EXPECT_EQ(of("P p = {x, 5, 6}; s<<<1, 2>>>(p);", "m"), 6);
  EXPECT_EQ(of("P p = {.x = x, .n = 9}; s<<<1, 2>>>(p);", "n"), 9);
  EXPECT_EQ(of("P p = {.x = x, .n = 9}; s<<<1, 2>>>(p);", "m"), 3) << "its own initial value";
  EXPECT_EQ(of("auto p = P{x, 5}; p.n = 11; s<<<1, 2>>>(p);", "n"), 11);
  EXPECT_EQ(of("P p; p.n = 11; p = {x, 12, 1}; s<<<1, 2>>>(p);", "n"), 12);
  EXPECT_EQ(of("P p; p.n = 4; P q = p; s<<<1, 2>>>(q);", "n"), 4);
  EXPECT_EQ(of("s<<<1, 2>>>(P{x, 7, 1});", "n"), 7);
  EXPECT_EQ(of("s<<<1, 2>>>({x, 7, 1});", "m"), 1);
  EXPECT_EQ(of("s<<<1, 2>>>(made(21));", "n"), 21);
  EXPECT_EQ(of("P p = made(21); s<<<1, 2>>>(p);", "m"), 8);
  EXPECT_EQ(of("P p; init(&p); s<<<1, 2>>>(p);", "n"), -999);
}
// The default of a template's parameter ends no declaration.
TEST_F(LaunchText, FunctionsBehindTemplatesWithDefaults) {
  const std::string text =
      "template <class T, int B = 4> __global__ void q(T* x) {}\n"
      "template <class T = float> struct V { explicit V(int n) : n(n) {} int n; };\n"
      "int sizes(int n = 3) { return n; }\nint main() { q<<<1, 2>>>(x); }";
  EXPECT_EQ(only(text), "q<<<1, 2>>> | | x;");
  EXPECT_NE(source_->kernel("q"), nullptr);
  ASSERT_NE(source_->function("V"), nullptr);
  EXPECT_TRUE(source_->function("V")->is_constructor);
  EXPECT_FALSE(source_->function("sizes")->is_constructor);
}
TEST_F(LaunchText, MembersOfWhatAConstructorGets) {
  const std::string text =
      "struct C { std::size_t n = 96; int m{5}; };\n"
      "struct R { C c_; R(const C& c) : c_(c) {} void go() { k<<<1, 2>>>(x, c_.n); } };\n"
      "int main() { C c; if (argc > 1) c.n = std::stoul(argv[1]); auto r = make_unique<R>(c); }";
  const LaunchSite& site = launches(text).at(0);
  const Scope scope{source_->around(site.at), site.at, {}};
  const auto found = evaluator_->value(site.arguments.at(1), scope);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->whole(), 96);
}
TEST_F(HostText, ValuesThatTheCommandLineMayChange) {
  EXPECT_EQ(whole("int main() { int n = argc > 1 ? atoi(argv[1]) : 1 << 20; }", "n"), 1 << 20);
  EXPECT_EQ(evaluator_->roots.count("n"), 1u) << "it may be smaller";
  EXPECT_TRUE(evaluator_->free.empty());
  EXPECT_EQ(
      whole("int main() { const char* e = getenv(\"N\"); int n = e ? std::stoi(e) : 96; }", "n"),
      96);
  EXPECT_TRUE(evaluator_->free.empty());
  EXPECT_EQ(whole("int main() { int n = 64; if (argc > 1) n = atoi(argv[1]); }", "n"), 64);
  EXPECT_EQ(whole("int main() { size_t n = size_t(1) << 10; }", "n"), 1024);
  EXPECT_EQ(evaluator_->roots.count("n"), 1u);
}
TEST_F(HostText, ShapesInPieces) {
  EXPECT_EQ(whole("int main() { dim3 g = {3, 5}; }", "g.y"), 5);
  EXPECT_EQ(whole("int main() { dim3 t(4, 4), b(max(9, 4), 7); }", "b.y"), 7);
  EXPECT_EQ(whole("int main() { int sms = 0; ask(&sms, 0); }", "sms"), -999);
  EXPECT_EQ(whole("int main() { dim3 g; g.x = 4; g.y = 9; }", "g.y * g.x * g.z"), 36);
  EXPECT_EQ(whole("", "cuda::ceil_div(9, 4)"), 3);
  EXPECT_EQ(whole("template <class T> T up(T a, T b) { return (a + b - 1) / b; }", "up<int>(9, 4)"),
            3);
  EXPECT_EQ(whole("void f(int n, int block = 96) { } int main() { }", "min(blocks_of_gpu, 7)"), 7);
  EXPECT_EQ(whole("int main() { std::vector<float> v(12 * 4); }", "v.size() / 2"), 24);
}

// ---- the command --------------------------------------------------------------------------------

struct Launchers {
  static constexpr const char* kFile = "launchers.ptx";
};
using ProposeLaunchers = ProposeOf<Launchers>;

TEST_F(ProposeLaunchers, CooperativeLaunch) {
  const Words words = proposed("total");
  expect_clean(words);
  EXPECT_EQ(after(words, "--block"), "96");
  EXPECT_EQ(after(words, "--grid"), "682");
  expect_words(words, {"n=u32:65536", "in=f32[65536]:uniform"});
  expect_shown("from cudaLaunchCooperativeKernel(total, dim3(blocks), dim3(threads), 0), ");
}
TEST_F(ProposeLaunchers, ClustersOfAConfig) {
  const Words words = proposed("swap_in_cluster");
  expect_clean(words);
  EXPECT_EQ(after(words, "--cluster"), "2");
  EXPECT_EQ(after(words, "--block"), "160");
  EXPECT_EQ(after(words, "--shared"), "640");
}
TEST_F(ProposeLaunchers, MembersOfAClass) {
  const Words words = proposed("fill");
  expect_clean(words);
  EXPECT_EQ(after(words, "--block"), "192");
  EXPECT_EQ(after(words, "--grid"), "342");
  expect_words(words, {"n=i32:65536", "value=f32:0.5"});
}
TEST_F(ProposeLaunchers, ATemplateThatPassesArgumentsOn) {
  const Words words = proposed("axpy");
  expect_clean(words);
  EXPECT_EQ(after(words, "--block"), "192");
  expect_words(words, {"a=f32:2", "n=i32:65536"});
}
TEST_F(ProposeLaunchers, AStructWithDesignators) {
  const Words words = proposed("scale_by");
  expect_clean(words);
  EXPECT_EQ(after(words, "--block"), "64");
  expect_words(words, {"s=struct(s_out, s_in, i32:32768, i32:1, f32:0.25)"});
}
TEST_F(ProposeLaunchers, VectorsAreFieldsOfStructs) {
  const Words words = proposed("move");
  expect_clean(words);
  EXPECT_EQ(after(words, "--block"), "96");
  expect_words(words, {"m=struct(f32:0.5, f32:1, f32:1, f32:1, u32:4096, pad(12), f32:1, f32:1, "
                       "f32:1, f32:1, m_bodies, pad(8))"});
  expect_shown("assumed: m.gravity = 1, m.bounds = 1)");
}
TEST_F(ProposeLaunchers, WhatIsAssumedIsSaid) {
  expect_clean(proposed("through"));
  expect_shown("a usual shape; assumed: n = ");
  expect_clean(proposed("through", {"--arg", "rows=pointers(a)", "--array", "a=f32[64]:ones",
                                    "--arg", "out=f32[64]", "--arg", "n=i32:64"}));
  EXPECT_FALSE(contains(shown_, "assumed")) << shown_;
}
TEST_F(ProposeLaunchers, AnArgumentThatDoesNotFitIsSaidOnce) {
  EXPECT_TRUE(proposed("fill", {"--arg", "y=f32[64]", "--arg", "n=f32:64"}).empty()) << shown_;
  expect_shown("\n--arg is 'n=f32:64', which is of type f32, but the kernel takes int");
  EXPECT_FALSE(contains(shown_, "tried")) << shown_;
  expect_clean(words_below("For example:"));
  proposed("fill", {"--grid", "2", "--block", "32", "--arg", "y=f32[64]", "--arg", "n=f32:64",
                    "--arg", "v=f32:1"});
  EXPECT_EQ(shown_.find("n=f32:64', which"), shown_.rfind("n=f32:64', which")) << shown_;
  proposed("fill",
           {"--arg", "y=f32[64]", "--arg", "n=i32:64", "--arg", "v=f32:1", "--arg", "w=i32:1"});
  expect_shown("' takes 3 arguments, but 4 are given with --arg");
  EXPECT_FALSE(contains(shown_, "tried")) << shown_;
  expect_clean(words_below("For example:"));
  proposed("fill", {"--arg", "y=nobody"});
  expect_shown("\n--arg y names the array 'nobody', but the arrays are: none");
  EXPECT_FALSE(contains(shown_, "tried")) << shown_;
}
TEST_F(ProposeLaunchers, TheExampleRunsAsItIs) {
  proposed("through",
           {"--arg", "rows=pointers(a, a)", "--array", "a=f32[4096]:ones", "--arg", "out=i32:1"});
  Words words = words_below("For example:");
  expect_clean(words);
  EXPECT_EQ(after(words, "--array"), "a=f32[4096]:ones");
  proposed("through", {"--grid", "3", "--cluster", "2", "--arg", "rows=pointers(b)", "--arg",
                       "out=b", "--arg", "n=f32:1"});
  words = words_below("For example:");
  ASSERT_GT(words.size(), 2u) << shown_;
  EXPECT_EQ(after(words, "--array"), "b=f32[4096]:uniform");
  const Ran ran = run_program({words.begin() + 1, words.end()});
  EXPECT_NE(ran.code, 2) << ran.err;
  proposed("scale_by", {"--block", "5000", "--arg", "s=i32:1"});
  words = words_below("For example:");
  ASSERT_GT(words.size(), 2u) << shown_;
  EXPECT_NE(run_program({words.begin() + 1, words.end()}).code, 2) << shown_;
}

}  // namespace
}  // namespace tessera::checking
