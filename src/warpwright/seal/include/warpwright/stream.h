// Streams, guards, events and device properties for one GPU; the record keeps the order of the calls.
#ifndef WARPWRIGHT_STREAM_H
#define WARPWRIGHT_STREAM_H

#include "warpwright/device.h"
#include "warpwright/tensor.h"

#define C10_CUDA_CHECK(...)                                                           \
  do {                                                                                \
    const cudaError_t warpwright_status = __VA_ARGS__;                                \
    if (warpwright_status != cudaSuccess)                                             \
      ::warpwright::cuda_failed(#__VA_ARGS__, cudaGetErrorString(warpwright_status)); \
  } while (false)
#define AT_CUDA_CHECK(...) C10_CUDA_CHECK(__VA_ARGS__)
#define C10_CUDA_CHECK_WARN(...) ((void)(__VA_ARGS__))
#define C10_CUDA_ERROR_HANDLED(...) (__VA_ARGS__)
#define C10_CUDA_IGNORE_ERROR(...) ((void)(__VA_ARGS__))
#define C10_CUDA_CLEAR_ERROR() ((void)cudaGetLastError())
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
#define TORCH_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())

#define C10_WARP_SIZE 32
#define C10_LAUNCH_BOUNDS_0 __launch_bounds__(256, 4)
#define C10_LAUNCH_BOUNDS_1(THREADS) __launch_bounds__(THREADS)
#define C10_LAUNCH_BOUNDS_2(THREADS, BLOCKS) __launch_bounds__(THREADS, BLOCKS)
#define C10_MAX_THREADS_PER_BLOCK(N) (N)
#define C10_MIN_BLOCKS_PER_SM(THREADS, BLOCKS) (BLOCKS)

#define CUDA_KERNEL_LOOP_TYPE(I, N, INDEX)                                          \
  int64_t _i_n_d_e_x = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; \
  for (INDEX I = _i_n_d_e_x; _i_n_d_e_x < (N);                                      \
       _i_n_d_e_x += static_cast<int64_t>(blockDim.x) * gridDim.x, I = _i_n_d_e_x)
#define CUDA_KERNEL_LOOP(I, N) CUDA_KERNEL_LOOP_TYPE(I, N, int)

namespace at::cuda {

class CUDAStream {
 public:
  CUDAStream(cudaStream_t stream) : stream_(stream) {}
  cudaStream_t stream() const { return stream_; }
  operator cudaStream_t() const { return stream_; }
  Device device() const { return Device(kCUDA, 0); }
  DeviceIndex device_index() const { return 0; }
  int64_t id() const { return reinterpret_cast<int64_t>(stream_); }
  bool query() const { return true; }
  void synchronize() const {}
  int priority() const { return 0; }
  CUDAStream unwrap() const { return *this; }
  bool operator==(const CUDAStream& other) const { return stream_ == other.stream_; }
  bool operator!=(const CUDAStream& other) const { return stream_ != other.stream_; }

 private:
  cudaStream_t stream_;
};

CUDAStream getCurrentCUDAStream(DeviceIndex device = -1);
CUDAStream getDefaultCUDAStream(DeviceIndex device = -1);
CUDAStream getStreamFromPool(bool high_priority = false, DeviceIndex device = -1);
CUDAStream getStreamFromPool(int priority, DeviceIndex device = -1);
inline CUDAStream getStreamFromExternal(cudaStream_t stream, DeviceIndex) { return CUDAStream(stream); }
void setCurrentCUDAStream(CUDAStream stream);

cudaDeviceProp* getCurrentDeviceProperties();
cudaDeviceProp* getDeviceProperties(int64_t device);
inline int warp_size() { return 32; }
inline bool is_available() { return true; }
inline DeviceIndex device_count() { return 1; }
inline DeviceIndex current_device() { return 0; }
inline void set_device(DeviceIndex) {}
inline void device_synchronize() {}
inline void stream_synchronize(cudaStream_t) {}
inline int64_t getNumGPUs() { return 1; }

template <class T>
constexpr __host__ __device__ T ATenCeilDiv(T a, T b) {
  return (a + b - 1) / b;
}

// There is one device to guard; another one is unsupported.
class CUDAGuard {
 public:
  explicit CUDAGuard(DeviceIndex) {}
  explicit CUDAGuard(Device) {}
  void set_index(DeviceIndex) {}
  void set_device(Device) {}
  Device current_device() const { return Device(kCUDA, 0); }
  Device original_device() const { return Device(kCUDA, 0); }
};

class OptionalCUDAGuard {
 public:
  OptionalCUDAGuard() = default;
  explicit OptionalCUDAGuard(std::optional<Device>) {}
  explicit OptionalCUDAGuard(std::optional<DeviceIndex>) {}
  void set_index(DeviceIndex) {}
  void set_device(Device) {}
  void reset() {}
};

class CUDAStreamGuard {
 public:
  explicit CUDAStreamGuard(CUDAStream stream) : before_(getCurrentCUDAStream()) { setCurrentCUDAStream(stream); }
  CUDAStreamGuard(const CUDAStreamGuard&) = delete;
  ~CUDAStreamGuard() { setCurrentCUDAStream(before_); }
  void reset_stream(CUDAStream stream) { setCurrentCUDAStream(stream); }
  CUDAStream original_stream() const { return before_; }
  CUDAStream current_stream() const { return getCurrentCUDAStream(); }

 private:
  CUDAStream before_;
};
using OptionalCUDAStreamGuard = CUDAStreamGuard;

class CUDAEvent {
 public:
  explicit CUDAEvent(unsigned = 0) {}
  void record() {}
  void record(const CUDAStream&) {}
  void recordOnce(const CUDAStream&) {}
  void block(const CUDAStream&) {}
  bool query() const { return true; }
  void synchronize() const {}
  float elapsed_time(const CUDAEvent&) const { return 0.0f; }
};

}  // namespace at::cuda

namespace c10 {

struct DeviceGuard {
  explicit DeviceGuard(Device) {}
  void set_index(DeviceIndex) {}
};
struct OptionalDeviceGuard {
  OptionalDeviceGuard() = default;
  explicit OptionalDeviceGuard(std::optional<Device>) {}
  void reset_device(Device) {}
};
struct InferenceMode {
  explicit InferenceMode(bool = true) {}
};

namespace cuda {
using at::cuda::CUDAGuard;
using at::cuda::CUDAStream;
using at::cuda::CUDAStreamGuard;
using at::cuda::current_device;
using at::cuda::device_count;
using at::cuda::device_synchronize;
using at::cuda::getCurrentCUDAStream;
using at::cuda::getDefaultCUDAStream;
using at::cuda::getStreamFromExternal;
using at::cuda::getStreamFromPool;
using at::cuda::OptionalCUDAGuard;
using at::cuda::OptionalCUDAStreamGuard;
using at::cuda::set_device;
using at::cuda::setCurrentCUDAStream;
using at::cuda::stream_synchronize;
using at::cuda::warp_size;

// Memory by the byte. What it returns is freed by raw_delete, or lives as long as the returned pointer object.
namespace CUDACachingAllocator {
void* raw_alloc(size_t bytes);
void* raw_alloc_with_stream(size_t bytes, cudaStream_t stream);
void raw_delete(void* pointer);
inline void emptyCache() {}

class DataPtr {
 public:
  explicit DataPtr(void* pointer) : pointer_(pointer) {}
  DataPtr(DataPtr&& other) noexcept : pointer_(other.pointer_) { other.pointer_ = nullptr; }
  ~DataPtr() {
    if (pointer_) raw_delete(pointer_);
  }
  void* get() const { return pointer_; }
  explicit operator bool() const { return pointer_ != nullptr; }

 private:
  void* pointer_;
};
struct CUDAAllocator {
  DataPtr allocate(size_t bytes) { return DataPtr(raw_alloc(bytes)); }
  void* raw_allocate(size_t bytes) { return raw_alloc(bytes); }
  void raw_deallocate(void* pointer) { raw_delete(pointer); }
};
CUDAAllocator* get();
}  // namespace CUDACachingAllocator
}  // namespace cuda

}  // namespace c10

namespace at {
using c10::DeviceGuard;
using c10::OptionalDeviceGuard;
struct NoGradGuard {};
struct AutoGradMode {
  explicit AutoGradMode(bool) {}
};
struct AutoDispatchBelowADInplaceOrView {};
struct AutoDispatchBelowAutograd {};
using AutoNonVariableTypeMode = AutoGradMode;
inline std::optional<Device> device_of(const Tensor& t) {
  return t.defined() ? std::optional<Device>(t.device()) : std::nullopt;
}

template <class T, class U>
constexpr __host__ __device__ T ceil_div(T a, U b) {
  return (a + b - 1) / b;
}
template <class T, class U>
constexpr __host__ __device__ T round_up(T a, U b) {
  return ceil_div(a, b) * b;
}

struct Context {
  bool hasCUDA() const { return true; }
  bool allowTF32CuBLAS() const { return false; }
  bool deterministicAlgorithms() const { return false; }
  cudaDeviceProp* getCurrentDeviceProperties() const { return cuda::getCurrentDeviceProperties(); }
};
inline Context& globalContext() {
  static Context context;
  return context;
}
}  // namespace at

namespace torch {
using at::AutoGradMode;
using at::NoGradGuard;
namespace cuda {
inline bool is_available() { return true; }
inline size_t device_count() { return 1; }
inline void synchronize(int64_t = -1) {}
}  // namespace cuda
}  // namespace torch

#endif
