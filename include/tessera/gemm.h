/* Tessera multiplies matrices on NVIDIA GPUs: D = alpha op(A) op(B) + beta C.
 *
 * Plain C; needs no CUDA header. A status other than TESSERA_OK means that nothing was launched and
 * no output was touched; tessera_last_message() then says, in one sentence, which field is wrong,
 * its value and the rule. All functions are thread-safe, except that a handle or plan must not be
 * destroyed while another thread uses it. The driver is not called before tessera_create(). */
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
  TESSERA_BAD_ARGUMENT = 1, /* the caller's error: a field has an illegal value */
  TESSERA_UNAVAILABLE = 2,  /* no GPU, no driver or one too old, not enough memory */
  TESSERA_UNSUPPORTED = 3,  /* legal, but no kernel can compute it */
  TESSERA_FAILED = 4        /* the GPU failed, or an error in the library */
} tessera_status;

/* Types of elements in memory. */
typedef enum tessera_type {
  TESSERA_AS_A = 0, /* for B, C and D: the type of A */
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
  TESSERA_COMPUTE_USUAL = 0, /* F64 for F64, S32 for integers, else F32 */
  TESSERA_COMPUTE_F64 = 1,
  TESSERA_COMPUTE_F32 = 2,
  TESSERA_COMPUTE_TF32 = 3, /* FP32 operands rounded to 11 significant bits */
  TESSERA_COMPUTE_F16 = 4,
  TESSERA_COMPUTE_S32 = 5
} tessera_compute;

typedef enum tessera_order { TESSERA_COLUMN_MAJOR = 0, TESSERA_ROW_MAJOR = 1 } tessera_order;
typedef enum tessera_op { TESSERA_N = 0, TESSERA_T = 1 } tessera_op;

/* The first field of each struct is its size, so that later versions can append fields. Fields that
 * are not set must be zero: write `tessera_problem p = {.size = sizeof p, ...}`. */

/* The GPU or context that a handle uses. */
typedef struct tessera_place {
  size_t size;
  int32_t gpu; /* TESSERA_CURRENT_CONTEXT, or the number of a GPU, whose primary context is used */
  int32_t reserved; /* 0 */
} tessera_place;
/* The CUDA context that is current in the calling thread. It must outlive the handle. */
#define TESSERA_CURRENT_CONTEXT (-1)

/* op(A) is m x k, op(B) is k x n, C and D are m x n. */
typedef struct tessera_problem {
  size_t size;
  int64_t m, n, k;
  int32_t type_a, type_b, type_c, type_d; /* tessera_type */
  int32_t compute;                        /* tessera_compute */
  int32_t order;                          /* tessera_order */
  int32_t op_a, op_b;                     /* tessera_op */
  int64_t lda, ldb, ldc, ldd;             /* in elements; 0: the smallest legal one */
} tessera_problem;

/* What a plan may assume and use. */
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

/* The message of this thread's last call that failed; "" before the first. Valid until this
 * thread's next call that fails. */
const char* tessera_last_message(void);

/* A handle keeps loaded code, plans, and a workspace per stream. A null place means
 * TESSERA_CURRENT_CONTEXT. */
tessera_status tessera_create(tessera_handle* handle, const tessera_place* place);
/* Does nothing for a null handle. Plans of the handle stay valid. */
tessera_status tessera_destroy(tessera_handle handle);

/* D = alpha op(A) op(B) + beta C on a stream (a cudaStream_t or CUstream; null: CUDA's null stream,
 * or the handle's own stream if it was created with the number of a GPU). Asynchronous. Addresses
 * are in device memory. C may be null if beta is 0, A and B if alpha or k is 0; D may be C, with
 * the same ld. The first call for a problem plans and prepares it, also inside a stream capture. */
tessera_status tessera_gemm(tessera_handle handle, const tessera_problem* problem, double alpha,
                            const void* a, const void* b, double beta, const void* c, void* d,
                            void* stream);

/* Plans a problem once, for any alpha and beta and all addresses of the planned alignment. options
 * may be null. */
tessera_status tessera_plan_create(tessera_plan* plan, tessera_handle handle,
                                   const tessera_problem* problem,
                                   const tessera_plan_options* options);
/* Bytes of device memory that a run needs in addition to the operands. */
tessera_status tessera_plan_workspace(tessera_plan plan, size_t* bytes);
/* Launches, and neither allocates nor waits. The workspace is aligned to 256 bytes, and belongs to
 * the run until that has ended on the GPU; null if none is needed. */
tessera_status tessera_plan_run(tessera_plan plan, double alpha, const void* a, const void* b,
                                double beta, const void* c, void* d, void* workspace,
                                size_t workspace_bytes, void* stream);
/* Does nothing for a null plan. */
tessera_status tessera_plan_destroy(tessera_plan plan);

/* The kernel that would run, its predicted cost, and the alternatives, as text of several lines
 * that ends with a zero and is truncated to `bytes`. text may be null if bytes is 0. If needed is
 * not null, it is set to the bytes of the whole text, with the zero. */
tessera_status tessera_explain(tessera_handle handle, const tessera_problem* problem, char* text,
                               size_t bytes, size_t* needed);

#ifdef __cplusplus
}
#endif
#endif
