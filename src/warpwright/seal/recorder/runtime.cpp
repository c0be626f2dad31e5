// The CUDA runtime for a host without a GPU: memory, copies, launches by pointer, streams.
#include "impl.h"

using namespace warpwright;

namespace {

cudaStream_t current_stream = nullptr;

Place device_place(const void* pointer, const char* call) {
  if (auto place = Recorder::current().locate(pointer)) return *place;
  cuda_failed(call, "invalid argument: not a device pointer");
}

cudaError_t allocate(void** pointer, size_t bytes) {
  int buffer = Recorder::current().allocate(bytes);
  *pointer = bytes ? reinterpret_cast<void*>(Recorder::current().buffer(buffer).base) : nullptr;
  return cudaSuccess;
}

cudaError_t release(void* pointer) {
  if (auto place = Recorder::current().locate(pointer)) Recorder::current().release(place->buffer);
  return cudaSuccess;
}

void upload(Place target, const void* source, size_t bytes) {
  if (bytes == 0) return;
  Recorder::current().add(
      {{"op", "upload"}, {"buffer", target.buffer}, {"offset", target.offset}, {"data", hex(source, bytes)}});
}

void copy(Place target, Place source, size_t bytes) {
  if (bytes == 0) return;
  Recorder::current().add({{"op", "copy"},
                           {"source", source.buffer},
                           {"source_offset", source.offset},
                           {"target", target.buffer},
                           {"target_offset", target.offset},
                           {"bytes", bytes}});
}

// The memory of each pointer is known here, so the given direction is checked.
cudaError_t transfer(void* target, const void* source, size_t bytes, cudaMemcpyKind kind) {
  auto to = Recorder::current().locate(target), from = Recorder::current().locate(source);
  if (kind == cudaMemcpyDeviceToHost || (from && !to)) reads_device_data("cudaMemcpy device to host");
  if (kind == cudaMemcpyHostToDevice && (from || !to)) return cudaErrorInvalidValue;
  if (kind == cudaMemcpyDeviceToDevice && (!from || !to)) return cudaErrorInvalidValue;
  if (to && from) copy(*to, *from, bytes);
  else if (to) upload(*to, source, bytes);
  else std::memcpy(target, source, bytes);
  return cudaSuccess;
}

cudaError_t launch_packed(Configuration configuration, const void* function, void** arguments) {
  static void* none[1] = {nullptr};
  configuration.packed = arguments ? arguments : none;
  configure(configuration);
  reinterpret_cast<void (*)()>(const_cast<void*>(function))();
  return cudaSuccess;
}

Configuration plain(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
  Configuration configuration;
  configuration.grid = grid;
  configuration.block = block;
  configuration.shared = shared;
  configuration.stream = stream;
  return configuration;
}

}  // namespace

const uint3 threadIdx{0, 0, 0}, blockIdx{0, 0, 0};
const dim3 blockDim, gridDim;

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return "no error";
    case cudaErrorInvalidValue: return "invalid argument";
    case cudaErrorInvalidDevice: return "invalid device ordinal";
    case cudaErrorMemoryAllocation: return "out of memory";
    default: return "unknown error";
  }
}
const char* cudaGetErrorName(cudaError_t error) {
  return error == cudaSuccess ? "cudaSuccess" : cudaGetErrorString(error);
}

// Memory.

cudaError_t cudaMalloc(void** pointer, size_t bytes) { return allocate(pointer, bytes); }
cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t) { return allocate(pointer, bytes); }
cudaError_t cudaMallocManaged(void**, size_t, unsigned int) { unsupported("cudaMallocManaged"); }
cudaError_t cudaMallocHost(void** pointer, size_t bytes, unsigned int) {
  return (*pointer = std::calloc(bytes ? bytes : 1, 1)) ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned int flags) {
  return cudaMallocHost(pointer, bytes, flags);
}
cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  *pitch = (width + 511) / 512 * 512;
  return allocate(pointer, *pitch * height);
}
cudaError_t cudaFree(void* pointer) { return release(pointer); }
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) { return release(pointer); }
cudaError_t cudaFreeHost(void* pointer) { return std::free(pointer), cudaSuccess; }

cudaError_t cudaMemset(void* pointer, int value, size_t bytes) {
  if (bytes == 0) return cudaSuccess;
  Place place = device_place(pointer, "cudaMemset");
  Recorder::current().add(
      {{"op", "memset"}, {"buffer", place.buffer}, {"offset", place.offset}, {"bytes", bytes}, {"value", value & 255}});
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* pointer, int value, size_t bytes, cudaStream_t) {
  return cudaMemset(pointer, value, bytes);
}
cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height) {
  for (size_t row = 0; row < height; ++row) cudaMemset(static_cast<char*>(pointer) + row * pitch, value, width);
  return cudaSuccess;
}
cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height, cudaStream_t) {
  return cudaMemset2D(pointer, pitch, value, width, height);
}
cudaError_t cudaMemcpy(void* target, const void* source, size_t bytes, cudaMemcpyKind kind) {
  return transfer(target, source, bytes, kind);
}
cudaError_t cudaMemcpyAsync(void* target, const void* source, size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
  return transfer(target, source, bytes, kind);
}
cudaError_t cudaMemcpy2D(void* target, size_t target_pitch, const void* source, size_t source_pitch, size_t width,
                         size_t height, cudaMemcpyKind kind) {
  for (size_t row = 0; row < height; ++row) {
    cudaError_t status = transfer(static_cast<char*>(target) + row * target_pitch,
                                  static_cast<const char*>(source) + row * source_pitch, width, kind);
    if (status != cudaSuccess) return status;
  }
  return cudaSuccess;
}
cudaError_t cudaMemcpy2DAsync(void* target, size_t target_pitch, const void* source, size_t source_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t) {
  return cudaMemcpy2D(target, target_pitch, source, source_pitch, width, height, kind);
}

namespace warpwright {

cudaError_t to_symbol(const void* symbol, size_t size, const void* source, size_t bytes, size_t offset,
                      cudaMemcpyKind) {
  if (offset + bytes > size) return cudaErrorInvalidValue;
  Place target{Recorder::current().symbol(symbol, size), static_cast<int64_t>(offset)};
  if (auto from = Recorder::current().locate(source)) copy(target, *from, bytes);
  else upload(target, source, bytes);
  return cudaSuccess;
}
cudaError_t from_symbol(const char* call) { reads_device_data(call); }
cudaError_t symbol_address(void** pointer, const void* symbol, size_t size) {
  int buffer = Recorder::current().symbol(symbol, size);
  *pointer = reinterpret_cast<void*>(Recorder::current().buffer(buffer).base);
  return cudaSuccess;
}

Configuration configuration_of(const cudaLaunchConfig_t* config) {
  Configuration configuration = plain(config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream);
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const auto& [id, pad, value] = config->attrs[i];
    switch (id) {
      case cudaLaunchAttributeIgnore: break;
      case cudaLaunchAttributeCooperative: configuration.cooperative = value.cooperative != 0; break;
      case cudaLaunchAttributeClusterDimension:
        configuration.cluster = dim3(value.clusterDim.x, value.clusterDim.y, value.clusterDim.z);
        break;
      case cudaLaunchAttributeProgrammaticStreamSerialization:
        configuration.attributes.emplace_back("programmatic_stream_serialization",
                                              value.programmaticStreamSerializationAllowed);
        break;
      case cudaLaunchAttributePriority: configuration.attributes.emplace_back("priority", value.priority); break;
      case cudaLaunchAttributeClusterSchedulingPolicyPreference:
        configuration.attributes.emplace_back("cluster_scheduling_policy", value.clusterSchedulingPolicyPreference);
        break;
      case cudaLaunchAttributePreferredSharedMemoryCarveout:
        configuration.attributes.emplace_back("shared_carveout", value.sharedMemCarveout);
        break;
      default: unsupported("this launch attribute of cudaLaunchKernelEx");
    }
  }
  return configuration;
}

}  // namespace warpwright

// Launches.

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                             cudaStream_t stream) {
  return launch_packed(plain(grid, block, shared, stream), function, arguments);
}
cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                                        cudaStream_t stream) {
  Configuration configuration = plain(grid, block, shared, stream);
  configuration.cooperative = true;
  return launch_packed(configuration, function, arguments);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  return launch_packed(configuration_of(config), function, arguments);
}
cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t, void*) { unsupported("cudaLaunchHostFunc"); }

// Streams, events and graphs.

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return *stream = Recorder::current().new_stream(), cudaSuccess; }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int) { return cudaStreamCreate(stream); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int, int) { return cudaStreamCreate(stream); }
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  static char events;
  return *event = reinterpret_cast<cudaEvent_t>(&events), cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int) { return cudaEventCreate(event); }
cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) { unsupported("cudaStreamBeginCapture"); }
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t*) { unsupported("cudaStreamEndCapture"); }
cudaError_t cudaGraphInstantiate(cudaGraphExec_t*, cudaGraph_t, unsigned long long) {
  unsupported("cudaGraphInstantiate");
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t) { unsupported("cudaGraphLaunch"); }

namespace at::cuda {
CUDAStream getCurrentCUDAStream(DeviceIndex) { return CUDAStream(current_stream); }
CUDAStream getDefaultCUDAStream(DeviceIndex) { return CUDAStream(nullptr); }
CUDAStream getStreamFromPool(bool, DeviceIndex) { return CUDAStream(Recorder::current().new_stream()); }
CUDAStream getStreamFromPool(int, DeviceIndex) { return CUDAStream(Recorder::current().new_stream()); }
void setCurrentCUDAStream(CUDAStream stream) { current_stream = stream.stream(); }
}  // namespace at::cuda

namespace c10::cuda::CUDACachingAllocator {
void* raw_alloc(size_t bytes) {
  void* pointer = nullptr;
  allocate(&pointer, bytes);
  return pointer;
}
void* raw_alloc_with_stream(size_t bytes, cudaStream_t) { return raw_alloc(bytes); }
void raw_delete(void* pointer) { release(pointer); }
CUDAAllocator* get() {
  static CUDAAllocator allocator;
  return &allocator;
}
}  // namespace c10::cuda::CUDACachingAllocator
