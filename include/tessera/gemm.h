/* Tessera multiplies matrices on NVIDIA GPUs: D = alpha op(A) op(B) + beta C.
 *
 * Plain C; needs no CUDA header. A status other than TESSERA_OK means that nothing was launched and
 * no output touched; tessera_last_message() then says, in one sentence, which field was wrong, its
 * value and the rule. All calls may be made from several threads, but for the destruction of what
 * another thread still uses. No call of the driver is made before tessera_create(). */
#ifndef TESSERA_GEMM_H
#define TESSERA_GEMM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TESSERA_VERSION "0.1.0"

typedef enum tessera_status {
  TESSERA_OK = 0,
  TESSERA_BAD_ARGUMENT = 1, /* the caller's: a field has a value that it must not have */
  TESSERA_UNAVAILABLE = 2,  /* no GPU, no driver or one too old, not enough memory */
  TESSERA_UNSUPPORTED = 3,  /* legal, but no kernel does it */
  TESSERA_FAILED = 4        /* the GPU failed, or an error in the library */
} tessera_status;

/* Of elements, in memory. */
typedef enum tessera_type {
  TESSERA_AS_A = 0, /* of B, C and D: the type of A */
  TESSERA_F64 = 1,
  TESSERA_F32 = 2,
  TESSERA_F16 = 3,
  TESSERA_BF16 = 4,
  TESSERA_E4M3 = 5,
  TESSERA_E5M2 = 6,
  TESSERA_S8 = 7,
  TESSERA_S32 = 8
} tessera_type;

/* How elements are multiplied and summed. */
typedef enum tessera_compute {
  TESSERA_COMPUTE_USUAL = 0, /* f64 for F64, s32 for integers, else f32 */
  TESSERA_COMPUTE_F64 = 1,
  TESSERA_COMPUTE_F32 = 2,
  TESSERA_COMPUTE_TF32 = 3, /* operands of FP32 lose digits */
  TESSERA_COMPUTE_F16 = 4,
  TESSERA_COMPUTE_S32 = 5
} tessera_compute;

typedef enum tessera_order { TESSERA_COLUMN_MAJOR = 0, TESSERA_ROW_MAJOR = 1 } tessera_order;
typedef enum tessera_op { TESSERA_N = 0, TESSERA_T = 1 } tessera_op;

/* Structs begin with their size, sizeof the struct, so that later versions can append fields. What
 * is not set is zero: write `tessera_problem p = {.size = sizeof p, ...}`. */

/* Where a handle works. */
typedef struct tessera_place {
  size_t size;
  int32_t gpu; /* TESSERA_CURRENT_CONTEXT, or the number of a GPU, whose primary context is taken */
  int32_t reserved; /* 0 */
} tessera_place;
/* The CUDA context that is current in the calling thread and outlives the handle. */
#define TESSERA_CURRENT_CONTEXT (-1)

/* op(A) is m x k, op(B) is k x n, C and D are m x n. */
typedef struct tessera_problem {
  size_t size;
  int64_t m, n, k;
  int32_t type_a, type_b, type_c, type_d; /* tessera_type */
  int32_t compute;                        /* tessera_compute */
  int32_t order;                          /* tessera_order */
  int32_t op_a, op_b;                     /* tessera_op */
  int64_t lda, ldb, ldc, ldd;             /* in elements; 0: the smallest one */
} tessera_problem;

/* What a plan may count on. */
typedef struct tessera_plan_options {
  size_t size;
  size_t workspace_limit; /* bytes; 0: none */
  int32_t alignment;      /* bytes that divide all addresses, a power of two; 0: 16 */
  int32_t reserved;       /* 0 */
} tessera_plan_options;

typedef struct tessera_handle_s* tessera_handle;
typedef struct tessera_plan_s* tessera_plan;

/* The release of the library, "0.1.0". */
const char* tessera_version(void);

/* What the last call of this thread that failed has to say; "" before the first. Holds until the
 * next call of this thread that fails. */
const char* tessera_last_message(void);

/* A handle keeps the code that it has loaded, plans, and a workspace for each stream. place may be
 * null: TESSERA_CURRENT_CONTEXT. */
tessera_status tessera_create(tessera_handle* handle, const tessera_place* place);
/* Null is no handle and nothing happens. Plans of the handle keep what they need of it. */
tessera_status tessera_destroy(tessera_handle handle);

/* D = alpha op(A) op(B) + beta C on a stream (a cudaStream_t or CUstream; null: CUDA's null stream,
 * or the handle's own where it was made for the number of a GPU). Asynchronous. Addresses are of
 * device memory. C may be null where beta is 0, A and B where alpha or k is 0; D may be C, with the
 * same ld. The first call for a problem plans and prepares it; inside a stream capture, too. */
tessera_status tessera_gemm(tessera_handle handle, const tessera_problem* problem, double alpha,
                            const void* a, const void* b, double beta, const void* c, void* d,
                            void* stream);

/* Plans a problem once, for any alpha and beta and all addresses of the planned alignment. options
 * may be null. */
tessera_status tessera_plan_create(tessera_plan* plan, tessera_handle handle,
                                   const tessera_problem* problem,
                                   const tessera_plan_options* options);
/* Bytes of device memory that a run needs beside the operands. */
tessera_status tessera_plan_workspace(tessera_plan plan, size_t* bytes);
/* Launches, and neither allocates nor waits. The workspace, at a multiple of 256 bytes, is the
 * run's until it has ended on the GPU; null where none is needed. */
tessera_status tessera_plan_run(tessera_plan plan, double alpha, const void* a, const void* b,
                                double beta, const void* c, void* d, void* workspace,
                                size_t workspace_bytes, void* stream);
/* Null is no plan and nothing happens. */
tessera_status tessera_plan_destroy(tessera_plan plan);

/* Which kernel would run, what it should cost, and what else there was, as text of several lines,
 * ended by a zero and cut to `bytes`. text may be null where bytes is 0; needed may be null, else
 * it is set to the bytes of the whole text, the zero included. */
tessera_status tessera_explain(tessera_handle handle, const tessera_problem* problem, char* text,
                               size_t bytes, size_t* needed);

#ifdef __cplusplus
}
#endif
#endif
