/* A program whose calls `tessera tune` is shown with (docs/api/tuning.md): products of language
 * models and twelve others, each called and timed as a user's program would.
 *   cc tools/tune/own_calls.c -Iinclude -Lbuild -ltessera -ldl -Wl,-rpath,build -o own_calls
 *   own_calls calls.log   writes what the library's log says, for tessera tune --from
 *   own_calls             prints a line for each product: its name, microseconds a call
 * Operands are random numbers, at places that go round in more than twice the L2. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tessera/gemm.h"

typedef unsigned long long Address;

#define DRIVER(name, ...) static int (*name)(__VA_ARGS__)
DRIVER(cuInit, unsigned);
DRIVER(cuDevicePrimaryCtxRetain, void**, int);
DRIVER(cuCtxSetCurrent, void*);
DRIVER(cuMemAlloc_v2, Address*, size_t);
DRIVER(cuMemcpyHtoD_v2, Address, const void*, size_t);
DRIVER(cuStreamCreate, void**, unsigned);
DRIVER(cuStreamSynchronize, void*);
DRIVER(cuEventCreate, void**, unsigned);
DRIVER(cuEventRecord, void*, void*);
DRIVER(cuEventElapsedTime, float*, void*, void*);

static void check(int failed, const char* what) {
  if (!failed) return;
  fprintf(stderr, "%s: %d, %s\n", what, failed, tessera_last_message());
  exit(1);
}

static void load_driver(void) {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  check(!driver, "libcuda.so.1");
#define LOAD(name) check(!(*(void**)& name = dlsym(driver, #name)), #name)
  LOAD(cuInit), LOAD(cuDevicePrimaryCtxRetain), LOAD(cuCtxSetCurrent), LOAD(cuMemAlloc_v2);
  LOAD(cuMemcpyHtoD_v2), LOAD(cuStreamCreate), LOAD(cuStreamSynchronize), LOAD(cuEventCreate);
  LOAD(cuEventRecord), LOAD(cuEventElapsedTime);
}

typedef struct {
  const char* name;
  int type, compute, order;
  const char* layout;
  int64_t m, n, k, count;
  int bias, activation;
  double beta;
} Call;

#define BF16 TESSERA_BF16, 0
#define F16 TESSERA_F16, 0
#define F32 TESSERA_F32, 0
#define TF32 TESSERA_F32, TESSERA_COMPUTE_TF32
#define F64 TESSERA_F64, 0
static const Call kCalls[] = {
    {"Llama 3 8B, qkv, 1 token", BF16, 1, "NT", 1, 6144, 4096},
    {"Llama 3 8B, qkv, 8 tokens", BF16, 1, "NT", 8, 6144, 4096},
    {"Llama 3 8B, gate and up, 32 tokens", BF16, 1, "NT", 32, 28672, 4096},
    {"Llama 3 8B, down, 32 tokens", BF16, 1, "NT", 32, 4096, 14336},
    {"Llama 3 8B, vocabulary, 8 tokens", BF16, 1, "NT", 8, 128256, 4096},
    {"Llama 3 8B, qkv, 512 tokens", BF16, 1, "NT", 512, 6144, 4096},
    {"Llama 3 8B, gate and up, 2048 tokens", BF16, 1, "NT", 2048, 28672, 4096},
    {"Llama 3 8B, down, 2048 tokens", BF16, 1, "NT", 2048, 4096, 14336},
    {"GPT-2, qkv, 1024 tokens", F16, 1, "NN", 1024, 2304, 768},
    {"GPT-2, bias and GELU, 1024 tokens", F16, 1, "NN", 1024, 3072, 768, 0, 2, TESSERA_GELU},
    {"GPT-2, vocabulary, 256 tokens", F16, 1, "NT", 256, 50257, 768},
    {"GPT-2, scores of 12 heads", F16, 1, "NT", 1024, 1024, 64, 12},
    {"odd BF16", BF16, 0, "NN", 4097, 333, 777},
    {"TF32, 1000", TF32, 0, "NN", 1000, 1000, 1000},
    {"TF32, long k", TF32, 0, "TN", 1024, 512, 20000},
    {"FP32, 1500", F32, 0, "NN", 1500, 1500, 1500},
    {"FP32, classes of 64 images", F32, 1, "NT", 64, 1000, 2048},
    {"FP32, long k", F32, 0, "TN", 300, 200, 50000},
    {"FP64, update of a Cholesky", F64, 0, "NT", 3000, 3000, 128, 0, 0, 0, 1.0},
    {"FP64, 20 products of 500", F64, 0, "NN", 500, 500, 500, 20},
};
enum { kCount = sizeof kCalls / sizeof *kCalls, kSets = 64, kRounds = 5 };
static const int64_t kPool = (int64_t)3 << 30;

static int64_t size_of(int type) { return type == TESSERA_F64 ? 8 : type == TESSERA_F32 ? 4 : 2; }

static uint64_t random_bits(void) {
  static uint64_t state = 88172645463325252u;
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state;
}

/* Numbers of full mantissas in 0.5 to 2, half of them negative. */
static void fill(unsigned char* to, int64_t bytes, int type) {
  for (int64_t at = 0; at + 8 <= bytes; at += size_of(type)) {
    const uint64_t r = random_bits(), sign = r >> 63;
    const uint64_t f64 = sign << 63 | (1022 + (r >> 62 & 1)) << 52 | (r & 0xfffffffffffff);
    const uint32_t f32 = (uint32_t)(sign << 31 | (126 + (r >> 62 & 1)) << 23 | (r & 0x7fffff));
    const uint16_t f16 = (uint16_t)(sign << 15 | (14 + (r >> 62 & 1)) << 10 | (r & 0x3ff));
    const uint16_t bf16 = (uint16_t)(f32 >> 16);
    const void* const from = type == TESSERA_F64   ? (const void*)&f64
                             : type == TESSERA_F32 ? (const void*)&f32
                             : type == TESSERA_F16 ? (const void*)&f16
                                                   : (const void*)&bf16;
    memcpy(to + at, from, (size_t)size_of(type));
  }
}

static void upload(Address to, int type) {
  static unsigned char pattern[(1 << 24) + 24];
  const int64_t bytes = sizeof pattern;
  fill(pattern, bytes, type);
  for (int64_t at = 0; at < kPool; at += bytes) {
    const int64_t some = kPool - at < bytes ? kPool - at : bytes;
    check(cuMemcpyHtoD_v2(to + (Address)at, pattern, (size_t)some), "cuMemcpyHtoD");
  }
}

static void write_line(void* file, const char* line) { fprintf(file, "%s\n", line); }

static tessera_problem problem_of(const Call* c) {
  tessera_problem p = {.size = sizeof p,
                       .m = c->m,
                       .n = c->n,
                       .k = c->k,
                       .type_a = c->type,
                       .compute = c->compute,
                       .order = c->order,
                       .op_a = c->layout[0] == 'T',
                       .op_b = c->layout[1] == 'T',
                       .bias = c->bias,
                       .activation = c->activation};
  if (c->count) {
    p.batch = TESSERA_STRIDED, p.batch_count = c->count;
    p.stride_a = c->m * c->k, p.stride_b = c->k * c->n, p.stride_c = p.stride_d = c->m * c->n;
  }
  return p;
}

static int by_size(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

typedef struct {
  tessera_handle handle;
  void *stream, *begin, *end;
  Address operands, results;
} Bench;

/* Call number i of a problem, whose operands are the i-th ones. */
static void call(const Bench* b, const Call* c, int i) {
  const tessera_problem p = problem_of(c);
  const int64_t many = c->count ? c->count : 1, size = size_of(c->type);
  const int64_t of_a = (c->m * c->k * many * size + 255) / 256 * 256;
  const int64_t of_b = (c->k * c->n * many * size + 255) / 256 * 256;
  const int64_t of_d = (c->m * c->n * many * size + 255) / 256 * 256;
  const int64_t ab = of_a + of_b + 4096, sets = kPool / ab < kSets ? kPool / ab : kSets;
  const int64_t results = kPool / of_d < kSets ? kPool / of_d : kSets;
  const Address a = b->operands + (Address)(i % sets * ab),
                d = b->results + (Address)(i % results * of_d);
  tessera_arguments x = {.size = sizeof x,
                         .alpha = 1,
                         .beta = c->beta,
                         .a = (void*)a,
                         .b = (void*)(a + (Address)of_a),
                         .c = c->beta != 0 ? (void*)d : NULL,
                         .d = (void*)d,
                         .bias = c->bias ? (void*)b->operands : NULL,
                         .stream = b->stream};
  check(tessera_gemm_with(b->handle, &p, NULL, &x), c->name);
}

static double microseconds(const Bench* b, const Call* c) {
  double rounds[kRounds];
  int calls = 3;
  for (int round = -2; round < kRounds; ++round) {
    float ms = 0;
    cuEventRecord(b->begin, b->stream);
    for (int i = 0; i < calls; ++i) call(b, c, i);
    cuEventRecord(b->end, b->stream);
    check(cuStreamSynchronize(b->stream), c->name);
    check(cuEventElapsedTime(&ms, b->begin, b->end), "cuEventElapsedTime");
    if (round >= 0) rounds[round] = 1e3 * ms / calls;
    if (round == -1) calls = ms / calls > 2 ? 5 : (int)(10 / (ms / calls)) + 1; /* 10 ms */
  }
  qsort(rounds, kRounds, sizeof *rounds, by_size);
  return rounds[kRounds / 2];
}

int main(int argc, char** argv) {
  Bench b;
  void* context;
  load_driver();
  check(cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context), "context");
  check(cuStreamCreate(&b.stream, 1) || cuEventCreate(&b.begin, 0) || cuEventCreate(&b.end, 0) ||
            cuMemAlloc_v2(&b.operands, (size_t)kPool) || cuMemAlloc_v2(&b.results, (size_t)kPool),
        "no memory on the GPU");
  const tessera_place place = {.size = sizeof place};
  check(tessera_create(&b.handle, &place), "tessera_create");
  FILE* const log = argc > 1 ? fopen(argv[1], "w") : NULL;
  if (log) check(tessera_set_log(b.handle, write_line, log), "tessera_set_log");
  int type = 0;
  for (int i = 0; i < kCount; ++i) {
    if (kCalls[i].type != type) upload(b.operands, type = kCalls[i].type), upload(b.results, type);
    if (log) {
      call(&b, &kCalls[i], 0);
    } else {
      printf("%s\t%.3f\n", kCalls[i].name, microseconds(&b, &kCalls[i]));
    }
  }
  check(cuStreamSynchronize(b.stream), "the calls");
  if (log) fclose(log);
  return tessera_destroy(b.handle) == TESSERA_OK ? 0 : 1;
}
