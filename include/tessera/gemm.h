/* Tessera multiplies matrices on NVIDIA GPUs: D = alpha op(A) op(B) + beta C.
 *
 * Plain C; needs no CUDA header. If the status of a call is neither TESSERA_OK nor TESSERA_FAILED
 * (the GPU failed during the call), nothing was launched and no output was touched. After an error,
 * tessera_last_message() names the wrong field, its value and the rule in one sentence. All
 * functions are thread-safe. Before the first tessera_create() or tessera_device_count(), the
 * driver is not called and a fork is harmless. After a later fork, the driver does not work in the
 * child process, where calls return TESSERA_UNAVAILABLE. */
#ifndef TESSERA_GEMM_H
#define TESSERA_GEMM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TESSERA_VERSION "0.1.0"
#define TESSERA_VERSION_NUMBER 100 /* 10000 major + 100 minor + patch */

typedef enum tessera_status {
  TESSERA_OK = 0,
  TESSERA_BAD_ARGUMENT = 1, /* the caller's error: a field has an illegal value */
  TESSERA_UNAVAILABLE = 2,  /* no GPU, no driver, a driver that is too old, or a forked child */
  TESSERA_UNSUPPORTED = 3,  /* a legal problem that no kernel can compute */
  TESSERA_FAILED = 4,       /* the GPU failed, or the library has an error */
  TESSERA_OUT_OF_MEMORY = 5 /* too little memory on the host or on the GPU */
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

/* How elements are multiplied and summed: the only setting that controls accuracy. */
typedef enum tessera_compute {
  TESSERA_COMPUTE_USUAL = 0, /* F64 if A is F64, S32 if A has integers, else F32 */
  TESSERA_COMPUTE_F64 = 1,
  TESSERA_COMPUTE_F32 = 2,
  TESSERA_COMPUTE_TF32 = 3, /* FP32 operands rounded to 11 significant bits */
  TESSERA_COMPUTE_F16 = 4,
  TESSERA_COMPUTE_S32 = 5,
  TESSERA_COMPUTE_F16X3 = 6 /* each FP32 operand is the sum of two FP16 terms; tensor cores
                               multiply terms three times, with the accuracy of FP32 */
} tessera_compute;

typedef enum tessera_order { TESSERA_COLUMN_MAJOR = 0, TESSERA_ROW_MAJOR = 1 } tessera_order;
typedef enum tessera_op { TESSERA_N = 0, TESSERA_T = 1 } tessera_op;

/* Many products of one shape in one call. */
typedef enum tessera_batch {
  TESSERA_NO_BATCH = 0,
  TESSERA_STRIDED = 1, /* matrix i of an operand begins i strides after matrix 0 */
  TESSERA_POINTERS = 2 /* a, b, c and d are arrays of batch_count addresses. Arrays and matrices are
                          in the same memory. Overlap is not checked */
} tessera_batch;

/* The epilogue: scale, bias and activation are applied in this order before D is stored. They are
 * computed in the type in which products are summed (FP32; FP64 for FP64), and D is rounded once:
 *   D = activation(X),   X = scale (alpha op(A) op(B) + beta C) + bias.
 * For a residual, use C and a beta of 1. All products of a batch share scale and bias. */
typedef enum tessera_scale {
  TESSERA_NO_SCALE = 0,
  TESSERA_SCALE_PER_ROW = 1,   /* m values, of the type in which products are summed */
  TESSERA_SCALE_PER_COLUMN = 2 /* n values, of the type in which products are summed */
} tessera_scale;
typedef enum tessera_bias {
  TESSERA_NO_BIAS = 0,
  TESSERA_BIAS_PER_ROW = 1,   /* m values, of D's type */
  TESSERA_BIAS_PER_COLUMN = 2 /* n values, of D's type */
} tessera_bias;
typedef enum tessera_activation {
  TESSERA_NO_ACTIVATION = 0,
  TESSERA_RELU = 1,     /* max(x, 0); NaN stays NaN */
  TESSERA_GELU = 2,     /* x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2 */
  TESSERA_GELU_ERF = 3, /* x (1 + erf(x / sqrt(2))) / 2 */
  TESSERA_SILU = 4      /* x / (1 + exp(-x)), also known as swish */
} tessera_activation;
/* A second output, with the type and size of D. */
typedef enum tessera_auxiliary {
  TESSERA_NO_AUXILIARY = 0,
  TESSERA_BEFORE_ACTIVATION = 1 /* X above, rounded once; the backward pass of training needs X */
} tessera_auxiliary;

/* The memory that holds the operands. WHY the caller states it: a query to the driver takes longer
 * than the rest of a call, and the driver takes freed device memory for host memory. */
typedef enum tessera_memory {
  TESSERA_DEVICE_MEMORY = 0, /* memory of the handle's GPU */
  TESSERA_HOST_MEMORY = 1,   /* memory of the host: the call returns when D is complete */
  TESSERA_DETECT_MEMORY = 2  /* each call asks the driver; all operands are in the same memory */
} tessera_memory;

/* The processor that multiplies operands in host memory, if the handle has a GPU. */
typedef enum tessera_side {
  TESSERA_FASTER_SIDE = 0, /* by a cost model that uses the CPU's speed, measured in this process.
                              If both sides are about equally fast, runs may differ in bits */
  TESSERA_GPU_SIDE = 1,
  TESSERA_CPU_SIDE = 2
} tessera_side;

/* The first field of each struct is the struct's size in bytes, so that later versions can append
 * fields. Fields that are not set must be zero: `tessera_problem p = {.size = sizeof p, ...}`. */

/* The GPU or context that a handle uses, and options of the handle. */
typedef struct tessera_place {
  size_t size;
  int32_t gpu; /* the number of a GPU, whose primary context is used, or a constant below: */
#define TESSERA_CURRENT_CONTEXT (-1) /* context of the calling thread; must outlive the handle */
#define TESSERA_CPU (-2)             /* no GPU: the CPU multiplies operands in host memory */
#define TESSERA_ANY_PLACE (-3)       /* GPU 0, in a context made at first use; no GPU: the CPU */
  int32_t plan_cache;                /* number of plans that tessera_gemm() keeps; 0: 256 */
  int32_t
      check_addresses; /* 1: each call asks the driver whether each operand is in memory of this
                          GPU, and refuses an operand elsewhere or in freed memory; 0: no check */
  int32_t host_side;   /* tessera_side, for operands in host memory */
  int32_t fp32;        /* what TESSERA_COMPUTE_USUAL means if A, B, C and D are F32:
                          TESSERA_COMPUTE_F32 or TESSERA_COMPUTE_F16X3. 0: the environment variable
                          TESSERA_FP32 ("f32" or "f16x3") decides when the handle is created; if the
                          variable is not set, F32 */
  int32_t reserved;    /* must be 0 */
} tessera_place;

/* op(A) is m x k, op(B) is k x n, C and D are m x n. */
typedef struct tessera_problem {
  size_t size;
  int64_t m, n, k;
  int32_t type_a, type_b, type_c, type_d; /* tessera_type */
  int32_t compute;                        /* tessera_compute */
  int32_t order;                          /* tessera_order */
  int32_t op_a, op_b;                     /* tessera_op */
  int64_t lda, ldb, ldc, ldd;             /* leading dimensions in elements; 0: smallest legal */
  int32_t batch;                          /* tessera_batch */
  int32_t batch_alignment;                /* TESSERA_POINTERS: bytes that divide every address */
  int64_t batch_count;                    /* number of products; 0: no batch */
  int64_t stride_a, stride_b, stride_c, stride_d; /* for TESSERA_STRIDED, in elements; 0: all
                                                     products share A, B or C */
  int32_t bias;                                   /* tessera_bias */
  int32_t activation;                             /* tessera_activation */
  int32_t memory;                                 /* tessera_memory */
  int32_t scale;                                  /* tessera_scale */
  int32_t auxiliary;                              /* tessera_auxiliary */
  int32_t reserved;                               /* must be 0 */
  int64_t ldx, stride_x; /* like ldd and stride_d, for an auxiliary output */
} tessera_problem;

/* Operands that can be packed. TESSERA_A + TESSERA_B names both operands. */
typedef enum tessera_operand { TESSERA_A = 1, TESSERA_B = 2 } tessera_operand;

/* The assumptions and resources of a plan. */
typedef struct tessera_plan_options {
  size_t size;
  size_t workspace_limit; /* most bytes; 0: no limit. TESSERA_NO_WORKSPACE: no workspace */
#define TESSERA_NO_WORKSPACE ((size_t)-1)
  int32_t alignment;  /* a power of two that divides all addresses, in bytes; 0: 16 */
  int32_t any_order;  /* 0: every run gives the same bits; 1: runs may differ in bits */
  const char* kernel; /* for operands in device memory; null: the fastest by the cost model; else a
                         kernel, "simt_f32/256x128", or the text `plan` of a tessera_choice */
  int32_t packed;     /* tessera_operand: operands that each run also gets in packed form */
  int32_t reserved;   /* must be 0 */
} tessera_plan_options;

typedef struct tessera_packed_s* tessera_packed;

/* The operands of one call. */
typedef struct tessera_arguments {
  size_t size;
  double alpha, beta;
  const void *a, *b, *c; /* if beta is 0, C may be null; if alpha or k is 0, A and B may be null */
  void* d;               /* may be c, if ldd is ldc */
  const void* bias;      /* null if there is no bias */
  const void *alpha_address, *beta_address; /* null, or addresses at which the GPU reads values, of
                                               the compute type, instead of alpha and beta */
  void* workspace; /* of a plan: aligned to 256 bytes, and used by no other run meanwhile */
  size_t workspace_bytes;
  void* stream; /* a cudaStream_t or CUstream. null: if the handle was created with the number of a
                   GPU, the handle's own stream; else CUDA's null stream */
  const void* scale;                 /* null if there is no scale */
  tessera_packed packed_a, packed_b; /* null, or A and B as packed by tessera_pack(). a and b must
                                        be given, too: some calls read the matrices instead */
  void* x;                           /* the auxiliary output, apart from D; null if there is none */
} tessera_arguments;

/* A GPU of this machine. */
typedef struct tessera_device {
  size_t size;
  char name[128];             /* "NVIDIA H200" */
  char pci_bus_id[32];        /* "0000:1b:00.0" */
  int32_t compute_capability; /* 90 for 9.0 */
  int32_t sms;
  int64_t memory_bytes;
} tessera_device;

/* The processor that multiplies: a GPU, or the CPU. */
typedef enum tessera_where {
  TESSERA_ON_GPU = 0,
  TESSERA_ON_GPU_BY_PANELS = 1, /* operands in host memory: copied at once, or by panels, while
                                   earlier panels are multiplied */
  TESSERA_ON_CPU = 2
} tessera_where;

/* What limits the time of a call, according to the cost model. */
typedef enum tessera_bound {
  TESSERA_BOUND_ARITHMETIC = 0,
  TESSERA_BOUND_MEMORY = 1, /* memory of the GPU */
  TESSERA_BOUND_LAUNCH = 2, /* launches, and start and end of kernels: the problem is small */
  TESSERA_BOUND_HOST = 3    /* copies from and to host memory, or the CPU */
} tessera_bound;

/* One way to compute a problem. Times are microseconds that the cost model predicts. */
typedef struct tessera_choice {
  size_t size;
  char kernel[96];    /* "simt_f32/128x64" */
  char decision[160]; /* "396 tiles, 116 split in 132 runs" */
  double total_us;    /* sum of the times below, with max(multiply_us + store_us, memory_us). */
  /* reduce_us: the time of launches after the product, which add partial sums or apply the
   * epilogue. */
  double launch_us, repack_us, start_us, multiply_us, store_us, memory_us, reduce_us, remainder_us;
  int64_t workspace_bytes;
  int32_t bound;    /* tessera_bound */
  int32_t reserved; /* 0 */
  char plan[320];   /* as `kernel` of tessera_plan_options, this text gives this choice again:
                       "simt_f32/128x64:whole_tiles=264:runs=132" */
} tessera_choice;

typedef struct tessera_explanation {
  size_t size;
  int32_t where;         /* tessera_where */
  int32_t bound;         /* tessera_bound */
  int32_t launches;      /* 0: nothing is computed, or the CPU computes */
  int32_t choices;       /* number of possible choices, including the one that is taken */
  int32_t deterministic; /* 1: every run gives the same bits */
  int32_t folded;        /* number of products of the batch that are multiplied as one; 0: none */
  char kernel[96];       /* the kernel that is taken; on the CPU, the library that multiplies */
  double total_us;       /* predicted; 0 if there is no GPU and the CPU multiplies */
  int64_t workspace_bytes;
  double faster_us;  /* predicted time of a faster kernel that is not possible; 0: there is none */
  char why_not[256]; /* why not: "with addresses aligned to 16 bytes, simt_f32/... takes 5.1 us" */
} tessera_explanation;

typedef struct tessera_handle_s* tessera_handle;
typedef struct tessera_plan_s* tessera_plan;

/* The release of the library, as text ("0.1.0") and as a number (100). */
const char* tessera_version(void);
int32_t tessera_version_number(void);

/* The name of a tessera_activation in Python and on the command line: "gelu_erf". Null for a number
 * that this library does not know. */
const char* tessera_activation_name(int32_t activation);

/* The message of this thread's last call that failed; "" if no call has failed. The text is valid
 * until the next call of this thread that fails. */
const char* tessera_last_message(void);

/* Sets *count to the number of GPUs that the driver shows. Without a driver the number is 0, and
 * tessera_last_message() gives the reason. */
tessera_status tessera_device_count(int32_t* count);
/* Writes the facts of GPU number `gpu` to *device. The caller sets device->size. */
tessera_status tessera_device_info(int32_t gpu, tessera_device* device);

/* A handle keeps loaded code, plans, and a few workspaces and host buffers. A null place means
 * TESSERA_CURRENT_CONTEXT. Each handle is for one GPU; a program may have many handles. */
tessera_status tessera_create(tessera_handle* handle, const tessera_place* place);
/* Destroys a handle; does nothing for null. Plans of the handle stay valid. If another thread is in
 * a call that uses the handle, that call still ends normally. */
tessera_status tessera_destroy(tessera_handle handle);

/* A callback that gets one line for each plan that is made and each call that is refused, in the
 * thread of the call. A null callback ends the log. The callback must not call Tessera. In the line
 * of a plan, the text after "; call " describes the call; "tessera tune --from" reads this text. */
typedef void (*tessera_log)(void* user, const char* line);
tessera_status tessera_set_log(tessera_handle handle, tessera_log log, void* user);

/* Computes D = alpha op(A) op(B) + beta C on a stream. The call is asynchronous unless operands are
 * in host memory. The first call for a problem makes a plan, also inside a stream capture. The
 * handle keeps the plan, and lends a workspace. A captured graph keeps its own workspace until the
 * graph is destroyed, so graphs may run at the same time. The handle must outlive these graphs. */
tessera_status tessera_gemm(tessera_handle handle, const tessera_problem* problem, double alpha,
                            const void* a, const void* b, double beta, const void* c, void* d,
                            void* stream);
/* Like tessera_gemm(), with all arguments; options may be null. If the arguments have no workspace,
 * the handle lends one. The plan is for the actual alignment of the addresses. */
tessera_status tessera_gemm_with(tessera_handle handle, const tessera_problem* problem,
                                 const tessera_plan_options* options,
                                 const tessera_arguments* arguments);

/* Makes a plan for a problem. The plan serves any alpha and beta, and any addresses of the planned
 * alignment. options may be null. */
tessera_status tessera_plan_create(tessera_plan* plan, tessera_handle handle,
                                   const tessera_problem* problem,
                                   const tessera_plan_options* options);
/* Bytes of device memory that a run needs in addition to the operands. */
tessera_status tessera_plan_workspace(tessera_plan plan, size_t* bytes);
/* Launches a plan; neither allocates nor waits. But if operands are in host memory, the call needs
 * no workspace and returns when D is complete. */
tessera_status tessera_plan_run(tessera_plan plan, const tessera_arguments* arguments);
/* Destroys a plan; does nothing for null. */
tessera_status tessera_plan_destroy(tessera_plan plan);

/* Plans problems as tessera_gemm() does, for a beta of 0 and for other values, loads the code of
 * the plans, and allocates a workspace for the stream. The first call for a problem then costs as
 * little as later calls. Without tessera_warm_up(), the first call makes the plan, and loads the
 * kernel if no call has needed it before; loading may wait for running kernels. problems: an array
 * of `count` structs, whose operands are in device memory. The handle keeps two plans for each
 * problem (plan_cache). options may be null. options->alignment must be the alignment of the
 * addresses in later calls; the other options must be those of the later calls. */
tessera_status tessera_warm_up(tessera_handle handle, const tessera_problem* problems, size_t count,
                               const tessera_plan_options* options, void* stream);

/* The bytes of device memory that A or B (tessera_operand) takes in packed form. An operand that
 * many calls read, such as weights, is packed once. So far only TESSERA_COMPUTE_F16X3 has a packed
 * form (FP16 terms); for other types the status is TESSERA_UNSUPPORTED. The form depends only on
 * the operand's elements: one packed B serves any m, order and leading dimension, and can also be
 * an A with m = n. The problem describes the operand, and must have no batch. */
tessera_status tessera_packed_bytes(tessera_handle handle, const tessera_problem* problem,
                                    int32_t operand, size_t* bytes);
/* Writes the packed form to `memory`, aligned to 256 bytes, on a stream. The caller owns `memory`,
 * and frees it after the last call that reads it. Until then, `matrix` must not change. */
tessera_status tessera_pack(tessera_packed* packed, tessera_handle handle,
                            const tessera_problem* problem, int32_t operand, const void* matrix,
                            void* memory, size_t bytes, void* stream);
/* Ends the use of a packed operand; does nothing for null. The caller still owns the memory. */
tessera_status tessera_packed_destroy(tessera_packed packed);

/* Finds the kernel that would run, its predicted time, and why a faster kernel is not possible. The
 * caller sets explanation->size; options may be null. choices has room for `count` entries, and the
 * caller sets choices[0].size; if count is 0, choices may be null. The entries are written in order
 * of time: choices[0] would be taken. explanation->choices is set to the number of entries written;
 * later entries keep their values. */
tessera_status tessera_explain(tessera_handle handle, const tessera_problem* problem,
                               const tessera_plan_options* options,
                               tessera_explanation* explanation, tessera_choice* choices,
                               size_t count);
/* Writes the explanation of tessera_explain() as text of several lines. The text ends with a zero
 * and is truncated to `bytes`. text may be null if bytes is 0. If needed is not null, *needed is
 * set to the size of the whole text in bytes, including the zero. */
tessera_status tessera_explain_text(tessera_handle handle, const tessera_problem* problem,
                                    const tessera_plan_options* options, char* text, size_t bytes,
                                    size_t* needed);

#ifdef __cplusplus
}
#endif
#endif
