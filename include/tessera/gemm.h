/* Tessera multiplies matrices on NVIDIA GPUs: D = alpha op(A) op(B) + beta C.
 *
 * Plain C; needs no CUDA header. A status other than TESSERA_OK means that nothing was launched and
 * no output was touched, except TESSERA_FAILED: the GPU failed during the call. After an error,
 * tessera_last_message() says, in one sentence, which field is wrong, its value and the rule.
 * All functions are thread-safe. The driver is not called before tessera_create() and
 * tessera_device_count(), so that a fork before these is harmless; in a child of a fork after them
 * the driver does not work, and calls return TESSERA_UNAVAILABLE. */
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
  TESSERA_UNAVAILABLE = 2,  /* no GPU, no driver or one too old, the child of a fork */
  TESSERA_UNSUPPORTED = 3,  /* legal, but no kernel can compute it */
  TESSERA_FAILED = 4,       /* the GPU failed, or an error in the library */
  TESSERA_OUT_OF_MEMORY = 5 /* of the host or of the GPU */
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
  TESSERA_COMPUTE_USUAL = 0, /* F64 for F64, S32 for integers, else F32 */
  TESSERA_COMPUTE_F64 = 1,
  TESSERA_COMPUTE_F32 = 2,
  TESSERA_COMPUTE_TF32 = 3, /* FP32 operands rounded to 11 significant bits */
  TESSERA_COMPUTE_F16 = 4,
  TESSERA_COMPUTE_S32 = 5,
  TESSERA_COMPUTE_F16X3 = 6 /* FP32 operands as two FP16 terms, three products, promoted sums:
                               the accuracy of FP32 on tensor cores */
} tessera_compute;

typedef enum tessera_order { TESSERA_COLUMN_MAJOR = 0, TESSERA_ROW_MAJOR = 1 } tessera_order;
typedef enum tessera_op { TESSERA_N = 0, TESSERA_T = 1 } tessera_op;

/* Many products of one shape in one call. */
typedef enum tessera_batch {
  TESSERA_NO_BATCH = 0,
  TESSERA_STRIDED = 1, /* matrix i of an operand begins i strides after its first one */
  TESSERA_POINTERS = 2 /* a, b, c and d are arrays of batch_count addresses, in the same memory as
                          the matrices; not checked for overlap */
} tessera_batch;

/* Operations on the product before it is stored, in this order. They are computed in the type that
 * products are summed in (FP32, or FP64 for FP64), and D is rounded once:
 *   D = activation(X),   X = scale (alpha op(A) op(B) + beta C) + bias
 * A residual is C with a beta of 1. All products of a batch share the vectors. */
typedef enum tessera_scale {
  TESSERA_NO_SCALE = 0,
  TESSERA_SCALE_PER_ROW = 1,   /* m values, of the type that products are summed in */
  TESSERA_SCALE_PER_COLUMN = 2 /* n values */
} tessera_scale;
typedef enum tessera_bias {
  TESSERA_NO_BIAS = 0,
  TESSERA_BIAS_PER_ROW = 1,   /* m values, of D's type */
  TESSERA_BIAS_PER_COLUMN = 2 /* n values */
} tessera_bias;
typedef enum tessera_activation {
  TESSERA_NO_ACTIVATION = 0,
  TESSERA_RELU = 1,     /* max(x, 0); NaN stays NaN */
  TESSERA_GELU = 2,     /* x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2 */
  TESSERA_GELU_ERF = 3, /* x (1 + erf(x / sqrt(2))) / 2 */
  TESSERA_SILU = 4      /* x / (1 + exp(-x)), also known as swish */
} tessera_activation;
/* A second output, of D's type and size. */
typedef enum tessera_auxiliary {
  TESSERA_NO_AUXILIARY = 0,
  TESSERA_BEFORE_ACTIVATION = 1 /* X, rounded once, too: what the backward pass of training needs */
} tessera_auxiliary;

/* The memory that operands are in. The caller states it, because asking the driver costs more than
 * the rest of a call, and because the driver takes freed device memory for host memory. */
typedef enum tessera_memory {
  TESSERA_DEVICE_MEMORY = 0, /* of the handle's GPU */
  TESSERA_HOST_MEMORY = 1,   /* the call returns when D is there */
  TESSERA_DETECT_MEMORY = 2  /* the driver is asked at each call; all operands in the same memory */
} tessera_memory;

/* The processor that multiplies operands in host memory, if the handle has a GPU. */
typedef enum tessera_side {
  TESSERA_FASTER_SIDE = 0, /* by a model of both, with the CPU's speed measured in this process:
                              near the size at which sides change, runs may differ in bits */
  TESSERA_GPU_SIDE = 1,
  TESSERA_CPU_SIDE = 2
} tessera_side;

/* The first field of each struct is its size, so that later versions can append fields. Fields that
 * are not set must be zero: write `tessera_problem p = {.size = sizeof p, ...}`. */

/* The GPU or context that a handle uses, and how. */
typedef struct tessera_place {
  size_t size;
  int32_t gpu; /* the number of a GPU, whose primary context is used, or one of these: */
#define TESSERA_CURRENT_CONTEXT (-1) /* the calling thread's; it must outlive the handle */
#define TESSERA_CPU (-2)             /* no GPU: operands in host memory, multiplied by the CPU */
#define TESSERA_ANY_PLACE (-3)       /* GPU 0, in a context made at first use, else the CPU */
  int32_t plan_cache;                /* plans that tessera_gemm() keeps; 0: 256 */
  int32_t
      check_addresses; /* 1: asks the driver at each call whether each operand is in memory of
                          this GPU, and refuses one that is not or that was freed; 0: does not */
  int32_t host_side;   /* tessera_side, of operands in host memory */
  int32_t fp32;        /* how products of F32 alone are computed that leave it open
                          (TESSERA_COMPUTE_USUAL): TESSERA_COMPUTE_F32 or TESSERA_COMPUTE_F16X3; 0: as
                          the environment variable TESSERA_FP32 says at tessera_create(), "f32" or
                          "f16x3"; F32 where it is not set */
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
  int64_t lda, ldb, ldc, ldd;             /* in elements; 0: the smallest legal one */
  int32_t batch;                          /* tessera_batch */
  int32_t batch_alignment;                /* TESSERA_POINTERS: bytes that divide every address */
  int64_t batch_count;                    /* 0 without a batch */
  int64_t stride_a, stride_b, stride_c, stride_d; /* TESSERA_STRIDED, in elements; 0: A, B or C is
                                                     the same for all products */
  int32_t bias;                                   /* tessera_bias */
  int32_t activation;                             /* tessera_activation */
  int32_t memory;                                 /* tessera_memory */
  int32_t scale;                                  /* tessera_scale */
  int32_t auxiliary;                              /* tessera_auxiliary */
  int32_t reserved;                               /* must be 0 */
  int64_t ldx, stride_x; /* as ldd and stride_d, where there is an auxiliary output */
} tessera_problem;

/* Operands that can be packed. Add the values to name both. */
typedef enum tessera_operand { TESSERA_A = 1, TESSERA_B = 2 } tessera_operand;

/* The assumptions and resources of a plan. */
typedef struct tessera_plan_options {
  size_t size;
  size_t workspace_limit; /* bytes; 0: none. TESSERA_NO_WORKSPACE: no workspace at all */
#define TESSERA_NO_WORKSPACE ((size_t)-1)
  int32_t alignment;  /* bytes that divide all addresses, a power of two; 0: 16 */
  int32_t any_order;  /* 0: every run gives the same bits; 1: it need not */
  const char* kernel; /* of operands in device memory; null: the fastest by the model. A kernel,
                         "simt_f32/256x128", or with what it decides a plan of tessera_choice */
  int32_t packed;     /* tessera_operand: those that each run is given packed, too */
  int32_t reserved;   /* must be 0 */
} tessera_plan_options;

typedef struct tessera_packed_s* tessera_packed;

/* The operands of one call. */
typedef struct tessera_arguments {
  size_t size;
  double alpha, beta;
  const void *a, *b, *c; /* C may be null if beta is 0, A and B if alpha or k is 0 */
  void* d;               /* may be c, with the same ld */
  const void* bias;      /* null without one */
  const void *alpha_address, *beta_address; /* null, or where the GPU finds alpha and beta, of the
                                               compute type, instead of those above */
  void* workspace; /* of a plan: aligned to 256 bytes, the run's own until it has ended */
  size_t workspace_bytes;
  void* stream; /* a cudaStream_t or CUstream; null: CUDA's null stream, or the handle's own stream
                   if it was created with the number of a GPU */
  const void* scale;                 /* null without one */
  tessera_packed packed_a, packed_b; /* null, or A and B as tessera_pack() has written them. The
                                        matrices are given, too: some calls read these instead */
  void* x;                           /* null without an auxiliary output; apart from D */
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
  TESSERA_ON_GPU_BY_PANELS = 1, /* host memory: in one go, or panels are copied while others are
                                   multiplied */
  TESSERA_ON_CPU = 2
} tessera_where;

/* What limits the time of a call, according to the cost model. */
typedef enum tessera_bound {
  TESSERA_BOUND_ARITHMETIC = 0,
  TESSERA_BOUND_MEMORY = 1, /* of the GPU */
  TESSERA_BOUND_LAUNCH = 2, /* launches, start and end: the problem is small */
  TESSERA_BOUND_HOST = 3    /* copies from and to host memory, or the CPU */
} tessera_bound;

/* One way to compute a problem. Times are microseconds that the cost model predicts. */
typedef struct tessera_choice {
  size_t size;
  char kernel[96];    /* "simt_f32/128x64" */
  char decision[160]; /* "396 tiles, 116 split in 132 runs" */
  double total_us;    /* of all, the larger of multiply_us + store_us and memory_us counts */
  /* reduce_us: the time of launches after the product, which add partial sums or apply the
   * epilogue. */
  double launch_us, repack_us, start_us, multiply_us, store_us, memory_us, reduce_us, remainder_us;
  int64_t workspace_bytes;
  int32_t bound;    /* tessera_bound */
  int32_t reserved; /* 0 */
  char plan[320];   /* kernel of tessera_plan_options that is planned as this choice is:
                       "simt_f32/128x64:whole_tiles=264:runs=132" */
} tessera_choice;

typedef struct tessera_explanation {
  size_t size;
  int32_t where;         /* tessera_where */
  int32_t bound;         /* tessera_bound */
  int32_t launches;      /* 0: nothing is computed, or not on a GPU */
  int32_t choices;       /* how many there are, the one taken included */
  int32_t deterministic; /* 1: every run gives the same bits */
  int32_t folded;        /* products of the batch that are multiplied as one; 0: none */
  char kernel[96];       /* the one taken; on the CPU, the library that multiplies */
  double total_us;       /* predicted; 0 on the CPU where there is no GPU */
  int64_t workspace_bytes;
  double faster_us;  /* the best time that was not possible; 0: the choice is the best there is */
  char why_not[256]; /* and why: "with addresses aligned to 16 bytes, simt_f32/... takes 5.1 us" */
} tessera_explanation;

typedef struct tessera_handle_s* tessera_handle;
typedef struct tessera_plan_s* tessera_plan;

/* The release of the library, as text ("0.1.0") and as a number (100). */
const char* tessera_version(void);
int32_t tessera_version_number(void);

/* The name of a tessera_activation in Python and on the command line: "gelu_erf". Null for a number
 * that this library does not know. */
const char* tessera_activation_name(int32_t activation);

/* The message of this thread's last call that failed; "" before the first. Valid until this
 * thread's next call that fails. */
const char* tessera_last_message(void);

/* Sets *count to the number of GPUs that the driver shows. Without a driver the number is 0, and
 * tessera_last_message() gives the reason. */
tessera_status tessera_device_count(int32_t* count);
/* Fills in the facts of GPU number `gpu`. The caller sets device->size. */
tessera_status tessera_device_info(int32_t gpu, tessera_device* device);

/* A handle keeps loaded code, plans, and a few workspaces and host buffers. A null place means
 * TESSERA_CURRENT_CONTEXT. Each handle is for one GPU; a program may have many. */
tessera_status tessera_create(tessera_handle* handle, const tessera_place* place);
/* Destroys a handle; does nothing for null. Plans of the handle stay valid. If another thread is in
 * a call that uses the handle, that call ends first. */
tessera_status tessera_destroy(tessera_handle handle);

/* A callback that gets one line for each plan that is made and each call that is refused, in the
 * thread of the call. Null ends the log. The callback must not call Tessera. In the line of a plan,
 * the text after "; call " describes the call; "tessera tune --from" reads it. */
typedef void (*tessera_log)(void* user, const char* line);
tessera_status tessera_set_log(tessera_handle handle, tessera_log log, void* user);

/* Computes D = alpha op(A) op(B) + beta C on a stream. The call is asynchronous unless operands are
 * in host memory. The first call for a problem plans and prepares it, also inside a stream capture;
 * the handle keeps the plan and lends a workspace. A captured graph keeps its own workspace until
 * it is destroyed, so graphs may run at the same time. The handle must outlive these graphs. */
tessera_status tessera_gemm(tessera_handle handle, const tessera_problem* problem, double alpha,
                            const void* a, const void* b, double beta, const void* c, void* d,
                            void* stream);
/* Like tessera_gemm(), with all arguments; options may be null. If the arguments have no workspace,
 * the handle lends one. The alignment is that of the addresses. */
tessera_status tessera_gemm_with(tessera_handle handle, const tessera_problem* problem,
                                 const tessera_plan_options* options,
                                 const tessera_arguments* arguments);

/* Plans a problem once, for any alpha and beta and all addresses of the planned alignment. options
 * may be null. */
tessera_status tessera_plan_create(tessera_plan* plan, tessera_handle handle,
                                   const tessera_problem* problem,
                                   const tessera_plan_options* options);
/* Bytes of device memory that a run needs in addition to the operands. */
tessera_status tessera_plan_workspace(tessera_plan plan, size_t* bytes);
/* Launches a plan, and neither allocates nor waits. If operands are in host memory, the call needs
 * no workspace, and returns when D is complete. */
tessera_status tessera_plan_run(tessera_plan plan, const tessera_arguments* arguments);
/* Destroys a plan; does nothing for null. */
tessera_status tessera_plan_destroy(tessera_plan plan);

/* Plans problems as tessera_gemm() does, with beta of 0 and of other values, loads the code that
 * they need, and makes room for their workspace on the stream: their first call then costs as
 * little as later ones. Without this, the first call plans the problem and loads the kernel if no
 * call has needed it before; to load it, the driver may wait for running kernels. problems: `count`
 * structs of one size, with operands in device memory. The handle keeps two plans for each problem
 * (plan_cache). options may be null; the alignment is that of the addresses, and the other options
 * must be those of the later calls. */
tessera_status tessera_warm_up(tessera_handle handle, const tessera_problem* problems, size_t count,
                               const tessera_plan_options* options, void* stream);

/* The bytes of device memory that A or B (tessera_operand) takes in packed form. An operand that
 * many calls read, such as weights, is packed once. So far only TESSERA_COMPUTE_F16X3 has a packed
 * form (FP16 terms); for other types the status is TESSERA_UNSUPPORTED. The form depends on the
 * operand's elements alone: one packed B serves any m, order and leading dimension, and may be read
 * as an A with as many rows. The problem describes the operand, and has no batch. */
tessera_status tessera_packed_bytes(tessera_handle handle, const tessera_problem* problem,
                                    int32_t operand, size_t* bytes);
/* Writes the packed form to `memory`, aligned to 256 bytes, on a stream. The caller owns the memory
 * and frees it after the last call that reads it; until then `matrix` must not change. */
tessera_status tessera_pack(tessera_packed* packed, tessera_handle handle,
                            const tessera_problem* problem, int32_t operand, const void* matrix,
                            void* memory, size_t bytes, void* stream);
/* Ends the use of a packed operand; does nothing for null. The caller still owns the memory. */
tessera_status tessera_packed_destroy(tessera_packed packed);

/* Finds the kernel that would run, its predicted time, and why a faster kernel is not possible. The
 * caller sets explanation->size; options may be null. choices may be null if count is 0; otherwise
 * it has room for `count` choices, and the caller sets the size of the first. They are ordered by
 * time, and the first is the one that would be taken. Entries beyond explanation->choices are left
 * alone. */
tessera_status tessera_explain(tessera_handle handle, const tessera_problem* problem,
                               const tessera_plan_options* options,
                               tessera_explanation* explanation, tessera_choice* choices,
                               size_t count);
/* Writes the explanation of tessera_explain() as text of several lines, which ends with a zero and
 * is truncated to `bytes`. text may be null if bytes is 0. If needed is not null, it is set to the
 * size of the whole text in bytes, with the zero. */
tessera_status tessera_explain_text(tessera_handle handle, const tessera_problem* problem,
                                    const tessera_plan_options* options, char* text, size_t bytes,
                                    size_t* needed);

#ifdef __cplusplus
}
#endif
#endif
