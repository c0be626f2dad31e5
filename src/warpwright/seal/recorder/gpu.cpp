// Answers queries about the device and its kernels for the target GPU, not for this machine.
#include "gpu.h"

using namespace warpwright;

namespace {

constexpr int WARP = 32;
constexpr int ASSUMED_REGISTERS = 32;
constexpr int REGISTER_GRANULE = 256, SHARED_GRANULE = 128;

cudaDeviceProp h200() {
  cudaDeviceProp p{};
  std::strcpy(p.name, "NVIDIA H200");
  p.major = 9;
  p.multiProcessorCount = 132;
  p.totalGlobalMem = 150754820096;
  p.sharedMemPerBlock = 49152;
  p.sharedMemPerBlockOptin = 232448;
  p.sharedMemPerMultiprocessor = 233472;
  p.reservedSharedMemPerBlock = 1024;
  p.regsPerBlock = p.regsPerMultiprocessor = 65536;
  p.maxThreadsPerMultiProcessor = 2048;
  p.maxBlocksPerMultiProcessor = 32;
  p.maxThreadsPerBlock = 1024;
  p.totalConstMem = 65536;
  p.l2CacheSize = 62914560;
  p.persistingL2CacheMaxSize = 39321600;
  p.clockRate = 1980000;
  p.memoryClockRate = 3201000;
  p.memoryBusWidth = 6144;
  return p;
}

void set_constants(cudaDeviceProp& p) {
  p.warpSize = WARP;
  p.maxThreadsDim[0] = p.maxThreadsDim[1] = 1024;
  p.maxThreadsDim[2] = 64;
  p.maxGridSize[0] = 2147483647;
  p.maxGridSize[1] = p.maxGridSize[2] = 65535;
  p.concurrentKernels = p.cooperativeLaunch = p.unifiedAddressing = p.managedMemory = p.canMapHostMemory = 1;
  p.clusterLaunch = p.major >= 9;
  p.memPitch = 2147483647;
  p.textureAlignment = 512;
  p.asyncEngineCount = 3;
  p.accessPolicyMaxWindowSize = p.major >= 8 ? 134213632 : 0;
}

cudaDeviceProp& target() {
  static cudaDeviceProp properties = h200();
  return properties;
}

template <class T>
void take(const Json& gpu, const char* key, T& field) {
  if (const Json* value = gpu.find(key)) field = static_cast<T>(value->whole());
}

struct KernelFacts {
  int registers = ASSUMED_REGISTERS, max_threads = 1024;
  size_t static_shared = 0, local = 0;
  bool known = false;
};

KernelFacts facts_of(const void* function) {
  KernelFacts facts;
  if (const Json* given = Recorder::current().kernel_facts(function)) {
    facts.known = true;
    take(*given, "registers", facts.registers);
    take(*given, "max_threads", facts.max_threads);
    take(*given, "static_shared", facts.static_shared);
    take(*given, "local", facts.local);
  }
  return facts;
}

template <class T>
T rounded_up(T value, T granule) {
  return (value + granule - 1) / granule * granule;
}

// The blocks that fit on one multiprocessor, limited by blocks, warps, registers and shared memory.
int resident_blocks(const KernelFacts& kernel, int block, size_t dynamic_shared) {
  const cudaDeviceProp& gpu = target();
  if (block <= 0 || block > kernel.max_threads || block > gpu.maxThreadsPerBlock) return 0;
  int warps = (block + WARP - 1) / WARP;
  int registers = rounded_up(kernel.registers * WARP, REGISTER_GRANULE) * warps;
  size_t shared =
      rounded_up(kernel.static_shared + dynamic_shared + gpu.reservedSharedMemPerBlock, size_t(SHARED_GRANULE));
  int limit = std::min(gpu.maxBlocksPerMultiProcessor, gpu.maxThreadsPerMultiProcessor / WARP / warps);
  if (registers > 0) limit = std::min(limit, gpu.regsPerMultiprocessor / registers);
  if (shared > 0) limit = std::min(limit, static_cast<int>(gpu.sharedMemPerMultiprocessor / shared));
  return limit;
}

}  // namespace

namespace warpwright {

void describe_gpu(const Json& request) {
  cudaDeviceProp& p = target() = h200();
  if (const Json* gpu = request.find("gpu")) {
    if (const Json* name = gpu->find("name")) std::snprintf(p.name, sizeof p.name, "%s", name->string().c_str());
    take(*gpu, "major", p.major);
    take(*gpu, "minor", p.minor);
    take(*gpu, "multiprocessors", p.multiProcessorCount);
    take(*gpu, "global_memory", p.totalGlobalMem);
    take(*gpu, "shared_per_block", p.sharedMemPerBlock);
    take(*gpu, "shared_per_block_optin", p.sharedMemPerBlockOptin);
    take(*gpu, "shared_per_multiprocessor", p.sharedMemPerMultiprocessor);
    take(*gpu, "reserved_shared_per_block", p.reservedSharedMemPerBlock);
    take(*gpu, "registers_per_block", p.regsPerBlock);
    take(*gpu, "registers_per_multiprocessor", p.regsPerMultiprocessor);
    take(*gpu, "threads_per_multiprocessor", p.maxThreadsPerMultiProcessor);
    take(*gpu, "blocks_per_multiprocessor", p.maxBlocksPerMultiProcessor);
    take(*gpu, "threads_per_block", p.maxThreadsPerBlock);
    take(*gpu, "constant_memory", p.totalConstMem);
    take(*gpu, "l2", p.l2CacheSize);
    take(*gpu, "persisting_l2", p.persistingL2CacheMaxSize);
    take(*gpu, "clock_khz", p.clockRate);
    take(*gpu, "memory_clock_khz", p.memoryClockRate);
    take(*gpu, "memory_bus_bits", p.memoryBusWidth);
  }
  set_constants(p);
}

cudaError_t active_blocks(int* blocks, const void* function, int block, size_t shared) {
  KernelFacts kernel = facts_of(function);
  Recorder::current().add_query("occupancy", function, block, shared, kernel.known);
  *blocks = resident_blocks(kernel, block, shared);
  return cudaSuccess;
}

cudaError_t best_block(int* grid, int* block, const void* function, size_t shared, int limit) {
  KernelFacts kernel = facts_of(function);
  Recorder::current().add_query("occupancy", function, 0, shared, kernel.known);
  int widest = limit > 0 ? std::min(limit, kernel.max_threads) : kernel.max_threads, most_threads = 0;
  for (int size = widest / WARP * WARP; size > 0; size -= WARP) {
    int blocks = resident_blocks(kernel, size, shared);
    if (blocks * size > most_threads) {
      most_threads = blocks * size;
      *block = size;
      *grid = blocks * target().multiProcessorCount;
    }
  }
  return most_threads ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t attributes_of(cudaFuncAttributes* attributes, const void* function) {
  KernelFacts kernel = facts_of(function);
  Recorder::current().add_query("attributes", function, 0, 0, kernel.known);
  *attributes = {};
  attributes->numRegs = kernel.registers;
  attributes->maxThreadsPerBlock = kernel.max_threads;
  attributes->sharedSizeBytes = kernel.static_shared;
  attributes->localSizeBytes = kernel.local;
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(target().sharedMemPerBlock - kernel.static_shared);
  attributes->ptxVersion = attributes->binaryVersion = 10 * target().major + target().minor;
  return cudaSuccess;
}

cudaError_t set_attribute(const void* function, cudaFuncAttribute attribute, int value) {
  switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize: return set_preference(function, "max_dynamic_shared", value);
    case cudaFuncAttributePreferredSharedMemoryCarveout: return set_preference(function, "shared_carveout", value);
    case cudaFuncAttributeNonPortableClusterSizeAllowed: return set_preference(function, "non_portable_cluster", value);
    case cudaFuncAttributeRequiredClusterWidth: return set_preference(function, "cluster_width", value);
    case cudaFuncAttributeRequiredClusterHeight: return set_preference(function, "cluster_height", value);
    case cudaFuncAttributeRequiredClusterDepth: return set_preference(function, "cluster_depth", value);
    case cudaFuncAttributeClusterSchedulingPolicyPreference:
      return set_preference(function, "cluster_scheduling_policy", value);
    default: return cudaErrorInvalidValue;
  }
}
cudaError_t set_preference(const void* function, const char* name, int value) {
  Recorder::current().add_attribute(function, name, value);
  return cudaSuccess;
}

}  // namespace warpwright

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device != 0) return cudaErrorInvalidDevice;
  *properties = target();
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  *free = *total = target().totalGlobalMem;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (device != 0) return cudaErrorInvalidDevice;
  const cudaDeviceProp& p = target();
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = p.maxThreadsPerBlock; break;
    case cudaDevAttrMaxBlockDimX: *value = p.maxThreadsDim[0]; break;
    case cudaDevAttrMaxBlockDimY: *value = p.maxThreadsDim[1]; break;
    case cudaDevAttrMaxBlockDimZ: *value = p.maxThreadsDim[2]; break;
    case cudaDevAttrMaxGridDimX: *value = p.maxGridSize[0]; break;
    case cudaDevAttrMaxGridDimY: *value = p.maxGridSize[1]; break;
    case cudaDevAttrMaxGridDimZ: *value = p.maxGridSize[2]; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = static_cast<int>(p.sharedMemPerBlock); break;
    case cudaDevAttrTotalConstantMemory: *value = static_cast<int>(p.totalConstMem); break;
    case cudaDevAttrWarpSize: *value = p.warpSize; break;
    case cudaDevAttrMaxRegistersPerBlock: *value = p.regsPerBlock; break;
    case cudaDevAttrClockRate: *value = p.clockRate; break;
    case cudaDevAttrMultiProcessorCount: *value = p.multiProcessorCount; break;
    case cudaDevAttrConcurrentKernels: *value = p.concurrentKernels; break;
    case cudaDevAttrMemoryClockRate: *value = p.memoryClockRate; break;
    case cudaDevAttrGlobalMemoryBusWidth: *value = p.memoryBusWidth; break;
    case cudaDevAttrL2CacheSize: *value = p.l2CacheSize; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = p.maxThreadsPerMultiProcessor; break;
    case cudaDevAttrComputeCapabilityMajor: *value = p.major; break;
    case cudaDevAttrComputeCapabilityMinor: *value = p.minor; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = static_cast<int>(p.sharedMemPerMultiprocessor); break;
    case cudaDevAttrMaxRegistersPerMultiprocessor: *value = p.regsPerMultiprocessor; break;
    case cudaDevAttrCooperativeLaunch: *value = p.cooperativeLaunch; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = static_cast<int>(p.sharedMemPerBlockOptin); break;
    case cudaDevAttrMaxBlocksPerMultiprocessor: *value = p.maxBlocksPerMultiProcessor; break;
    case cudaDevAttrMaxPersistingL2CacheSize: *value = p.persistingL2CacheMaxSize; break;
    case cudaDevAttrReservedSharedMemoryPerBlock: *value = static_cast<int>(p.reservedSharedMemPerBlock); break;
    case cudaDevAttrMemoryPoolsSupported: *value = 1; break;
    case cudaDevAttrClusterLaunch: *value = p.clusterLaunch; break;
    default: unsupported("this attribute of cudaDeviceGetAttribute");
  }
  return cudaSuccess;
}

namespace at::cuda {
cudaDeviceProp* getCurrentDeviceProperties() { return &target(); }
cudaDeviceProp* getDeviceProperties(int64_t) { return &target(); }
}  // namespace at::cuda
