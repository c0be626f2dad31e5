// cuBLAS: column-major products as views of the buffers they read and write.
#include "impl.h"

using namespace warpwright;

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
};

namespace {

c10::ScalarType type_of(cudaDataType type) {
  switch (type) {
    case CUDA_R_32F: return c10::kFloat;
    case CUDA_R_64F: return c10::kDouble;
    case CUDA_R_16F: return c10::kHalf;
    case CUDA_R_16BF: return c10::kBFloat16;
    case CUDA_R_8I: return c10::kChar;
    case CUDA_R_32I: return c10::kInt;
    case CUDA_R_8F_E4M3: return c10::kFloat8_e4m3fn;
    case CUDA_R_8F_E5M2: return c10::kFloat8_e5m2;
    default: unsupported("this data type of cuBLAS");
  }
}

const char* name_of(cublasComputeType_t compute) {
  switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC: return "float16";
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC: return "float32";
    case CUBLAS_COMPUTE_32F_FAST_TF32: return "tf32";
    case CUBLAS_COMPUTE_32F_FAST_16F: return "float32 by float16";
    case CUBLAS_COMPUTE_32F_FAST_16BF: return "float32 by bfloat16";
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC: return "float64";
    default: return "int32";
  }
}

cublasComputeType_t compute_of(cudaDataType type) {
  return type == CUDA_R_16F   ? CUBLAS_COMPUTE_16F
         : type == CUDA_R_64F ? CUBLAS_COMPUTE_64F
         : type == CUDA_R_32I ? CUBLAS_COMPUTE_32I
                              : CUBLAS_COMPUTE_32F;
}

struct Matrix {
  const void* data;
  cudaDataType type;
  int leading;
  long long step;  // from one matrix of a batch to the next
};

// rows x columns as the product sees it; cuBLAS stores columns, so a transposed operand steps the other way.
at::Tensor view(const Matrix& m, int64_t rows, int64_t columns, cublasOperation_t op, int batch) {
  auto place = Recorder::current().locate(m.data);
  if (!place) cuda_failed("cublas gemm", "invalid argument: not a device pointer");
  c10::ScalarType type = type_of(m.type);
  int64_t size = static_cast<int64_t>(c10::elementSize(type));
  if (place->offset % size) unsupported("a cuBLAS operand that is not aligned to its elements");
  Shape shape{rows, columns}, stride = op == CUBLAS_OP_N ? Shape{1, m.leading} : Shape{m.leading, 1};
  if (batch) {
    shape.insert(shape.begin(), batch);
    stride.insert(stride.begin(), m.step);
  }
  return window(std::make_shared<Storage>(place->buffer, false), shape, stride, place->offset / size, type);
}

double scalar(const void* pointer, cublasComputeType_t compute) {
  switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC: return static_cast<float>(*static_cast<const __half*>(pointer));
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC: return *static_cast<const double*>(pointer);
    case CUBLAS_COMPUTE_32I: return *static_cast<const int*>(pointer);
    default: return *static_cast<const float*>(pointer);
  }
}

cublasStatus_t gemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
                    const void* alpha, const Matrix& a, const Matrix& b, const void* beta, const Matrix& c, int batch,
                    cublasComputeType_t compute) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (m < 0 || n < 0 || k < 0) return CUBLAS_STATUS_INVALID_VALUE;
  if (a.leading < (transa == CUBLAS_OP_N ? m : k) || b.leading < (transb == CUBLAS_OP_N ? k : n) || c.leading < m)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (handle->pointers == CUBLAS_POINTER_MODE_DEVICE) unsupported("cuBLAS scalars on the device");
  if (compute == CUBLAS_COMPUTE_32F && handle->math == CUBLAS_TF32_TENSOR_OP_MATH)
    compute = CUBLAS_COMPUTE_32F_FAST_TF32;
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  at::Tensor C = view(c, m, n, CUBLAS_OP_N, batch);
  library("cublas.gemm", {C, view(a, m, k, transa, batch), view(b, k, n, transb, batch)}, {C},
          {{"alpha", scalar(alpha, compute)}, {"beta", scalar(beta, compute)}, {"compute", name_of(compute)}});
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

cublasStatus_t cublasCreate(cublasHandle_t* handle) { return *handle = new cublasContext, CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  return handle->stream = stream, CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream) {
  return *stream = handle->stream, CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  return handle->math = mode, CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  return *mode = handle->math, CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) {
  return handle->pointers = mode, CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t* mode) {
  return *mode = handle->pointers, CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetWorkspace(cublasHandle_t, void*, size_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasGetVersion(cublasHandle_t, int* version) { return *version = 130000, CUBLAS_STATUS_SUCCESS; }
const char* cublasGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS         ? "success"
         : status == CUBLAS_STATUS_INVALID_VALUE ? "an invalid value was passed"
                                                 : "cuBLAS failed";
}
const char* cublasGetStatusName(cublasStatus_t status) { return cublasGetStatusString(status); }

#define WARPWRIGHT_GEMM(LETTER, T, TYPE, COMPUTE)                                                                      \
  cublasStatus_t cublas##LETTER##gemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,       \
                                      int m, int n, int k, const T* alpha, const T* A, int lda, const T* B, int ldb,   \
                                      const T* beta, T* C, int ldc) {                                                  \
    return gemm(handle, transa, transb, m, n, k, alpha, {A, TYPE, lda, 0}, {B, TYPE, ldb, 0}, beta, {C, TYPE, ldc, 0}, \
                0, COMPUTE);                                                                                           \
  }                                                                                                                    \
  cublasStatus_t cublas##LETTER##gemmStridedBatched(                                                                   \
      cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, const T* alpha,  \
      const T* A, int lda, long long strideA, const T* B, int ldb, long long strideB, const T* beta, T* C, int ldc,    \
      long long strideC, int batch) {                                                                                  \
    return gemm(handle, transa, transb, m, n, k, alpha, {A, TYPE, lda, strideA}, {B, TYPE, ldb, strideB}, beta,        \
                {C, TYPE, ldc, strideC}, batch, COMPUTE);                                                              \
  }                                                                                                                    \
  cublasStatus_t cublas##LETTER##gemmBatched(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,      \
                                             const T*, const T* const*, int, const T* const*, int, const T*,           \
                                             T* const*, int, int) {                                                    \
    unsupported("cublas" #LETTER "gemmBatched");                                                                       \
  }                                                                                                                    \
  cublasStatus_t cublas##LETTER##gemv(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const T* alpha,    \
                                      const T* A, int lda, const T* x, int incx, const T* beta, T* y, int incy) {      \
    if (incx != 1 || incy != 1) unsupported("cublas" #LETTER "gemv with increments");                                  \
    int rows = trans == CUBLAS_OP_N ? m : n, inner = trans == CUBLAS_OP_N ? n : m;                                     \
    return gemm(handle, trans, CUBLAS_OP_N, rows, 1, inner, alpha, {A, TYPE, lda, 0}, {x, TYPE, inner, 0}, beta,       \
                {y, TYPE, rows, 0}, 0, COMPUTE);                                                                       \
  }
WARPWRIGHT_GEMM(S, float, CUDA_R_32F, CUBLAS_COMPUTE_32F)
WARPWRIGHT_GEMM(D, double, CUDA_R_64F, CUBLAS_COMPUTE_64F)
WARPWRIGHT_GEMM(H, __half, CUDA_R_16F, CUBLAS_COMPUTE_16F)
#undef WARPWRIGHT_GEMM

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                            int k, const void* alpha, const void* A, cudaDataType Atype, int lda, const void* B,
                            cudaDataType Btype, int ldb, const void* beta, void* C, cudaDataType Ctype, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t) {
  return gemm(handle, transa, transb, m, n, k, alpha, {A, Atype, lda, 0}, {B, Btype, ldb, 0}, beta, {C, Ctype, ldc, 0},
              0, compute);
}
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                            int k, const void* alpha, const void* A, cudaDataType Atype, int lda, const void* B,
                            cudaDataType Btype, int ldb, const void* beta, void* C, cudaDataType Ctype, int ldc,
                            cudaDataType compute, cublasGemmAlgo_t algorithm) {
  return cublasGemmEx(handle, transa, transb, m, n, k, alpha, A, Atype, lda, B, Btype, ldb, beta, C, Ctype, ldc,
                      compute_of(compute), algorithm);
}
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                          int m, int n, int k, const void* alpha, const void* A, cudaDataType Atype,
                                          int lda, long long strideA, const void* B, cudaDataType Btype, int ldb,
                                          long long strideB, const void* beta, void* C, cudaDataType Ctype, int ldc,
                                          long long strideC, int batch, cublasComputeType_t compute, cublasGemmAlgo_t) {
  return gemm(handle, transa, transb, m, n, k, alpha, {A, Atype, lda, strideA}, {B, Btype, ldb, strideB}, beta,
              {C, Ctype, ldc, strideC}, batch, compute);
}
cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                             int k, const float* alpha, const void* A, cudaDataType Atype, int lda, const void* B,
                             cudaDataType Btype, int ldb, const float* beta, void* C, cudaDataType Ctype, int ldc) {
  return cublasGemmEx(handle, transa, transb, m, n, k, alpha, A, Atype, lda, B, Btype, ldb, beta, C, Ctype, ldc,
                      CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

namespace at::cuda {
cublasHandle_t getCurrentCUDABlasHandle() {
  static cublasContext context;
  return &context;
}
}  // namespace at::cuda
